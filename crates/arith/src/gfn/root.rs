//! Computes the roots of unity ω(m) of order 2^m. They are chosen such that ω(m) is r for 2^m = 2K.

use super::Gfn;
use crate::field::Field;

/// The base-2 logarithm of the largest order for which a root of unity is stored. Longer
/// transforms do not fit in memory.
const LOG2_LONGEST: u32 = 40;

impl<const K: usize> Gfn<K> {
    /// Returns the roots of unity ω(0), ω(1), …, ω(n), where ω(m) has order 2^m. Here n is the
    /// largest exponent up to 40 for which 2^n divides p − 1.
    ///
    /// Method: First, roots of unity g(m) of order 2^m with g(m)² = g(m − 1) are computed as powers
    /// of a quadratic non-residue. Then ω(m) = g(m)^e for some e. The square roots of ω(m) are
    /// g(m + 1)^e and its negative, which is g(m + 1)^(e + 2^m). So each choice between the two
    /// square roots determines one more bit of e. In contrast, Algorithm 1 of Chen et al. 2018
    /// (appendix) searches for e among all numbers below 2K.
    ///
    /// Cost: log2(p) squarings for all g(m), and about 400 products.
    pub(super) fn all_roots(&self) -> Vec<[u64; K]> {
        let (adicity, one) = (self.form.two_adicity(), self.one());
        let longest = adicity.min(LOG2_LONGEST);
        let Some(a) = self.form.non_squares().next() else { return vec![one] };
        // p − 1 = 2^adicity·s^k.
        let mut g = (0..K).fold(self.from_u64(a), |power, _| self.pow_odd(&power));
        for _ in longest..adicity {
            g = self.square(&g);
        }
        let mut generators = vec![g];
        for _ in 0..longest {
            g = self.square(&g);
            generators.push(g);
        }
        // generators[m] = g(m) from here on.
        generators.reverse();

        let of_radix = 2 * K as u64;
        let mut roots = vec![one];
        // The bits of e that are 1.
        let mut bits: Vec<usize> = vec![];
        for m in 1..=longest as usize {
            let root = bits.iter().fold(one, |x, bit| self.mul(&x, &generators[m - bit]));
            let other = self.neg(&root);
            let keep = match of_radix >> m {
                // Compares digits from the highest on: the order of the integers.
                0 => root.iter().rev().lt(other.iter().rev()),
                step => root == self.mul_by_radix_power(&one, step),
            };
            roots.push(if keep { root } else { other });
            if !keep {
                bits.push(m - 1);
            }
        }
        roots
    }
}
