//! The oracle: a slow, obvious engine with which every other engine is compared. It computes modulo
//! M_p = 2^p − 1.

use std::ops::RangeInclusive;

use warpint_mersenne::{
    BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Residue, Shift, Step,
};
use warpint_natural::limbs;

/// The engine family `limbs`, for 2 ≤ p ≤ 50,000, with schoolbook products of 64-bit limbs.
///
/// A product costs ⌈p/64⌉² products of limbs, which take half a millisecond at the largest p. The
/// family has a single transform length, 1 by convention, because a residue is not divided into
/// words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limbs;

impl Limbs {
    /// The largest supported exponent p. For larger exponents, products would be too slow to be
    /// useful.
    pub const LARGEST: u32 = 50_000;
}

impl EngineFamily for Limbs {
    fn name(&self) -> &'static str {
        "limbs"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        2..=Self::LARGEST
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        if (from..=to).contains(&1) { vec![1] } else { vec![] }
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: &str| EngineError::Unusable {
            engine: self.name(),
            number: p.into(),
            length,
            reason: reason.into(),
        };
        if !self.exponent_range().contains(&p) {
            return Err(unusable("the oracle holds exponents from 2 to 50000"));
        }
        if length != 1 {
            return Err(unusable("the only length is 1"));
        }
        Ok(Margin { bits: f64::INFINITY, proven: true })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.margin(p, length)?;
        let zero = vec![0; limbs::limbs_for_bits(p)];
        Ok(Box::new(LimbEngine { p, registers: vec![zero; options.registers] }))
    }
}

/// An engine whose registers contain canonical residues modulo M_p, as ⌈p/64⌉ limbs each.
struct LimbEngine {
    p: u32,
    registers: Vec<Vec<u64>>,
}

impl Engine for LimbEngine {
    fn name(&self) -> &'static str {
        Limbs.name()
    }

    fn exponent(&self) -> u32 {
        self.p
    }

    fn length(&self) -> usize {
        1
    }

    fn registers(&self) -> usize {
        self.registers.len()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        self.registers[dst] = self.registers[src].clone();
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let p = self.p;
        let mut x = self.registers[reg].clone();
        let mut s = shift;
        for _ in 0..n {
            s = s.after_squarings(1, p);
            x = limbs::mul_mod(&x, &x, p);
            match step {
                Step::Square => {}
                Step::SquareMinusTwo => {
                    let two = limbs::reduce(&[2], p);
                    x = limbs::sub_mod(&x, &limbs::rotate_left(&two, s.bits(), p), p);
                }
                Step::SquareTimes(m) => x = limbs::mul_mod(&x, &[u64::from(m)], p),
            }
        }
        self.registers[reg] = x;
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers[dst] = limbs::mul_mod(&self.registers[a], &self.registers[b], self.p);
        Ok(())
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers[dst] = limbs::add_mod(&self.registers[a], &self.registers[b], self.p);
        Ok(())
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers[dst] = limbs::sub_mod(&self.registers[a], &self.registers[b], self.p);
        Ok(())
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        Ok(Residue::from_limbs(self.p, &self.registers[reg]).rotated_right(shift.bits()))
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        assert_eq!(x.exponent(), self.p, "a residue of another exponent");
        self.registers[reg] = x.rotated_left(shift.bits()).limbs().to_vec();
        Ok(())
    }

    fn health(&self) -> Health {
        Health::default()
    }
}
