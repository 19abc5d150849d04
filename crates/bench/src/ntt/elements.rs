//! Batches of vectors for timing and checking transforms.

use std::ops::Range;

use super::Case;
use super::field::Measured;
use crate::vectors::{self, mixed};

/// The seed of all batches.
const SEED: u64 = 1;

/// A batch of vectors, which are contiguous. Most points are random elements of the field. On average,
/// one of 64 points is a corner, at which sums carry or wrap around.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements<F> {
    pub(super) field: F,
    case: Case,
}

impl<F: Measured> Elements<F> {
    pub(super) fn new(field: F, case: Case) -> Self {
        Self { field, case }
    }

    /// Returns a word of the batch: point j of vector v is word v·N + j.
    pub(super) fn word(&self, at: usize) -> F::Element {
        let drawn = mixed(SEED ^ at as u64);
        match drawn % 64 {
            0 => self.field.corner(drawn >> 8),
            _ => self.field.drawn(mixed(drawn)),
        }
    }

    /// Returns a range of words of the batch. Returns `None` if memory is too short.
    pub(super) fn part(&self, words: Range<usize>) -> Option<Vec<F::Element>> {
        vectors::words(words, |at| self.word(at))
    }

    /// Returns all words of the batch. Returns `None` if memory is too short.
    pub(super) fn words(&self) -> Option<Vec<F::Element>> {
        self.part(0..self.case.points())
    }

    /// Computes output k of the transform of a vector by definition, on all cores.
    pub(super) fn output(&self, vector: usize, k: usize) -> F::Element {
        let (field, n) = (&self.field, self.case.length());
        vectors::output(field, n, &field.root_of(n), |j| self.word(vector * n + j), k)
    }

    /// Returns the places of the batch whose outputs are compared with the definition, as
    /// [`vectors::looked_at`] chooses them.
    pub(super) fn looked_at(&self) -> Vec<usize> {
        let factors = [2, 3].map(|at| self.word(at));
        vectors::looked_at(&self.field, factors, self.case.length(), self.case.points(), SEED)
    }
}
