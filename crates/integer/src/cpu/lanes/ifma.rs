//! Eight lanes with limbs of 52 bits, by the integer products of AVX-512 IFMA.
//!
//! The `unsafe` blocks of the macro in this file call instructions of AVX-512 F, BW, DQ, VL or
//! IFMA. Every method has a vector or a proof as argument. A vector is made only from a proof, and
//! a proof only by [`Lanes::proof`], after it has checked that the processor has the instructions.

use std::arch::x86_64::*;

use warpint_arith::simd::Cpu;

use super::masks::{MOST_GROUPS, Masks};
use super::sums::SumOfParts;
use super::vector::{Kernel, Lanes};

const LANES: usize = 8;
/// The number of bits of a limb.
const BITS: u32 = 52;

/// Eight words in a register of 512 bits.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Ifma(__m512i);

/// Proves that this processor has AVX-512 with IFMA.
#[derive(Debug, Clone, Copy)]
pub(super) struct IfmaProof(());

/// Calls an intrinsic of AVX-512.
macro_rules! avx512 {
    ($call:expr) => {
        // SAFETY: the processor has the instructions; see the module's documentation.
        unsafe { $call }
    };
}

/// Returns the mask that selects the first `len` of 16 words of 32 bits.
#[inline(always)]
fn first(len: usize) -> __mmask16 {
    ((1u32 << len) - 1) as __mmask16
}

// SAFETY: `__m512i` has 64 bytes without padding and an alignment of 64. Lane l is word l, and
// every bit pattern is valid.
unsafe impl Lanes for Ifma {
    const LANES: usize = LANES;
    const BITS: u32 = BITS;
    const SPLIT: bool = true;
    const LOW_BIAS: u64 = 0;
    const HIGH_BIAS: u64 = 0;
    const OFFSET: u64 = 0;
    type Proof = IfmaProof;

    fn proof() -> Option<IfmaProof> {
        Cpu::get().ifma.then_some(IfmaProof(()))
    }

    fn enter<K: Kernel<Self>>(proof: IfmaProof, kernel: K) -> K::Output {
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,fma,bmi1,bmi2,lzcnt"
        )]
        fn inside<K: Kernel<Ifma>>(proof: IfmaProof, kernel: K) -> K::Output {
            kernel.run(proof)
        }
        // SAFETY: `proof` proves that [`Cpu::ifma`] is true, so the processor has all instructions
        // that `inside` enables.
        unsafe { inside(proof, kernel) }
    }

    #[inline(always)]
    fn splat(_: IfmaProof, x: u64) -> Self {
        Self(avx512!(_mm512_set1_epi64(x.cast_signed())))
    }

    #[inline(always)]
    unsafe fn load(_: IfmaProof, from: *const u32, len: usize) -> Self {
        debug_assert!(len <= 2 * LANES, "more words than a vector has");
        // SAFETY: the argument proves that the processor has the instruction. The caller guarantees
        // that `from` is valid for reading `len` words. The mask excludes words beyond `len`, which
        // are not read.
        Self(unsafe { _mm512_maskz_loadu_epi32(first(len), from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32, len: usize) {
        debug_assert!(len <= 2 * LANES, "more words than a vector has");
        // SAFETY: a vector exists, so the processor has the instruction. The caller guarantees that
        // `to` is valid for writing `len` words. The mask excludes words beyond `len`, which are
        // not written.
        unsafe { _mm512_mask_storeu_epi32(to.cast(), first(len), self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(avx512!(_mm512_add_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        Self(avx512!(_mm512_and_si512(self.0, b.0)))
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        Self(avx512!(_mm512_or_si512(self.0, b.0)))
    }

    #[inline(always)]
    fn shr(self, bits: u64) -> Self {
        Self(avx512!(_mm512_srlv_epi64(self.0, _mm512_set1_epi64(bits.cast_signed()))))
    }

    #[inline(always)]
    fn shl_each(self, counts: Self) -> Self {
        Self(avx512!(_mm512_sllv_epi64(self.0, counts.0)))
    }

    #[inline(always)]
    fn shr_each(self, counts: Self) -> Self {
        Self(avx512!(_mm512_srlv_epi64(self.0, counts.0)))
    }

    #[inline(always)]
    fn factor(self) -> Self {
        self
    }

    #[inline(always)]
    fn mad(low: Self, high: Self, a: Self, b: Self) -> (Self, Self) {
        // The instructions read the lowest 52 bits of a and b.
        (
            Self(avx512!(_mm512_madd52lo_epu64(low.0, a.0, b.0))),
            Self(avx512!(_mm512_madd52hi_epu64(high.0, a.0, b.0))),
        )
    }

    #[inline(always)]
    fn low_product(self, proof: IfmaProof, b: Self) -> Self {
        Self(avx512!(_mm512_madd52lo_epu64(Self::splat(proof, 0).0, self.0, b.0)))
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        assert_eq!(square.len(), LANES, "the matrix is not square");
        // Exchanges the off-diagonal blocks of size 1, then 2, then 4 lanes.
        for i in 0..4 {
            let (a, b) = (square[2 * i].0, square[2 * i + 1].0);
            square[2 * i].0 = avx512!(_mm512_unpacklo_epi64(a, b));
            square[2 * i + 1].0 = avx512!(_mm512_unpackhi_epi64(a, b));
        }
        let low = avx512!(_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13));
        let high = avx512!(_mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
        for i in [0, 1, 4, 5] {
            let (a, b) = (square[i].0, square[i + 2].0);
            square[i].0 = avx512!(_mm512_permutex2var_epi64(a, low, b));
            square[i + 2].0 = avx512!(_mm512_permutex2var_epi64(a, high, b));
        }
        for i in 0..4 {
            let (a, b) = (square[i].0, square[i + 4].0);
            square[i].0 = avx512!(_mm512_shuffle_i64x2::<0b01_00_01_00>(a, b));
            square[i + 4].0 = avx512!(_mm512_shuffle_i64x2::<0b11_10_11_10>(a, b));
        }
    }

    #[inline(always)]
    fn transpose_pairs(half: &mut [Self]) {
        assert_eq!(half.len(), LANES / 2, "the matrix is not half of a square");
        // Words 0 and 2, or 1 and 3, of two rows in each half of a vector; then one word of all.
        for i in 0..2 {
            let (a, b) = (half[2 * i].0, half[2 * i + 1].0);
            half[2 * i].0 = avx512!(_mm512_unpacklo_epi64(a, b));
            half[2 * i + 1].0 = avx512!(_mm512_unpackhi_epi64(a, b));
        }
        for i in 0..2 {
            let (a, b) = (half[i].0, half[i + 2].0);
            half[i].0 = avx512!(_mm512_shuffle_i64x2::<0b10_00_10_00>(a, b));
            half[i + 2].0 = avx512!(_mm512_shuffle_i64x2::<0b11_01_11_01>(a, b));
        }
    }
}

impl Masks for Ifma {
    const PARTS: [u32; 3] = [18, 17, 17];
    const HALVES_EXACTLY: bool = true;
    const GROUPS: usize = MOST_GROUPS;
    type Sum = SumOfParts<Self>;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(avx512!(_mm512_sub_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn shr_signed(self, bits: u64) -> Self {
        Self(avx512!(_mm512_srav_epi64(self.0, _mm512_set1_epi64(bits.cast_signed()))))
    }

    #[inline(always)]
    fn half(self) -> Self {
        self.shr_signed(1)
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self(avx512!(_mm512_mullo_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn add_low(self, proof: IfmaProof, x: Self, y: Self) -> Self {
        Self::mad(self, Self::splat(proof, 0), x, y).0
    }

    #[inline(always)]
    fn computed_first(self) -> Self {
        self
    }

    #[inline(always)]
    fn meets(self, b: Self) -> u8 {
        avx512!(_mm512_test_epi64_mask(self.0, b.0))
    }

    #[inline(always)]
    fn negative(self) -> u8 {
        avx512!(_mm512_movepi64_mask(self.0))
    }

    #[inline(always)]
    fn zero(self) -> u8 {
        avx512!(_mm512_testn_epi64_mask(self.0, self.0))
    }

    #[inline(always)]
    fn select(self, mask: u8, b: Self) -> Self {
        Self(avx512!(_mm512_mask_blend_epi64(mask, self.0, b.0)))
    }
}
