//! Four lanes with limbs of 30 bits, by the products of 32-bit integers of AVX2, for division steps.
//!
//! A sum of a few products of limbs and signed integers of 31 bits fits in a word, so products need
//! not be cut into parts.
//!
//! The `unsafe` blocks of the macro in this file call instructions of AVX2. Every method has a
//! vector or a proof as argument. A vector is made only from a proof, and a proof only by
//! [`Lanes::proof`], after it has checked that the processor has the instructions.

use std::arch::asm;
use std::arch::x86_64::*;

use super::avx2::{Avx2, Avx2Proof};
use super::masks::Masks;
use super::sums::SumOfProducts;
use super::vector::{Kernel, Lanes, digit};

const LANES: usize = 4;
/// The number of bits of a limb.
const BITS: u32 = 30;

/// The vectors whose instructions for memory and bits are used.
type Base = Avx2;

/// Four words in a register of 256 bits.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Avx2Words(Base);

/// Calls an intrinsic of AVX2.
macro_rules! avx2 {
    ($call:expr) => {
        // SAFETY: the processor has the instructions; see the module's documentation.
        unsafe { $call }
    };
}

/// Returns x. The compiler does not know that the result is x.
#[inline]
#[target_feature(enable = "avx2")]
fn opaque(mut x: __m256i) -> __m256i {
    // SAFETY: there is no instruction.
    unsafe { asm!("/* {0} */", inout(ymm_reg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}

impl Avx2Words {
    #[inline(always)]
    fn register(self) -> __m256i {
        self.0.0
    }

    #[inline(always)]
    fn new(x: __m256i) -> Self {
        Self(Avx2(x))
    }

    /// Returns a XOR b, with a = `self`.
    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        Self::new(avx2!(_mm256_xor_si256(self.register(), b.register())))
    }

    /// Returns the product of the lowest 32 bits of a = `self` and b as unsigned integers.
    #[inline(always)]
    fn mul_unsigned(self, b: Self) -> Self {
        Self::new(avx2!(_mm256_mul_epu32(self.register(), b.register())))
    }

    /// Returns x in every lane. A vector exists, so there is a proof.
    #[inline(always)]
    fn splat_with(self, x: u64) -> Self {
        Self::new(avx2!(_mm256_set1_epi64x(x.cast_signed())))
    }
}

/// Runs a kernel of [`Avx2Words`] through `Base::enter`, which enables the same instructions.
struct OnBase<K>(K);

impl<K: Kernel<Avx2Words>> Kernel<Base> for OnBase<K> {
    type Output = K::Output;

    #[inline(always)]
    fn run(self, proof: Avx2Proof) -> K::Output {
        self.0.run(proof)
    }
}

// SAFETY: the type is `Base`, which has these properties.
unsafe impl Lanes for Avx2Words {
    const LANES: usize = LANES;
    const BITS: u32 = BITS;
    const SPLIT: bool = true;
    const LOW_BIAS: u64 = 0;
    const HIGH_BIAS: u64 = 0;
    const OFFSET: u64 = 0;
    type Proof = Avx2Proof;

    fn proof() -> Option<Avx2Proof> {
        Base::proof()
    }

    #[inline(always)]
    fn enter<K: Kernel<Self>>(proof: Avx2Proof, kernel: K) -> K::Output {
        Base::enter(proof, OnBase(kernel))
    }

    #[inline(always)]
    fn splat(proof: Avx2Proof, x: u64) -> Self {
        Self(Base::splat(proof, x))
    }

    #[inline(always)]
    unsafe fn load(proof: Avx2Proof, from: *const u32, len: usize) -> Self {
        // SAFETY: the caller guarantees the same conditions.
        Self(unsafe { Base::load(proof, from, len) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32, len: usize) {
        // SAFETY: the caller guarantees the same conditions.
        unsafe { self.0.store(to, len) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(self.0.add(b.0))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        Self(self.0.and(b.0))
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        Self(self.0.or(b.0))
    }

    #[inline(always)]
    fn shr(self, bits: u64) -> Self {
        Self(self.0.shr(bits))
    }

    #[inline(always)]
    fn shl_each(self, counts: Self) -> Self {
        Self(self.0.shl_each(counts.0))
    }

    #[inline(always)]
    fn shr_each(self, counts: Self) -> Self {
        Self(self.0.shr_each(counts.0))
    }

    #[inline(always)]
    fn factor(self) -> Self {
        self
    }

    #[inline(always)]
    fn mad(low: Self, high: Self, a: Self, b: Self) -> (Self, Self) {
        let last = a.splat_with((1 << BITS) - 1);
        let product = a.and(last).mul_unsigned(b.and(last));
        let part = product.and(last);
        (low.add(part), high.add(product.shr(u64::from(BITS))))
    }

    #[inline(always)]
    fn low_product(self, proof: Avx2Proof, b: Self) -> Self {
        digit(proof, self.mul_unsigned(b))
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        assert_eq!(square.len(), LANES, "the matrix is not square");
        let mut base = [square[0].0, square[1].0, square[2].0, square[3].0];
        Base::transpose(&mut base);
        for (row, base) in square.iter_mut().zip(base) {
            row.0 = base;
        }
    }

    #[inline(always)]
    fn transpose_pairs(half: &mut [Self]) {
        assert_eq!(half.len(), LANES / 2, "the matrix is not half of a square");
        let mut base = [half[0].0, half[1].0];
        Base::transpose_pairs(&mut base);
        for (rows, base) in half.iter_mut().zip(base) {
            rows.0 = base;
        }
    }
}

impl Masks for Avx2Words {
    const PARTS: [u32; 3] = [15, 15, 0];
    const HALVES_EXACTLY: bool = false;
    const GROUPS: usize = 3;
    type Sum = SumOfProducts<Self>;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::new(avx2!(_mm256_sub_epi64(self.register(), b.register())))
    }

    #[inline(always)]
    fn shr_signed(self, bits: u64) -> Self {
        // AVX2 only shifts unsigned words of 64 bits.
        let positive = self.xor(self.splat_with(1 << 63)).shr(bits);
        positive.sub(self.splat_with(1 << (63 - bits)))
    }

    #[inline(always)]
    fn half(self) -> Self {
        self.shr(1)
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self::new(avx2!(_mm256_mul_epi32(self.register(), b.register())))
    }

    #[inline(always)]
    fn add_low(self, _: Avx2Proof, x: Self, y: Self) -> Self {
        self.add(x.mul_unsigned(y))
    }

    #[inline(always)]
    fn computed_first(self) -> Self {
        Self::new(avx2!(opaque(self.register())))
    }

    #[inline(always)]
    fn meets(self, b: Self) -> u8 {
        !self.and(b).zero() & 0b1111
    }

    #[inline(always)]
    fn negative(self) -> u8 {
        avx2!(_mm256_movemask_pd(_mm256_castsi256_pd(self.register()))) as u8
    }

    #[inline(always)]
    fn zero(self) -> u8 {
        let zero = avx2!(_mm256_setzero_si256());
        Self::new(avx2!(_mm256_cmpeq_epi64(self.register(), zero))).negative()
    }

    #[inline(always)]
    fn select(self, mask: u8, b: Self) -> Self {
        let bits = avx2!(_mm256_setr_epi64x(1, 2, 4, 8));
        let mask = self.splat_with(u64::from(mask)).register();
        let lanes = avx2!(_mm256_cmpeq_epi64(_mm256_and_si256(mask, bits), bits));
        Self::new(avx2!(_mm256_blendv_epi8(self.register(), b.register(), lanes)))
    }

    #[inline(always)]
    fn step(proof: Avx2Proof, [f, g, minus_delta]: [Self; 3], one: Self) -> [Self; 3] {
        // On processors of Intel, a blend takes two or three times as long as an operation on bits.
        // So masks are words that are −1 or 0.
        let positive = Self::new(avx2!(_mm256_srai_epi32::<31>(minus_delta.register())));
        let odd = Self::splat(proof, 0).sub(g.and(one));
        let swap = positive.and(odd);
        // −f where δ > 0, f elsewhere.
        let term = f.xor(positive).sub(positive);
        let sum = g.add(term.and(odd));
        // Where f and g are exchanged, g is the sum of f and g − f.
        let f = f.add(sum.and(swap));
        let minus_delta = minus_delta.xor(swap).sub(swap.add(one));
        [f, sum.half(), minus_delta]
    }
}
