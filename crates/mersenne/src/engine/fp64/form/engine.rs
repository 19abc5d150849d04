//! The engine for numbers k·2^n ± 1. Registers hold canonical residues, and one transform squares them.

use warpint_natural::product::FastProducts;

use super::FormLayout;
use super::transform::Transform;
use crate::engine::canonical::Canonical;
use crate::engine::fp64::Fp64;
use crate::engine::fp64::carry::Subtrahend;
use crate::engine::fp64::engine::Statistics;
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily, Health, Step};
use crate::{Number, Residue, Shift, Sign};

/// An engine of the family `fp64` for k·2^n ± 1, on the CPU. It uses one thread.
///
/// A register has the limbs of the residue itself. It is divided by k when it is loaded into the transform,
/// and multiplied by k afterwards. Products of two registers are those of natural numbers.
pub(in crate::engine::fp64) struct FormEngine {
    registers: Canonical,
    transform: Transform,
    length: usize,
    /// 2/k ≡ 2·2^n if c = −1. If c = 1, 2/k ≡ −2·2^n, which is not subtracted from words.
    two: Option<Subtrahend>,
    statistics: Statistics,
}

impl FormEngine {
    /// Creates an engine.
    ///
    /// # Errors
    /// [`EngineError::Unusable`].
    pub(in crate::engine::fp64) fn new(
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Self, EngineError> {
        super::check(number, length)?;
        let words = FormLayout::new(number, length);
        let (word, bit) = words.at_exponent();
        Ok(Self {
            registers: Canonical::new(number, options.registers, &FastProducts),
            transform: Transform::new(words),
            length,
            two: (number.sign() == Sign::Minus).then_some(Subtrahend { word, bit }),
            statistics: Statistics::default(),
        })
    }

    fn squared(&mut self, mut x: Vec<u64>, n: u64, step: Step) -> Result<Vec<u64>, EngineError> {
        let subtract = self.two.filter(|_| step == Step::SquareMinusTwo);
        // A multiplier is applied to the residue, where nothing can overflow.
        let is_whole = match step {
            Step::Square => true,
            Step::SquareMinusTwo => subtract.is_some(),
            Step::SquareTimes(_) => false,
        };
        let number = self.number();
        let mut loaded = false;
        for left in (0..n).rev() {
            if !loaded {
                let divided = FormLayout::divided(number, &x);
                let modulus = &self.registers.modulus;
                self.transform.load(&modulus.reduce_signed(&FastProducts, divided));
            }
            let error = self.transform.square(subtract);
            self.statistics.record(self.length, error)?;
            loaded = left > 0 && is_whole;
            if !loaded {
                let modulus = &self.registers.modulus;
                x = modulus.reduce_signed(&FastProducts, self.transform.value());
                x = modulus.times(&FastProducts, x, number.multiplier());
            }
            let modulus = &self.registers.modulus;
            match step {
                Step::SquareTimes(m) => x = modulus.times(&FastProducts, x, m.into()),
                Step::SquareMinusTwo if !is_whole => {
                    modulus.sub_assign(&mut x, Residue::from_u64(number, 2).limbs());
                }
                _ => (),
            }
        }
        Ok(x)
    }
}

impl Engine for FormEngine {
    fn name(&self) -> &'static str {
        Fp64.name()
    }

    fn number(&self) -> Number {
        self.registers.number()
    }

    fn exponent(&self) -> u32 {
        self.number().exponent()
    }

    fn length(&self) -> usize {
        self.length
    }

    fn is_intact(&self) -> bool {
        self.registers.modulus.is_intact(&FastProducts)
    }

    fn registers(&self) -> usize {
        self.registers.count()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        self.registers.copy(dst, src);
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, _shift: Shift) -> Result<(), EngineError> {
        let x = self.squared(self.registers.get(reg).to_vec(), n, step)?;
        self.registers.set(reg, x);
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers.mul(&FastProducts, dst, a, b);
        Ok(())
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers.add(dst, a, b);
        Ok(())
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers.sub(dst, a, b);
        Ok(())
    }

    fn read(&mut self, reg: usize, _shift: Shift) -> Result<Residue, EngineError> {
        Ok(self.registers.read(reg))
    }

    fn write(&mut self, reg: usize, x: &Residue, _shift: Shift) -> Result<(), EngineError> {
        self.registers.write(reg, x);
        Ok(())
    }

    fn health(&self) -> Health {
        self.statistics.health()
    }
}
