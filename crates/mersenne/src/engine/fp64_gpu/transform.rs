//! Products through the kernels, and their round-off.

use warpint_device::{Arg, Buffer, Device, DeviceError, Launch};

use super::kernels::{Kernels, ProductKernels, StepKernels, StepKind, missing};
use super::shape::Shape;
use super::tables::{Point, Tables, Words};
use super::{LARGEST_MULTIPLIER, largest_carry};
use crate::Shift;
use crate::engine::fp64::Fp64;
use crate::engine::fp64::engine::{Statistics, within_limit};
use crate::engine::machine::{Call, Transform};
use crate::engine::{EngineError, EngineFamily, Health, Step};
use crate::layout::WordLayout;

/// Launches whose round-off is kept apart: MEASURED in `columns.cu`.
const MEASURED: usize = 16_384;

/// A spectrum, its kernels and their tables.
pub(super) struct Products {
    device: Device,
    layout: WordLayout,
    shape: Shape,
    words: Words,
    kernels: Kernels,
    steps: Vec<(StepKind, StepKernels)>,
    product: Option<(ProductKernels, Buffer<Point>)>,
    spectrum: Buffer<Point>,
    carries: Buffer<u64>,
    /// The next block's, and how far the first has come.
    tickets: Buffer<u64>,
    /// Shift, and the word and bit at which it stands.
    addend: Buffer<u64>,
    column_tables: Buffer<Point>,
    row_tables: Buffer<Point>,
    row_weights: Buffer<Point>,
    column_weights: Buffer<Point>,
    fractions: Buffer<u32>,
    /// The largest distance to an integer and the largest carry of every launch that measures.
    errors: Buffer<[u32; 2]>,
    statistics: Statistics,
}

impl Products {
    pub(super) fn new(
        device: &Device,
        layout: WordLayout,
        shape: Shape,
    ) -> Result<Self, EngineError> {
        let tables = Tables::new(&layout, &shape);
        let mut carries = device.alloc((shape.tiles() * shape.rows()) as usize)?;
        carries.clear()?;
        let mut spectrum = device.alloc(shape.points())?;
        spectrum.clear()?;
        Ok(Self {
            words: Words::new(&layout),
            kernels: Kernels::new(device, &shape, layout.exponent())?,
            steps: vec![],
            product: None,
            spectrum,
            carries,
            tickets: device.upload(&[0; 2])?,
            addend: device.upload(&[0; 5])?,
            column_tables: device.upload(&tables.columns)?,
            row_tables: device.upload(&tables.rows)?,
            row_weights: device.upload(&tables.row_weights)?,
            column_weights: device.upload(&tables.column_weights)?,
            fractions: device.upload(&tables.fractions)?,
            errors: device.upload(&[[0; 2]; MEASURED])?,
            statistics: Statistics::default(),
            device: device.clone(),
            layout,
            shape,
        })
    }

    /// Builds the kernels of a step, all or those that measure, unless they are there.
    fn build(&mut self, step: StepKind, all: bool) -> Result<(), EngineError> {
        let found = self.steps.iter().position(|(of, _)| *of == step);
        if found.is_some_and(|at| !all || self.steps[at].1.columns.is_some()) {
            return Ok(());
        }
        let p = self.layout.exponent();
        let kernels = StepKernels::new(&self.device, &self.shape, p, step, all)?;
        self.steps.retain(|(of, _)| *of != step);
        self.steps.push((step, kernels));
        Ok(())
    }

    /// The kernels of a step, after [`Self::build`].
    fn step_kernels(&self, step: Step) -> Result<&StepKernels, DeviceError> {
        let step = StepKind::from(step);
        let found = self.steps.iter().find(|(of, _)| *of == step);
        found.map(|(_, kernels)| kernels).ok_or_else(|| missing("columns"))
    }

    fn column_launch(&self, blocks: u32) -> Launch {
        Launch::linear(blocks, self.shape.column_threads()).shared(self.shape.column_shared_bytes())
    }

    fn row_launch(&self) -> Launch {
        Launch::linear(self.shape.row_blocks(), self.shape.row_threads())
            .shared(self.shape.row_shared_bytes())
    }

    /// The arguments of all kernels of columns from the tables on.
    fn word_args(&self) -> [Arg; 9] {
        let Words { ratio, inverse_ratio, bits, long_above, long_below } = self.words;
        [
            Arg::from(&self.column_tables),
            Arg::from(&self.row_weights),
            Arg::from(&self.column_weights),
            Arg::from(&self.fractions),
            Arg::F64(ratio),
            Arg::F64(inverse_ratio),
            Arg::U32(bits),
            Arg::U32(long_above),
            Arg::U32(long_below),
        ]
    }

    /// The arguments of `columns` and `leave` after those.
    fn carry_args(&self, step: Step) -> [Arg; 5] {
        let multiplier = if let Step::SquareTimes(m) = step { m } else { 1 };
        [
            Arg::from(&self.carries),
            Arg::from(&self.tickets),
            Arg::from(&self.addend),
            Arg::from(&self.errors),
            Arg::U32(multiplier),
        ]
    }

    /// `spectrum` ← the columns' transforms of digits.
    fn enter_into(
        &self,
        spectrum: &Buffer<Point>,
        digits: &Buffer<i32>,
    ) -> Result<(), EngineError> {
        let mut args = vec![Arg::from(spectrum), Arg::from(digits)];
        args.extend(self.word_args());
        Ok(self.kernels.enter.launch(self.column_launch(self.shape.tiles()), &args)?)
    }

    /// `digits` ← the words of the spectrum, carried.
    fn carry_into(&self, digits: &Buffer<i32>, step: Step) -> Result<(), EngineError> {
        let mut args = vec![Arg::from(&self.spectrum), Arg::from(digits)];
        args.extend(self.word_args());
        args.extend(self.carry_args(step));
        Ok(self
            .step_kernels(step)?
            .leave
            .launch(self.column_launch(self.shape.tiles() + 1), &args)?)
    }

    fn square_args(&self, step: Step) -> Vec<Arg> {
        let p = if step == Step::SquareMinusTwo { self.layout.exponent() } else { 0 };
        vec![
            Arg::from(&self.spectrum),
            Arg::from(&self.row_tables),
            Arg::from(&self.addend),
            Arg::U32(p),
        ]
    }

    /// dst ← a·b.
    fn multiply_by(
        &self,
        (kernels, factor): &(ProductKernels, Buffer<Point>),
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

/// The double of which this is the upper word; infinite for what is no number. Distances have
/// an exponent added, which may carry what is no number into the sign.
fn from_upper_word(word: u32) -> f64 {
    const INFINITY: u32 = 0x7ff0_0000;
    if word < INFINITY { f64::from_bits(u64::from(word) << 32) } else { f64::INFINITY }
}

impl Transform for Products {
    const GRAPH_SQUARINGS: u64 = 32;
    // Whole graphs, and the launch that leaves.
    const MOST_UNSETTLED: u64 = MEASURED as u64 - Self::GRAPH_SQUARINGS + 1;
    const WATCHED: u64 = 100;

    fn name(&self) -> &'static str {
        Fp64.name()
    }

    fn takes_multiplier(&self, m: u32) -> bool {
        (1..=LARGEST_MULTIPLIER).contains(&m)
    }

    fn prepare(&mut self, step: Step, shift: Shift, measured: bool) -> Result<(), EngineError> {
        if step == Step::SquareMinusTwo {
            self.addend.upload(&[u64::from(shift.bits()), 0, 0, 0, 0])?;
        }
        self.build(step.into(), !measured)
    }

    fn enter(&self, digits: &Buffer<i32>) -> Result<(), EngineError> {
        self.enter_into(&self.spectrum, digits)
    }

    fn squaring(&self, step: Step, measured: bool) -> Result<[Call<'_>; 2], DeviceError> {
        let kernels = self.step_kernels(step)?;
        let mut columns = vec![Arg::from(&self.spectrum)];
        columns.extend(self.word_args());
        columns.extend(self.carry_args(step));
        Ok([
            Call {
                kernel: &self.kernels.square,
                launch: self.row_launch(),
                args: self.square_args(step),
            },
            Call {
                kernel: match &kernels.columns {
                    Some(columns) if !measured => columns,
                    _ => &kernels.measured_columns,
                },
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
        self.build(StepKind::Square, false)?;
        let product = match self.product.take() {
            Some(product) => product,
            None => {
                let kernels = ProductKernels::new(&self.device, &self.shape)?;
                (kernels, self.device.alloc(self.shape.points())?)
            }
        };
        let result = self.multiply_by(&product, [dst, a, b]);
        self.product = Some(product);
        result
    }

    fn settle(&mut self) -> Result<(), EngineError> {
        let errors = self.errors.download()?;
        self.errors.clear()?;
        let mut worst = 0f64;
        for [distance, carry] in errors.into_iter().filter(|pair| *pair != [0; 2]) {
            // Unbelievable carries hide the distance.
            let credible = from_upper_word(carry) <= largest_carry(&self.layout);
            let distance = if credible { from_upper_word(distance).min(0.5) } else { 0.5 };
            self.statistics.note(distance);
            worst = worst.max(distance);
        }
        within_limit(self.layout.len(), worst)
    }

    fn health(&self) -> Health {
        self.statistics.health()
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests {
    use super::*;
    use crate::Residue;
    use crate::engine::fp64_gpu::line::Line;
    use crate::engine::fp64_gpu::{Fp64On, all_lengths};
    use crate::engine::goldilocks::Goldilocks;
    use crate::engine::machine::Machine;
    use crate::engine::{BuildOptions, Engine};
    use rand::{RngExt, SeedableRng};

    /// What `settle` says of a spectrum that is zero but for one number.
    fn judged(value: f64) -> (Result<(), EngineError>, f64) {
        let device = Device::simulator().unwrap();
        let family = Fp64On::new(device.clone());
        let layout = WordLayout::new(4423, 256);
        let shape = family.shapes(layout.len())[0];
        let mut products = Products::new(&device, layout, shape).unwrap();
        let mut points = vec![[0.0; 2]; shape.points()];
        points[5] = [value, 0.0];
        products.spectrum.upload(&points).unwrap();
        let digits = device.upload(&vec![0i32; layout.len()]).unwrap();
        products.prepare(Step::Square, Shift::ZERO, true).unwrap();
        products.leave(&digits, Step::Square).unwrap();
        let result = products.settle();
        (result, products.health().round_off.unwrap().max)
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e200, 1e30, 1e16] {
            let (result, max) = judged(value);
            assert!(matches!(result, Err(EngineError::RoundOff { .. })), "{value}: {result:?}");
            assert!((0.0..=0.5).contains(&max), "{value}: {max}");
        }
        let (result, max) = judged(0.0);
        assert_eq!(result, Ok(()));
        assert!(max < 1e-300, "{max}");
    }

    /// Three squarings in a shape, and the same by exact integers on the CPU.
    fn squares_rightly(device: &Device, shape: Shape) {
        let length = 2 * shape.points();
        let p = (15 * length as u32) | 1;
        let layout = WordLayout::new(p, length);
        let products = Products::new(device, layout, shape).unwrap();
        let mut engine = Machine::new(device, layout, 1, products).unwrap();
        let holds = |n: &usize| Goldilocks.margin(p, *n).is_ok_and(|margin| margin.bits >= 0.0);
        let exact = Goldilocks.lengths(1, length).into_iter().find(holds).unwrap();
        let mut oracle = Goldilocks.build(p, exact, BuildOptions::new(1, 1)).unwrap();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(u64::from(p));
        let limbs: Vec<u64> = (0..p.div_ceil(64)).map(|_| rng.random()).collect();
        let x = Residue::from_limbs(p, &limbs);
        for engine in [&mut engine as &mut dyn Engine, oracle.as_mut()] {
            engine.write(0, &x, Shift::ZERO).unwrap();
            engine.square(0, 3, Step::Square, Shift::ZERO).unwrap();
        }
        let [found, expected] =
            [&mut engine as &mut dyn Engine, oracle.as_mut()].map(|e| e.read(0, Shift::ZERO));
        assert!(found == expected, "{shape}, M{p}");
    }

    /// The tiles that are known to be fast, each beside the shortest of the other kind: a kernel
    /// of columns knows of rows no more than their number and chunks, and the other way about.
    #[test]
    #[ignore = "a quarter of an hour of compiling"]
    fn known_tiles_square_rightly() {
        let device = Device::simulator().unwrap();
        let known =
            all_lengths().filter(|&n| n >= 1 << 16).filter_map(|n| Shape::best(n, 227 << 10));
        let mut seen = std::collections::HashSet::new();
        for shape in known {
            let plain = Shape { streaming: false, ..shape };
            // Threads come in whole warps.
            let a = 16 / shape.width;
            let of_columns =
                Shape { row: Line { q: 2, a: 2, b: shape.chunk / 2 }, pairs: 1, ..plain };
            let of_rows = Shape { column: Line { q: 2 * shape.pairs, a, b: 2 }, ..plain };
            for tile in [of_columns, of_rows] {
                let registers = [128, 128];
                if seen.insert(Shape { registers, ..tile }) {
                    println!("{tile}");
                    squares_rightly(&device, tile);
                }
            }
        }
        assert!(seen.len() > 80);
    }
}
