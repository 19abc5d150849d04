//! The register machine on a device.

use warpint_device::{Arg, Buffer, Capture, Device, Graph, Kernel, Launch};

use super::super::{Engine, EngineError, EngineFamily, Health, Step};
use super::carries_rest;
use super::kernels::{self, Kernels, ProductKernels};
use super::shape::Shape;
use super::tables::Tables;
use crate::engine::goldilocks::Goldilocks;
use crate::layout::WordLayout;
use crate::{Residue, Shift};

/// Squarings in a graph: launching it costs the host as much as one kernel.
const GRAPH_SQUARINGS: u64 = 16;

/// Threads of a block of `combine`.
const COMBINE_THREADS: u32 = 256;

/// Registers of digits in device memory, and a spectrum to multiply them.
pub(super) struct Machine {
    device: Device,
    layout: WordLayout,
    shape: Shape,
    kernels: Kernels,
    product: Option<(ProductKernels, Buffer<u64>)>,
    combine: Option<Kernel>,
    registers: Vec<Buffer<i32>>,
    /// Where sums are made before they take the place of a register.
    scratch: Buffer<i32>,
    spectrum: Buffer<u64>,
    carries: Buffer<u64>,
    /// The next block's, and how far the first has come.
    tickets: Buffer<u64>,
    /// Shift, and the word and bit at which it stands.
    addend: Buffer<u64>,
    column_tables: Buffer<u64>,
    row_tables: Buffer<u64>,
    fractions: Buffer<u32>,
    /// Graphs of the steps used so far.
    graphs: Vec<(Step, Graph)>,
}

impl Machine {
    pub(super) fn new(
        device: &Device,
        layout: WordLayout,
        shape: Shape,
        registers: usize,
    ) -> Result<Self, EngineError> {
        let n = layout.len();
        let tables = Tables::new(&layout, &shape).map_err(|no_root| EngineError::Unusable {
            engine: Goldilocks.name(),
            exponent: layout.exponent(),
            length: n,
            reason: no_root.to_string(),
        })?;
        let zero = vec![0i32; n];
        let registers: Result<Vec<_>, _> = (0..registers).map(|_| device.upload(&zero)).collect();
        let mut carries = device.alloc((shape.tiles() * shape.rows()) as usize)?;
        carries.clear()?;
        let mut spectrum = device.alloc(n)?;
        spectrum.clear()?;
        Ok(Self {
            registers: registers?,
            scratch: device.upload(&zero)?,
            spectrum,
            carries,
            tickets: device.upload(&[0; 2])?,
            addend: device.upload(&[0; 4])?,
            column_tables: device.upload(&tables.columns)?,
            row_tables: device.upload(&tables.rows)?,
            fractions: device.upload(&tables.fractions)?,
            kernels: Kernels::new(device, &shape)?,
            product: None,
            combine: None,
            graphs: vec![],
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

    /// `spectrum` ← the columns' transforms of a register.
    fn enter(&self, spectrum: &Buffer<u64>, reg: usize) -> Result<(), EngineError> {
        let [_, long_below] = self.word_bits();
        let args = [
            Arg::from(spectrum),
            Arg::from(&self.registers[reg]),
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

    /// `r[reg]` ← the words of the spectrum, carried.
    fn leave(&self, reg: usize, step: Step) -> Result<(), EngineError> {
        let mut args = vec![Arg::from(&self.spectrum), Arg::from(&self.registers[reg])];
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

    /// The two kernels of a squaring that begins and ends as a spectrum.
    fn squaring(&self, step: Step) -> [(&Kernel, Launch, Vec<Arg>); 2] {
        let mut columns = vec![Arg::from(&self.spectrum)];
        columns.extend(self.carry_args(step));
        [
            (&self.kernels.square, self.row_launch(), self.square_args(step).to_vec()),
            (&self.kernels.columns, self.column_launch(self.shape.tiles() + 1), columns),
        ]
    }

    /// Makes n squarings of the spectrum, by graphs as far as they go.
    fn squarings(&mut self, n: u64, step: Step) -> Result<(), EngineError> {
        if n >= GRAPH_SQUARINGS {
            let at = match self.graphs.iter().position(|(of, _)| *of == step) {
                Some(at) => at,
                None => {
                    let record = |capture: &Capture<'_>| {
                        for _ in 0..GRAPH_SQUARINGS {
                            for (kernel, launch, args) in self.squaring(step) {
                                capture.launch_early(kernel, launch, &args);
                            }
                        }
                        Ok(())
                    };
                    let graph = self.device.capture(record)?;
                    self.graphs.push((step, graph));
                    self.graphs.len() - 1
                }
            };
            for _ in 0..n / GRAPH_SQUARINGS {
                self.graphs[at].1.launch()?;
            }
        }
        for _ in 0..n % GRAPH_SQUARINGS {
            for (kernel, launch, args) in self.squaring(step) {
                kernel.launch(launch, &args)?;
            }
        }
        Ok(())
    }

    /// `r[dst]` ← `r[a]`·`r[b]`.
    fn multiply(
        &self,
        (kernels, factor): &(ProductKernels, Buffer<u64>),
        dst: usize,
        a: usize,
        b: usize,
    ) -> Result<(), EngineError> {
        let (launch, tables) = (self.row_launch(), Arg::from(&self.row_tables));
        self.enter(factor, b)?;
        kernels.forward.launch(launch, &[factor.into(), tables])?;
        self.enter(&self.spectrum, a)?;
        kernels.multiply.launch(launch, &[Arg::from(&self.spectrum), factor.into(), tables])?;
        self.leave(dst, Step::Square)
    }

    /// `r[reg]` ← the n-fold m·x², where words are too short for their carries after
    /// a factor m to come to rest: by doublings and sums after each squaring.
    fn square_then_times(&mut self, reg: usize, n: u64, m: u32) -> Result<(), EngineError> {
        for _ in 0..n {
            self.square(reg, 1, Step::Square, Shift::ZERO)?;
            let mut square = self.device.alloc(self.layout.len())?;
            square.copy_from(&self.registers[reg])?;
            self.registers.push(square);
            let last = self.registers.len() - 1;
            // From the second highest bit of m down.
            let result = (0..m.max(1).ilog2()).rev().try_for_each(|bit| {
                self.combine(reg, reg, reg, 1)?;
                if m >> bit & 1 == 1 { self.combine(reg, reg, last, 1) } else { Ok(()) }
            });
            self.registers.pop();
            result?;
        }
        Ok(())
    }

    /// `r[dst]` ← `r[a]` + sign·`r[b]`.
    fn combine(&mut self, dst: usize, a: usize, b: usize, sign: i32) -> Result<(), EngineError> {
        let n = self.layout.len() as u32;
        let kernel = match &self.combine {
            Some(kernel) => kernel,
            None => self.combine.insert(kernels::combine(&self.device)?),
        };
        let args = [
            Arg::from(&self.scratch),
            Arg::from(&self.registers[a]),
            Arg::from(&self.registers[b]),
            Arg::I32(sign),
            Arg::U32(self.layout.exponent()),
            Arg::U32(n),
        ];
        let launch = Launch::linear(n.div_ceil(COMBINE_THREADS), COMBINE_THREADS);
        kernel.launch(launch, &args)?;
        std::mem::swap(&mut self.registers[dst], &mut self.scratch);
        Ok(())
    }
}

impl Engine for Machine {
    fn name(&self) -> &'static str {
        Goldilocks.name()
    }

    fn exponent(&self) -> u32 {
        self.layout.exponent()
    }

    fn length(&self) -> usize {
        self.layout.len()
    }

    fn registers(&self) -> usize {
        self.registers.len()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        assert!(src < self.registers.len(), "there is no register {src}");
        if dst != src {
            self.scratch.copy_from(&self.registers[src])?;
            std::mem::swap(&mut self.registers[dst], &mut self.scratch);
        }
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        if let Step::SquareTimes(m) = step
            && !carries_rest(self.layout.exponent(), self.layout.len(), m)
        {
            return self.square_then_times(reg, n, m);
        }
        let Some(before_last) = n.checked_sub(1) else {
            return Ok(());
        };
        if step == Step::SquareMinusTwo {
            self.addend.upload(&[u64::from(shift.bits()), 0, 0, 0])?;
        }
        self.enter(&self.spectrum, reg)?;
        self.squarings(before_last, step)?;
        self.kernels.square.launch(self.row_launch(), &self.square_args(step))?;
        self.leave(reg, step)?;
        // What failed on the device is reported here rather than by the next call.
        Ok(self.device.synchronize()?)
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        if a == b {
            self.copy(dst, a)?;
            return self.square(dst, 1, Step::Square, Shift::ZERO);
        }
        let product = match self.product.take() {
            Some(product) => product,
            None => {
                let kernels = ProductKernels::new(&self.device, &self.shape)?;
                (kernels, self.device.alloc(self.layout.len())?)
            }
        };
        let result = self.multiply(&product, dst, a, b);
        self.product = Some(product);
        result
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.combine(dst, a, b, 1)
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.combine(dst, a, b, -1)
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        let digits = self.registers[reg].download()?;
        Ok(self.layout.residue(&digits).rotated_right(shift.bits()))
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        let digits = self.layout.balanced_digits(&x.rotated_left(shift.bits()));
        Ok(self.registers[reg].upload(&digits)?)
    }

    fn health(&self) -> Health {
        Health::default()
    }
}
