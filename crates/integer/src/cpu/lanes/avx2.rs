//! Four lanes with limbs of 52 bits, by fused multiply-adds of FP64 on AVX2.
//!
//! The two parts of a product come from two fused multiply-adds (Emmart, Zheng and Weems 2018,
//! *Faster modular exponentiation using double precision floating point arithmetic on the GPU*,
//! 25th IEEE Symposium on Computer Arithmetic, 2018). There, results are rounded toward zero. Here
//! they are rounded to nearest, and the second product is added to a negative number. Let
//! 0 ≤ a, b < 2^52 and p = a·b. Let C = 2^104 and D = 3·2^51. Numbers of type `f64` from 2^104 to
//! 2^105 are multiples of 2^52, and those from 2^103 to 2^104 are multiples of 2^51. So
//!
//! * t = fma(a, b, C) is C + h·2^52 with |p − h·2^52| ≤ 2^51. As p ≤ 2^104 − 2^53 + 1,
//!   0 ≤ h ≤ 2^52 − 2;
//! * (C − D) − t = −h·2^52 − D is exact: C − D is a multiple of 2^51 below 2^104, and so is the
//!   negative of the difference, which is at most 2^104 − 2^53 + 3·2^51;
//! * fma(a, b, −h·2^52 − D) is r − D with r = p − h·2^52. The difference is an integer from −2^53 to
//!   −2^52, so the result is exact.
//!
//! From one power of two to the next, both included, the bit patterns of successive absolute values
//! of `f64` numbers are successive integers. So the bit pattern of t is that of C plus h, and the bit pattern of
//! r − D is that of −D minus r. These bit patterns are added to columns, or subtracted from them. The
//! bit pattern of C is [`Lanes::HIGH_BIAS`], and the negative of that of −D is [`Lanes::LOW_BIAS`].
//!
//! The `unsafe` blocks of the macro in this file call instructions of AVX2 or FMA. Every method has
//! a vector or a proof as argument. A vector is made only from a proof, and a proof only by
//! [`Lanes::proof`], after it has checked that the processor has the instructions.

use std::arch::x86_64::*;

use warpint_arith::simd::{Cpu, Level};

use super::vector::{Kernel, Lanes, MOST_LANES, digit};

const LANES: usize = 4;
/// D = 3·2^51.
const D: f64 = (3u64 << 51) as f64;
/// C = 2^104.
const C: f64 = TWO_52 * TWO_52;
/// 2^52. Added to an integer below 2^52, it gives a number whose bit pattern is that of 2^52 plus the
/// integer.
const TWO_52: f64 = (1u64 << 52) as f64;

/// Four words in a register of 256 bits.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Avx2(pub(super) __m256i);

/// Proves that this processor has the instructions of [`Level::Avx2`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2Proof(());

/// Calls an intrinsic of AVX2 or FMA.
macro_rules! avx2 {
    ($call:expr) => {
        // SAFETY: the processor has the instructions; see the module's documentation.
        unsafe { $call }
    };
}

/// Returns the mask that selects the first `len` of 8 words of 32 bits.
#[inline(always)]
fn first(_: Avx2Proof, len: usize) -> __m256i {
    avx2!(_mm256_cmpgt_epi32(
        _mm256_set1_epi32(len as i32),
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
    ))
}

/// Returns the first `len` words of 32 bits from address `from` on, and zeros after them.
///
/// # Safety
/// `from` must be a multiple of 4 and valid for reading `len` words. `len` must be at most 4.
#[inline(always)]
unsafe fn load_half(_: Avx2Proof, from: *const u32, len: usize) -> __m128i {
    if len == 4 {
        // SAFETY: the argument proves that the processor has the instruction. The caller guarantees
        // that `from` is valid for reading four words.
        return unsafe { _mm_loadu_si128(from.cast()) };
    }
    let mask = avx2!(_mm_cmpgt_epi32(_mm_set1_epi32(len as i32), _mm_setr_epi32(0, 1, 2, 3)));
    // SAFETY: as for four words. The mask excludes words beyond `len`, which are not read.
    unsafe { _mm_maskload_epi32(from.cast(), mask) }
}

/// Writes the first `len` words of 32 bits of `words` to memory from address `to` on. Some processors
/// execute a store with a mask slowly, so it is not used.
///
/// # Safety
/// `to` must be a multiple of 4 and valid for writing `len` words. `len` must be at most 4.
#[inline(always)]
unsafe fn store_half(_: Avx2Proof, mut words: __m128i, mut to: *mut u32, len: usize) {
    if len == 4 {
        // SAFETY: the argument proves that the processor has the instruction. The caller guarantees
        // that `to` is valid for writing four words.
        return unsafe { _mm_storeu_si128(to.cast(), words) };
    }
    if len & 2 != 0 {
        // SAFETY: as for four words, with two. `to` need not be aligned.
        unsafe { _mm_storel_epi64(to.cast(), words) };
        words = avx2!(_mm_unpackhi_epi64(words, words));
        to = to.wrapping_add(2);
    }
    if len & 1 != 0 {
        // SAFETY: as for four words, with one.
        unsafe { to.write(_mm_cvtsi128_si32(words).cast_unsigned()) };
    }
}

impl Avx2 {
    /// Returns the lower and the upper two words.
    #[inline(always)]
    fn halves(self) -> [__m128i; 2] {
        [avx2!(_mm256_castsi256_si128(self.0)), avx2!(_mm256_extracti128_si256::<1>(self.0))]
    }

    #[inline(always)]
    fn as_f64s(self) -> __m256d {
        avx2!(_mm256_castsi256_pd(self.0))
    }

    #[inline(always)]
    fn from_f64s(x: __m256d) -> Self {
        Self(avx2!(_mm256_castpd_si256(x)))
    }
}

// SAFETY: `__m256i` has 32 bytes without padding and an alignment of 32. Lane l is word l, and
// every bit pattern is valid.
unsafe impl Lanes for Avx2 {
    const LANES: usize = LANES;
    const BITS: u32 = 52;
    const SPLIT: bool = false;
    const LOW_BIAS: u64 = (-D).to_bits().wrapping_neg();
    const HIGH_BIAS: u64 = C.to_bits();
    const OFFSET: u64 = 1 << 62;
    type Proof = Avx2Proof;

    fn proof() -> Option<Avx2Proof> {
        (Cpu::get().level >= Level::Avx2).then_some(Avx2Proof(()))
    }

    fn enter<K: Kernel<Self>>(proof: Avx2Proof, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
        fn inside<K: Kernel<Avx2>>(proof: Avx2Proof, kernel: K) -> K::Output {
            kernel.run(proof)
        }
        // SAFETY: `proof` proves that the processor has the instructions of [`Level::Avx2`], which
        // are those that `inside` enables.
        unsafe { inside(proof, kernel) }
    }

    #[inline(always)]
    fn splat(_: Avx2Proof, x: u64) -> Self {
        Self(avx2!(_mm256_set1_epi64x(x.cast_signed())))
    }

    #[inline(always)]
    unsafe fn load(proof: Avx2Proof, from: *const u32, len: usize) -> Self {
        debug_assert!(len <= 2 * LANES, "more words than a vector has");
        if len == 2 * LANES {
            // SAFETY: the argument proves that the processor has the instruction. The caller
            // guarantees that `from` is valid for reading `len` words.
            return Self(unsafe { _mm256_loadu_si256(from.cast()) });
        }
        // SAFETY: as for whole vectors. The mask excludes words beyond `len`, which are not read.
        Self(unsafe { _mm256_maskload_epi32(from.cast(), first(proof, len)) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32, len: usize) {
        debug_assert!(len <= 2 * LANES, "more words than a vector has");
        if len == 2 * LANES {
            // SAFETY: a vector exists, so the processor has the instruction. The caller guarantees
            // that `to` is valid for writing `len` words.
            unsafe { _mm256_storeu_si256(to.cast(), self.0) }
        } else {
            let [low, high] = self.halves();
            let proof = Avx2Proof(());
            // SAFETY: the caller guarantees that `to` is valid for writing `len` words.
            // `Avx2Proof` may be made here, because a vector exists.
            unsafe {
                store_half(proof, low, to, len.min(4));
                store_half(proof, high, to.wrapping_add(4), len.saturating_sub(4));
            }
        }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(avx2!(_mm256_add_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        Self(avx2!(_mm256_and_si256(self.0, b.0)))
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        Self(avx2!(_mm256_or_si256(self.0, b.0)))
    }

    #[inline(always)]
    fn shr(self, bits: u64) -> Self {
        Self(avx2!(_mm256_srlv_epi64(self.0, _mm256_set1_epi64x(bits.cast_signed()))))
    }

    #[inline(always)]
    fn shl_each(self, counts: Self) -> Self {
        Self(avx2!(_mm256_sllv_epi64(self.0, counts.0)))
    }

    #[inline(always)]
    fn shr_each(self, counts: Self) -> Self {
        Self(avx2!(_mm256_srlv_epi64(self.0, counts.0)))
    }

    #[inline(always)]
    fn factor(self) -> Self {
        let two_52 = avx2!(_mm256_set1_pd(TWO_52));
        // The lowest 52 bits of the bit pattern of 2^52 are 0.
        let shifted = self.or(Self::from_f64s(two_52));
        Self::from_f64s(avx2!(_mm256_sub_pd(shifted.as_f64s(), two_52)))
    }

    #[inline(always)]
    fn mad(low: Self, high: Self, a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.as_f64s(), b.as_f64s());
        let (c, c_minus_d) = avx2!((_mm256_set1_pd(C), _mm256_set1_pd(C - D)));
        let t = avx2!(_mm256_fmadd_pd(a, b, c));
        let rest = avx2!(_mm256_fmadd_pd(a, b, _mm256_sub_pd(c_minus_d, t)));
        let low = avx2!(_mm256_sub_epi64(low.0, Self::from_f64s(rest).0));
        (Self(low), high.add(Self::from_f64s(t)))
    }

    #[inline(always)]
    fn low_product(self, proof: Avx2Proof, b: Self) -> Self {
        let a = digit(proof, self).factor();
        // Makes up for the bias of one low part.
        let unbiased = Self::splat(proof, Self::LOW_BIAS.wrapping_neg());
        digit(proof, Self::mad(unbiased, unbiased, a, b).0).factor()
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        assert_eq!(square.len(), LANES, "the matrix is not square");
        // Exchanges the off-diagonal blocks of size 1, then 2 lanes.
        for i in 0..2 {
            let (a, b) = (square[2 * i].0, square[2 * i + 1].0);
            square[2 * i].0 = avx2!(_mm256_unpacklo_epi64(a, b));
            square[2 * i + 1].0 = avx2!(_mm256_unpackhi_epi64(a, b));
        }
        for i in 0..2 {
            let (a, b) = (square[i].0, square[i + 2].0);
            square[i].0 = avx2!(_mm256_permute2x128_si256::<0x20>(a, b));
            square[i + 2].0 = avx2!(_mm256_permute2x128_si256::<0x31>(a, b));
        }
    }

    /// Loads pairs of words directly to the halves of vectors. Then half of the exchanges of
    /// [`Lanes::transpose`] are not needed.
    #[inline(always)]
    unsafe fn load_rows(
        proof: Avx2Proof,
        rows: [*const u32; MOST_LANES],
        len: usize,
    ) -> [Self; MOST_LANES] {
        let mut words = [Self::splat(proof, 0); MOST_LANES];
        for half in 0..2 {
            let len = len.saturating_sub(4 * half).min(4);
            let mut pairs = [avx2!(_mm_setzero_si128()); LANES];
            for (pair, row) in pairs.iter_mut().zip(rows) {
                // SAFETY: the caller guarantees that the rows are valid for reading these words.
                *pair = unsafe { load_half(proof, row.wrapping_add(4 * half), len) };
            }
            let a = avx2!(_mm256_set_m128i(pairs[2], pairs[0]));
            let b = avx2!(_mm256_set_m128i(pairs[3], pairs[1]));
            words[2 * half] = Self(avx2!(_mm256_unpacklo_epi64(a, b)));
            words[2 * half + 1] = Self(avx2!(_mm256_unpackhi_epi64(a, b)));
        }
        words
    }

    /// The reverse of [`Lanes::load_rows`].
    #[inline(always)]
    unsafe fn store_rows(words: [Self; MOST_LANES], rows: [*mut u32; MOST_LANES], len: usize) {
        // A vector exists, so the processor has the instructions.
        let proof = Avx2Proof(());
        for half in 0..2 {
            let len = len.saturating_sub(4 * half).min(4);
            let (a, b) = (words[2 * half].0, words[2 * half + 1].0);
            let [first, third] = Self(avx2!(_mm256_unpacklo_epi64(a, b))).halves();
            let [second, fourth] = Self(avx2!(_mm256_unpackhi_epi64(a, b))).halves();
            for (pair, row) in [first, second, third, fourth].into_iter().zip(rows) {
                // SAFETY: the caller guarantees that the rows are valid for writing these words.
                unsafe { store_half(proof, pair, row.wrapping_add(4 * half), len) };
            }
        }
    }

    #[inline(always)]
    fn transpose_pairs(half: &mut [Self]) {
        assert_eq!(half.len(), LANES / 2, "the matrix is not half of a square");
        let (a, b) = (half[0].0, half[1].0);
        half[0].0 = avx2!(_mm256_unpacklo_epi64(a, b));
        half[1].0 = avx2!(_mm256_unpackhi_epi64(a, b));
    }
}
