//! Four 64-bit numbers in an AVX2 register.
//!
//! The functions execute AVX2 instructions and are safe to call. They take an [`Avx2`] as a proof
//! that the processor has these instructions, or a [`U64x4`], which cannot be made without such a
//! proof. The first proof can only come from [`Avx2::detect`], which requires none. The proofs cost
//! nothing: an [`Avx2`] has no size, and a [`U64x4`] is the register.

use core::arch::x86_64::*;

use warpint_arith::goldilocks::{EPSILON, Q};

/// 2^63, the offset with which the elements of [`Four`](super::Four) are stored.
pub const SIGN: u64 = 1 << 63;

/// A proof that this processor has AVX2.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

/// Four 64-bit numbers in an AVX2 register. A value of this type is also a proof that this
/// processor has AVX2.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct U64x4(__m256i);

/// Calls an intrinsic that is safe on every processor with AVX2. The caller must have an [`Avx2`]
/// or a [`U64x4`].
macro_rules! simd {
    ($($call:tt)*) => {
        // SAFETY: the caller has an `Avx2` or a `U64x4`, so the processor has AVX2.
        unsafe { $($call)* }
    };
}

impl Avx2 {
    /// Returns the proof that this processor has AVX2. Returns `None` if the processor lacks AVX2.
    #[must_use]
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Returns a register with x in every lane.
    #[inline(always)]
    #[must_use]
    pub fn splat(self, x: u64) -> U64x4 {
        U64x4(simd!(_mm256_set1_epi64x(x as i64)))
    }

    /// Loads the four numbers of the slice x.
    ///
    /// # Panics
    /// If the slice does not have exactly four entries.
    #[inline(always)]
    #[must_use]
    pub fn load(self, x: &[u64]) -> U64x4 {
        assert!(x.len() == 4);
        // SAFETY: the processor has AVX2, and four numbers are readable; no alignment is required.
        U64x4(unsafe { _mm256_loadu_si256(x.as_ptr().cast()) })
    }

    /// Loads four signed numbers, each as its residue mod 2^64.
    ///
    /// # Panics
    /// If the slice does not have exactly four entries.
    #[inline(always)]
    #[must_use]
    pub fn load_signed(self, x: &[i64]) -> U64x4 {
        assert!(x.len() == 4);
        // SAFETY: the processor has AVX2, and four numbers are readable; no alignment is required.
        U64x4(unsafe { _mm256_loadu_si256(x.as_ptr().cast()) })
    }

    /// Loads four signed numbers of 32 bits. Returns the vector of their absolute values and the
    /// vector of their residues mod 2^64.
    ///
    /// # Panics
    /// If the slice does not have exactly four entries.
    #[inline(always)]
    #[must_use]
    pub fn load_short(self, x: &[i32]) -> [U64x4; 2] {
        assert!(x.len() == 4);
        // SAFETY: the processor has AVX2, and four 32-bit numbers are readable; no alignment is
        // required.
        let x = unsafe { _mm_loadu_si128(x.as_ptr().cast()) };
        simd!([U64x4(_mm256_cvtepu32_epi64(_mm_abs_epi32(x))), U64x4(_mm256_cvtepi32_epi64(x))])
    }
}

impl U64x4 {
    /// Returns a proof that this processor has AVX2. This register could not exist otherwise.
    #[inline(always)]
    #[must_use]
    pub fn avx2(self) -> Avx2 {
        Avx2(())
    }

    /// Returns a new register with x in every lane.
    #[inline(always)]
    #[must_use]
    pub fn splat(self, x: u64) -> Self {
        self.avx2().splat(x)
    }

    /// Writes the four numbers to the slice `out`.
    ///
    /// # Panics
    /// If the slice does not have exactly four entries.
    #[inline(always)]
    pub fn store(self, out: &mut [u64]) {
        assert!(out.len() == 4);
        // SAFETY: the processor has AVX2, and four numbers are writable; no alignment is required.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), self.0) }
    }

    /// Writes the four numbers, interpreted as signed in two's complement, to the slice `out`.
    ///
    /// # Panics
    /// If the slice does not have exactly four entries.
    #[inline(always)]
    pub fn store_signed(self, out: &mut [i64]) {
        assert!(out.len() == 4);
        // SAFETY: the processor has AVX2, and four numbers are writable; no alignment is required.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), self.0) }
    }

    /// Writes the low 32 bits of each of the four numbers, interpreted as signed in two's
    /// complement, to the slice `out`.
    ///
    /// # Panics
    /// If the slice does not have exactly four entries.
    #[inline(always)]
    pub fn store_low_halves(self, out: &mut [i32]) {
        assert!(out.len() == 4);
        // SAFETY: the processor has AVX2, and four 32-bit numbers are writable; no alignment is
        // required.
        unsafe {
            // The even 32-bit lanes, in order.
            let low_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
            let packed = _mm256_permutevar8x32_epi32(self.0, low_halves);
            _mm_storeu_si128(out.as_mut_ptr().cast(), _mm256_castsi256_si128(packed));
        }
    }
}

/// Returns a + b mod 2^64 in each lane.
#[inline(always)]
#[must_use]
pub fn plus(a: U64x4, b: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_add_epi64(a.0, b.0)))
}

/// Returns a − b mod 2^64 in each lane.
#[inline(always)]
#[must_use]
pub fn minus(a: U64x4, b: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_sub_epi64(a.0, b.0)))
}

/// Returns the bitwise AND of a and b.
#[inline(always)]
#[must_use]
pub fn and(a: U64x4, b: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_and_si256(a.0, b.0)))
}

/// Returns a + 2^63 mod 2^64 in each lane: flips the top bits.
#[inline(always)]
#[must_use]
pub fn flip_sign(a: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_xor_si256(a.0, a.splat(SIGN).0)))
}

/// Compares the lanes of a and b as signed numbers. Returns all ones in each lane where a > b, and
/// zero in each other lane.
#[inline(always)]
#[must_use]
pub fn greater(a: U64x4, b: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_cmpgt_epi64(a.0, b.0)))
}

/// Returns the number from `yes` in each lane where the mask is all ones, and the number from `no`
/// in each lane where the mask is zero.
#[inline(always)]
#[must_use]
pub fn choose(mask: U64x4, yes: U64x4, no: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_blendv_epi8(no.0, yes.0, mask.0)))
}

/// Returns the constant `yes` in each lane where the mask is all ones, and `no` in each lane where
/// the mask is zero.
#[inline(always)]
#[must_use]
pub fn choose_of(mask: U64x4, yes: u64, no: u64) -> U64x4 {
    choose(mask, mask.splat(yes), mask.splat(no))
}

/// Returns in each lane the low 32 bits of a and the high 32 bits of b.
#[inline(always)]
pub(super) fn halves(a: U64x4, b: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_blend_epi32::<0b1010_1010>(a.0, b.0)))
}

/// Returns in each lane the 64-bit product of the low 32 bits of a and the low 32 bits of b.
#[inline(always)]
#[must_use]
pub fn mul_low(a: U64x4, b: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_mul_epu32(a.0, b.0)))
}

/// Returns a·2^k mod 2^64 in each lane, for k in 0..64.
#[inline(always)]
#[must_use]
pub fn shift_left(a: U64x4, k: u32) -> U64x4 {
    U64x4(simd!(_mm256_sll_epi64(a.0, _mm_cvtsi32_si128(k as i32))))
}

/// Returns ⌊a/2^k⌋ in each lane, for unsigned a and k in 0..64.
#[inline(always)]
#[must_use]
pub fn shift_right(a: U64x4, k: u32) -> U64x4 {
    U64x4(simd!(_mm256_srl_epi64(a.0, _mm_cvtsi32_si128(k as i32))))
}

/// Returns a·2^e mod 2^64 in each lane. The exponent e, in 0..64, is the number in the same lane of
/// `k`.
#[inline(always)]
#[must_use]
pub fn shift_left_each(a: U64x4, k: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_sllv_epi64(a.0, k.0)))
}

/// Returns ⌊a/2^e⌋ in each lane, for unsigned a. The exponent e, in 0..64, is the number in the
/// same lane of `k`.
#[inline(always)]
#[must_use]
pub fn shift_right_each(a: U64x4, k: U64x4) -> U64x4 {
    U64x4(simd!(_mm256_srlv_epi64(a.0, k.0)))
}

/// Returns x mod [`Q`] in each lane, for any 64-bit x. x and the result are stored with 2^63 added.
#[inline(always)]
pub(super) fn canonical(x: U64x4) -> U64x4 {
    // x − q is x + ε.
    plus(x, shift_right(greater(x, x.splat((Q - 1) ^ SIGN)), 32))
}

/// Returns a + b mod [`Q`] in each lane, for canonical a and b. a and the result are stored with
/// 2^63 added; b is stored without this offset.
#[inline(always)]
#[must_use]
pub fn add_plain(a: U64x4, b: U64x4) -> U64x4 {
    let below_q = greater(minus(a.splat(Q.wrapping_add(SIGN)), b), a);
    plus(plus(a, b), choose_of(below_q, 0, EPSILON))
}

/// Returns the columns of the 4×4 matrix whose rows are a, b, c and d.
#[inline(always)]
#[must_use]
pub fn transposed([a, b, c, d]: [U64x4; 4]) -> [U64x4; 4] {
    simd!({
        let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a.0, b.0), _mm256_unpackhi_epi64(a.0, b.0));
        let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c.0, d.0), _mm256_unpackhi_epi64(c.0, d.0));
        [
            U64x4(_mm256_permute2x128_si256::<0x20>(ab_even, cd_even)),
            U64x4(_mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd)),
            U64x4(_mm256_permute2x128_si256::<0x31>(ab_even, cd_even)),
            U64x4(_mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd)),
        ]
    })
}
