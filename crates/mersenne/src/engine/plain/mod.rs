//! The engine for any number k·b^n ± 1: a residue is one natural number, and products are those of
//! `warpint-natural`, which are exact.

use std::ops::RangeInclusive;

use warpint_natural::limbs::mul_small_assign;
use warpint_natural::product::{FastProducts, Multiplier, TransformMultiplier};

use super::canonical::Canonical;
use super::{BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Step};
use crate::{Number, Residue, Shift};

/// The largest exponent p of a Mersenne number that the family takes. Other engines are much faster
/// for longer Mersenne numbers.
const LONGEST_MERSENNE: u32 = 100_000;

/// The smallest number of limbs of a residue for which several threads save time.
const PARALLEL_FROM: usize = 4_096;

/// The engine family `plain`, for all numbers k·b^n ± 1. It takes Mersenne numbers M_p with p up to
/// 100,000, and only if the request names the family.
///
/// A squaring costs a square of the length of N and a reduction: a division by k for b = 2, and about
/// two more products for other b.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl EngineFamily for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_on_request(&self) -> bool {
        true
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        2..=LONGEST_MERSENNE
    }

    fn takes(&self, number: Number) -> bool {
        !number.is_mersenne() || self.exponent_range().contains(&number.exponent())
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        if (from..=to).contains(&1) { vec![1] } else { vec![] }
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        self.margin_for(p.into(), length)
    }

    fn margin_for(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: &str| EngineError::Unusable {
            engine: self.name(),
            number,
            length,
            reason: reason.into(),
        };
        if !self.takes(number) {
            return Err(unusable("it takes exponents of Mersenne numbers from 2 to 100000"));
        }
        if length != 1 {
            return Err(unusable("the only length is 1"));
        }
        // No product is too long. The number of bits has no meaning.
        Ok(Margin { bits: 64.0, proven: true })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.build_for(p.into(), length, options)
    }

    fn build_for(
        &self,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.margin_for(number, length)?;
        let parallel = options.threads > 1 && number.limbs() >= PARALLEL_FROM;
        let multiplier: Box<dyn Multiplier + Send> = if parallel {
            Box::new(TransformMultiplier::new(options.threads))
        } else {
            Box::new(FastProducts)
        };
        let registers = Canonical::new(number, options.registers, multiplier.as_ref());
        Ok(Box::new(PlainEngine { registers, multiplier }))
    }
}

struct PlainEngine {
    registers: Canonical,
    multiplier: Box<dyn Multiplier + Send>,
}

impl PlainEngine {
    /// Returns the register after a squaring that gave `square`, not reduced, at the shift `shift`.
    fn stepped(&self, mut square: Vec<u64>, step: Step, shift: Shift) -> Vec<u64> {
        let multiplier = self.multiplier.as_ref();
        if let Step::SquareTimes(m) = step {
            let carry = mul_small_assign(&mut square, m.into());
            square.push(carry);
        }
        let mut x = self.registers.modulus.reduce(multiplier, square);
        if step == Step::SquareMinusTwo {
            let two = Residue::from_u64(self.number(), 2).rotated_left(shift.bits());
            self.registers.modulus.sub_assign(&mut x, two.limbs());
        }
        x
    }
}

impl Engine for PlainEngine {
    fn name(&self) -> &'static str {
        Plain.name()
    }

    fn number(&self) -> Number {
        self.registers.number()
    }

    fn exponent(&self) -> u32 {
        self.number().exponent()
    }

    fn length(&self) -> usize {
        1
    }

    fn is_intact(&self) -> bool {
        self.registers.modulus.is_intact(self.multiplier.as_ref())
    }

    fn registers(&self) -> usize {
        self.registers.count()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        self.registers.copy(dst, src);
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let mut shift = shift;
        for _ in 0..n {
            shift = shift.after_squarings(1, self.exponent());
            let x = self.registers.get(reg);
            let square = self.multiplier.mul(x, x);
            self.registers.set(reg, self.stepped(square, step, shift));
        }
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers.mul(self.multiplier.as_ref(), dst, a, b);
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

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        Ok(self.registers.read(reg).rotated_right(shift.bits()))
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        self.registers.write(reg, &x.rotated_left(shift.bits()));
        Ok(())
    }

    fn health(&self) -> Health {
        Health::default()
    }
}

#[cfg(test)]
mod tests;
