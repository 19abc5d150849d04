//! Long division by a reciprocal, which may be kept for further divisions by the same number.

use super::newton::{self, NEWTON_FROM};
use super::{Prepared, by_blocks};
use crate::limbs::{compare, shift_left_to, shift_right_assign, trim, trimmed};
use crate::product::Multiplier;

impl Prepared {
    /// Stores the divisor d, and computes its reciprocal in as many limbs as d, if d has at least
    /// 2,048 limbs. d may have leading zero limbs.
    ///
    /// The cost is about that of 2.5 products of numbers as long as d. The memory is twice that of
    /// d.
    ///
    /// # Panics
    /// Panics if d is zero.
    #[must_use]
    pub fn new(multiplier: &dyn Multiplier, d: &[u64]) -> Self {
        let d = trimmed(d);
        assert!(!d.is_empty(), "division by zero");
        let limbs = if d.len() >= NEWTON_FROM { d.len() } else { 0 };
        Self::with_block(multiplier, shifted(d), limbs)
    }

    /// Prepares a shifted divisor, with the reciprocal of its top `p` limbs, or none if `p` is 0.
    fn with_block(multiplier: &dyn Multiplier, (d, shift): (Vec<u64>, u32), p: usize) -> Self {
        let reciprocal = match p {
            0 => vec![],
            p => newton::reciprocal(multiplier, &d[d.len() - p..]),
        };
        Self { d, shift, reciprocal }
    }

    /// Returns ⌊a/d⌋ and a mod d, both without leading zero limbs.
    ///
    /// Let d have m limbs. Each m limbs of the quotient cost two products of numbers of m limbs. If d
    /// has fewer than 2,048 limbs, the cost is that of [`div_rem_by`](super::div_rem_by).
    #[must_use]
    pub fn div_rem(&self, multiplier: &dyn Multiplier, a: &[u64]) -> (Vec<u64>, Vec<u64>) {
        if self.reciprocal.is_empty() {
            let mut d = self.d.clone();
            shift_right_assign(&mut d, self.shift);
            return by_blocks(multiplier, a, &d);
        }
        let (u, k) = dividend(trimmed(a), &self.d, self.shift);
        self.divide(multiplier, u, k)
    }

    /// Divides the shifted dividend u, for a quotient of at most k limbs.
    fn divide(
        &self,
        multiplier: &dyn Multiplier,
        mut u: Vec<u64>,
        k: usize,
    ) -> (Vec<u64>, Vec<u64>) {
        let k = k.next_multiple_of(self.reciprocal.len());
        let mut q = vec![0; k];
        u.resize(k + self.d.len(), 0);
        newton::divide(multiplier, &mut q, &mut u, &self.d, &self.reciprocal);
        u.truncate(self.d.len());
        shift_right_assign(&mut u, self.shift);
        trim(&mut q);
        trim(&mut u);
        (q, u)
    }
}

/// Returns ⌊a/d⌋ and a mod d by a reciprocal whose length suits the lengths of a and d. Returns
/// `None` if divisor or quotient are too short for this method. Neither number may have leading zero
/// limbs.
pub(super) fn div_rem(
    multiplier: &dyn Multiplier,
    a: &[u64],
    d: &[u64],
) -> Option<(Vec<u64>, Vec<u64>)> {
    if d.len() < NEWTON_FROM || a.len() < d.len() + NEWTON_FROM {
        return None;
    }
    if let Some(done) = multiplier.div_rem(a, d) {
        return Some(done);
    }
    let (d, shift) = shifted(d);
    let (u, k) = dividend(a, &d, shift);
    let p = newton::block(k, d.len());
    Some(Prepared::with_block(multiplier, (d, shift), p).divide(multiplier, u, k))
}

/// Returns d·2^s, which has as many limbs as d and its top bit set, and s. d may not have leading zero
/// limbs.
fn shifted(d: &[u64]) -> (Vec<u64>, u32) {
    let shift = d.last().map_or(0, |top| top.leading_zeros());
    let mut shifted = vec![0; d.len() + 1];
    shift_left_to(&mut shifted, d, shift);
    shifted.truncate(d.len());
    (shifted, shift)
}

/// Returns u = a·2^shift, and the least k with u < d·2^(64·k).
fn dividend(a: &[u64], d: &[u64], shift: u32) -> (Vec<u64>, usize) {
    let mut u = vec![0; a.len() + 1];
    shift_left_to(&mut u, a, shift);
    let mut k = u.len().saturating_sub(d.len());
    // At most the top two limbs of the quotient are zero.
    while k > 0 && compare(&u[k - 1..], d).is_lt() {
        k -= 1;
    }
    (u, k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs::{add_assign, mul, sub_assign};
    use crate::product::{FastProducts, TransformMultiplier};
    use crate::sample::Sample;

    /// Compares both ways of division with a reciprocal with recursive division, for lengths around
    /// the crossover, and for dividends next to multiples of the divisor.
    #[test]
    fn reciprocals_divide_as_recursive_division_does() {
        let mut sample = Sample::new(8);
        let on_threads = TransformMultiplier::new(2);
        let n = NEWTON_FROM;
        for (k, m) in [
            (n, n),
            (n + 1, n),
            (n - 1, n),
            (n, n - 1),
            (n, n + 1),
            (1, n),
            (0, n),
            (2 * n + 5, n),
            (7 * n, n),
            (n + 3, 3 * n),
        ] {
            let (q, d) = (sample.number(k), sample.number(m));
            let mut a = mul(&q, &d);
            a.push(0);
            let mut rest = d.clone();
            sub_assign(&mut rest, &[1]);
            let d = trimmed(&d);
            for step in [&[0][..], &rest, &[1]] {
                add_assign(&mut a, trimmed(step));
                let want = by_blocks(&FastProducts, &a, d);
                let prepared = Prepared::new(&FastProducts, d);
                assert!(prepared.div_rem(&FastProducts, &a) == want, "{k} by {m}, prepared");
                for multiplier in [&FastProducts as &dyn Multiplier, &on_threads] {
                    let found = super::super::div_rem_by(multiplier, &a, d);
                    assert!(found == want, "{k} by {m}");
                }
            }
        }
    }
}
