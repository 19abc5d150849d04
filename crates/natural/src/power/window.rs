//! Powers by sliding windows (Knuth 1997, *The Art of Computer Programming* 2, §4.6.3, which names
//! Thurber 1973).

use crate::limbs::trimmed;

/// A ring whose elements all have the same number of limbs.
pub(crate) trait Residues {
    /// Returns the number of limbs of an element.
    fn limbs(&self) -> usize;

    /// Computes x ← x·y.
    fn mul(&mut self, x: &mut [u64], y: &[u64]);

    /// Computes x ← x².
    fn square(&mut self, x: &mut [u64]);
}

/// Computes x ← x^e for e > 0. `table` is working memory for the odd powers of x; its contents are
/// overwritten.
///
/// The method squares about once for each bit of e. With windows of w bits, it also needs 2^(w−1)
/// products for the odd powers, and about one product for each w + 1 bits of e. The width w, from 1
/// to 8 bits, is chosen to minimize the number of products.
pub(super) fn power(ring: &mut impl Residues, x: &mut [u64], e: &[u64], table: &mut Vec<u64>) {
    let e = trimmed(e);
    let Some(top) = e.last() else { return };
    let bits = 64 * e.len() - top.leading_zeros() as usize;
    let bit = |i: usize| e[i / 64] >> (i % 64) & 1;
    let window = window(bits);
    let l = ring.limbs();

    // x, x³, x⁵ … in consecutive rows, then x².
    let odd = 1 << (window - 1);
    table.clear();
    table.resize((odd + 1) * l, 0);
    let (powers, square) = table.split_at_mut(odd * l);
    powers[..l].copy_from_slice(x);
    if odd > 1 {
        square.copy_from_slice(x);
        ring.square(square);
        for i in 1..odd {
            let (below, this) = powers[(i - 1) * l..].split_at_mut(l);
            let this = &mut this[..l];
            this.copy_from_slice(below);
            ring.mul(this, square);
        }
    }

    let mut left = bits;
    let mut started = false;
    while left > 0 {
        if bit(left - 1) == 0 {
            ring.square(x);
            left -= 1;
            continue;
        }
        // Bits `low` to `left` − 1; the lowest of them is 1.
        let from = left.saturating_sub(window);
        let low = (from..left).find(|&i| bit(i) == 1).unwrap_or(left - 1);
        let value = (low..left).rev().fold(0, |value, i| value << 1 | bit(i) as usize);
        let factor = &powers[value / 2 * l..][..l];
        if started {
            for _ in low..left {
                ring.square(x);
            }
            ring.mul(x, factor);
        } else {
            x.copy_from_slice(factor);
            started = true;
        }
        left = low;
    }
}

/// Returns the width of a window, from 1 to 8 bits, that needs the fewest products for an exponent
/// of `bits` bits.
fn window(bits: usize) -> usize {
    let products = |w: usize| (1 << (w - 1)) + bits / (w + 1);
    (1..=8).min_by_key(|&w| products(w)).unwrap_or(1)
}
