//! Engines on a device: two kernels per squaring, written once for all kinds of arithmetic.
//!
//! | file | subject |
//! |---|---|
//! | `family` | [`OnDevice`]: lengths, margins, variants |
//! | `shape` | the division of a transform among the threads of the kernels |
//! | `kernels` | sources and builds of the kernels |
//! | `products` | spectrum, tables and launches |
//! | `machine` | the register machine on top of them |
//!
//! A transform of R·C points is computed along the columns, then along the rows. The kernel of rows
//! transforms, squares and transforms back. The kernel of columns transforms back, carries the
//! words and transforms again. Fusing the carries with the transforms of columns, and passing
//! carries from block to block, follows Mihai Preda's *PRPLL*. The parts that differ between
//! families are an [`Arithmetic`]: points, tables, margins and the texts of both kernels.

mod family;
mod kernels;
mod machine;
mod products;
mod shape;

use std::ops::RangeInclusive;

use bytemuck::Pod;
use warpint_device::{Arg, Device, Source};

use super::{EngineError, EngineFamily, Health, Margin, Step, Work};
use crate::layout::WordLayout;

pub use family::OnDevice;
pub(super) use family::sources;
pub(super) use kernels::{Part, StepKind};
pub(super) use shape::{Line, MAX_THREADS, REGISTERS, Shape, resident};
#[cfg(test)]
pub(super) use {family::lengths, shape::SHARED_MEMORY};
#[cfg(all(test, feature = "sim"))]
pub(super) use {machine::Machine, products::Products};

/// The parts of a family on a device in which it differs from other families, beyond those of the
/// CPU family.
pub(super) trait Arithmetic: EngineFamily + Default + Send + 'static {
    /// The type of a point of the spectrum and of the tables.
    type Point: Pod + Send;

    /// The type of a transform's shape.
    type Shape: Shape;

    /// The type of the words of a number as the kernels of columns see them.
    type Words: Words<Self>;

    /// The text of `columns.cu`, with the kernels `digits_to_spectrum`, `columns` and
    /// `spectrum_to_digits`.
    const COLUMNS: &'static str;

    /// The text of `rows.cu`, with the kernels `square_rows`, `forward_rows` and `multiply_rows`.
    const ROWS: &'static str;

    /// Whether `columns` and `spectrum_to_digits` are built for each kind of step, and `columns`
    /// both with and without measuring round-off. Otherwise one build of each serves all steps.
    const SPECIALISED: bool;

    /// Adds the headers and constants that only this family needs to a kernel's source.
    fn specialise(source: Source, shape: &Self::Shape, p: u32, part: Part) -> Source;

    /// Returns all lengths in words that any device supports, ascending.
    fn all_lengths() -> Vec<usize>;

    /// Returns whether a longer length is known to be faster than this one on the GPUs of
    /// [`super::known`].
    fn is_outrun(length: usize) -> bool;

    /// Returns the range of exponents that a device with these lengths supports; the lengths are
    /// ascending.
    fn exponents(lengths: &[usize]) -> RangeInclusive<u32>;

    /// Returns the reason for refusing an exponent outside the range. The text names the range.
    fn exponents_are(exponents: &RangeInclusive<u32>) -> String;

    /// The reason for refusing an unsupported length. The text names the supported lengths.
    const LENGTHS_ARE: &'static str;

    /// Returns the margin of an exponent at a length, both supported by the device.
    fn margin_on_device(p: u32, length: usize) -> Result<Margin, EngineError>;

    /// Returns the work of a squaring on a device.
    fn work_of(shape: &Self::Shape) -> Work;

    /// Returns the bytes of device memory that an engine needs beside its registers, with the given
    /// shape or, for `None`, without one; `None` if the number is not known.
    fn bytes_beside_registers(length: usize, shape: Option<&Self::Shape>) -> Option<u64>;

    /// Returns the message for a variant number at or above the number of shapes.
    fn no_shape(variant: usize, shapes: usize) -> String;

    /// Returns the error that an engine cannot be built for p bits at a length.
    fn unusable(exponent: u32, length: usize, reason: String) -> EngineError {
        EngineError::Unusable { engine: Self::default().name(), exponent, length, reason }
    }
}

/// The tables that all kernels of columns, or all kernels of rows, read.
pub(super) struct LineTables<P> {
    pub(super) columns: Vec<P>,
    pub(super) rows: Vec<P>,
}

/// The words of a number as the kernels of columns see them: their arguments, tables and reported
/// errors.
pub(super) trait Words<A: Arithmetic>: Send + Sized {
    /// The number of squarings in a graph. Launching a graph costs the host as much as launching
    /// one kernel.
    const GRAPH_SQUARINGS: u64;

    /// The largest number of products between two calls of [`Self::sync`].
    const MOST_UNSYNCED: u64;

    /// The number of squarings that are all measured after a register was written or a sum was
    /// computed.
    const WATCHED: u64;

    /// The length of the array that says where 2 is to be subtracted; its first number is the
    /// shift.
    const ADDEND: usize;

    /// Creates the words, and the tables of the kernels of columns and of rows.
    fn new(
        device: &Device,
        layout: WordLayout,
        shape: &A::Shape,
    ) -> Result<(Self, LineTables<A::Point>), EngineError>;

    /// Returns whether the carry kernel can multiply a product by m.
    fn takes_multiplier(&self, m: u32) -> bool;

    /// Returns the arguments of `digits_to_spectrum` that follow the tables.
    fn digit_args(&self) -> Vec<Arg>;

    /// Returns the arguments of `columns` and `spectrum_to_digits` that follow the tables.
    /// `scratch` contains the carries, the tickets and the place of the addend.
    fn carry_args(&mut self, scratch: [Arg; 3], step: Step) -> Vec<Arg>;

    /// Waits for the device and evaluates the errors of the products made since the last call.
    fn sync(&mut self, device: &Device) -> Result<(), EngineError>;

    /// Returns error statistics, see [`Engine::health`](super::Engine::health).
    fn health(&self) -> Health;
}
