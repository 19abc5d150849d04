//! Products through the kernels.

use warpint_device::{Arg, Buffer, Capture, Device, DeviceError, Kernel, Launch};

use super::kernels::{Kernels, Part};
use super::{Arithmetic, Shape, Words};
use crate::Shift;
use crate::engine::{EngineError, Step};
use crate::layout::WordLayout;

/// A launch of a kernel, with its arguments.
pub(super) struct Call<'a> {
    pub(super) kernel: &'a Kernel,
    launch: Launch,
    args: Vec<Arg>,
}

impl Call<'_> {
    pub(super) fn make(&self) -> Result<(), DeviceError> {
        // SAFETY: `Products` alone makes calls. It passes its own kernels the parameters that they declare: spectra,
        // tables, carries, tickets, addend and errors were made for the shape that the launch has, and digits
        // are registers of the layout's length.
        unsafe { self.kernel.launch(self.launch, &self.args) }
    }

    /// Into a graph, to begin before the launch before it has ended.
    pub(super) fn record(&self, capture: &Capture<'_>) {
        // SAFETY: as of `make`. `Products` keeps its buffers as long as the machine has the graph. The kernels of a
        // squaring wait for the launch before, and declare nothing `const __restrict__` that it writes.
        unsafe { capture.launch_early(self.kernel, self.launch, &self.args) };
    }
}

/// A spectrum, its kernels and their tables.
///
/// The host only orders work, as far ahead as it gets; what fails is seen by [`Words::sync`].
pub(in crate::engine) struct Products<A: Arithmetic> {
    device: Device,
    layout: WordLayout,
    shape: A::Shape,
    pub(in crate::engine) words: A::Words,
    kernels: Kernels<A>,
    /// The spectrum of a product's second factor.
    factor: Option<Buffer<A::Point>>,
    pub(in crate::engine) spectrum: Buffer<A::Point>,
    carries: Buffer<u64>,
    /// The next block's, and how far the first has come.
    tickets: Buffer<u64>,
    /// Shift, and the word and bit at which it stands.
    addend: Buffer<u64>,
    column_tables: Buffer<A::Point>,
    row_tables: Buffer<A::Point>,
}

impl<A: Arithmetic> Products<A> {
    pub(in crate::engine) fn new(
        device: &Device,
        layout: WordLayout,
        shape: A::Shape,
    ) -> Result<Self, EngineError> {
        let (words, tables) = A::Words::new(device, layout, &shape)?;
        let mut carries = device.alloc((shape.tiles() * shape.rows()) as usize)?;
        carries.clear()?;
        let mut spectrum = device.alloc(shape.points())?;
        spectrum.clear()?;
        Ok(Self {
            spectrum,
            carries,
            tickets: device.upload(&[0; 2])?,
            addend: device.upload(&vec![0; A::Words::ADDEND])?,
            column_tables: device.upload(&tables.columns)?,
            row_tables: device.upload(&tables.rows)?,
            kernels: Kernels::new(device, shape, layout.exponent())?,
            factor: None,
            device: device.clone(),
            layout,
            shape,
            words,
        })
    }

    fn column_launch(&self, blocks: u32) -> Launch {
        Launch::linear(blocks, self.shape.column_threads()).shared(self.shape.column_shared_bytes())
    }

    fn row_launch(&self) -> Launch {
        Launch::linear(self.shape.row_blocks(), self.shape.row_threads())
            .shared(self.shape.row_shared_bytes())
    }

    /// Makes everything ready for squarings of this step, of a number that stands at `shift`;
    /// for those that are measured, or for all.
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
        Ok(self.kernels.prepare(step, !measured)?)
    }

    /// spectrum ← digits.
    pub(super) fn digits_to_spectrum(&self, digits: &Buffer<i32>) -> Result<(), EngineError> {
        self.digits_to(&self.spectrum, digits)
    }

    /// `spectrum` ← the columns' transforms of digits.
    fn digits_to(
        &self,
        spectrum: &Buffer<A::Point>,
        digits: &Buffer<i32>,
    ) -> Result<(), EngineError> {
        let mut args = vec![Arg::from(spectrum), Arg::from(digits), Arg::from(&self.column_tables)];
        args.extend(self.words.digit_args());
        let kernel = self.kernels.get(Part::DigitsToSpectrum)?;
        Ok(Call { kernel, launch: self.column_launch(self.shape.tiles()), args }.make()?)
    }

    /// The arguments of `columns` and `spectrum_to_digits` from the tables on.
    fn carry_args(&self, step: Step) -> Vec<Arg> {
        let scratch = [&self.carries, &self.tickets, &self.addend].map(Arg::from);
        let mut args = vec![Arg::from(&self.column_tables)];
        args.extend(self.words.carry_args(scratch, step));
        args
    }

    /// The squares of the rows' transforms.
    fn square_rows(&self, step: Step) -> Result<Call<'_>, DeviceError> {
        let p = if step == Step::SquareMinusTwo { self.layout.exponent() } else { 0 };
        Ok(Call {
            kernel: self.kernels.get(Part::SquareRows)?,
            launch: self.row_launch(),
            args: vec![
                Arg::from(&self.spectrum),
                Arg::from(&self.row_tables),
                Arg::from(&self.addend),
                Arg::U32(p),
            ],
        })
    }

    /// The launches of a squaring that begins and ends as a spectrum, after [`Self::prepare`].
    pub(super) fn squaring(
        &self,
        step: Step,
        measured: bool,
    ) -> Result<[Call<'_>; 2], DeviceError> {
        let mut args = vec![Arg::from(&self.spectrum)];
        args.extend(self.carry_args(step));
        let columns = Call {
            kernel: self.kernels.columns(step, measured)?,
            launch: self.column_launch(self.shape.tiles() + 1),
            args,
        };
        Ok([self.square_rows(step)?, columns])
    }

    /// digits ← the square of the spectrum.
    pub(in crate::engine) fn spectrum_to_digits(
        &self,
        digits: &Buffer<i32>,
        step: Step,
    ) -> Result<(), EngineError> {
        self.square_rows(step)?.make()?;
        self.carry_into(digits, step)
    }

    /// `digits` ← the words of the spectrum, carried.
    fn carry_into(&self, digits: &Buffer<i32>, step: Step) -> Result<(), EngineError> {
        let mut args = vec![Arg::from(&self.spectrum), Arg::from(digits)];
        args.extend(self.carry_args(step));
        let kernel = self.kernels.spectrum_to_digits(step)?;
        Ok(Call { kernel, launch: self.column_launch(self.shape.tiles() + 1), args }.make()?)
    }

    /// dst ← a·b, of three different registers or any two alike.
    pub(super) fn multiply(
        &mut self,
        dst: &Buffer<i32>,
        a: &Buffer<i32>,
        b: &Buffer<i32>,
    ) -> Result<(), EngineError> {
        self.kernels.prepare(Step::Square, false)?;
        self.kernels.prepare_product()?;
        let factor = match self.factor.take() {
            Some(factor) => factor,
            None => self.device.alloc(self.shape.points())?,
        };
        let result = self.multiply_by(&factor, [dst, a, b]);
        self.factor = Some(factor);
        result
    }

    fn multiply_by(
        &self,
        factor: &Buffer<A::Point>,
        [dst, a, b]: [&Buffer<i32>; 3],
    ) -> Result<(), EngineError> {
        let (launch, tables) = (self.row_launch(), Arg::from(&self.row_tables));
        self.digits_to(factor, b)?;
        let kernel = self.kernels.get(Part::ForwardRows)?;
        Call { kernel, launch, args: vec![factor.into(), tables] }.make()?;
        self.digits_to(&self.spectrum, a)?;
        let kernel = self.kernels.get(Part::MultiplyRows)?;
        let args = vec![Arg::from(&self.spectrum), factor.into(), tables];
        Call { kernel, launch, args }.make()?;
        self.carry_into(dst, Step::Square)
    }

    /// Waits for the device, and judges the products made since the last call.
    pub(in crate::engine) fn sync(&mut self) -> Result<(), EngineError> {
        self.words.sync(&self.device)
    }
}
