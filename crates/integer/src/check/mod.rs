//! Checks of results against their operands, on the host. A check that passes is evidence that a
//! device computed the results correctly.
//!
//! Every function takes operands and results in the host's memory and returns the indices of the
//! results that fail, in ascending order. Identities are checked modulo M = 2^61 − 1. Inequalities
//! and zeros are checked limb by limb. In the table, w is the width of the result r in bits; other
//! letters name operands, results and witnesses.
//!
//! | function | condition on each result |
//! |---|---|
//! | [`sums`] | r + c·2^w ≡ a + b for the carry c |
//! | [`differences`] | r + b ≡ a + c·2^w for the borrow c |
//! | [`products`], [`squares`] | r ≡ a·b |
//! | [`low_products`] | r + h·2^w ≡ a·b, h computed as a witness |
//! | [`quotients`] | q·d + r ≡ a and r < d; flagged if and only if d = 0 |
//! | [`square_roots`] | s² + r ≡ a and r ≤ 2s |
//! | [`divisors`] | g·(a/g) ≡ a, g·(b/g) ≡ b, x·a + y·b ≡ g; the quotients, x and y are witnesses |
//! | [`inverses`] | a·x ≡ 1 + k·m and x < m, k a witness; if flagged, m = 0 or gcd(a, m) > 1 |
//! | [`powers`] | r < m, and a random sample recomputed on the CPU |
//! | [`probable_primes`] | r is 0 or 1 and agrees with trial division, and a random sample recomputed on the CPU |
//!
//! Over the integers, each of these conditions except the last two proves the result. Modulo M, a wrong
//! result passes with probability 2^−61 if its error is random. An error c·2^k with 0 < |c| < M
//! never passes, so any number of wrong bits within 60 consecutive bits is detected. The checks are
//! evidence against faults, not against an adversary, who can add multiples of M.
//!
//! A witness is a number, such as a quotient, that makes a check cheap. Witnesses are computed from
//! the operands by an executor, which may be the device whose results are checked. A wrong witness
//! can make a right result fail, but it does not raise the probability that a wrong result passes.
//!
//! Cost: computing a number modulo M reads each of its limbs once and takes about four instructions
//! per 64 bits. The work is distributed over the threads of rayon's current pool.

#[cfg(test)]
mod costs;
mod divisors;
mod inverses;
mod powers;
mod primality;
mod products;
mod quotients;
mod residue;
mod square_roots;
mod sums;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub use divisors::divisors;
pub use inverses::inverses;
pub use powers::powers;
pub use primality::probable_primes;
pub use products::{low_products, products, squares};
pub use quotients::quotients;
pub use residue::residue;
pub use square_roots::square_roots;
pub use sums::{differences, sums};

use crate::cpu::Operand;
use crate::{IntegerError, UintBatch};

/// A batch in the host's memory. If the batch has a single number, the residue of the number modulo
/// 2^61 − 1 is stored.
#[derive(Debug, Clone, Copy)]
struct Numbers<'a> {
    rows: Operand<'a>,
    residue_of_all: Option<u64>,
}

impl<'a> Numbers<'a> {
    /// Prepares a batch as an operand or result of an operation with `count` results.
    ///
    /// # Errors
    /// [`IntegerError::Places`] for a batch on a device; [`IntegerError::Counts`] unless the batch
    /// has `count` numbers or one.
    fn new(batch: &'a UintBatch, count: usize) -> Result<Self, IntegerError> {
        let limbs = batch.as_limbs().ok_or(IntegerError::Places)?;
        let single = batch.count() == 1;
        if batch.count() != count && !single {
            return Err(IntegerError::Counts { a: count, b: batch.count() });
        }
        let rows = Operand::new(limbs, batch.width().limbs(), single);
        Ok(Self { rows, residue_of_all: single.then(|| residue(rows.row(0))) })
    }

    fn limbs(&self, i: usize) -> &'a [u32] {
        self.rows.row(i)
    }

    fn residue(&self, i: usize) -> u64 {
        self.residue_of_all.unwrap_or_else(|| residue(self.limbs(i)))
    }

    fn is_zero(&self, i: usize) -> bool {
        is_zero(self.limbs(i))
    }
}

fn is_zero(limbs: &[u32]) -> bool {
    limbs.iter().all(|&limb| limb == 0)
}

/// Returns an error unless there is one flag for each of `count` results.
fn as_many(flags: &[u8], count: usize) -> Result<(), IntegerError> {
    if flags.len() == count {
        return Ok(());
    }
    Err(IntegerError::Counts { a: count, b: flags.len() })
}

/// Returns the indices below `count` for which `is_right` is false.
fn failing(count: usize, is_right: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
    // A task of fewer numbers is not worth handing to another core.
    (0..count).into_par_iter().with_min_len(64).filter(|&i| !is_right(i)).collect()
}
