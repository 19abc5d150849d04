//! The engine for exponents below 64: a residue is one machine word, and no transform is needed.

use std::ops::RangeInclusive;

use super::{BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Step};
use crate::{Residue, Shift};

/// The engine family `word`, for exponents p from 2 to 63. A residue is a `u64`; products are
/// computed in `u128`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Word;

impl EngineFamily for Word {
    fn name(&self) -> &'static str {
        "word"
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        2..=63
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
            return Err(unusable("one word holds exponents from 2 to 63"));
        }
        if length != 1 {
            return Err(unusable("the only length is 1"));
        }
        Ok(Margin { bits: f64::from(64 - p), proven: true })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.margin(p, length)?;
        Ok(Box::new(WordEngine { p, registers: vec![0; options.registers] }))
    }
}

struct WordEngine {
    p: u32,
    registers: Vec<u64>,
}

impl WordEngine {
    fn modulus(&self) -> u64 {
        (1 << self.p) - 1
    }

    fn product(&self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.modulus())) as u64
    }
}

impl Engine for WordEngine {
    fn name(&self) -> &'static str {
        Word.name()
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
        self.registers[dst] = self.registers[src];
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let m = self.modulus();
        let (mut x, mut s) = (self.registers[reg], shift);
        for _ in 0..n {
            s = s.after_squarings(1, self.p);
            x = self.product(x, x);
            match step {
                Step::Square => {}
                Step::SquareMinusTwo => {
                    let two = self.product(2, 1 << s.bits());
                    x = (x + m - two) % m;
                }
                Step::SquareTimes(k) => x = self.product(x, u64::from(k)),
            }
        }
        self.registers[reg] = x;
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.registers[dst] = self.product(self.registers[a], self.registers[b]);
        Ok(())
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        // Both registers are below 2^63, so the sum does not overflow.
        self.registers[dst] = (self.registers[a] + self.registers[b]) % self.modulus();
        Ok(())
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        let m = self.modulus();
        self.registers[dst] = (self.registers[a] + m - self.registers[b]) % m;
        Ok(())
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        Ok(Residue::from_u64(self.p, self.registers[reg]).rotated_right(shift.bits()))
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        assert_eq!(x.exponent(), self.p, "a residue of another exponent");
        self.registers[reg] = x.rotated_left(shift.bits()).res64();
        Ok(())
    }

    fn health(&self) -> Health {
        Health::default()
    }
}
