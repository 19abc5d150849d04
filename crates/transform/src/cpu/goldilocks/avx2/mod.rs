//! Four field elements in an AVX2 register.
//!
//! AVX2 compares 64-bit numbers only as signed numbers. So a canonical element x,
//! 0 ≤ x < q = 2^64 − 2^32 + 1, is stored as x' = x + 2^63 mod 2^64. The signed order of the stored
//! numbers is the unsigned order of the elements. Flips of the sign bit are merged into constants
//! that are added anyway. Factors and integers are stored without this offset.

pub mod vector;

use super::lanes::{Kernel, Lanes};
use vector::{
    Avx2, SIGN, U64x4, add_plain, and, canonical, choose_of, flip_sign, greater, halves, minus,
    mul_low, plus, shift_left, shift_right, transposed,
};
use warpint_arith::goldilocks::{EPSILON, Q};

/// Four canonical elements of the field. Each element x is stored as x + 2^63 mod 2^64.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Four(pub U64x4);

/// Four 64-bit numbers, stored as they are, without the offset 2^63 of [`Four`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Plain(pub U64x4);

/// Returns a − b mod [`Q`] in each lane, for a canonical a and b < 2^63. a and the result are
/// stored with 2^63 added; b is stored without this offset.
#[inline(always)]
fn sub_small(a: U64x4, b: U64x4) -> U64x4 {
    // After a borrow the difference is larger than a; a − b + q is a − b − ε.
    let difference = minus(a, b);
    minus(difference, shift_right(greater(difference, a), 32))
}

/// Returns low + 2^64·high mod [`Q`] in each lane. Requires low + 2^64·high < 2^64·q. The result is
/// canonical and stored with 2^63 added; `low` and `high` are stored without this offset.
#[inline(always)]
fn reduce(low: U64x4, high: U64x4) -> U64x4 {
    // As in `goldilocks::reduce`; with 2^63 added, a result increased by a borrow and decreased by
    // a carry reveals them.
    let low = flip_sign(low);
    let difference = minus(low, shift_right(high, 32));
    let borrow = shift_right(greater(difference, low), 32);
    let difference = minus(difference, borrow);
    let sum = plus(difference, mul_low(high, high.splat(EPSILON)));
    let carry = shift_right(greater(difference, sum), 32);
    canonical(plus(sum, carry))
}

/// Returns a·b mod [`Q`] in each lane. Requires a·b < 2^64·q. The result is canonical and stored
/// with 2^63 added; a and b are stored without this offset.
#[inline(always)]
fn product(a: U64x4, b: U64x4) -> U64x4 {
    let (a_high, b_high) = (shift_right(a, 32), shift_right(b, 32));
    let low_low = mul_low(a, b);
    // Each sum below is at most (2^32−1)² + 2·(2^32−1) < 2^64.
    let middle = plus(mul_low(a_high, b), shift_right(low_low, 32));
    let middle_2 = plus(mul_low(a, b_high), and(middle, middle.splat(EPSILON)));
    let high =
        plus(plus(mul_low(a_high, b_high), shift_right(middle, 32)), shift_right(middle_2, 32));
    let low = halves(low_low, shift_left(middle_2, 32));
    reduce(low, high)
}

impl Lanes for Four {
    const WIDTH: usize = 4;
    type Factor = Plain;
    type Instructions = Avx2;

    fn instructions() -> Option<Avx2> {
        Avx2::detect()
    }

    fn enter<K: Kernel<Self>>(kernel: K) {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn with_avx2<K: Kernel<Four>>(kernel: K) {
            kernel.run();
        }
        assert!(Avx2::detect().is_some(), "AVX2 is not there");
        // SAFETY: the processor has AVX2.
        unsafe { with_avx2(kernel) }
    }

    #[inline(always)]
    fn splat(avx2: Avx2, x: u64) -> Self {
        Self(avx2.splat(x ^ SIGN))
    }

    #[inline(always)]
    fn elements(avx2: Avx2, x: &[u64]) -> Self {
        Self(flip_sign(avx2.load(x)))
    }

    #[inline(always)]
    fn store(self, out: &mut [u64]) {
        flip_sign(self.0).store(out);
    }

    #[inline(always)]
    fn factors(avx2: Avx2, x: &[u64]) -> Plain {
        Plain(avx2.load(x))
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // (q − b)' = q − b', and a + b = a' + b' mod 2^64.
        let below_q = greater(minus(b.0.splat(Q), b.0), self.0);
        Self(plus(plus(self.0, b.0), choose_of(below_q, SIGN, SIGN + EPSILON)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        let negative = greater(b.0, self.0);
        Self(plus(minus(self.0, b.0), choose_of(negative, Q.wrapping_add(SIGN), SIGN)))
    }

    #[inline(always)]
    fn mul(self, w: Plain) -> Self {
        Self(product(flip_sign(self.0), w.0))
    }

    #[inline(always)]
    fn scale(self, w: u64) -> Self {
        self.mul(Plain(self.0.splat(w)))
    }

    #[inline(always)]
    fn to_factor(self) -> Plain {
        Plain(flip_sign(self.0))
    }

    #[inline(always)]
    fn mul_pow2(self, k: u32) -> Self {
        let (k, negative) = if k >= 96 { (k - 96, true) } else { (k, false) };
        let x = flip_sign(self.0);
        let power = if k == 0 {
            self.0
        } else if k < 32 {
            // x·2^k = low + 2^64·h with h < 2^31, and 2^64·h ≡ ε·h < q.
            let h = shift_right(x, 64 - k);
            let low = canonical(flip_sign(shift_left(x, k)));
            add_plain(low, minus(shift_left(h, 32), h))
        } else if k <= 64 {
            // The low word is a multiple of 2^32 and so at most q − 1; the high word h = h1·2^32 +
            // h0 amounts to h0·2^32 − (h0 + h1).
            let low = if k == 64 { x.splat(0) } else { shift_left(x, k) };
            let h = if k == 64 { x } else { shift_right(x, 64 - k) };
            let sum = add_plain(flip_sign(low), shift_left(h, 32));
            sub_small(sum, plus(and(h, h.splat(EPSILON)), shift_right(h, 32)))
        } else {
            // As in `goldilocks::mul_pow2`: −2^−m with m = 96 − k.
            let top = shift_left(x, k - 32);
            let rest = plus(shift_right(x, 96 - k), shift_right(top, 32));
            let (top, rest) = (Self(flip_sign(top)), Self(flip_sign(rest)));
            return if negative { rest.sub(top) } else { top.sub(rest) };
        };
        if negative { Self(power.splat(SIGN)).sub(Self(power)) } else { Self(power) }
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        let [a, b, c, d] = square else { return };
        let [w, x, y, z] = transposed([a.0, b.0, c.0, d.0]);
        (a.0, b.0, c.0, d.0) = (w, x, y, z);
    }
}
