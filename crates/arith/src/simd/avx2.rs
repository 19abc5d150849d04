//! Vectors of four `f64` in the registers of AVX2 and FMA.
//!
//! The `unsafe` blocks of the macro in this file call instructions of [`Level::Avx2`]. Every method
//! has a vector or a proof of type [`Avx2`] as argument. A vector is made only from a proof, and a
//! proof only by [`F64s::instructions`], after it has checked that the processor has the
//! instructions.

use std::arch::x86_64::*;

use super::{Cpu, F64s, Kernel, Level, U64s};

const LANES: usize = 4;

/// Four numbers of type `f64` in a register of 256 bits.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Avx2F64s(__m256d);

/// Proves that this processor has the instructions of [`Level::Avx2`].
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

/// Calls an intrinsic of AVX2 or FMA.
macro_rules! avx2 {
    ($call:expr) => {
        // SAFETY: the processor has the instructions; see the module's documentation.
        unsafe { $call }
    };
}

impl F64s for Avx2F64s {
    const LANES: usize = LANES;
    const LEVEL: Level = Level::Avx2;
    type Instructions = Avx2;
    type Mask = __m256d;
    type Integers = Avx2U64s;

    fn instructions() -> Option<Avx2> {
        (Cpu::get().level >= Level::Avx2).then_some(Avx2(()))
    }

    fn enter<K: Kernel>(instructions: Avx2, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
        fn inside<K: Kernel>(instructions: Avx2, kernel: K) -> K::Output {
            kernel.run::<Avx2F64s>(instructions)
        }
        // SAFETY: `instructions` proves that the processor has all instructions of the level, which
        // are those that `inside` enables.
        unsafe { inside(instructions, kernel) }
    }

    #[inline(always)]
    fn splat(_: Avx2, x: f64) -> Self {
        Self(avx2!(_mm256_set1_pd(x)))
    }

    #[inline(always)]
    unsafe fn load(_: Avx2, from: *const f64) -> Self {
        // SAFETY: the argument proves that the processor has the instruction. The caller guarantees
        // that `from` is valid for reading `LANES` numbers.
        Self(unsafe { _mm256_loadu_pd(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: a vector exists, so the processor has the instruction. The caller guarantees that
        // `to` is valid for writing `LANES` numbers.
        unsafe { _mm256_storeu_pd(to, self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(avx2!(_mm256_add_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(avx2!(_mm256_sub_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self(avx2!(_mm256_mul_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(avx2!(_mm256_fmadd_pd(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        Self(avx2!(_mm256_fmsub_pd(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(avx2!(_mm256_fnmadd_pd(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn neg(self) -> Self {
        Self(avx2!(_mm256_xor_pd(self.0, _mm256_set1_pd(-0.0))))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(avx2!(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0)))
    }

    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Self(avx2!(_mm256_max_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        Self(avx2!(_mm256_xor_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        Self(avx2!(_mm256_or_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn at_least(self, b: Self) -> __m256d {
        avx2!(_mm256_cmp_pd::<_CMP_GE_OQ>(self.0, b.0))
    }

    #[inline(always)]
    fn select(mask: __m256d, yes: Self, no: Self) -> Self {
        Self(avx2!(_mm256_blendv_pd(no.0, yes.0, mask)))
    }

    #[inline(always)]
    fn to_bits(self) -> Avx2U64s {
        Avx2U64s(avx2!(_mm256_castpd_si256(self.0)))
    }

    #[inline(always)]
    fn from_bits(bits: Avx2U64s) -> Self {
        Self(avx2!(_mm256_castsi256_pd(bits.0)))
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        Self(avx2!(_mm256_permute4x64_pd::<0b00_01_10_11>(self.0)))
    }

    #[inline(always)]
    fn interleave(self, b: Self) -> [Self; 2] {
        let low = avx2!(_mm256_unpacklo_pd(self.0, b.0));
        let high = avx2!(_mm256_unpackhi_pd(self.0, b.0));
        [
            Self(avx2!(_mm256_permute2f128_pd::<0x20>(low, high))),
            Self(avx2!(_mm256_permute2f128_pd::<0x31>(low, high))),
        ]
    }

    #[inline(always)]
    fn deinterleave(self, b: Self) -> [Self; 2] {
        let low = avx2!(_mm256_permute2f128_pd::<0x20>(self.0, b.0));
        let high = avx2!(_mm256_permute2f128_pd::<0x31>(self.0, b.0));
        [Self(avx2!(_mm256_unpacklo_pd(low, high))), Self(avx2!(_mm256_unpackhi_pd(low, high)))]
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        assert_eq!(square.len(), LANES, "the matrix is not square");
        let (ab0, ab1) = (
            avx2!(_mm256_unpacklo_pd(square[0].0, square[1].0)),
            avx2!(_mm256_unpackhi_pd(square[0].0, square[1].0)),
        );
        let (cd0, cd1) = (
            avx2!(_mm256_unpacklo_pd(square[2].0, square[3].0)),
            avx2!(_mm256_unpackhi_pd(square[2].0, square[3].0)),
        );
        square[0].0 = avx2!(_mm256_permute2f128_pd::<0x20>(ab0, cd0));
        square[1].0 = avx2!(_mm256_permute2f128_pd::<0x20>(ab1, cd1));
        square[2].0 = avx2!(_mm256_permute2f128_pd::<0x31>(ab0, cd0));
        square[3].0 = avx2!(_mm256_permute2f128_pd::<0x31>(ab1, cd1));
    }
}

/// Four integers of 64 bits in a register of 256 bits.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Avx2U64s(__m256i);

impl U64s for Avx2U64s {
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(avx2!(_mm256_add_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(avx2!(_mm256_sub_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn mul_low(self, b: Self) -> Self {
        Self(avx2!(_mm256_mul_epu32(self.0, b.0)))
    }

    #[inline(always)]
    fn mul_low_signed(self, b: Self) -> Self {
        Self(avx2!(_mm256_mul_epi32(self.0, b.0)))
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
    fn xor(self, b: Self) -> Self {
        Self(avx2!(_mm256_xor_si256(self.0, b.0)))
    }

    #[inline(always)]
    fn shift_left<const K: u32>(self) -> Self {
        Self(avx2!(_mm256_sll_epi64(self.0, _mm_cvtsi32_si128(K as i32))))
    }

    #[inline(always)]
    fn shift_right<const K: u32>(self) -> Self {
        Self(avx2!(_mm256_srl_epi64(self.0, _mm_cvtsi32_si128(K as i32))))
    }

    #[inline(always)]
    fn shift_left_each(self, counts: Self) -> Self {
        Self(avx2!(_mm256_sllv_epi64(self.0, counts.0)))
    }

    #[inline(always)]
    fn shift_right_each(self, counts: Self) -> Self {
        Self(avx2!(_mm256_srlv_epi64(self.0, counts.0)))
    }
}
