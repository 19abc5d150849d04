//! Registers with canonical residues modulo a number k·b^n ± 1, for engines that compute modulo any such
//! number. What does not depend on how such an engine squares is here.

use warpint_natural::product::Multiplier;

use crate::number::Modulus;
use crate::{Number, Residue};

/// A modulus, and registers that hold residues x with 0 ≤ x < N in the limbs of a residue.
pub(super) struct Canonical {
    pub(super) modulus: Modulus,
    registers: Vec<Vec<u64>>,
}

impl Canonical {
    /// Creates `count` registers, which hold 0.
    pub(super) fn new(number: Number, count: usize, multiplier: &dyn Multiplier) -> Self {
        let modulus = Modulus::new(number, multiplier);
        Self { modulus, registers: vec![vec![0; number.limbs()]; count] }
    }

    pub(super) fn number(&self) -> Number {
        self.modulus.number()
    }

    pub(super) fn count(&self) -> usize {
        self.registers.len()
    }

    pub(super) fn get(&self, reg: usize) -> &[u64] {
        &self.registers[reg]
    }

    /// Sets a register to a canonical residue.
    pub(super) fn set(&mut self, reg: usize, x: Vec<u64>) {
        self.registers[reg] = x;
    }

    pub(super) fn copy(&mut self, dst: usize, src: usize) {
        self.registers[dst] = self.registers[src].clone();
    }

    /// Sets `r[dst]` to `r[a]`·`r[b]`, by a product of natural numbers.
    pub(super) fn mul(&mut self, multiplier: &dyn Multiplier, dst: usize, a: usize, b: usize) {
        let (a, b) = (&self.registers[a], &self.registers[b]);
        self.registers[dst] = self.modulus.mul(multiplier, a, b);
    }

    pub(super) fn add(&mut self, dst: usize, a: usize, b: usize) {
        let mut sum = self.registers[a].clone();
        self.modulus.add_assign(&mut sum, &self.registers[b]);
        self.registers[dst] = sum;
    }

    pub(super) fn sub(&mut self, dst: usize, a: usize, b: usize) {
        let mut difference = self.registers[a].clone();
        self.modulus.sub_assign(&mut difference, &self.registers[b]);
        self.registers[dst] = difference;
    }

    pub(super) fn read(&self, reg: usize) -> Residue {
        Residue::from_canonical(self.number(), self.registers[reg].clone())
    }

    /// # Panics
    /// Panics if x is a residue modulo another number.
    pub(super) fn write(&mut self, reg: usize, x: &Residue) {
        assert_eq!(x.number(), self.number(), "a residue of another number");
        self.registers[reg] = x.limbs().to_vec();
    }
}
