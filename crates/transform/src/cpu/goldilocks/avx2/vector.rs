//! Four 64-bit numbers in an AVX2 register.
//!
//! The functions execute AVX2 instructions: they are for code that runs where
//! [`Four::available`](super::Four::available) has said that these are there.

use core::arch::x86_64::*;

use warpint_arith::goldilocks::{EPSILON, Q};

/// 2^63, which lanes of [`Four`](super::Four) have added.
pub const SIGN: u64 = 1 << 63;

/// An intrinsic that has no other requirement than its instruction set.
macro_rules! simd {
    ($($call:tt)*) => {
        // SAFETY: `Four` serves transforms only, and one of four lanes is built
        // only when `Four::available` has said that AVX2 is there.
        unsafe { $($call)* }
    };
}

/// The same number in every lane.
#[inline(always)]
pub fn splat(x: u64) -> __m256i {
    simd!(_mm256_set1_epi64x(x as i64))
}

/// a + b mod 2^64.
#[inline(always)]
pub fn plus(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_add_epi64(a, b))
}

/// a − b mod 2^64.
#[inline(always)]
pub fn minus(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_sub_epi64(a, b))
}

/// The bits that both have.
#[inline(always)]
pub fn and(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_and_si256(a, b))
}

/// a + 2^63 mod 2^64.
#[inline(always)]
pub fn flip_sign(a: __m256i) -> __m256i {
    simd!(_mm256_xor_si256(a, splat(SIGN)))
}

/// All ones where a > b, signed.
#[inline(always)]
pub fn greater(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_cmpgt_epi64(a, b))
}

/// Where the mask is ones `yes`, elsewhere `no`.
#[inline(always)]
pub fn choose(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
    simd!(_mm256_blendv_epi8(no, yes, mask))
}

/// The low half of a and the high half of b.
#[inline(always)]
pub(super) fn halves(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_blend_epi32::<0b1010_1010>(a, b))
}

/// The product of the low halves.
#[inline(always)]
pub fn mul_low(a: __m256i, b: __m256i) -> __m256i {
    simd!(_mm256_mul_epu32(a, b))
}

/// a·2^k for k in 0..64.
#[inline(always)]
pub fn shift_left(a: __m256i, k: u32) -> __m256i {
    simd!(_mm256_sll_epi64(a, _mm_cvtsi32_si128(k as i32)))
}

/// ⌊a/2^k⌋ for k in 0..64, unsigned.
#[inline(always)]
pub fn shift_right(a: __m256i, k: u32) -> __m256i {
    simd!(_mm256_srl_epi64(a, _mm_cvtsi32_si128(k as i32)))
}

/// The canonical form of a lazy number, both plus 2^63.
#[inline(always)]
pub(super) fn canonical(x: __m256i) -> __m256i {
    // x − q is x + ε.
    plus(x, shift_right(greater(x, splat((Q - 1) ^ SIGN)), 32))
}

/// a + b for a with 2^63 added and b plain, both canonical; 2^63 is added to
/// the result.
#[inline(always)]
pub fn add_plain(a: __m256i, b: __m256i) -> __m256i {
    let below_q = greater(minus(splat(Q.wrapping_add(SIGN)), b), a);
    plus(plus(a, b), choose(below_q, splat(0), splat(EPSILON)))
}

/// The transpose of a square of which each number is a row.
#[inline(always)]
pub fn transposed([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
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
