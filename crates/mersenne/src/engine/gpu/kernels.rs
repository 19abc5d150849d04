//! The kernels for a shape: their sources, and when each of them is built.

use warpint_device::{Device, DeviceError, Kernel, Source, common};

use super::{Arithmetic, Layout as _, Line, Shape, squares};
use crate::Number;
use crate::engine::{BuildOptions, Step};

/// The operation on the words of a product before their carries are propagated. It is compiled into
/// the kernels of columns if the family has specialised kernels ([`Arithmetic::SPECIALISED`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum StepKind {
    Square,
    MinusTwo,
    Times,
}

impl From<Step> for StepKind {
    fn from(step: Step) -> Self {
        match step {
            Step::Square => Self::Square,
            Step::SquareMinusTwo => Self::MinusTwo,
            Step::SquareTimes(_) => Self::Times,
        }
    }
}

/// A kernel, together with the options with which it is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Part {
    /// The kernel that transforms digits to a spectrum.
    DigitsToSpectrum,
    /// The kernel that reduces the digits of a product and transforms them to a spectrum, for multipliers k of
    /// `factors` digits.
    ProductToSpectrum { factors: u32 },
    /// The kernel that transforms a spectrum to digits, propagates carries, and transforms the
    /// digits to a spectrum again. If `measured`, it also measures round-off.
    Columns { step: StepKind, measured: bool },
    /// The kernel that transforms a spectrum to digits and propagates carries. If `measured`, it also measures
    /// round-off.
    SpectrumToDigits { step: StepKind, measured: bool },
    /// The kernel that makes the sum over digits by which squarings are checked.
    SumDigits,
    /// A kernel of rows.
    Rows(RowsKind),
    /// A kernel of exact rows, which only some families have ([`Arithmetic::exact_rows`]).
    ExactRows(RowsKind),
}

/// What a kernel of rows does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum RowsKind {
    /// Transforms rows, squares them point by point, and transforms them back.
    Square,
    /// Transforms rows and does not transform them back.
    Forward,
    /// Transforms rows, multiplies them point by point by rows of a second spectrum, and transforms
    /// them back.
    Multiply,
}

impl Part {
    /// Returns the name of the kernel function.
    fn name(self) -> &'static str {
        match self {
            Self::DigitsToSpectrum => "digits_to_spectrum",
            Self::ProductToSpectrum { .. } => "product_to_spectrum",
            Self::Columns { .. } => "columns",
            Self::SpectrumToDigits { .. } => "spectrum_to_digits",
            Self::SumDigits => "sum_digits",
            Self::Rows(RowsKind::Square) => "square_rows",
            Self::Rows(RowsKind::Forward) => "forward_rows",
            Self::Rows(RowsKind::Multiply) => "multiply_rows",
            Self::ExactRows(RowsKind::Square) => "square_exact_rows",
            Self::ExactRows(RowsKind::Forward) => "forward_exact_rows",
            Self::ExactRows(RowsKind::Multiply) => "multiply_exact_rows",
        }
    }

    /// Returns the value of the macro KIND for the kernel, in the file that has its source.
    fn kind(self) -> u32 {
        match self {
            Self::DigitsToSpectrum => 0,
            Self::Columns { .. } => 1,
            Self::SpectrumToDigits { .. } => 2,
            Self::SumDigits => 3,
            Self::ProductToSpectrum { .. } => 4,
            Self::Rows(kind) | Self::ExactRows(kind) => kind as u32,
        }
    }

    /// Returns whether the kernel is in `columns.cu`; otherwise it is in `rows.cu` or
    /// `exact_rows.cu`.
    pub(in crate::engine) fn is_of_columns(self) -> bool {
        !matches!(self, Self::Rows(_) | Self::ExactRows(_))
    }

    fn shared_bytes<A: Arithmetic>(self, shape: &A::Shape, sums: bool) -> u32 {
        match self {
            Self::Rows(_) => shape.row_shared_bytes(),
            Self::ExactRows(_) => A::exact_rows(shape).map_or(0, |rows| rows.shared_bytes),
            _ => {
                let factors = if sums { squares::shared_bytes(shape.column().q) } else { 0 };
                shape.column_shared_bytes() + factors
            }
        }
    }
}

/// The kernels of exact rows of a family, and how they are launched for a shape.
pub(in crate::engine) struct ExactRows {
    /// The source text of `exact_rows.cu`, with the kernels `square_exact_rows`,
    /// `forward_exact_rows` and `multiply_exact_rows`.
    pub(in crate::engine) text: &'static str,
    pub(in crate::engine) blocks: u32,
    /// The number of threads of a block.
    pub(in crate::engine) threads: u32,
    /// The shared memory of a block, in bytes.
    pub(in crate::engine) shared_bytes: u32,
    /// The number of blocks that should run on a multiprocessor at a time.
    pub(in crate::engine) resident_blocks: u32,
}

/// Returns the kernels of rows of `kind` that a family needs.
fn rows<A: Arithmetic>(shape: &A::Shape, kind: RowsKind) -> Vec<Part> {
    let exact = A::exact_rows(shape).map(|_| Part::ExactRows(kind));
    [Part::Rows(kind)].into_iter().chain(exact).collect()
}

/// Returns the kernels that every squaring needs, whatever its [`Step`] is. If a kernel reduces products, k has
/// `factors` digits.
fn common<A: Arithmetic>(shape: &A::Shape, factors: Option<u32>) -> Vec<Part> {
    let mut parts = vec![Part::DigitsToSpectrum];
    parts.extend(factors.map(|factors| Part::ProductToSpectrum { factors }));
    parts.extend(rows::<A>(shape, RowsKind::Square));
    parts
}

/// Returns the kernels that a product of two registers needs in addition to the kernels that
/// propagate carries.
fn product<A: Arithmetic>(shape: &A::Shape) -> Vec<Part> {
    [RowsKind::Forward, RowsKind::Multiply].map(|kind| rows::<A>(shape, kind)).concat()
}

/// Returns the kernels that propagate the carries of a step. Kernels that do not measure round-off
/// are included only if `all` is true and the family builds such kernels.
fn carrying<A: Arithmetic>(step: Step, all: bool) -> Vec<Part> {
    let step = A::kind(step);
    let to_digits = |measured| Part::SpectrumToDigits { step, measured };
    let columns = |measured| Part::Columns { step, measured };
    let mut measured = vec![to_digits(true)];
    if !A::Layout::REDUCES {
        measured.push(columns(true));
    }
    let other = if A::Layout::REDUCES { to_digits(false) } else { columns(false) };
    measured.extend((A::SPECIALISED && all).then_some(other));
    measured
}

/// What an engine is for. It determines which kernels are built with the engine.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Use {
    /// The step of most squarings, if kernels are built for it.
    ahead: Option<Step>,
    /// Whether the engine has registers to multiply.
    multiplies: bool,
    /// Whether kernels of columns make the sums by which squarings are checked.
    pub(in crate::engine) sums: bool,
}

impl From<BuildOptions> for Use {
    fn from(options: BuildOptions) -> Self {
        let BuildOptions { registers, ahead, check_squarings, .. } = options;
        Self { ahead, multiplies: registers > 1, sums: check_squarings }
    }
}

/// Returns the kernels that are built with an engine. If a kernel reduces products, k has `factors` digits.
fn first_parts<A: Arithmetic>(shape: &A::Shape, of: Use, factors: Option<u32>) -> Vec<Part> {
    let mut parts = common::<A>(shape, factors);
    parts.extend(of.sums.then_some(Part::SumDigits));
    // Without specialised kernels, all steps have the same ones.
    let step = if A::SPECIALISED { of.ahead } else { Some(Step::Square) };
    parts.extend(step.into_iter().flat_map(|step| carrying::<A>(step, true)));
    if of.multiplies && of.ahead.is_some() {
        for part in product::<A>(shape).into_iter().chain(carrying::<A>(Step::Square, false)) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    parts
}

/// Returns the sources of the kernels that are built with an engine. If a kernel reduces products, k has
/// `factors` digits.
pub(super) fn first_sources<A: Arithmetic>(
    shape: &A::Shape,
    number: Number,
    of: Use,
    factors: Option<u32>,
) -> Vec<Source> {
    let parts = first_parts::<A>(shape, of, factors).into_iter();
    parts.map(|part| source::<A>(shape, number, part, of.sums)).collect()
}

/// Returns the kernels that an engine compiles by default: all except the kernels for
/// [`Step::SquareTimes`]. If a kernel reduces products, k has `factors` digits.
pub(super) fn default_parts<A: Arithmetic>(shape: &A::Shape, factors: Option<u32>) -> Vec<Part> {
    let mut parts = common::<A>(shape, factors);
    for part in [Step::Square, Step::SquareMinusTwo].map(|step| carrying::<A>(step, true)).concat()
    {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.extend(product::<A>(shape));
    parts
}

/// Returns the source of the kernel `part`, for a shape and a number. If `sums`, kernels of
/// columns make the sums by which squarings are checked.
pub(in crate::engine) fn source<A: Arithmetic>(
    shape: &A::Shape,
    number: Number,
    part: Part,
    sums: bool,
) -> Source {
    let of_columns = part.is_of_columns();
    let exact = if matches!(part, Part::ExactRows(_)) { A::exact_rows(shape) } else { None };
    let (file, text) = match &exact {
        _ if of_columns => ("columns.cu", A::COLUMNS),
        Some(rows) => ("exact_rows.cu", rows.text),
        None => ("rows.cu", A::ROWS),
    };
    let Line { q, a, b } = if of_columns { shape.column() } else { shape.row() };
    let source = Source::new(file, text, &[part.name()])
        .headers(common::HEADERS)
        .define("KIND", part.kind())
        .define("OUTER_RADIX", q)
        .define("RADIX_A", a)
        .define("RADIX_B", b)
        .define("CHUNK", shape.chunk());
    let source = match part {
        Part::ProductToSpectrum { factors } => source.define("FACTORS", factors),
        _ => source,
    };
    let source = if of_columns {
        source
            .define("WIDTH", shape.width())
            .define("COLUMNS", shape.columns())
            .define("THREADS", shape.column_threads())
            .define("BLOCKS", shape.resident_column_blocks())
    } else {
        let (threads, blocks) = match exact {
            Some(rows) => (rows.threads, rows.resident_blocks),
            None => (shape.row_threads(), shape.resident_row_blocks()),
        };
        source.define("ROWS", shape.rows()).define("THREADS", threads).define("BLOCKS", blocks)
    };
    A::specialise(source, shape, number, part, sums)
}

/// Returns the sources of the kernels that square several numbers in one launch: of rows, of columns, and of
/// columns with the measurement of round-off.
pub(super) fn sources_of_gang<A: Arithmetic>(shape: &A::Shape, number: Number) -> [Source; 3] {
    let columns = |measured| Part::Columns { step: A::kind(Step::Square), measured };
    let parts = [Part::Rows(RowsKind::Square), columns(false), columns(true)];
    parts.map(|part| source::<A>(shape, number, part, false).define("GANG", 1))
}

/// The kernels that have been built so far for an engine.
pub(super) struct Kernels<A: Arithmetic> {
    device: Device,
    shape: A::Shape,
    number: Number,
    /// Whether kernels of columns make the sums by which squarings are checked.
    sums: bool,
    built: Vec<(Part, Kernel)>,
}

impl<A: Arithmetic> Kernels<A> {
    /// Builds the kernels that every squaring needs, and those that the engine is known to need, all at the same
    /// time. If a kernel reduces products, k has `factors` digits.
    pub(super) fn new(
        device: &Device,
        shape: A::Shape,
        number: Number,
        of: Use,
        factors: Option<u32>,
    ) -> Result<Self, DeviceError> {
        let sums = of.sums;
        let mut kernels = Self { device: device.clone(), shape, number, sums, built: vec![] };
        let parts = first_parts::<A>(&kernels.shape, of, factors);
        kernels.build(&parts)?;
        Ok(kernels)
    }

    /// Builds the kernels that propagate the carries of a step. Kernels that do not measure
    /// round-off are built only if `all` is true.
    pub(super) fn prepare(&mut self, step: Step, all: bool) -> Result<(), DeviceError> {
        self.build(&carrying::<A>(step, all))
    }

    /// Builds the kernels that a product of two registers needs in addition to the kernels that
    /// [`Self::prepare`] builds.
    pub(super) fn prepare_product(&mut self) -> Result<(), DeviceError> {
        self.build(&product::<A>(&self.shape))
    }

    /// Builds the kernels in `parts` that have not been built yet, in parallel.
    fn build(&mut self, parts: &[Part]) -> Result<(), DeviceError> {
        let new: Vec<Part> =
            parts.iter().copied().filter(|part| self.find(*part).is_none()).collect();
        let sources: Vec<Source> = new
            .iter()
            .map(|part| source::<A>(&self.shape, self.number, *part, self.sums))
            .collect();
        let programs = self.device.programs(&sources)?;
        for (part, program) in new.into_iter().zip(programs) {
            let kernel =
                program.kernel(part.name(), part.shared_bytes::<A>(&self.shape, self.sums))?;
            self.built.push((part, kernel));
        }
        Ok(())
    }

    fn find(&self, part: Part) -> Option<&Kernel> {
        self.built.iter().find(|(of, _)| *of == part).map(|(_, kernel)| kernel)
    }

    /// Returns the shared memory of a block of the kernels of columns, in bytes.
    pub(super) fn column_shared_bytes(&self) -> u32 {
        Part::DigitsToSpectrum.shared_bytes::<A>(&self.shape, self.sums)
    }

    /// Returns the kernel `part`. Returns an error if the kernel has not been built.
    pub(super) fn get(&self, part: Part) -> Result<&Kernel, DeviceError> {
        self.find(part).ok_or_else(|| DeviceError::Failed {
            what: part.name().into(),
            message: "the kernel was not built".into(),
        })
    }

    /// Returns the kernel that transforms the spectrum of a product to digits. [`Self::prepare`]
    /// must have built the kernel. It measures round-off if `measured` is true, or if no kernel without the
    /// measurement has been built.
    pub(super) fn spectrum_to_digits(
        &self,
        step: Step,
        measured: bool,
    ) -> Result<&Kernel, DeviceError> {
        self.measuring(measured, |measured| Part::SpectrumToDigits {
            step: A::kind(step),
            measured,
        })
    }

    /// Returns the kernel that transforms a spectrum to digits and back to a spectrum.
    /// [`Self::prepare`] must have built the kernel. It measures round-off if `measured` is true,
    /// or if no kernel without the measurement has been built.
    pub(super) fn columns(&self, step: Step, measured: bool) -> Result<&Kernel, DeviceError> {
        self.measuring(measured, |measured| Part::Columns { step: A::kind(step), measured })
    }

    /// Returns the kernel `part(measured)`, or `part(true)` if that has not been built.
    fn measuring(
        &self,
        measured: bool,
        part: impl Fn(bool) -> Part,
    ) -> Result<&Kernel, DeviceError> {
        let unmeasured = if measured { None } else { self.find(part(false)) };
        unmeasured.map_or_else(|| self.get(part(true)), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64::Fp64;
    use crate::engine::goldilocks::Goldilocks;

    const SHARED: u32 = 227 << 10;

    /// Checks for a transform length that kernels built ahead are all that the squarings and products need, and that without a
    /// known step only those of every squaring are built.
    fn check_ahead<A: Arithmetic>(length: usize) {
        let shape = &A::Shape::best(length, SHARED).unwrap();
        for step in [Step::Square, Step::SquareMinusTwo] {
            for sums in [false, true] {
                let of = Use { ahead: Some(step), multiplies: true, sums };
                let parts = first_parts::<A>(shape, of, None);
                let distinct =
                    |part: &Part| parts.iter().filter(|other| *other == part).count() == 1;
                assert!(parts.iter().all(distinct), "{parts:?}");
                let needed = [common::<A>(shape, None), carrying::<A>(step, true)].concat();
                let products = [product::<A>(shape), carrying::<A>(Step::Square, false)].concat();
                let all = needed.iter().chain(&products);
                assert!(all.clone().all(|part| parts.contains(part)), "{step:?}: {parts:?}");
                assert_eq!(parts.contains(&Part::SumDigits), sums);

                let single = first_parts::<A>(shape, Use { multiplies: false, ..of }, None);
                assert!(needed.iter().all(|part| single.contains(part)), "{step:?}: {single:?}");
                assert!(!product::<A>(shape).iter().any(|part| single.contains(part)));
            }
        }
        let later = first_parts::<A>(shape, BuildOptions::new(3, 1).into(), None);
        let specialised = later.iter().any(|part| matches!(part, Part::Columns { .. }));
        assert_eq!(specialised, !A::SPECIALISED, "{later:?}");
    }

    #[test]
    fn kernels_are_built_ahead_for_a_known_step() {
        check_ahead::<Fp64>(393_216);
        check_ahead::<Goldilocks>(1 << 18);
    }
}
