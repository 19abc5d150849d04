//! Four field elements in an AVX2 register.
//!
//! AVX2 compares 64-bit numbers as signed only. So a canonical x is held as
//! x' = x + 2^63 mod 2^64: signed order of x' is unsigned order of x, and the
//! flips of the sign bit melt into constants that are added anyway. Factors and
//! integers are held plain.

use core::arch::x86_64::*;

use super::lanes::{Kernel, Lanes, Words};
use warpint_arith::goldilocks::{EPSILON, Q};

/// Four elements, each plus 2^63.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Four(__m256i);

/// Four plain 64-bit numbers.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Plain(__m256i);

impl Four {
    /// Whether this processor has the instructions.
    pub(super) fn available() -> bool {
        is_x86_feature_detected!("avx2")
    }
}

const SIGN: u64 = 1 << 63;

/// An intrinsic that has no other requirement than its instruction set.
macro_rules! simd {
    ($($call:tt)*) => {
        // SAFETY: `Four` serves transforms only, and one of four lanes is built
        // only when `Four::available` has said that AVX2 is there.
        unsafe { $($call)* }
    };
}

#[inline(always)]
fn splat(x: u64) -> __m256i {
    simd!(_mm256_set1_epi64x(x as i64))
}

#[inline(always)]
fn plus(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_add_epi64(a, b))
}

#[inline(always)]
fn minus(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_sub_epi64(a, b))
}

#[inline(always)]
fn and(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_and_si256(a, b))
}

#[inline(always)]
fn flip_sign(a: __m256i) -> __m256i {
    simd!(_mm256_xor_si256(a, splat(SIGN)))
}

/// All ones where a > b, signed.
#[inline(always)]
fn greater(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_cmpgt_epi64(a, b))
}

/// Where the mask is ones `yes`, elsewhere `no`.
#[inline(always)]
fn choose(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
    simd!(_mm256_blendv_epi8(no, yes, mask))
}

/// The product of the low halves.
#[inline(always)]
fn mul_low(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_mul_epu32(a, b))
}

/// a·2^k for k in 0..64.
#[inline(always)]
fn shift_left(a: __m256i, k: u32) -> __m256i {
    simd!(_mm256_sll_epi64(a, _mm_cvtsi32_si128(k as i32)))
}

/// ⌊a/2^k⌋ for k in 0..64, unsigned.
#[inline(always)]
fn shift_right(a: __m256i, k: u32) -> __m256i {
    simd!(_mm256_srl_epi64(a, _mm_cvtsi32_si128(k as i32)))
}

/// The canonical form of a lazy number, both plus 2^63.
#[inline(always)]
fn canonical(x: __m256i) -> __m256i {
    // x − q is x + ε.
    plus(x, shift_right(greater(x, splat((Q - 1) ^ SIGN)), 32))
}

/// a + b for a with 2^63 added and b plain, both canonical; 2^63 is added to
/// the result.
#[inline(always)]
fn add_plain(a: __m256i, b: __m256i) -> __m256i {
    let below_q = greater(minus(splat(Q.wrapping_add(SIGN)), b), a);
    plus(plus(a, b), choose(below_q, splat(0), splat(EPSILON)))
}

/// a − b for a with 2^63 added and b < 2^63 plain, both canonical; 2^63 is
/// added to the result.
#[inline(always)]
fn sub_small(a: __m256i, b: __m256i) -> __m256i {
    // A borrow shows as a difference that grew; a − b + q is a − b − ε.
    let difference = minus(a, b);
    minus(difference, shift_right(greater(difference, a), 32))
}

/// l + 2^64·h of a product below 2^64·q, as a canonical number plus 2^63.
#[inline(always)]
fn reduce(low: __m256i, high: __m256i) -> __m256i {
    // As in `goldilocks::reduce`; with 2^63 added, a borrow shows as a result
    // that grew and a carry as one that shrank.
    let low = flip_sign(low);
    let difference = minus(low, shift_right(high, 32));
    let borrow = shift_right(greater(difference, low), 32);
    let difference = minus(difference, borrow);
    let sum = plus(difference, mul_low(high, splat(EPSILON)));
    let carry = shift_right(greater(difference, sum), 32);
    canonical(plus(sum, carry))
}

/// The 128-bit product of plain numbers, reduced, plus 2^63.
#[inline(always)]
fn product(a: __m256i, b: __m256i) -> __m256i {
    let (a_high, b_high) = (shift_right(a, 32), shift_right(b, 32));
    let low_low = mul_low(a, b);
    // Each sum below is at most (2^32−1)² + 2·(2^32−1) < 2^64.
    let middle = plus(mul_low(a_high, b), shift_right(low_low, 32));
    let middle_2 = plus(mul_low(a, b_high), and(middle, splat(EPSILON)));
    let high =
        plus(plus(mul_low(a_high, b_high), shift_right(middle, 32)), shift_right(middle_2, 32));
    let low = simd!(_mm256_blend_epi32::<0b1010_1010>(low_low, shift_left(middle_2, 32)));
    reduce(low, high)
}

impl Lanes for Four {
    const WIDTH: usize = 4;
    type Factor = Plain;
    type Int = Plain;

    fn enter<K: Kernel<Self>>(kernel: K) {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn with_avx2<K: Kernel<Four>>(kernel: K) {
            kernel.run();
        }
        assert!(Self::available(), "AVX2 is not there");
        // SAFETY: AVX2 is there.
        unsafe { with_avx2(kernel) }
    }

    #[inline(always)]
    fn splat(x: u64) -> Self {
        Self(splat(x ^ SIGN))
    }

    #[inline(always)]
    fn elements(x: &[u64]) -> Self {
        Self(flip_sign(Self::factors(x).0))
    }

    #[inline(always)]
    fn store(self, out: &mut [u64]) {
        assert!(out.len() == Self::WIDTH);
        // SAFETY: four numbers are writable there; no alignment is needed.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), flip_sign(self.0)) }
    }

    #[inline(always)]
    fn factors(x: &[u64]) -> Plain {
        assert!(x.len() == Self::WIDTH);
        // SAFETY: four numbers are readable there; no alignment is needed.
        Plain(unsafe { _mm256_loadu_si256(x.as_ptr().cast()) })
    }

    #[inline(always)]
    fn splat_factor(x: u64) -> Plain {
        Plain(splat(x))
    }

    #[inline(always)]
    fn ints(x: &[i64]) -> Plain {
        assert!(x.len() == Self::WIDTH);
        // SAFETY: as in `factors`.
        Plain(unsafe { _mm256_loadu_si256(x.as_ptr().cast()) })
    }

    #[inline(always)]
    fn splat_int(x: i64) -> Plain {
        Plain(splat(x as u64))
    }

    #[inline(always)]
    fn store_ints(x: Plain, out: &mut [i64]) {
        assert!(out.len() == Self::WIDTH);
        // SAFETY: four numbers are writable there; no alignment is needed.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), x.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // (q − b)' = q − b', and a + b = a' + b' mod 2^64.
        let below_q = greater(minus(splat(Q), b.0), self.0);
        Self(plus(plus(self.0, b.0), choose(below_q, splat(SIGN), splat(SIGN + EPSILON))))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        let negative = greater(b.0, self.0);
        Self(plus(minus(self.0, b.0), choose(negative, splat(Q.wrapping_add(SIGN)), splat(SIGN))))
    }

    #[inline(always)]
    fn mul(self, w: Plain) -> Self {
        Self(product(flip_sign(self.0), w.0))
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
            // The low word is a multiple of 2^32 and so at most q − 1; the
            // high word h = h1·2^32 + h0 is worth h0·2^32 − (h0 + h1).
            let low = if k == 64 { splat(0) } else { shift_left(x, k) };
            let h = if k == 64 { x } else { shift_right(x, 64 - k) };
            let sum = add_plain(flip_sign(low), shift_left(h, 32));
            sub_small(sum, plus(and(h, splat(EPSILON)), shift_right(h, 32)))
        } else {
            // As in `goldilocks::mul_pow2`: −2^−m with m = 96 − k.
            let top = shift_left(x, k - 32);
            let rest = plus(shift_right(x, 96 - k), shift_right(top, 32));
            let (top, rest) = (Self(flip_sign(top)), Self(flip_sign(rest)));
            return if negative { rest.sub(top) } else { top.sub(rest) };
        };
        if negative { Self::splat(0).sub(Self(power)) } else { Self(power) }
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        let [a, b, c, d] = square else { return };
        let [w, x, y, z] = transposed([a.0, b.0, c.0, d.0]);
        (a.0, b.0, c.0, d.0) = (w, x, y, z);
    }

    #[inline(always)]
    fn weigh(digits: &[i32], column: Plain, wrap: i64, w: [u64; 2]) -> Self {
        assert!(digits.len() == Self::WIDTH);
        // SAFETY: four 32-bit numbers are readable there.
        let d = unsafe { _mm_loadu_si128(digits.as_ptr().cast()) };
        let (size, d) = simd!((_mm256_cvtepu32_epi64(_mm_abs_epi32(d)), _mm256_cvtepi32_epi64(d)));
        let w = choose(greater(column.0, splat((wrap - 1) as u64)), splat(w[1]), splat(w[0]));
        // |d|·w = l + 2^32·(h0 + 2^32·h1) ≡ (l + ε·h1) + 2^32·h0, where |d| ≤ 2^31
        // makes l and ε·h1 at most 2^63 − 2^31: both terms are below q.
        let high = mul_low(size, shift_right(w, 32));
        let first = plus(mul_low(size, w), mul_low(shift_right(high, 32), splat(EPSILON)));
        let product = add_plain(flip_sign(first), shift_left(high, 32));
        // Where d is negative the product is not 0, and q − product is canonical.
        let opposite = minus(splat(Q), product);
        Self(choose(greater(splat(0), d), opposite, product))
    }

    #[inline(always)]
    fn settle(
        self,
        row: Plain,
        column: i64,
        w: &[Plain; 2],
        words: Words,
        carry: &mut Plain,
    ) -> Plain {
        let e = plus(row.0, splat(column as u64));
        let wrapped = greater(e, splat((words.n - 1) as u64));
        let e = minus(e, and(wrapped, splat(words.n as u64)));
        let z = self.mul(Plain(choose(wrapped, w[1].0, w[0].0))).0;
        // Signed: z − q = z + ε where z > q/2.
        let large = greater(z, splat((Q / 2) ^ SIGN));
        let v = plus(z, choose(large, splat(SIGN + EPSILON), splat(SIGN)));
        let v = plus(v, carry.0);
        // ⌊(v + 2^(b−1))/2^b⌋ from an unsigned shift of v + 2^(b−1) + 2^63.
        let long = greater(splat(words.long_below as u64), e);
        let b = words.bits;
        let bits = minus(splat(u64::from(b)), long);
        let bias = choose(long, splat(SIGN + (1 << b)), splat(SIGN + (1 << b >> 1)));
        let shifted = simd!(_mm256_srlv_epi64(plus(v, bias), bits));
        let out = minus(shifted, choose(long, splat(SIGN >> (b + 1)), splat(SIGN >> b)));
        *carry = Plain(out);
        Plain(minus(v, simd!(_mm256_sllv_epi64(out, bits))))
    }

    #[inline(always)]
    fn store_digits(digits: &mut [Plain], out: &mut [i32]) {
        let [a, b, c, d] = digits else { return };
        let rows = transposed([a.0, b.0, c.0, d.0]);
        assert!(out.len() == 16);
        for (row, out) in rows.into_iter().zip(out.chunks_exact_mut(4)) {
            let low_halves = splat_indices();
            // SAFETY: AVX2 as above; `out` has room for four 32-bit numbers.
            unsafe {
                let packed = _mm256_permutevar8x32_epi32(row, low_halves);
                _mm_storeu_si128(out.as_mut_ptr().cast(), _mm256_castsi256_si128(packed));
            }
        }
    }
}

/// The even 32-bit lanes, in order.
#[inline(always)]
fn splat_indices() -> __m256i {
    simd!(_mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6))
}

#[inline(always)]
fn transposed([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    simd!({
        let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
            _mm256_permute2x128_si256::<0x31>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
        ]
    })
}
