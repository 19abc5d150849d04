//! Engines on a device: two or three kernels per squaring, written once for all kinds of arithmetic.
//!
//! | file | subject |
//! |---|---|
//! | `family` | [`OnDevice`]: lengths, margins, variants |
//! | `digits` | registers of digits to any base |
//! | `shape` | the division of a transform into lines, tiles and threads |
//! | `kernels` | sources and builds of the kernels |
//! | `products` | spectrum, tables and launches |
//! | `reduction` | the reduction of products that are longer than residues |
//! | `machine` | the engine: registers, and the order of launches |
//! | `gang` | squarings of several numbers in one launch |
//! | `squares` | the check of squarings by sums that kernels make |
//!
//! A transform of R·C points is computed along the columns, then along the rows. The kernel of rows
//! transforms, squares and transforms back. The kernel of columns transforms back, propagates the
//! carries of the words and transforms again. A family with two kinds of points has a second kernel
//! of rows, which runs beside the first one. Two ideas are from Mihai Preda's *PRPLL*: to fuse the
//! carries with the transforms of columns, and to pass carries from block to block.
//!
//! Families differ in their points, tables and layouts of words and in the source texts of their kernels,
//! which the trait [`Arithmetic`] describes, and in their lengths and margins, which the trait
//! [`Family`] describes.

#[cfg(test)]
#[cfg(feature = "sim")]
pub(super) mod compared;
mod digits;
mod family;
mod gang;
mod kernels;
mod machine;
mod products;
mod reduction;
mod shape;
mod squares;

use std::ops::RangeInclusive;

use bytemuck::Pod;
use warpint_device::{Arg, Device, DeviceError, Source};

use super::{BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Step, Work};
use crate::layout::WordLayout;
use crate::{Number, Residue, Shift};

pub use family::OnDevice;
#[cfg(test)]
pub(super) use family::lengths;
pub(super) use family::{sources, sources_of};
pub(super) use gang::Gangs;
pub(super) use kernels::{ExactRows, Part, StepKind};
pub(super) use reduction::Reduction;
pub(super) use shape::{Line, MAX_THREADS, REGISTERS, SHARED_MEMORY, Shape, resident};
pub(super) use squares::SquareCheck;
pub(super) use {machine::Machine, products::Products};

/// The kernels of an engine on a device, and what is compiled into them: what a [`Machine`] and its
/// [`Products`] need.
///
/// [`Machine`]: machine::Machine
/// [`Products`]: products::Products
pub(super) trait Arithmetic: Send + Sized + 'static {
    /// Returns the name of the engine family.
    fn arithmetic() -> &'static str;

    /// The type of a point of the spectrum, and of an entry of the tables.
    type Point: Pod + Send;

    /// The type that describes the shape of a transform.
    type Shape: Shape;

    /// The type of the layout of words.
    type Layout: Layout;

    /// The type of the words on the device. This type also provides the arguments and tables of the
    /// kernels of columns, as far as the layout determines them.
    type Words: Words<Self>;

    /// The source text of `columns.cu`, with the kernels `digits_to_spectrum`, `columns` and
    /// `spectrum_to_digits`.
    const COLUMNS: &'static str;

    /// The source text of `rows.cu`, with the kernels `square_rows`, `forward_rows` and
    /// `multiply_rows`.
    const ROWS: &'static str;

    /// Returns the kernels of exact rows for a shape; `None` if the family has one kind of points.
    fn exact_rows(_shape: &Self::Shape) -> Option<ExactRows> {
        None
    }

    /// Returns whether the kernels of a squaring with a shape should begin before the preceding launch
    /// has ended.
    fn begins_early(_shape: &Self::Shape) -> bool {
        true
    }

    /// Whether kernels are specialised. If true, `columns` and `spectrum_to_digits` are built
    /// separately for each kind of step ([`Self::kind`]), and `columns` also with and without the
    /// measurement of round-off. If false, each of these two kernels is built only once.
    const SPECIALISED: bool;

    /// Whether the kernels of squarings can square several numbers in one launch (GANG in the kernels).
    const GATHERS: bool = false;

    /// Whether 2 is subtracted at the shift of the residue, whose word `square_rows` finds.
    const FINDS_ADDEND: bool = true;

    /// Returns the kind of step for which the kernels that propagate carries are built, if the step is
    /// `step`.
    fn kind(step: Step) -> StepKind {
        if Self::SPECIALISED { step.into() } else { StepKind::Square }
    }

    /// Adds the headers and constants that only this family needs to the source of the kernel
    /// `part`. If `sums`, the kernel makes the sums by which squarings are checked.
    fn specialise(
        source: Source,
        shape: &Self::Shape,
        number: Number,
        part: Part,
        sums: bool,
    ) -> Source;

    /// Returns the number of entries of the spectrum of a residue, of the type [`Self::Point`].
    fn spectrum_points(shape: &Self::Shape) -> usize {
        shape.points()
    }

    /// Returns the number of entries of the spectrum of the second factor of a product.
    fn factor_points(shape: &Self::Shape) -> usize {
        Self::spectrum_points(shape)
    }
}

/// The items that an engine family on a device needs in addition to the methods of the CPU family
/// with the same name. The trait is implemented for the type of that CPU family.
pub(super) trait Family: Arithmetic<Layout = WordLayout> + EngineFamily + Default {
    /// Returns whether the kernels can check the squarings of an engine by sums.
    fn can_check_squarings(_p: u32, _length: usize) -> bool {
        false
    }

    /// Returns whether the family is faster than the exact families on a device
    /// ([`EngineFamily::outruns_exact_families`]).
    fn outruns_exact_families_on(_device: &Device) -> bool {
        false
    }

    /// Returns the kernels that a Lucas–Lehmer test with checked squarings compiles; none if the
    /// kernels cannot check squarings.
    fn checked_parts() -> Vec<Part> {
        vec![]
    }

    /// Returns the transform lengths, in words, in ascending order. A given device may support only
    /// some of these lengths.
    fn all_lengths() -> Vec<usize>;

    /// Returns whether some longer transform length is known to be faster than `length`. The result
    /// applies to GPU models that have a table in [`super::known`].
    fn is_outrun(length: usize) -> bool;

    /// Returns the range of exponents on a device. `lengths` contains the transform lengths that
    /// the device supports, in ascending order.
    fn exponents(lengths: &[usize]) -> RangeInclusive<u32>;

    /// Returns the error message for an exponent outside the range `exponents`. The message names
    /// the range.
    fn exponents_are(exponents: &RangeInclusive<u32>) -> String;

    /// The error message for a transform length that the device does not support.
    const LENGTHS_ARE: &'static str;

    /// Returns the margin for the exponent p at a transform length. The device must support the
    /// exponent and the length. Returns an error if words of p/length bits are too short or too
    /// long for the kernels.
    fn margin_on_device(p: u32, length: usize) -> Result<Margin, EngineError>;

    /// Returns the engines for other numbers than Mersenne numbers; `None` if the family has none.
    fn others() -> Option<&'static dyn Others> {
        None
    }

    /// Returns the work of a squaring with a shape, as counts of operations.
    fn work_of(shape: &Self::Shape) -> Work;

    /// Returns the number of bytes of device memory that an engine needs in addition to its
    /// registers and the memory for sums. `shape` is `None` if the device supports no shape of the
    /// length. Returns `None` if the number is not known.
    fn bytes_beside_registers(length: usize, shape: Option<&Self::Shape>) -> Option<u64>;

    /// Returns the error message for a variant number that is too large. `shapes` is the number of
    /// shapes.
    fn no_shape(variant: usize, shapes: usize) -> String;

    /// Returns [`EngineError::Unusable`] for an exponent at a transform length, with the given
    /// reason.
    fn unusable(exponent: u32, length: usize, reason: String) -> EngineError {
        let number = exponent.into();
        EngineError::Unusable { engine: Self::arithmetic(), number, length, reason }
    }
}

/// The engines of a family on a device for numbers that are no Mersenne numbers.
pub(super) trait Others: Sync {
    /// Returns the margin of a number at a transform length of the device.
    fn margin(&self, number: Number, length: usize) -> Result<Margin, EngineError>;

    /// Returns whether there are kernels for the number at a transform length, if a block can have `shared_memory` bytes.
    fn has_shape(&self, number: Number, length: usize, shared_memory: u32) -> bool;

    /// Returns the number of digits for which an engine needs memory in addition to those of registers.
    fn digits_of_products(&self, _number: Number, _length: usize) -> usize {
        0
    }

    /// Builds an engine for a number at a transform length of the device. If there are `gangs` and the kernels
    /// can square several numbers in one launch, the engine joins one of them.
    fn build(
        &self,
        device: &Device,
        gangs: Option<&Gangs>,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError>;
}

/// The layout of the words of a residue, for the registers of a [`Machine`](machine::Machine).
pub(super) trait Layout: Send {
    /// The name of the kernel that adds and subtracts registers.
    const COMBINE: &'static str;

    /// Whether products are reduced by a kernel of [`Self::reduction`] before they are transformed again. There is
    /// no kernel `columns` then.
    const REDUCES: bool = false;

    /// Returns the source of the kernel [`Self::COMBINE`].
    fn combine_source() -> Source {
        machine::words_source(Self::COMBINE)
    }

    /// Returns the reduction of products if [`Self::REDUCES`].
    fn reduction(&self, _: &Device) -> Result<Option<Reduction>, DeviceError> {
        Ok(None)
    }

    /// Returns the modulus N.
    fn number(&self) -> Number;

    /// Returns the number of words of a residue.
    fn len(&self) -> usize;

    /// Returns the digits of the register that holds x·2^shift mod N.
    fn digits_of(&self, x: &Residue, shift: Shift) -> Vec<i32>;

    /// Returns the residue x, 0 ≤ x < N, if the register that has these digits holds x·2^shift mod N.
    fn residue_of(&self, digits: &[i32], shift: Shift) -> Residue;

    /// Returns the arguments of the kernel [`Self::COMBINE`] that follow the sign, but for the number of
    /// words, which is the last one.
    fn combine_args(&self) -> Vec<Arg>;

    /// Returns whether the constants by which the layout reduces are unchanged ([`Engine::is_intact`]).
    fn is_intact(&self) -> bool {
        true
    }
}

impl Layout for WordLayout {
    const COMBINE: &'static str = "combine";

    fn number(&self) -> Number {
        self.exponent().into()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn digits_of(&self, x: &Residue, shift: Shift) -> Vec<i32> {
        self.par_balanced_digits(&x.rotated_left(shift.bits()))
    }

    fn residue_of(&self, digits: &[i32], shift: Shift) -> Residue {
        self.par_residue(digits).rotated_right(shift.bits())
    }

    fn combine_args(&self) -> Vec<Arg> {
        vec![Arg::U32(self.exponent())]
    }
}

/// The tables of twiddles and weights. All kernels of columns read `columns`, and all kernels of
/// rows read `rows`.
pub(super) struct LineTables<P> {
    pub(super) columns: Vec<P>,
    pub(super) rows: Vec<P>,
}

/// The layout of the words of a residue. The type also provides the arguments and tables of the
/// kernels of columns, as far as the layout determines them, and evaluates the errors that these
/// kernels report.
pub(super) trait Words<A: Arithmetic>: Send + Sized {
    /// The number of squarings in a CUDA graph. Launching a graph costs the host as much as
    /// launching one kernel.
    const GRAPH_SQUARINGS: u64;

    /// The largest number of products between two calls of [`Self::sync`].
    const MOST_UNSYNCED: u64;

    /// The number of squarings in which round-off is always measured after a register has been
    /// written or a sum has been computed. Later, round-off is measured in some squarings only.
    const WATCHED: u64;

    /// The length of the array `addend`. From this array, kernels read the word and bit at which 2
    /// is to be subtracted. Its first entry is the shift of the residue. The kernel `square_rows`
    /// doubles the shift and computes the other entries from it.
    const ADDEND: usize;

    /// Creates the layout's data on the device. Also returns the tables of the kernels of columns
    /// and of rows. If `check`, squarings are checked; the family must be able to check them.
    fn new(
        device: &Device,
        layout: &A::Layout,
        shape: &A::Shape,
        check: bool,
    ) -> Result<(Self, LineTables<A::Point>), EngineError>;

    /// Returns whether the kernels that propagate carries can multiply a product by m.
    fn takes_multiplier(&self, m: u32) -> bool;

    /// Returns the arguments of `digits_to_spectrum` that follow the tables.
    fn digit_args(&mut self) -> Vec<Arg>;

    /// Returns the arguments of `columns` and `spectrum_to_digits` that follow the tables.
    /// `scratch` contains the buffers `carries`, `tickets` and `addend` as arguments, in this
    /// order.
    fn carry_args(&mut self, scratch: [Arg; 3], step: Step) -> Vec<Arg>;

    /// Waits for the device and evaluates the round-off that was measured since the last call, and
    /// the check of squarings. Returns an error if the round-off of a product is too large, if a
    /// squaring is wrong, or if the device failed.
    fn sync(&mut self, device: &Device) -> Result<(), EngineError>;

    /// Returns the check of squarings; `None` if squarings are not checked.
    fn squares(&mut self) -> Option<&mut SquareCheck> {
        None
    }

    /// Returns error statistics of the measured products since the engine was built.
    fn health(&self) -> Health;
}
