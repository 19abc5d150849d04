//! Thousands of steps at once: the low limbs of a number determine its next steps, and products of
//! halves of these limbs apply the steps to the whole number.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.
//!
//! **Images.** For low < 2^k, T^k(low + a·2^k) = T^k(low) + a·3^f, where f counts the odd steps
//! among the first k steps of low (Lagarias 1985, §2.3). The *image* of low is the pair (T^k(low),
//! 3^f). An image of k = 64·(p + q) bits is computed from two shorter ones. With low = l +
//! h·2^(64p) and the image (u, 3^d) of l, y = u + h·3^d is T^(64p)(low). With y = m + g·2^(64q) and
//! the image (v, 3^e) of m, the image of low is (v + g·3^e, 3^(d + e)). Blocks of a few limbs are
//! computed by passes of up to 64 steps. If a product of numbers of k bits costs M(k), an image of
//! k bits costs O(M(k)·log k).
//!
//! **Order.** The blocks are processed in the order of the path. A [`Trace`] follows the path by
//! the exponents e_i = f_i·log2(3) − i, where f_i counts the odd steps among the first i steps of
//! T:
//!
//! T^i(n) = n·2^(e_i)·Π(1 + 1/(3x)), where x runs over the odd numbers among n, …, T^(i−1)(n).
//!
//! **Lemma (e decides).** If all x are at least 2^127 and f_i ≤ 2^34, the product is below 1 +
//! 2^-93. For different i and j, e_i and e_j differ by more than 2^-36, since |q·log2(3) − p| >
//! 2^-36 for 0 < q ≤ 2^34 and all integers p. (A test checks the convergents of log2(3), which are
//! the best approximations.) So T^i(n) > T^j(n) exactly if e_i > e_j. Likewise, T^i(n) < n exactly
//! if e_i < 0, and 2·T^i(n) > n for f_i > 0 exactly if e_i > −1. The code computes e_i with
//! ⌊2^88·log2(3)⌋/2^88 in place of log2(3). The error is below 2^34·2^-88, so the order of the e_i
//! remains the same.
//!
//! The *glide* is the number of steps n/2 and 3n + 1 until the path is below its start for the
//! first time. The exponents give the glide and the position of the maximum. Only the value at this
//! position is computed.

use warpint_natural::limbs::{add_assign, mul_small_assign, trim, trimmed};
use warpint_natural::product::Multiplier;

use super::{advance, outlook};
use crate::Watch;

/// The number of fractional bits with which the exponent e of the module's documentation is stored.
const FRACTION: u32 = 88;
/// The number 1 in the format of the exponent e, which is stored times 2^88.
pub(super) const ONE: i128 = 1 << FRACTION;
/// The constant ⌊2^88·log2(3)⌋.
const LOG2_3: i128 = 490_522_135_102_150_661_388_634_898;
/// The largest number of odd steps to which the lemma of this module applies.
const MOST_ODD: u64 = 1 << 34;
/// The largest number of bits of a start for which the exponent e is used. For these starts, |e| is
/// at most about 2^36, so that e·2^88 fits in 128 bits.
const MOST_BITS: u64 = 1 << 36;

/// A position on a path, with two properties of the path up to this position: the odd step with the
/// highest result, and the glide. Values are compared by the exponent e of the module's
/// documentation.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    /// The number of steps of T so far.
    pub(super) steps: u64,
    pub(super) odd: u64,
    /// The exponent e of the value at this position, times 2^88.
    rise: i128,
    /// The odd step after which e is largest, as a pair: e times 2^88 after this step, and the
    /// number of steps of T up to and including this step. `None` if no step was odd.
    pub(super) top: Option<(i128, u64)>,
    /// The number of steps n/2 and 3n + 1 up to the first position with e < 0. `None` if e was
    /// never below 0.
    pub(super) glide: Option<u64>,
}

impl Trace {
    /// Returns whether comparisons of e remain correct for `steps` more steps of a path that began
    /// with a number of `bits` bits.
    pub(super) fn holds_for(&self, steps: u64, bits: u64) -> bool {
        self.odd + steps <= MOST_ODD && bits <= MOST_BITS
    }

    /// Follows the next `steps` steps of T, at most 64, of a number with the low bits `low`.
    fn follow(&mut self, low: u64, steps: u32) {
        let mut x = u128::from(low);
        for _ in 0..steps {
            let odd = x & 1 == 1;
            x = if odd { (3 * x + 1) >> 1 } else { x >> 1 };
            self.steps += 1;
            self.rise -= ONE;
            if odd {
                self.odd += 1;
                self.rise += LOG2_3;
                if self.top.is_none_or(|(top, _)| self.rise > top) {
                    self.top = Some((self.rise, self.steps));
                }
            }
            if self.rise < 0 && self.glide.is_none() {
                self.glide = Some(self.steps + self.odd);
            }
        }
    }

    /// Follows `steps` even steps.
    fn halve(&mut self, steps: u64) {
        if steps == 0 {
            return;
        }
        let (before, end) = (self.rise, self.rise - i128::from(steps) * ONE);
        if end < 0 && self.glide.is_none() {
            // The first step after which e is below 0, given e ≥ 0 before.
            let until = (before / ONE) as u64 + 1;
            self.glide = Some(self.steps + self.odd + until);
        }
        self.steps += steps;
        self.rise = end;
    }
}

/// The image of a block, the low k bits of a number: T^k of the block, and 3^f, where f counts the
/// odd steps among these k steps. Neither number has leading zero limbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Image {
    value: Vec<u64>,
    power: Vec<u64>,
}

impl Image {
    /// Returns the image of a block of zeros, of any length: all its steps are even.
    fn none() -> Self {
        Self { value: vec![], power: vec![1] }
    }

    /// Returns T^k(low + a·2^k), where low is the block of k bits to which the image belongs, and
    /// `above` has the limbs of a.
    pub(super) fn of_number(&self, above: &[u64], multiplier: &dyn Multiplier) -> Vec<u64> {
        let above = trimmed(above);
        if above.is_empty() {
            return self.value.clone();
        }
        let mut sum = multiplier.mul(above, &self.power);
        // value < 3^f ≤ above·3^f.
        sum.push(0);
        add_assign(&mut sum, &self.value);
        trim(&mut sum);
        sum
    }
}

/// The parameters for the computation of images of blocks.
pub(super) struct Blocks<'a> {
    pub(super) multiplier: &'a dyn Multiplier,
    /// The largest number of limbs of a block that is processed by passes.
    pub(super) leaf: usize,
    pub(super) watch: &'a dyn Watch,
}

impl Blocks<'_> {
    /// Returns the image of the block `low`, for 64 steps of T per limb, and updates the trace.
    /// Returns `None` if the watch stopped the work.
    pub(super) fn image(&self, low: &[u64], trace: &mut Trace) -> Option<Image> {
        if trimmed(low).is_empty() {
            trace.halve(64 * low.len() as u64);
            return Some(Image::none());
        }
        if low.len() <= self.leaf {
            return Some(leaf(low, trace));
        }
        if self.watch.is_stopped() {
            return None;
        }
        let (l, h) = low.split_at(low.len() / 2);
        let first = self.image(l, trace)?;
        let mut y = first.of_number(h, self.multiplier);
        if y.len() < h.len() {
            y.resize(h.len(), 0);
        }
        let (m, g) = y.split_at(h.len());
        let second = self.image(m, trace)?;
        let value = second.of_number(g, self.multiplier);
        let mut power = self.multiplier.mul(&first.power, &second.power);
        trim(&mut power);
        Some(Image { value, power })
    }
}

/// Like [`Blocks::image`], by passes of up to 64 steps.
fn leaf(low: &[u64], trace: &mut Trace) -> Image {
    let mut left = 64 * low.len() as u64;
    let (mut value, mut power) = (trimmed(low).to_vec(), vec![1]);
    while left > 0 && !value.is_empty() {
        let next = outlook(value[0], left.min(64) as u32);
        trace.follow(value[0], next.steps);
        advance(&mut value, next.steps, next.power, next.rest);
        let carry = mul_small_assign(&mut power, next.power);
        if carry > 0 {
            power.push(carry);
        }
        left -= u64::from(next.steps);
    }
    trace.halve(left);
    Image { value, power }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use warpint_natural::product::FastProducts;

    use super::*;
    use crate::Unwatched;
    use crate::walk::big_step;

    #[test]
    fn the_logarithm_is_exact() {
        // Bit by bit: x ← x², and x²/2 if that is 2 or more. Errors double each time; 512 bits
        // suffice.
        let (mut x, two) = (BigUint::from(3u32) << 511u32, BigUint::from(1u32) << 513u32);
        let mut log = ONE;
        for bit in (0..FRACTION).rev() {
            x = (&x * &x) >> 512u32;
            if x >= two {
                x >>= 1u32;
                log |= 1 << bit;
            }
        }
        assert_eq!(log, LOG2_3);
    }

    #[test]
    fn no_two_rises_are_alike() {
        // Convergents p/q of ⌊2^88·log2(3)⌋/2^88, which is within 2^34·2^-88 of q·log2(3) for q ≤
        // 2^34. The convergent with the largest q ≤ 2^34 has the least |q·α − p| of all these q.
        let (mut a, mut b) = (LOG2_3, ONE);
        let (mut before, mut this) = (0, 1i128);
        let mut denominators = (1, 0i128);
        loop {
            let quotient = a / b;
            (a, b) = (b, a % b);
            (before, this) = (this, quotient * this + before);
            denominators = (denominators.1, quotient * denominators.1 + denominators.0);
            let next = a / b * denominators.1 + denominators.0;
            if next > i128::from(MOST_ODD) {
                break;
            }
        }
        let distance = (denominators.1 * LOG2_3 - this * ONE).abs();
        assert!(denominators.1 <= i128::from(MOST_ODD) && before > 0);
        // 2^-36, and room for the error.
        assert!(distance > (1 << (FRACTION - 36)) + (1 << 34), "{distance}");
    }

    /// Returns T^(64·len) of a number of `len` limbs, 3^f for the f odd steps among these 64·len
    /// steps, and the trace. All are computed step by step.
    fn slow(low: &[u64]) -> (BigUint, BigUint, Trace) {
        let number = super::super::number(low);
        let (mut x, mut power, mut trace) = (number, BigUint::from(1u32), Trace::default());
        for _ in 0..64 * low.len() {
            let odd = x.bit(0);
            if odd {
                power *= 3u32;
            }
            trace.follow(u64::from(odd), 1);
            x = big_step(&x);
        }
        (x, power, trace)
    }

    fn check(low: &[u64], leaf: usize) {
        let blocks = Blocks { multiplier: &FastProducts, leaf, watch: &Unwatched };
        let mut trace = Trace::default();
        let image = blocks.image(low, &mut trace).unwrap();
        let (value, power, slow) = slow(low);
        assert_eq!(super::super::number(&image.value), value, "{low:?}");
        assert_eq!(super::super::number(&image.power), power, "{low:?}");
        assert_eq!((trace.steps, trace.odd, trace.rise), (slow.steps, slow.odd, slow.rise));
        assert_eq!((trace.top, trace.glide), (slow.top, slow.glide), "{low:?}");
    }

    #[test]
    fn images_of_corners() {
        for limbs in 1..20 {
            for leaf in [1, 2, 5] {
                check(&vec![u64::MAX; limbs], leaf);
                check(&vec![0; limbs], leaf);
                let mut one = vec![0; limbs];
                one[limbs - 1] = 1;
                check(&one, leaf);
                one[limbs - 1] = 1 << 63;
                check(&one, leaf);
                one[0] = u64::MAX;
                check(&one, leaf);
            }
        }
    }

    proptest! {
        #[test]
        fn images_are_single_steps(
            low in prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 1..40),
            leaf in 1usize..8,
        ) {
            check(&low, leaf);
        }
    }
}
