//! The layout of words on a device, and the round-off that the kernels of columns report.

use warpint_device::{Arg, Buffer, Device};

use super::form::LastWord;
use super::tables::{Point, Tables, Words};
use super::{LARGEST_MULTIPLIER, Shape, largest_carry};
use crate::engine::fp64::Fp64;
use crate::engine::fp64::engine::{Statistics, within_limit};
use crate::engine::gpu::{self, Arithmetic, Layout as _, LineTables, SquareCheck};
use crate::engine::{EngineError, Health, Step};
use crate::layout::WordLayout;

/// The number of launches for which the kernels of columns store the round-off separately. This
/// number is the constant MEASURED in `columns.cu`.
const MEASURED: usize = 16_384;

/// The weights and lengths of words on a device, and the round-off of the products computed with
/// them.
pub(in crate::engine) struct WeightedWords {
    length: usize,
    /// A bound on the carries of random digits ([`largest_carry`]).
    largest_carry: f64,
    /// The largest multiplier of [`Step::SquareTimes`].
    largest_multiplier: u32,
    /// `None` if all words have the weight 1.
    weights: Option<Weights>,
    /// A pair for every launch since the last evaluation: the largest distance of a word from an
    /// integer, and the largest carry. Each is given by the upper 32 bits of a double. Both are 0
    /// for a launch without measurement.
    errors: Buffer<[u32; 2]>,
    statistics: Statistics,
    /// The check of squarings; `None` if squarings are not checked.
    squares: Option<SquareCheck>,
    /// For a base other than 2, and without weights, the constants of the base; else empty.
    constants: Vec<Arg>,
    /// The last word of a residue modulo k·b^n ± 1; `None` if carries out of the last word enter word 0.
    last: Option<LastWord>,
}

/// The weights of words on a device, and the constants of their lengths.
struct Weights {
    words: Words,
    of_rows: Buffer<Point>,
    of_columns: Buffer<Point>,
    fractions: Buffer<u32>,
}

impl Weights {
    fn new(device: &Device, tables: &WeightTables) -> Result<Self, EngineError> {
        Ok(Self {
            words: tables.words,
            of_rows: device.upload(&tables.of_rows)?,
            of_columns: device.upload(&tables.of_columns)?,
            fractions: device.upload(&tables.fractions)?,
        })
    }

    fn args(&self) -> Vec<Arg> {
        let Words { ratio, inverse_ratio, bits, long_above, long_below } = self.words;
        vec![
            Arg::from(&self.of_rows),
            Arg::from(&self.of_columns),
            Arg::from(&self.fractions),
            Arg::F64(ratio),
            Arg::F64(inverse_ratio),
            Arg::U32(bits),
            Arg::U32(long_above),
            Arg::U32(long_below),
        ]
    }
}

/// The constants of words, and the tables of weights and fractions that [`Tables`] describes.
pub(super) struct WeightTables {
    pub(super) words: Words,
    pub(super) of_rows: Vec<Point>,
    pub(super) of_columns: Vec<Point>,
    pub(super) fractions: Vec<u32>,
}

/// What a layout of words gives to the kernels of columns.
pub(super) struct Prepared {
    /// `None` if all words have the weight 1.
    pub(super) weights: Option<WeightTables>,
    pub(super) largest_carry: f64,
    pub(super) largest_multiplier: u32,
    pub(super) constants: Vec<Arg>,
    pub(super) last: Option<LastWord>,
    pub(super) lines: LineTables<Point>,
}

/// An arithmetic with weighted words.
pub(super) trait Weighted: Arithmetic<Point = Point, Shape = Shape> {
    /// Computes the tables and constants of a layout.
    fn prepare(layout: &Self::Layout, shape: &Shape) -> Prepared;

    /// Creates the check of squarings.
    fn checked(
        device: &Device,
        layout: &Self::Layout,
        shape: &Shape,
    ) -> Result<SquareCheck, EngineError>;
}

impl Weighted for Fp64 {
    fn prepare(layout: &WordLayout, shape: &Shape) -> Prepared {
        let Tables { columns, rows, row_weights, column_weights, fractions } =
            Tables::new(layout, shape);
        Prepared {
            weights: Some(WeightTables {
                words: Words::new(layout),
                of_rows: row_weights,
                of_columns: column_weights,
                fractions,
            }),
            largest_carry: largest_carry(layout),
            largest_multiplier: LARGEST_MULTIPLIER,
            constants: vec![],
            last: None,
            lines: LineTables { columns, rows },
        }
    }

    fn checked(
        device: &Device,
        layout: &WordLayout,
        shape: &Shape,
    ) -> Result<SquareCheck, EngineError> {
        SquareCheck::new(device, *layout, shape, MEASURED)
    }
}

/// Returns the double whose upper 32 bits are `word` and whose lower bits are 0. Returns infinity
/// if `word`, as an unsigned number, is not below the upper 32 bits of infinity.
///
/// The sign bit of `word` may be set: kernels add to the exponent of a distance, and if the
/// distance is NaN, the addition may carry into the sign bit.
fn from_upper_word(word: u32) -> f64 {
    const INFINITY: u32 = 0x7ff0_0000;
    if word < INFINITY { f64::from_bits(u64::from(word) << 32) } else { f64::INFINITY }
}

impl<A: Weighted> gpu::Words<A> for WeightedWords {
    const GRAPH_SQUARINGS: u64 = 32;
    // Whole graphs, and the launch that leaves the spectrum.
    const MOST_UNSYNCED: u64 = MEASURED as u64 - <Self as gpu::Words<A>>::GRAPH_SQUARINGS + 1;
    const WATCHED: u64 = 100;
    const ADDEND: usize = 5;

    fn new(
        device: &Device,
        layout: &A::Layout,
        shape: &Shape,
        check: bool,
    ) -> Result<(Self, LineTables<Point>), EngineError> {
        let prepared = A::prepare(layout, shape);
        let words = Self {
            length: layout.len(),
            largest_carry: prepared.largest_carry,
            largest_multiplier: prepared.largest_multiplier,
            weights: prepared.weights.map(|tables| Weights::new(device, &tables)).transpose()?,
            errors: device.upload(&[[0; 2]; MEASURED])?,
            statistics: Statistics::default(),
            squares: check.then(|| A::checked(device, layout, shape)).transpose()?,
            constants: prepared.constants,
            last: prepared.last,
        };
        Ok((words, prepared.lines))
    }

    fn takes_multiplier(&self, m: u32) -> bool {
        (1..=self.largest_multiplier).contains(&m)
    }

    fn digit_args(&mut self) -> Vec<Arg> {
        let mut args = self.weights.as_ref().map_or(vec![], Weights::args);
        args.extend_from_slice(&self.constants);
        args
    }

    fn carry_args(&mut self, scratch: [Arg; 3], step: Step) -> Vec<Arg> {
        let multiplier = if let Step::SquareTimes(m) = step { m } else { 1 };
        let mut args = gpu::Words::<A>::digit_args(self);
        args.extend(scratch);
        args.extend([Arg::from(&mut self.errors), Arg::U32(multiplier)]);
        args.extend(self.last.into_iter().flat_map(|last| last.args(step)));
        args
    }

    fn sync(&mut self, _: &Device) -> Result<(), EngineError> {
        // Takes the sums first, so that they are used once, even after a round-off error.
        let squares = self.squares.as_mut().map_or(Ok(()), SquareCheck::evaluate);
        if matches!(squares, Err(EngineError::Device(_))) {
            return squares;
        }
        let errors = self.errors.download()?;
        self.errors.clear()?;
        let mut worst = 0f64;
        for [distance, carry] in errors.into_iter().filter(|pair| *pair != [0; 2]) {
            // Carries above the bound make the distance meaningless.
            let credible = from_upper_word(carry) <= self.largest_carry;
            let distance = if credible { from_upper_word(distance).min(0.5) } else { 0.5 };
            self.statistics.note(distance);
            worst = worst.max(distance);
        }
        within_limit(self.length, worst)?;
        squares
    }

    fn squares(&mut self) -> Option<&mut SquareCheck> {
        self.squares.as_mut()
    }

    fn health(&self) -> Health {
        let checked_squarings = self.squares.as_ref().map_or(0, SquareCheck::verified);
        Health { checked_squarings, ..self.statistics.health() }
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests {
    use super::*;
    use crate::engine::fp64_gpu::all_lengths;
    use crate::engine::fp64_gpu::form::IN_GANGS;
    use crate::engine::goldilocks::Goldilocks;
    use crate::engine::gpu::{Line, Machine, Products, Shape as _};
    use crate::engine::{BuildOptions, Engine, EngineFamily};
    use crate::{Residue, Shift};
    use rand::{RngExt, SeedableRng};

    /// Squares a spectrum that is zero except for the real part of one point, which is `value`.
    /// Returns the result of `sync` and the largest recorded round-off.
    fn judged(value: f64) -> (Result<(), EngineError>, f64) {
        let device = Device::simulator().unwrap();
        let layout = WordLayout::new(4423, 256);
        let shape = Shape::best(layout.len(), device.info().shared_memory_per_block).unwrap();
        let mut products =
            Products::<Fp64>::new(&device, layout, shape, BuildOptions::new(1, 1).into()).unwrap();
        let mut points = vec![[0.0; 2]; shape.points()];
        points[5] = [value, 0.0];
        products.spectrum.upload(&points).unwrap();
        let mut digits = device.upload(&vec![0i32; layout.len()]).unwrap();
        products.prepare(Step::Square, Shift::ZERO, true).unwrap();
        products.spectrum_to_digits(&mut digits, Step::Square).unwrap();
        let result = products.sync();
        (result, gpu::Words::<Fp64>::health(&products.words).round_off.unwrap().max)
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

    /// Compares the results of three squarings in a shape with the results of exact integers on the
    /// CPU.
    fn squares_rightly(device: &Device, shape: Shape) {
        let length = 2 * shape.points();
        let p = (15 * length as u32) | 1;
        let layout = WordLayout::new(p, length);
        let products =
            Products::<Fp64>::new(device, layout, shape, BuildOptions::new(1, 1).into()).unwrap();
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

    /// Tests the tiles of columns and of rows that are known to be fast. To keep transforms small,
    /// each tile is combined with a short line in the other direction. This is possible because the
    /// other direction has little influence. It enters a kernel of columns only by the number of
    /// columns and the chunks, and a kernel of rows only by the number of rows, the chunks and the
    /// radices along a column.
    #[test]
    #[ignore = "a quarter of an hour of compiling"]
    fn known_tiles_square_rightly() {
        let device = Device::simulator().unwrap();
        let known =
            all_lengths().filter(|&n| n >= 1 << 16).filter_map(|n| Shape::best(n, 227 << 10));
        let known = known.chain(IN_GANGS.into_iter().filter_map(|name| name.parse().ok()));
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
