//! The two numbers a and b of Euclid's algorithm, written as a column vector (a; b), and steps that
//! reduce them.

use super::lehmer::{Quotients, apply_inverse, steps};
use super::matrix::Matrix;
use super::symbol::Symbol;
use crate::division::div_rem_by;
use crate::limbs::{add_assign, compare, sub_assign, trim};
use crate::product::Multiplier;

/// A pair of positive numbers a and b without leading zero limbs.
pub(super) struct Pair {
    pub(super) a: Vec<u64>,
    pub(super) b: Vec<u64>,
}

impl Pair {
    /// Returns the number of limbs of the longer number.
    pub(super) fn longest(&self) -> usize {
        self.a.len().max(self.b.len())
    }

    /// Returns the number of limbs of the shorter number.
    pub(super) fn shortest(&self) -> usize {
        self.a.len().min(self.b.len())
    }

    /// Returns ⌊a/2^(64p)⌋ and ⌊b/2^(64p)⌋. Both a and b must have more than p limbs.
    pub(super) fn high(&self, p: usize) -> Self {
        Self { a: self.a[p..].to_vec(), b: self.b[p..].to_vec() }
    }

    /// Computes (a; b) ← M^(−1)·(a; b) for the matrix M = `m`. `high` is M^(−1)·(⌊a/2^(64p)⌋;
    /// ⌊b/2^(64p)⌋), so only the lowest p limbs are multiplied. The new a and b must be positive;
    /// this is not checked.
    pub(super) fn lift(&mut self, p: usize, high: &Self, m: &Matrix, multiplier: &dyn Multiplier) {
        let low = multiplier.mul_adjugate(m.rows(), [&self.a[..p], &self.b[..p]]);
        let [low_a, low_b] = low;
        self.a = joined(&high.a, p, &low_a);
        self.b = joined(&high.b, p, &low_b);
    }

    /// Executes some steps of Euclid's algorithm: subtracts the smaller number from the larger one
    /// many times. Both numbers stay at or above 2^(64s). Returns false, without changes, if even
    /// one subtraction would leave a number below 2^(64s).
    ///
    /// Updates `symbol` with every quotient. If `m` is given, it is multiplied from the right by
    /// the matrix of the steps.
    pub(super) fn step(
        &mut self,
        s: usize,
        symbol: &mut Symbol,
        m: Option<&mut Matrix>,
        multiplier: &dyn Multiplier,
    ) -> bool {
        if self.shortest() <= s {
            return false;
        }
        let Some((high_a, high_b)) = self.top(s) else {
            return self.divide(s, symbol, m, multiplier);
        };
        let Some(small) = steps(high_a, high_b, false, symbol) else {
            return self.divide(s, symbol, m, multiplier);
        };
        let n = self.longest();
        self.a.resize(n, 0);
        self.b.resize(n, 0);
        apply_inverse(&small, &mut self.a, &mut self.b);
        trim(&mut self.a);
        trim(&mut self.b);
        if let Some(m) = m {
            m.times_small(&small);
        }
        true
    }

    /// Returns 128 bits of a, and the 128 bits of b at the same positions. The steps that [`steps`]
    /// finds from these bits keep a and b at or above 2^(64s). Both a and b must have more than s
    /// limbs. Returns `None` if both have only one limb.
    ///
    /// Let n be the number of limbs of the larger number. If n = s + 1, the positions are those of
    /// its top two limbs. If n > s + 1, the highest position is that of its highest 1 bit.
    ///
    /// Let k be the position of the lowest of the 128 bits. The steps found keep both numbers above
    /// 2^(k+64). This is at least 2^(64s): for n = s + 1, k is 64(n−2), and for n > s + 1, k is at
    /// least 64(n−3) + 1.
    fn top(&self, s: usize) -> Option<(u128, u128)> {
        let n = self.longest();
        let bottom = n.checked_sub(2)?;
        let limb = |x: &[u64], i: usize| x.get(i).copied().unwrap_or(0);
        let shift = if n == s + 1 {
            0
        } else {
            (limb(&self.a, n - 1) | limb(&self.b, n - 1)).leading_zeros()
        };
        let bits = |x: &[u64]| {
            let two = (u128::from(limb(x, n - 1)) << 64) | u128::from(limb(x, n - 2));
            let below = if bottom == 0 { 0 } else { limb(x, bottom - 1) };
            (two << shift) | ((u128::from(below) << shift) >> 64)
        };
        Some((bits(&self.a), bits(&self.b)))
    }

    /// Executes one division: subtracts q·y from x, where x is the larger and y the smaller number.
    /// q is the largest number for which x − q·y is at least 2^(64s). Returns false, without
    /// changes, if q is 0. Updates `symbol` and `m` as [`Self::step`] does.
    fn divide(
        &mut self,
        s: usize,
        symbol: &mut Symbol,
        m: Option<&mut Matrix>,
        multiplier: &dyn Multiplier,
    ) -> bool {
        let of_a = compare(&self.a, &self.b).is_ge();
        let (x, y) = if of_a { (&mut self.a, &self.b) } else { (&mut self.b, &self.a) };
        let (mut q, mut rest) = div_rem_by(multiplier, x, y);
        // x − q·y is below 2^(64s). For s = 0, it is 0, and 1 is the least number allowed.
        if rest.len() <= s {
            sub_assign(&mut q, &[1]);
            trim(&mut q);
            if q.is_empty() {
                return false;
            }
            rest.resize(y.len() + 1, 0);
            add_assign(&mut rest, y);
            trim(&mut rest);
        }
        *x = rest;
        if of_a {
            symbol.reduce_a(q[0]);
        } else {
            symbol.reduce_b(q[0]);
        }
        if let Some(m) = m {
            m.times_quotient(&q, of_a, multiplier);
        }
        true
    }
}

/// Returns 2^(64p)·high + low without leading zero limbs. `low` is a signed number in two's
/// complement; the sum must be positive.
fn joined(high: &[u64], p: usize, low: &[u64]) -> Vec<u64> {
    let n = low.len().max(p + high.len() + 1);
    let negative = low.last().is_some_and(|top| top >> 63 == 1);
    let mut sum = low.to_vec();
    sum.resize(n, if negative { u64::MAX } else { 0 });
    add_assign(&mut sum[p..], high);
    trim(&mut sum);
    sum
}
