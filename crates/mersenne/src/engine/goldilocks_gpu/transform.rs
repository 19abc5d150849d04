//! Products through the kernels.

use warpint_device::{Arg, Buffer, Device, DeviceError, Launch};

use super::carries_rest;
use super::kernels::{Kernels, ProductKernels};
use super::shape::Shape;
use super::tables::Tables;
use crate::Shift;
use crate::engine::goldilocks::Goldilocks;
use crate::engine::machine::{Call, Transform};
use crate::engine::{EngineError, EngineFamily, Health, Step};
use crate::layout::WordLayout;

/// A spectrum, its kernels and their tables.
pub(super) struct Products {
    device: Device,
    layout: WordLayout,
    shape: Shape,
    kernels: Kernels,
    product: Option<(ProductKernels, Buffer<u64>)>,
    spectrum: Buffer<u64>,
    carries: Buffer<u64>,
    /// The next block's, and how far the first has come.
    tickets: Buffer<u64>,
    /// Shift, and the word and bit at which it stands.
    addend: Buffer<u64>,
    column_tables: Buffer<u64>,
    row_tables: Buffer<u64>,
    fractions: Buffer<u32>,
}

impl Products {
    pub(super) fn new(
        device: &Device,
        layout: WordLayout,
        shape: Shape,
    ) -> Result<Self, EngineError> {
        let n = layout.len();
        let tables = Tables::new(&layout, &shape).map_err(|no_root| EngineError::Unusable {
            engine: Goldilocks.name(),
            exponent: layout.exponent(),
            length: n,
            reason: no_root.to_string(),
        })?;
        let mut carries = device.alloc((shape.tiles() * shape.rows()) as usize)?;
        carries.clear()?;
        let mut spectrum = device.alloc(n)?;
        spectrum.clear()?;
        Ok(Self {
            spectrum,
            carries,
            tickets: device.upload(&[0; 2])?,
            addend: device.upload(&[0; 4])?,
            column_tables: device.upload(&tables.columns)?,
            row_tables: device.upload(&tables.rows)?,
            fractions: device.upload(&tables.fractions)?,
            kernels: Kernels::new(device, &shape)?,
            product: None,
            device: device.clone(),
            layout,
            shape,
        })
    }

    fn column_launch(&self, blocks: u32) -> Launch {
        Launch::linear(blocks, self.shape.column_threads()).shared(self.shape.column_shared_bytes())
    }

    fn row_launch(&self) -> Launch {
        Launch::linear(self.shape.row_blocks(), self.shape.row_threads())
            .shared(self.shape.row_shared_bytes())
    }

    /// ⌊p/N⌋ and p mod N.
    fn word_bits(&self) -> [Arg; 2] {
        let (p, n) = (self.layout.exponent(), self.layout.len() as u32);
        [Arg::U32(p / n), Arg::U32(p % n)]
    }

    /// `spectrum` ← the columns' transforms of digits.
    fn enter_into(&self, spectrum: &Buffer<u64>, digits: &Buffer<i32>) -> Result<(), EngineError> {
        let [_, long_below] = self.word_bits();
        let args = [
            Arg::from(spectrum),
            Arg::from(digits),
            Arg::from(&self.column_tables),
            Arg::from(&self.fractions),
            long_below,
        ];
        Ok(self.kernels.enter.launch(self.column_launch(self.shape.tiles()), &args)?)
    }

    /// The arguments of `columns` and `leave` from the tables on.
    fn carry_args(&self, step: Step) -> [Arg; 9] {
        let (subtrahend, multiplier) = match step {
            Step::Square => (0, 1),
            Step::SquareMinusTwo => (2, 1),
            Step::SquareTimes(m) => (0, m),
        };
        let [base_bits, long_below] = self.word_bits();
        [
            Arg::from(&self.column_tables),
            Arg::from(&self.fractions),
            Arg::from(&self.carries),
            Arg::from(&self.tickets),
            Arg::from(&self.addend),
            base_bits,
            long_below,
            Arg::U32(subtrahend),
            Arg::U32(multiplier),
        ]
    }

    /// `digits` ← the words of the spectrum, carried.
    fn carry_into(&self, digits: &Buffer<i32>, step: Step) -> Result<(), EngineError> {
        let mut args = vec![Arg::from(&self.spectrum), Arg::from(digits)];
        args.extend(self.carry_args(step));
        Ok(self.kernels.leave.launch(self.column_launch(self.shape.tiles() + 1), &args)?)
    }

    fn square_args(&self, step: Step) -> [Arg; 4] {
        let p = if step == Step::SquareMinusTwo { self.layout.exponent() } else { 0 };
        [
            Arg::from(&self.spectrum),
            Arg::from(&self.row_tables),
            Arg::from(&self.addend),
            Arg::U32(p),
        ]
    }

    /// dst ← a·b.
    fn multiply_by(
        &self,
        (kernels, factor): &(ProductKernels, Buffer<u64>),
        [dst, a, b]: [&Buffer<i32>; 3],
    ) -> Result<(), EngineError> {
        let (launch, tables) = (self.row_launch(), Arg::from(&self.row_tables));
        self.enter_into(factor, b)?;
        kernels.forward.launch(launch, &[factor.into(), tables])?;
        self.enter_into(&self.spectrum, a)?;
        kernels.multiply.launch(launch, &[Arg::from(&self.spectrum), factor.into(), tables])?;
        self.carry_into(dst, Step::Square)
    }
}

impl Transform for Products {
    const GRAPH_SQUARINGS: u64 = 16;
    const MOST_UNSETTLED: u64 = u64::MAX;
    const WATCHED: u64 = 0;

    fn name(&self) -> &'static str {
        Goldilocks.name()
    }

    fn takes_multiplier(&self, m: u32) -> bool {
        carries_rest(self.layout.exponent(), self.layout.len(), m)
    }

    fn prepare(&mut self, step: Step, shift: Shift, _measured: bool) -> Result<(), EngineError> {
        if step == Step::SquareMinusTwo {
            self.addend.upload(&[u64::from(shift.bits()), 0, 0, 0])?;
        }
        Ok(())
    }

    fn enter(&self, digits: &Buffer<i32>) -> Result<(), EngineError> {
        self.enter_into(&self.spectrum, digits)
    }

    fn squaring(&self, step: Step, _measured: bool) -> Result<[Call<'_>; 2], DeviceError> {
        let mut columns = vec![Arg::from(&self.spectrum)];
        columns.extend(self.carry_args(step));
        Ok([
            Call {
                kernel: &self.kernels.square,
                launch: self.row_launch(),
                args: self.square_args(step).to_vec(),
            },
            Call {
                kernel: &self.kernels.columns,
                launch: self.column_launch(self.shape.tiles() + 1),
                args: columns,
            },
        ])
    }

    fn leave(&self, digits: &Buffer<i32>, step: Step) -> Result<(), EngineError> {
        self.kernels.square.launch(self.row_launch(), &self.square_args(step))?;
        self.carry_into(digits, step)
    }

    fn multiply(
        &mut self,
        dst: &Buffer<i32>,
        a: &Buffer<i32>,
        b: &Buffer<i32>,
    ) -> Result<(), EngineError> {
        let product = match self.product.take() {
            Some(product) => product,
            None => {
                let kernels = ProductKernels::new(&self.device, &self.shape)?;
                (kernels, self.device.alloc(self.layout.len())?)
            }
        };
        let result = self.multiply_by(&product, [dst, a, b]);
        self.product = Some(product);
        result
    }

    fn settle(&mut self) -> Result<(), EngineError> {
        Ok(self.device.synchronize()?)
    }

    fn health(&self) -> Health {
        Health::default()
    }
}
