//! The steps of a power: squarings, some of them followed by a factor.

use warpint_natural::limbs::{add_assign, div_rem_small, sub_assign};

use super::super::TestKind;
use super::clear;
use crate::{Engine, EngineError, Number, Shift, Step};

/// The steps x_(j+1) = x_j²·a^(e_j), where e_j is bit T − 1 − j of the exponent E for j < T, and 0 for
/// j ≥ T. Here T is the number of iterations of the whole test.
#[derive(PartialEq, Eq)]
pub(crate) struct Steps {
    base: u32,
    /// E in little-endian limbs; empty if every step is a squaring.
    exponent: Vec<u64>,
    total: u64,
}

impl Steps {
    /// Returns the steps of a test. Cost: that of [`Number::value`], for the powers of k·b^n ± 1.
    pub(crate) fn of(kind: TestKind, number: Number) -> Self {
        let (base, exponent) = match kind {
            TestKind::Fermat { base } => (base, before(number)),
            TestKind::Proth { base } => {
                let mut half = before(number);
                let mut above = 0;
                for limb in half.iter_mut().rev() {
                    (*limb, above) = (*limb >> 1 | above << 63, *limb & 1);
                }
                (base, half)
            }
            TestKind::Pocklington { base, open } => {
                let mut part = before(number);
                div_rem_small(&mut part, open.into());
                (base, part)
            }
            TestKind::Prp | TestKind::Cert(_) | TestKind::Ll(_) => (1, vec![]),
            TestKind::Riesel | TestKind::Morrison { .. } => (1, vec![]),
        };
        Self { base, exponent, total: kind.iterations(number) }
    }

    /// Returns whether these are the steps of the test. A changed exponent would change the sequence and
    /// its checks alike. Cost: that of [`Self::of`].
    pub(crate) fn are_right(&self, kind: TestKind, number: Number) -> bool {
        *self == Self::of(kind, number)
    }

    /// Flips a bit of the exponent, as a fault of the memory would do.
    #[cfg(test)]
    pub(super) fn flip(&mut self, bit: usize) {
        self.exponent[bit / 64] ^= 1 << (bit % 64);
    }

    /// Returns the base a.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Returns whether every step is a squaring.
    pub(crate) fn are_squarings(&self) -> bool {
        self.exponent.is_empty()
    }

    /// Returns the number with the bits e_from, …, e_(to − 1), the highest first. Cost: O(`to` − `from`).
    pub(crate) fn window(&self, from: u64, to: u64) -> Vec<u64> {
        let bits = to.saturating_sub(from);
        // The number of bits is below 2^32.
        let mut window = vec![0; bits.div_ceil(64) as usize];
        for place in (0..bits).filter(|place| self.has_factor(to - 1 - place)) {
            window[(place / 64) as usize] |= 1 << (place % 64);
        }
        window
    }

    /// Returns whether e_j = 1.
    pub(crate) fn has_factor(&self, j: u64) -> bool {
        j < self.total && bit(&self.exponent, self.total - 1 - j)
    }

    /// Returns the sum S of the numbers s_i of all blocks of `block` steps from step `from` to step
    /// `to`. The bits of s_i are the e_j of the block, the highest first. Returns an empty number if
    /// every step is a squaring. Cost: O(`to` − `from`).
    pub(super) fn sum(&self, from: u64, block: u64, to: u64) -> Vec<u64> {
        if self.exponent.is_empty() {
            return vec![];
        }
        // The number of blocks is below 2^64.
        let mut sum = vec![0; block as usize / 64 + 2];
        let mut term = vec![0; block as usize / 64 + 1];
        for first in (from..to).step_by(block as usize) {
            term.fill(0);
            for j in (0..block).filter(|j| self.has_factor(first + j)) {
                let place = block - 1 - j;
                term[place as usize / 64] |= 1 << (place % 64);
            }
            add_assign(&mut sum, &term);
        }
        sum
    }

    /// Does the steps `from`, …, `from` + n − 1 on a register.
    pub(super) fn step(
        &self,
        engine: &mut dyn Engine,
        register: usize,
        from: u64,
        n: u64,
        shift: Shift,
    ) -> Result<(), EngineError> {
        self.runs(engine, register, n, shift, |j| self.has_factor(from + j))
    }

    /// Raises a register x to the power 2^n, multiplied by a to the power of the n bits of `sum` below
    /// bit `top`.
    pub(super) fn raise(
        &self,
        engine: &mut dyn Engine,
        register: usize,
        sum: &[u64],
        top: u64,
        n: u64,
        shift: Shift,
    ) -> Result<(), EngineError> {
        self.runs(engine, register, n, shift, |j| bit(sum, top - 1 - j))
    }

    /// Multiplies a register by a^h, where h = ⌊`sum`/2^`block`⌋ is below 2^64. Leaves 0 in register
    /// `work`.
    pub(super) fn times_high_part(
        &self,
        engine: &mut dyn Engine,
        register: usize,
        work: usize,
        sum: &[u64],
        block: u64,
    ) -> Result<(), EngineError> {
        let Some(bits) = (0..64).rev().find(|&i| bit(sum, block + i)) else { return Ok(()) };
        engine.set(work, 1, Shift::ZERO)?;
        self.raise(engine, work, sum, block + bits + 1, bits + 1, Shift::ZERO)?;
        engine.mul(register, register, work)?;
        clear(engine, work)
    }

    /// Does n squarings of a register. The squaring number j, counted from 0, is followed by the factor
    /// a if `has_factor(j)`.
    fn runs(
        &self,
        engine: &mut dyn Engine,
        register: usize,
        n: u64,
        shift: Shift,
        has_factor: impl Fn(u64) -> bool,
    ) -> Result<(), EngineError> {
        if self.exponent.is_empty() {
            return engine.square(register, n, Step::Square, shift);
        }
        engine.square_with_factors(register, n, self.base, &has_factor, shift)
    }
}

/// Returns N − 1.
fn before(number: Number) -> Vec<u64> {
    let mut value = number.value();
    sub_assign(&mut value, &[1]);
    value
}

/// Returns bit i of x, which is 0 above the limbs of x.
pub(crate) fn bit(x: &[u64], i: u64) -> bool {
    x.get((i / 64) as usize).is_some_and(|limb| limb >> (i % 64) & 1 == 1)
}
