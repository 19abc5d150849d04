//! The matrix of a sequence of steps of Euclid's algorithm. In this module, (p q; r s) is the
//! matrix with rows p, q and r, s.

use super::lehmer::{Small, apply_right};
use crate::limbs::{add_assign, trimmed};
use crate::product::{Matrix2, Multiplier};

/// A product of matrices (1 q; 0 1) and (1 0; q 1) with q ≥ 1. Its entries are non-negative
/// integers and its determinant is 1. All four entries have the same number of limbs.
pub(super) struct Matrix {
    entries: [[Vec<u64>; 2]; 2],
}

impl Matrix {
    pub(super) fn identity() -> Self {
        Self { entries: [[vec![1], vec![0]], [vec![0], vec![1]]] }
    }

    pub(super) fn into_entries(self) -> [[Vec<u64>; 2]; 2] {
        self.entries
    }

    /// Returns whether the matrix is the identity. Only the two off-diagonal entries are compared
    /// with 0. This suffices, because the first step makes one of them positive, and they never
    /// decrease.
    pub(super) fn is_identity(&self) -> bool {
        trimmed(&self.entries[0][1]).is_empty() && trimmed(&self.entries[1][0]).is_empty()
    }

    pub(super) fn rows(&self) -> Matrix2<'_> {
        [[&self.entries[0][0], &self.entries[0][1]], [&self.entries[1][0], &self.entries[1][1]]]
    }

    /// Computes M ← M·m, where M is this matrix and the entries of m are single limbs.
    pub(super) fn times_small(&mut self, m: &Small) {
        let carries = self.entries.each_mut().map(|[x, y]| apply_right(m, x, y));
        if carries.iter().flatten().any(|&c| c != 0) {
            for (row, carries) in self.entries.iter_mut().zip(carries) {
                for (entry, carry) in row.iter_mut().zip(carries) {
                    entry.push(carry);
                }
            }
        }
    }

    /// Computes M ← M·m, where M is this matrix and the entries of m are long numbers.
    pub(super) fn times(&mut self, m: &Self, multiplier: &dyn Multiplier) {
        self.entries = multiplier.mul_matrices(self.rows(), m.rows());
        self.level();
    }

    /// Updates this matrix M for a division with the quotient q. If `of_a` is true, the step was
    /// a ← a − q·b, and M becomes M·(1 q; 0 1). Otherwise the step was b ← b − q·a, and M becomes
    /// M·(1 0; q 1).
    pub(super) fn times_quotient(&mut self, q: &[u64], of_a: bool, multiplier: &dyn Multiplier) {
        for [x, y] in &mut self.entries {
            let (from, to) = if of_a { (x, y) } else { (y, x) };
            let mut sum = multiplier.mul(trimmed(from), q);
            sum.resize(sum.len().max(to.len()) + 1, 0);
            add_assign(&mut sum, to);
            *to = sum;
        }
        self.level();
    }

    /// Gives all four entries the same number of limbs, the smallest number that is enough for the
    /// largest entry.
    fn level(&mut self) {
        let longest = self.entries.iter().flatten().map(|x| trimmed(x).len()).max().unwrap_or(0);
        for entry in self.entries.iter_mut().flatten() {
            entry.resize(longest, 0);
        }
    }
}
