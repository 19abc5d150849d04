//! Batches of vectors for timing and checking transforms modulo q = 2^64 − 2^32 + 1.

use std::ops::Range;

use warpint_arith::goldilocks::{CORNERS, Goldilocks, canonical};

use super::Case;
use crate::vectors::{self, mixed};

/// The seed of all batches.
const SEED: u64 = 1;

/// A batch of vectors, which are contiguous. Most points are random numbers from 0 to q − 1. On
/// average, one of 64 points is one of [`CORNERS`], at which sums carry or wrap around.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements {
    case: Case,
}

impl Elements {
    pub(super) fn new(case: Case) -> Self {
        Self { case }
    }

    /// Returns a word of the batch: point j of vector v is word v·N + j.
    pub(super) fn word(&self, at: usize) -> u64 {
        let drawn = mixed(SEED ^ at as u64);
        match drawn % 64 {
            0 => CORNERS[(drawn >> 8) as usize % CORNERS.len()],
            _ => canonical(mixed(drawn)),
        }
    }

    /// Returns a range of words of the batch. Returns `None` if memory is too short.
    pub(super) fn part(&self, words: Range<usize>) -> Option<Vec<u64>> {
        vectors::words(words, |at| self.word(at))
    }

    /// Returns all words of the batch. Returns `None` if memory is too short.
    pub(super) fn words(&self) -> Option<Vec<u64>> {
        self.part(0..self.case.points())
    }

    /// Computes output k of the transform of a vector by definition, on all cores.
    pub(super) fn output(&self, vector: usize, k: usize) -> u64 {
        let log2 = self.case.log2;
        vectors::output(&Goldilocks, log2, |j| self.word((vector << log2) + j), k)
    }

    /// Returns the places of the batch whose outputs are compared with the definition, as
    /// [`vectors::looked_at`] chooses them.
    pub(super) fn looked_at(&self) -> Vec<usize> {
        let factors = [2, 3].map(|at| self.word(at));
        vectors::looked_at(&Goldilocks, factors, 1 << self.case.log2, self.case.points(), SEED)
    }
}
