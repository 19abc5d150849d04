//! The factors in the equation of a proof.
//!
//! The residues of a test of k·b^n ± 1 are x_(j+1) = x_j²·a^(e_j). So for i < j
//!
//! x_j = x_i^(2^(j − i))·a^w, where the bits of w are e_i, …, e_(j−1), the highest first.
//!
//! The claim of a proof is A^(2^s)·a^w = B, at first with A = x_0, B = x_s. With the middle M = x_⌈s/2⌉
//! it becomes (A^h·M)^(2^⌈s/2⌉)·a^(h·u + v) = M^h·B', where u and v are the two halves of w, after w
//! and B have been doubled and squared for odd s. This is the scheme of Li and Gallot, *An efficient
//! modular exponentiation proof scheme* (2022, arXiv:2209.15623).
//!
//! After the next halving, h·u + v is needed in two halves, too. These must be the same sums of halves
//! of u and of v that belong to the residues of the test, so no carry may pass between them. Therefore
//! w is cut into 2^power windows at the beginning, as often as s is halved.

use warpint_natural::limbs::{add_assign, mul_small_assign, shifted_left, trim};

use crate::primality::Steps;

/// The windows of w, the highest first.
pub(super) struct Windows(Vec<Vec<u64>>);

impl Windows {
    /// Cuts w, which has the bits of the first `iterations` steps, into 2^`power` windows. The list is empty
    /// if all steps are squarings. Cost: O(`iterations`).
    pub(super) fn new(steps: &Steps, iterations: u32, power: u32) -> Self {
        if steps.are_squarings() {
            return Self(vec![]);
        }
        // The first step of each window, and the number of its steps. Zeros follow that fill the span.
        let mut cuts = vec![(0, u64::from(iterations))];
        let mut span = u64::from(iterations);
        for _ in 0..power {
            span = span.div_ceil(2);
            let halves = |(from, n): (u64, u64)| {
                [(from, n.min(span)), (from + span, n.saturating_sub(span))]
            };
            cuts = cuts.into_iter().flat_map(halves).collect();
        }
        let window = |(from, n): (u64, u64)| {
            // The shift is at most a span, below 2^31.
            shifted_left(&steps.window(from, from + n), (span - n) as usize)
        };
        Self(cuts.into_iter().map(window).collect())
    }

    /// Replaces the windows u_i of the first half and v_i of the second half by h·u_i + v_i.
    pub(super) fn fold(&mut self, h: u64) {
        let second = self.0.split_off(self.0.len() / 2);
        for (u, v) in self.0.iter_mut().zip(second) {
            let carry = mul_small_assign(u, h);
            u.push(carry);
            u.resize(u.len().max(v.len()) + 1, 0);
            add_assign(u, &v);
            trim(u);
        }
    }

    /// Returns the exponent w of a after all middles have been used, in little-endian limbs.
    pub(super) fn exponent(mut self) -> Vec<u64> {
        self.0.pop().unwrap_or_default()
    }
}
