//! Products of registers, computed by the kernels.

use warpint_device::{
    Arg, Buffer, Capture, Device, DeviceError, Kernel, Launch, assert_room, structure,
};

use super::kernels::{Kernels, Part, RowsKind, Use, sources_of_gang};
use super::reduction::Reduction;
use super::{Arithmetic, Layout as _, Shape, Words, gang};
use crate::Shift;
use crate::engine::{EngineError, Step};

/// The index of the next ticket in [`Products::tickets`]: NEXT in the kernels.
const NEXT: usize = 2;
/// The bit of the next ticket that means that a block has given up a wait (`wait.cuh`).
const GIVEN_UP: u64 = 1 << 63;

/// A launch of a kernel with its arguments.
pub(super) struct Call<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) launch: Launch,
    pub(super) args: Vec<Arg>,
    pub(super) begins_early: bool,
}

impl Call<'_> {
    pub(super) fn make(&self) -> Result<(), DeviceError> {
        // SAFETY: only `Products` and its reduction create calls, and the calls borrow from them. They pass
        // their own kernels the parameters that they declare: spectra, tables, carries, tickets, addend and
        // errors were made for the shape of the launch, and there are as many digits as the layout
        // has words.
        unsafe { self.kernel.launch(self.launch, &self.args) }
    }

    /// Records the launch in a graph. If the family allows it for the shape
    /// ([`Arithmetic::begins_early`]), the launch may begin before the previous one in the graph has
    /// ended.
    pub(super) fn record(&self, capture: &Capture<'_>) {
        // SAFETY: as in `make`. `Products` keeps its buffers as long as the machine has the graph.
        // The kernels of a squaring wait for the previous launch, and declare nothing `const
        // __restrict__` that it writes.
        unsafe {
            if self.begins_early {
                capture.launch_early(self.kernel, self.launch, &self.args);
            } else {
                capture.launch(self.kernel, self.launch, &self.args);
            }
        }
    }
}

/// The spectrum of a residue, and the other buffers that the kernels of a product write.
///
/// Methods enqueue work on the device and do not wait for it. Only [`Self::sync`] waits, and
/// reports failures.
pub(in crate::engine) struct Products<A: Arithmetic> {
    device: Device,
    passes: Passes<A>,
    pub(in crate::engine) words: A::Words,
    /// The spectrum of the second factor of a product; `None` before the first product of two
    /// registers.
    factor: Option<Buffer<A::Point>>,
    pub(in crate::engine) spectrum: Buffer<A::Point>,
    carries: Buffer<u64>,
    /// An unused word and two counters. The second counter is the ticket that the next block takes,
    /// with the bit [`GIVEN_UP`]. With the first, the first block of a launch reports that it has read
    /// its columns.
    tickets: Buffer<u64>,
    /// The array from which kernels read the word and bit at which 2 is to be subtracted. Its first
    /// entry is the shift of the residue ([`Words::ADDEND`]).
    addend: Buffer<u64>,
    /// The reduction of products; `None` if the kernels of columns compute residues.
    reduction: Option<Reduction>,
}

/// The kernels of products, and the tables that they read.
struct Passes<A: Arithmetic> {
    layout: A::Layout,
    shape: A::Shape,
    kernels: Kernels<A>,
    column_tables: Buffer<A::Point>,
    row_tables: Buffer<A::Point>,
}

impl<A: Arithmetic> Passes<A> {
    /// Returns a launch of a kernel of columns with `blocks` blocks.
    fn columns<'a>(&self, kernel: &'a Kernel, blocks: u32, args: Vec<Arg>) -> Call<'a> {
        let launch = Launch::linear(blocks, self.shape.column_threads());
        let begins_early = A::begins_early(&self.shape);
        let launch = launch.shared(self.kernels.column_shared_bytes());
        Call { kernel, launch, args, begins_early }
    }

    /// Returns the launches of the kernels of rows of a kind: one, and another for exact rows if the
    /// family has them. `args` are the arguments of the former, of which the latter takes the first
    /// `shared`.
    fn rows(
        &self,
        kind: RowsKind,
        args: Vec<Arg>,
        shared: usize,
    ) -> Result<Vec<Call<'_>>, DeviceError> {
        let begins_early = A::begins_early(&self.shape);
        let mut calls = vec![];
        if let Some(rows) = A::exact_rows(&self.shape) {
            let launch = Launch::linear(rows.blocks, rows.threads).shared(rows.shared_bytes);
            let kernel = self.kernels.get(Part::ExactRows(kind))?;
            calls.push(Call { kernel, launch, args: args[..shared].to_vec(), begins_early });
        }
        let launch = Launch::linear(self.shape.row_blocks(), self.shape.row_threads());
        let launch = launch.shared(self.shape.row_shared_bytes());
        let kernel = self.kernels.get(Part::Rows(kind))?;
        calls.insert(0, Call { kernel, launch, args, begins_early });
        Ok(calls)
    }

    /// Returns the launch that sets `spectrum` to the transforms of the digits along the columns.
    fn digits_to(
        &self,
        words: &mut A::Words,
        spectrum: &mut Buffer<A::Point>,
        digits: &Buffer<i32>,
    ) -> Result<Call<'_>, DeviceError> {
        assert_room("digits", digits.len(), self.layout.len());
        let mut args = vec![spectrum.into(), digits.into(), Arg::from(&self.column_tables)];
        args.extend(words.digit_args());
        args.extend(words.squares().into_iter().flat_map(|squares| squares.start_args(false)));
        let kernel = self.kernels.get(Part::DigitsToSpectrum)?;
        Ok(self.columns(kernel, self.shape.tiles(), args))
    }
}

impl<A: Arithmetic> Products<A> {
    /// Creates the buffers and kernels of a shape, for the use of the engine. If `of.sums`, squarings are
    /// checked.
    pub(in crate::engine) fn new(
        device: &Device,
        layout: A::Layout,
        shape: A::Shape,
        of: Use,
    ) -> Result<Self, EngineError> {
        let (words, tables) = A::Words::new(device, &layout, &shape, of.sums)?;
        let reduction = layout.reduction(device)?;
        let factors = reduction.as_ref().map(Reduction::factors);
        let mut carries = device.alloc((shape.tiles() * shape.rows()) as usize)?;
        carries.clear()?;
        let mut spectrum = device.alloc(A::spectrum_points(&shape))?;
        spectrum.clear()?;
        Ok(Self {
            spectrum,
            carries,
            tickets: device.upload(&[0; NEXT + 1])?,
            addend: device.upload(&vec![0; A::Words::ADDEND])?,
            passes: Passes {
                column_tables: device.upload(&tables.columns)?,
                row_tables: device.upload(&tables.rows)?,
                kernels: Kernels::new(device, shape, layout.number(), of, factors)?,
                layout,
                shape,
            },
            factor: None,
            reduction,
            device: device.clone(),
            words,
        })
    }

    /// Prepares squarings of a residue with the shift `shift`. `step` is the kind of the squarings.
    /// If `measured` is true, builds only kernels that measure round-off. Otherwise, builds all
    /// kernels of the step.
    pub(in crate::engine) fn prepare(
        &mut self,
        step: Step,
        shift: Shift,
        measured: bool,
    ) -> Result<(), EngineError> {
        if step == Step::SquareMinusTwo {
            let mut addend = vec![0; A::Words::ADDEND];
            addend[0] = u64::from(shift.bits());
            self.addend.upload(&addend)?;
        }
        Ok(self.passes.kernels.prepare(step, !measured)?)
    }

    /// Sets the spectrum to the transforms of the digits along the columns.
    ///
    /// # Panics
    /// Panics if there are fewer digits than words of the layout.
    pub(super) fn digits_to_spectrum(&mut self, digits: &Buffer<i32>) -> Result<(), EngineError> {
        Ok(self.passes.digits_to(&mut self.words, &mut self.spectrum, digits)?.make()?)
    }

    /// Makes the sum over the digits again, after another root was drawn.
    ///
    /// # Panics
    /// Panics if there are fewer digits than words of the layout.
    pub(super) fn sum_digits(&mut self, digits: &Buffer<i32>) -> Result<(), EngineError> {
        assert_room("digits", digits.len(), self.passes.layout.len());
        let mut args = vec![Arg::from(digits)];
        args.extend(self.words.digit_args());
        let squares = self.words.squares().into_iter();
        args.extend(squares.flat_map(|squares| squares.start_args(true)));
        let kernel = self.passes.kernels.get(Part::SumDigits)?;
        Ok(self.passes.columns(kernel, self.passes.shape.tiles(), args).make()?)
    }

    /// Returns the arguments that the kernels `columns` and `spectrum_to_digits` have in common.
    /// These are the tables and all arguments after them.
    fn carry_args(&mut self, step: Step) -> Vec<Arg> {
        let scratch = [&mut self.carries, &mut self.tickets, &mut self.addend].map(Arg::from);
        let mut args = vec![Arg::from(&self.passes.column_tables)];
        args.extend(self.words.carry_args(scratch, step));
        args.extend(self.words.squares().into_iter().flat_map(|squares| squares.launch_args()));
        args
    }

    /// Returns the arguments of `columns`.
    fn columns_args(&mut self, step: Step) -> Vec<Arg> {
        let mut args = vec![Arg::from(&mut self.spectrum)];
        args.extend(self.carry_args(step));
        args
    }

    /// Returns the arguments of `square_rows`.
    fn square_args(&mut self, step: Step) -> Vec<Arg> {
        let finds = A::FINDS_ADDEND && step == Step::SquareMinusTwo;
        let p = if finds { self.passes.layout.number().exponent() } else { 0 };
        let tables = Arg::from(&self.passes.row_tables);
        vec![(&mut self.spectrum).into(), tables, (&mut self.addend).into(), Arg::U32(p)]
    }

    /// Returns the launches of one squaring, of rows, then of columns. They replace the spectrum by
    /// the spectrum of the result of `step`. [`Self::prepare`] must have been called for the step.
    pub(super) fn squaring(
        &mut self,
        step: Step,
        measured: bool,
    ) -> Result<Vec<Call<'_>>, DeviceError> {
        if self.reduction.is_some() {
            return self.reduced_squaring(step, measured);
        }
        let rows = self.square_args(step);
        let args = self.columns_args(step);
        let passes = &self.passes;
        let kernel = passes.kernels.columns(step, measured)?;
        let columns = passes.columns(kernel, passes.shape.tiles() + 1, args);
        let mut calls = passes.rows(RowsKind::Square, rows, 2)?;
        calls.push(columns);
        Ok(calls)
    }

    /// Returns the launches of one squaring whose product is reduced: rows, digits of the product, and spectrum of
    /// the reduced product.
    fn reduced_squaring(
        &mut self,
        step: Step,
        measured: bool,
    ) -> Result<Vec<Call<'_>>, DeviceError> {
        let rows = self.square_args(step);
        let carry_args = self.carry_args(Step::Square);
        let Self { passes, spectrum, reduction, .. } = self;
        let mut calls = passes.rows(RowsKind::Square, rows, 2)?;
        let Some(reduction) = reduction else { return Ok(calls) };
        let kernel = passes.kernels.spectrum_to_digits(step, measured)?;
        let mut args = vec![Arg::from(&mut *spectrum), reduction.product_arg()];
        args.extend(carry_args);
        calls.push(passes.columns(kernel, passes.shape.tiles() + 1, args));
        let tables = Arg::from(&passes.column_tables);
        let mut args = vec![Arg::from(&mut *spectrum), reduction.product_arg(), tables];
        args.extend(reduction.args(step));
        let kernel =
            passes.kernels.get(Part::ProductToSpectrum { factors: reduction.factors() })?;
        calls.push(passes.columns(kernel, passes.shape.tiles(), args));
        Ok(calls)
    }

    /// Returns the spectrum of a reduced product, by the kernel of squarings and by the digits of the residue.
    #[cfg(all(test, feature = "sim"))]
    pub(in crate::engine) fn spectra_of_reduced(
        &mut self,
        product: &[i32],
        step: Step,
    ) -> Result<[Vec<A::Point>; 2], EngineError> {
        let device = self.device.clone();
        let digits = match &mut self.reduction {
            Some(reduction) => reduction.reduced(&device, product, step)?,
            None => product.to_vec(),
        };
        self.spectrum.clear()?;
        self.squaring(step, true)?.last().map_or(Ok(()), Call::make)?;
        let fused = self.spectrum.download()?;
        self.digits_to_spectrum(&device.upload(&digits)?)?;
        Ok([fused, self.spectrum.download()?])
    }

    /// Returns the launches of a squaring in a gang, for one number, with `squarings` squarings in a graph.
    pub(super) fn plan_of_gang(&mut self, squarings: u64) -> gang::Plan {
        let step = Step::Square;
        let rows = structure(&self.square_args(step)).len();
        let columns = structure(&self.columns_args(step)).len();
        let Passes { layout, shape, kernels, .. } = &self.passes;
        let [of_rows_source, of_columns_source, measuring] =
            sources_of_gang::<A>(shape, layout.number());
        let launch = Launch::linear(shape.tiles() + 1, shape.column_threads());
        let launch = launch.shared(kernels.column_shared_bytes());
        let of_rows = Launch::linear(shape.row_blocks(), shape.row_threads());
        let of_rows = of_rows.shared(shape.row_shared_bytes());
        gang::Plan {
            rows: gang::Part { source: of_rows_source, launch: of_rows, words: rows },
            columns: gang::Part { source: of_columns_source, launch, words: columns },
            measuring,
            begins_early: A::begins_early(shape),
            squarings,
        }
    }

    /// Returns the arguments of the kernels of a squaring, of rows and of columns. `step` must have the kernels
    /// of [`Step::Square`].
    pub(super) fn args_of_gang(&mut self, step: Step) -> [Vec<Arg>; 2] {
        [self.square_args(step), self.columns_args(step)]
    }

    /// Applies `step` to the residue that the spectrum represents, and writes the digits of the
    /// result to `digits`. [`Self::prepare`] must have been called for the step.
    ///
    /// # Panics
    /// Panics if `digits` is shorter than the layout.
    pub(in crate::engine) fn spectrum_to_digits(
        &mut self,
        digits: &mut Buffer<i32>,
        step: Step,
    ) -> Result<(), EngineError> {
        let args = self.square_args(step);
        self.passes.rows(RowsKind::Square, args, 2)?.iter().try_for_each(Call::make)?;
        self.carry_into(digits, step)
    }

    /// Transforms the spectrum of a product back, subtracts 2 or multiplies as `step` requires,
    /// propagates carries, and writes the digits to `digits`. The kernels must have been built by
    /// [`Self::prepare`] or [`Self::multiply`].
    ///
    /// # Panics
    /// Panics if `digits` is shorter than the layout.
    pub(super) fn carry_into(
        &mut self,
        digits: &mut Buffer<i32>,
        step: Step,
    ) -> Result<(), EngineError> {
        assert_room("digits", digits.len(), self.passes.layout.len());
        let (product, own_step) = match &mut self.reduction {
            Some(reduction) => (reduction.product_arg(), Step::Square),
            None => (Arg::from(&mut *digits), step),
        };
        let mut args = vec![Arg::from(&mut self.spectrum), product];
        args.extend(self.carry_args(own_step));
        self.note_launches(1);
        let passes = &self.passes;
        let kernel = passes.kernels.spectrum_to_digits(step, true)?;
        passes.columns(kernel, passes.shape.tiles() + 1, args).make()?;
        match &self.reduction {
            Some(reduction) => Ok(reduction.reduce(digits, step).make()?),
            None => Ok(()),
        }
    }

    /// Computes the product of a and b in `self.spectrum`, up to and including the inverse
    /// transform along the rows. [`Self::carry_into`] with [`Step::Square`] then transforms back
    /// along the columns and writes the digits.
    ///
    /// # Panics
    /// Panics if a or b is shorter than the layout.
    pub(super) fn multiply(&mut self, a: &Buffer<i32>, b: &Buffer<i32>) -> Result<(), EngineError> {
        let Self { device, passes, words, factor, spectrum, .. } = self;
        passes.kernels.prepare(Step::Square, false)?;
        passes.kernels.prepare_product()?;
        let factor = match factor {
            Some(factor) => factor,
            None => factor.insert(device.alloc(A::factor_points(&passes.shape))?),
        };
        let tables = Arg::from(&passes.row_tables);
        passes.digits_to(words, factor, b)?.make()?;
        let args = vec![(&mut *factor).into(), tables];
        passes.rows(RowsKind::Forward, args, 2)?.iter().try_for_each(Call::make)?;
        passes.digits_to(words, spectrum, a)?.make()?;
        let args = vec![spectrum.into(), (&*factor).into(), tables];
        Ok(passes.rows(RowsKind::Multiply, args, 3)?.iter().try_for_each(Call::make)?)
    }

    /// Counts `n` launches of `columns` or `spectrum_to_digits`. Every launch must be counted.
    pub(super) fn note_launches(&mut self, n: u64) {
        if let Some(squares) = self.words.squares() {
            squares.note_launches(n);
        }
    }

    /// Waits for the device and evaluates the round-off that was measured since the last call, and
    /// the check of squarings. Returns an error if the round-off of a product is too large, if a
    /// squaring is wrong, or if the device failed. Squarings in which a block gave up a wait count as
    /// wrong: a ticket or a carry in memory was changed.
    pub(in crate::engine) fn sync(&mut self) -> Result<(), EngineError> {
        let measured = self.words.sync(&self.device);
        if !matches!(measured, Err(EngineError::Device(_))) && !self.ticket_is_right()? {
            return Err(EngineError::WrongSquaring { length: self.passes.layout.len() });
        }
        measured
    }

    /// Returns whether no block has given up a wait, and each launch has taken a ticket for each of
    /// its blocks. If a fault changes the next ticket by less than a launch, blocks compute columns
    /// twice, and no wait is given up.
    fn ticket_is_right(&self) -> Result<bool, DeviceError> {
        let blocks = u64::from(self.passes.shape.tiles() + 1);
        let is_right = |next: &u64| next & GIVEN_UP == 0 && next.is_multiple_of(blocks);
        Ok(self.tickets.download()?.get(NEXT).is_some_and(is_right))
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests {
    use super::*;
    use crate::engine::BuildOptions;
    use crate::engine::fp64::Fp64;
    use crate::engine::goldilocks::Goldilocks;
    use crate::engine::hybrid::Hybrid;
    use crate::layout::WordLayout;

    fn after_a_wait_that_was_given_up<A: Arithmetic<Layout = WordLayout>>() {
        let device = Device::simulator().unwrap();
        let layout = WordLayout::new(11_213, 1 << 10);
        let shape = A::Shape::best(layout.len(), device.info().shared_memory_per_block).unwrap();
        let mut products =
            Products::<A>::new(&device, layout, shape, BuildOptions::new(1, 1).into()).unwrap();
        assert_eq!(products.sync(), Ok(()));
        let blocks = u64::from(shape.tiles() + 1);
        for (next, is_right) in [(3 * blocks, true), (3 * blocks - 1, false), (GIVEN_UP + 5, false)]
        {
            products.tickets.upload(&[0, 0, next]).unwrap();
            let wrong = EngineError::WrongSquaring { length: layout.len() };
            assert_eq!(products.sync(), if is_right { Ok(()) } else { Err(wrong) });
        }
    }

    #[test]
    fn a_wait_that_was_given_up_is_an_error() {
        after_a_wait_that_was_given_up::<Fp64>();
        after_a_wait_that_was_given_up::<Goldilocks>();
        after_a_wait_that_was_given_up::<Hybrid>();
    }
}
