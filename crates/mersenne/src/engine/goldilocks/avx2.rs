//! Words in the lanes of an AVX2 register.

use core::arch::x86_64::*;

use super::lanes::{WordLanes, Words};
use warpint_arith::goldilocks::{EPSILON, Q};
use warpint_transform::cpu::goldilocks::Lanes;
use warpint_transform::cpu::goldilocks::avx2::vector::{
    SIGN, add_plain, and, choose, flip_sign, greater, minus, mul_low, plus, shift_left,
    shift_right, splat, transposed,
};
use warpint_transform::cpu::goldilocks::avx2::{Four, Plain};

/// An intrinsic that has no other requirement than its instruction set.
macro_rules! simd {
    ($($call:tt)*) => {
        // SAFETY: an engine of four lanes is built only when `Four::available` has said that
        // AVX2 is there.
        unsafe { $($call)* }
    };
}

impl WordLanes for Four {
    type Int = Plain;

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
    fn carried_digit(
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
