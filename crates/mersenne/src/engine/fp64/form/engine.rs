//! The engine for numbers k·2^n ± 1. Registers hold canonical residues, and one transform squares them.

use warpint_natural::product::FastProducts;

use crate::engine::canonical::Canonical;
use crate::engine::fp64::Fp64;
use crate::engine::fp64::carry::Subtrahend;
use crate::engine::fp64::engine::Statistics;
use crate::engine::fp64::transform::Transform;
use crate::engine::fp64::variants::Variant;
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily, Health, Step};
use crate::layout::{FormLayout, StoredForm};
use crate::{Number, Residue, Shift, Sign};

/// An engine of the family `fp64` for k·2^n ± 1, on the CPU.
///
/// A register has the limbs of the residue itself. It is divided by k when it is loaded into the transform,
/// and multiplied by k afterwards. Products of two registers are those of natural numbers.
pub(in crate::engine::fp64) struct FormEngine {
    registers: Canonical,
    transform: Box<dyn Transform>,
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
        let unusable =
            |reason| EngineError::Unusable { engine: Fp64.name(), number, length, reason };
        let layout = FormLayout::new(number, length);
        let variants = Variant::all(length);
        let variant = variants.get(options.variant).ok_or_else(|| {
            unusable(format!("there is no variant {} of this length", options.variant))
        })?;
        let stored = StoredForm::new(layout);
        let transform =
            variant.for_form(&layout).build(stored, options.threads).map_err(unusable)?;
        Ok(Self::with_transform(&layout, options.registers, transform))
    }

    pub(super) fn with_transform(
        layout: &FormLayout,
        registers: usize,
        transform: Box<dyn Transform>,
    ) -> Self {
        let number = layout.number();
        Self {
            registers: Canonical::new(number, registers, &FastProducts),
            transform,
            length: layout.len(),
            two: (number.sign() == Sign::Minus).then(|| Subtrahend::at_exponent(layout)),
            statistics: Statistics::default(),
        }
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
                self.transform.load(&x);
            }
            loaded = left > 0 && is_whole;
            let error = if loaded {
                self.transform.square(subtract)
            } else {
                self.transform.square_into(subtract, &mut x)
            };
            self.statistics.record(self.length, error)?;
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
        self.registers.modulus.is_intact(&FastProducts) && self.transform.is_intact()
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
