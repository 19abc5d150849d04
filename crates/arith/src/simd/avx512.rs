//! Vectors of eight `f64` in the registers of AVX-512.
//!
//! The `unsafe` blocks of the macro in this file call instructions of [`Level::Avx512`]. Every
//! method has a vector or a proof of type [`Avx512`] as argument. A vector is made only from a
//! proof, and a proof only by [`F64s::instructions`], after it has checked that the processor has
//! the instructions.

use std::arch::x86_64::*;

use super::{Cpu, F64s, Kernel, Level, U64s};

const LANES: usize = 8;

/// Eight numbers of type `f64` in a register of 512 bits.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Avx512F64s(__m512d);

/// Proves that this processor has the instructions of [`Level::Avx512`].
#[derive(Debug, Clone, Copy)]
pub struct Avx512(());

/// Calls an intrinsic of AVX-512 F, BW, DQ or VL.
macro_rules! avx512 {
    ($call:expr) => {
        // SAFETY: the processor has the instructions; see the module's documentation.
        unsafe { $call }
    };
}

impl F64s for Avx512F64s {
    const LANES: usize = LANES;
    const LEVEL: Level = Level::Avx512;
    type Instructions = Avx512;
    type Mask = __mmask8;
    type Integers = Avx512U64s;

    fn instructions() -> Option<Avx512> {
        (Cpu::get().level >= Level::Avx512).then_some(Avx512(()))
    }

    fn enter<K: Kernel>(instructions: Avx512, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
        fn inside<K: Kernel>(instructions: Avx512, kernel: K) -> K::Output {
            kernel.run::<Avx512F64s>(instructions)
        }
        // SAFETY: `instructions` proves that the processor has all instructions of the level, which
        // are those that `inside` enables.
        unsafe { inside(instructions, kernel) }
    }

    #[inline(always)]
    fn splat(_: Avx512, x: f64) -> Self {
        Self(avx512!(_mm512_set1_pd(x)))
    }

    #[inline(always)]
    unsafe fn load(_: Avx512, from: *const f64) -> Self {
        // SAFETY: the argument proves that the processor has the instruction. The caller guarantees
        // that `from` is valid for reading `LANES` numbers.
        Self(unsafe { _mm512_loadu_pd(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: a vector exists, so the processor has the instruction. The caller guarantees that
        // `to` is valid for writing `LANES` numbers.
        unsafe { _mm512_storeu_pd(to, self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(avx512!(_mm512_add_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(avx512!(_mm512_sub_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self(avx512!(_mm512_mul_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(avx512!(_mm512_fmadd_pd(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        Self(avx512!(_mm512_fmsub_pd(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(avx512!(_mm512_fnmadd_pd(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn neg(self) -> Self {
        Self(avx512!(_mm512_xor_pd(self.0, _mm512_set1_pd(-0.0))))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(avx512!(_mm512_abs_pd(self.0)))
    }

    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Self(avx512!(_mm512_max_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        Self(avx512!(_mm512_xor_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        Self(avx512!(_mm512_or_pd(self.0, b.0)))
    }

    #[inline(always)]
    fn at_least(self, b: Self) -> __mmask8 {
        avx512!(_mm512_cmp_pd_mask::<_CMP_GE_OQ>(self.0, b.0))
    }

    #[inline(always)]
    fn select(mask: __mmask8, yes: Self, no: Self) -> Self {
        Self(avx512!(_mm512_mask_blend_pd(mask, no.0, yes.0)))
    }

    #[inline(always)]
    fn to_bits(self) -> Avx512U64s {
        Avx512U64s(avx512!(_mm512_castpd_si512(self.0)))
    }

    #[inline(always)]
    fn from_bits(bits: Avx512U64s) -> Self {
        Self(avx512!(_mm512_castsi512_pd(bits.0)))
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        let order = avx512!(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0));
        Self(avx512!(_mm512_permutexvar_pd(order, self.0)))
    }

    #[inline(always)]
    fn interleave(self, b: Self) -> [Self; 2] {
        // Indices from 8 on choose lanes of b.
        let low = avx512!(_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11));
        let high = avx512!(_mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15));
        [
            Self(avx512!(_mm512_permutex2var_pd(self.0, low, b.0))),
            Self(avx512!(_mm512_permutex2var_pd(self.0, high, b.0))),
        ]
    }

    #[inline(always)]
    fn deinterleave(self, b: Self) -> [Self; 2] {
        let even = avx512!(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14));
        let odd = avx512!(_mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15));
        [
            Self(avx512!(_mm512_permutex2var_pd(self.0, even, b.0))),
            Self(avx512!(_mm512_permutex2var_pd(self.0, odd, b.0))),
        ]
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        assert_eq!(square.len(), LANES, "the matrix is not square");
        // Exchanges the off-diagonal blocks of size 1, then 2, then 4 lanes.
        for i in 0..4 {
            let (a, b) = (square[2 * i].0, square[2 * i + 1].0);
            square[2 * i].0 = avx512!(_mm512_unpacklo_pd(a, b));
            square[2 * i + 1].0 = avx512!(_mm512_unpackhi_pd(a, b));
        }
        let low = avx512!(_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13));
        let high = avx512!(_mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
        for i in [0, 1, 4, 5] {
            let (a, b) = (square[i].0, square[i + 2].0);
            square[i].0 = avx512!(_mm512_permutex2var_pd(a, low, b));
            square[i + 2].0 = avx512!(_mm512_permutex2var_pd(a, high, b));
        }
        for i in 0..4 {
            let (a, b) = (square[i].0, square[i + 4].0);
            square[i].0 = avx512!(_mm512_shuffle_f64x2::<0b01_00_01_00>(a, b));
            square[i + 4].0 = avx512!(_mm512_shuffle_f64x2::<0b11_10_11_10>(a, b));
        }
    }
}

/// Eight integers of 64 bits in a register of 512 bits.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Avx512U64s(__m512i);

impl U64s for Avx512U64s {
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(avx512!(_mm512_add_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(avx512!(_mm512_sub_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn mul_low(self, b: Self) -> Self {
        Self(avx512!(_mm512_mul_epu32(self.0, b.0)))
    }

    #[inline(always)]
    fn mul_low_signed(self, b: Self) -> Self {
        Self(avx512!(_mm512_mul_epi32(self.0, b.0)))
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
    fn xor(self, b: Self) -> Self {
        Self(avx512!(_mm512_xor_si512(self.0, b.0)))
    }

    #[inline(always)]
    fn shift_left<const K: u32>(self) -> Self {
        Self(avx512!(_mm512_sll_epi64(self.0, _mm_cvtsi32_si128(K as i32))))
    }

    #[inline(always)]
    fn shift_right<const K: u32>(self) -> Self {
        Self(avx512!(_mm512_srl_epi64(self.0, _mm_cvtsi32_si128(K as i32))))
    }

    #[inline(always)]
    fn shift_left_each(self, counts: Self) -> Self {
        Self(avx512!(_mm512_sllv_epi64(self.0, counts.0)))
    }

    #[inline(always)]
    fn shift_right_each(self, counts: Self) -> Self {
        Self(avx512!(_mm512_srlv_epi64(self.0, counts.0)))
    }
}
