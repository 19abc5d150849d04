//! The engine of the family `fp64` on the CPU. Registers hold balanced digits, and one transform
//! multiplies them.

use super::carry::{Subtrahend, chain};
use super::transform::Transform;
use super::variants::Variant;
use super::{Fp64, ROUND_OFF_LIMIT};
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily, Health, RoundOff, Step};
use crate::layout::WordLayout;
use crate::{Residue, Shift};

/// An engine of the family `fp64` on the CPU.
pub(super) struct Fp64Engine {
    layout: WordLayout,
    registers: Vec<Vec<i32>>,
    transform: Box<dyn Transform>,
    statistics: Statistics,
}

/// Round-off statistics of all measured products.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    max: f64,
    mean: f64,
    /// The sum of (e − mean)² over all products, where e is the round-off of a product.
    squares: f64,
    products: u64,
}

impl Statistics {
    /// Records the round-off of a product, which is the largest distance of its words from
    /// integers. A round-off that is not finite counts as ½.
    ///
    /// The mean and the sum of squares follow Welford's recurrence (1962), which avoids
    /// cancellation.
    pub(crate) fn note(&mut self, measured: f64) {
        let measured = if measured.is_finite() { measured } else { 0.5 };
        self.max = self.max.max(measured);
        self.products += 1;
        let to_old_mean = measured - self.mean;
        self.mean += to_old_mean / self.products as f64;
        self.squares += to_old_mean * (measured - self.mean);
    }

    /// Records the round-off of a product, which is the largest distance of its words from
    /// integers. Returns an error if the round-off exceeds [`ROUND_OFF_LIMIT`].
    fn record(&mut self, length: usize, measured: f64) -> Result<(), EngineError> {
        self.note(measured);
        within_limit(length, measured)
    }

    pub(crate) fn health(&self) -> Health {
        let Self { max, mean, squares, products } = *self;
        let deviation = (squares / products.saturating_sub(1).max(1) as f64).sqrt();
        Health { round_off: Some(RoundOff { max, mean, deviation, products }) }
    }
}

/// Returns an error if the round-off of a product exceeds [`ROUND_OFF_LIMIT`]. The round-off is the
/// largest distance of the product's words from integers. `length` is the transform length in
/// words, for the error's text.
pub(crate) fn within_limit(length: usize, measured: f64) -> Result<(), EngineError> {
    let limit = ROUND_OFF_LIMIT;
    if measured.is_nan() || measured > limit {
        return Err(EngineError::RoundOff { measured, limit, length });
    }
    Ok(())
}

impl Fp64Engine {
    /// Creates an engine with a variant of the transform.
    pub(super) fn new(layout: WordLayout, options: BuildOptions) -> Result<Self, EngineError> {
        let unusable = |reason| EngineError::Unusable {
            engine: Fp64.name(),
            exponent: layout.exponent(),
            length: layout.len(),
            reason,
        };
        let variants = Variant::all(layout.len());
        let variant = variants.get(options.variant).ok_or_else(|| {
            unusable(format!("there is no variant {} of this length", options.variant))
        })?;
        let transform = variant.build(layout, options.threads).map_err(unusable)?;
        Ok(Self::with_transform(layout, options.registers, transform))
    }

    pub(super) fn with_transform(
        layout: WordLayout,
        registers: usize,
        transform: Box<dyn Transform>,
    ) -> Self {
        Self {
            layout,
            registers: vec![vec![0; layout.len()]; registers],
            transform,
            statistics: Statistics::default(),
        }
    }

    /// Calls f with the digits of the register `reg`, so that f can write them while it reads other
    /// registers of the engine. During the call, the register itself is empty.
    fn with_register<T>(&mut self, reg: usize, f: impl FnOnce(&mut Self, &mut Vec<i32>) -> T) -> T {
        let mut digits = std::mem::take(&mut self.registers[reg]);
        let value = f(self, &mut digits);
        self.registers[reg] = digits;
        value
    }

    fn square_register(
        &mut self,
        digits: &mut [i32],
        n: u64,
        step: Step,
        mut shift: Shift,
    ) -> Result<(), EngineError> {
        let p = self.layout.exponent();
        let length = self.layout.len();
        let mut loaded = false;
        for left in (0..n).rev() {
            shift = shift.after_squarings(1, p);
            let subtract = matches!(step, Step::SquareMinusTwo).then(|| {
                let (word, bit) = self.layout.word_at_bit(shift.bits());
                Subtrahend { word, bit }
            });
            if !loaded {
                self.transform.load(digits);
            }
            // A multiplier is applied to digits, where nothing can overflow.
            let to_digits = left == 0 || matches!(step, Step::SquareTimes(_));
            let error = if to_digits {
                self.transform.square_into(subtract, digits)
            } else {
                self.transform.square(subtract)
            };
            loaded = !to_digits;
            self.statistics.record(length, error)?;
            if let Step::SquareTimes(m) = step {
                let m = i64::from(m);
                chain::map(&self.layout, digits, |_, d| i64::from(d) * m);
            }
        }
        Ok(())
    }
}

impl Engine for Fp64Engine {
    fn name(&self) -> &'static str {
        Fp64.name()
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
        if dst != src {
            let digits = self.registers[src].clone();
            self.registers[dst] = digits;
        }
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        self.with_register(reg, |engine, digits| engine.square_register(digits, n, step, shift))
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        let length = self.layout.len();
        self.transform.load(&self.registers[a]);
        let error = if a == b {
            self.transform.square_into(None, &mut self.registers[dst])
        } else {
            self.transform.load_factor(&self.registers[b]);
            self.transform.multiply_into(&mut self.registers[dst])
        };
        self.statistics.record(length, error)
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        let mut sum = self.registers[a].clone();
        let other = &self.registers[b];
        chain::map(&self.layout, &mut sum, |j, d| i64::from(d) + i64::from(other[j]));
        self.registers[dst] = sum;
        Ok(())
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        let mut difference = self.registers[a].clone();
        let other = &self.registers[b];
        chain::map(&self.layout, &mut difference, |j, d| i64::from(d) - i64::from(other[j]));
        self.registers[dst] = difference;
        Ok(())
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        Ok(self.layout.residue(&self.registers[reg]).rotated_right(shift.bits()))
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        self.registers[reg] = self.layout.balanced_digits(&x.rotated_left(shift.bits()));
        Ok(())
    }

    fn health(&self) -> Health {
        self.statistics.health()
    }
}
