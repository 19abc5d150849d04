//! The lanes of AVX-512 IFMA on any processor: the oracle of the other vectors.
//!
//! Operations are not inlined. Otherwise, algorithms with unrolled loops would take minutes to
//! compile.

use super::fixed;
use super::masks::Masks;
use super::vector::{Kernel, Lanes, PAIR_ROWS};
use crate::cpu::Operand;

const LANES: usize = 8;
const MASK: u64 = (1 << 52) - 1;

/// Eight words. `SPLIT` is as in [`Lanes`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(super) struct Portable<const SPLIT: bool>([u64; LANES]);

impl<const SPLIT: bool> Portable<SPLIT> {
    fn with(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|l| f(self.0[l], b.0[l])))
    }

    /// Returns the lanes whose words have the property f.
    fn mask(self, f: impl Fn(u64) -> bool) -> u8 {
        self.0.iter().enumerate().fold(0, |mask, (l, &a)| mask | u8::from(f(a)) << l)
    }
}

// SAFETY: the type is an array of `LANES` words `u64`, of which every bit pattern is valid.
unsafe impl<const SPLIT: bool> Lanes for Portable<SPLIT> {
    const LANES: usize = LANES;
    const BITS: u32 = 52;
    const SPLIT: bool = SPLIT;
    const LOW_BIAS: u64 = 0;
    const HIGH_BIAS: u64 = 0;
    const OFFSET: u64 = if SPLIT { 0 } else { 1 << 62 };
    type Proof = ();

    fn proof() -> Option<()> {
        Some(())
    }

    fn enter<K: Kernel<Self>>((): (), kernel: K) -> K::Output {
        kernel.run(())
    }

    fn splat((): (), x: u64) -> Self {
        Self([x; LANES])
    }

    #[inline(never)]
    unsafe fn load((): (), from: *const u32, len: usize) -> Self {
        assert!(len <= 2 * LANES, "more words than a vector has");
        // SAFETY: the caller guarantees that `from` is aligned and valid for reading `len` words.
        let words = unsafe { std::slice::from_raw_parts(from, len) };
        let word = |i: usize| u64::from(words.get(i).copied().unwrap_or(0));
        Self(std::array::from_fn(|l| word(2 * l) | word(2 * l + 1) << 32))
    }

    #[inline(never)]
    unsafe fn store(self, to: *mut u32, len: usize) {
        assert!(len <= 2 * LANES, "more words than a vector has");
        // SAFETY: the caller guarantees that `to` is aligned and valid for writing `len` words.
        let words = unsafe { std::slice::from_raw_parts_mut(to, len) };
        for (i, word) in words.iter_mut().enumerate() {
            *word = (self.0[i / 2] >> (32 * (i % 2))) as u32;
        }
    }

    #[inline(never)]
    fn add(self, b: Self) -> Self {
        self.with(b, u64::wrapping_add)
    }

    #[inline(never)]
    fn and(self, b: Self) -> Self {
        self.with(b, |a, b| a & b)
    }

    #[inline(never)]
    fn or(self, b: Self) -> Self {
        self.with(b, |a, b| a | b)
    }

    fn shr(self, bits: u64) -> Self {
        Self(self.0.map(|a| a >> bits))
    }

    #[inline(never)]
    fn shl_each(self, counts: Self) -> Self {
        self.with(counts, |a, c| if c < 64 { a << c } else { 0 })
    }

    #[inline(never)]
    fn shr_each(self, counts: Self) -> Self {
        self.with(counts, |a, c| if c < 64 { a >> c } else { 0 })
    }

    #[inline(never)]
    fn factor(self) -> Self {
        assert!(self.0.iter().all(|&a| a <= MASK), "not limbs: {self:x?}");
        self
    }

    #[inline(never)]
    fn mad(low: Self, high: Self, a: Self, b: Self) -> (Self, Self) {
        let product = a.with(b, |a, b| (a & MASK).wrapping_mul(b & MASK) & MASK);
        let above = a.with(b, |a, b| ((u128::from(a & MASK) * u128::from(b & MASK)) >> 52) as u64);
        // In debug builds, an overflow of a column panics.
        (low.with(product, |a, b| a + b), high.with(above, |a, b| a + b))
    }

    fn low_product(self, (): (), b: Self) -> Self {
        Self::mad(Self([0; LANES]), Self([0; LANES]), self, b).0
    }

    fn multiply_fixed(proof: (), a: Operand, b: Option<Operand>, out: &mut [u32]) -> usize {
        if SPLIT {
            fixed::in_large_blocks::<Self>(proof, a, b, out)
        } else {
            fixed::in_small_blocks::<Self>(proof, a, b, out)
        }
    }

    #[inline(never)]
    fn transpose(square: &mut [Self]) {
        assert_eq!(square.len(), LANES, "the matrix is not square");
        for i in 0..LANES {
            for j in 0..i {
                (square[i].0[j], square[j].0[i]) = (square[j].0[i], square[i].0[j]);
            }
        }
    }

    #[inline(never)]
    fn transpose_pairs(half: &mut [Self]) {
        assert_eq!(half.len(), LANES / 2, "the matrix is not half of a square");
        let words: Vec<u64> = half.iter().flat_map(|vector| vector.0).collect();
        for (j, vector) in half.iter_mut().enumerate() {
            vector.0 = PAIR_ROWS.map(|row| words[LANES / 2 * row + j]);
        }
    }
}

impl<const SPLIT: bool> Masks for Portable<SPLIT> {
    #[inline(never)]
    fn sub(self, b: Self) -> Self {
        self.with(b, u64::wrapping_sub)
    }

    #[inline(never)]
    fn shr_signed(self, bits: u64) -> Self {
        Self(self.0.map(|a| (a.cast_signed() >> bits).cast_unsigned()))
    }

    #[inline(never)]
    fn mul(self, b: Self) -> Self {
        // In debug builds, a product that does not fit in a signed word panics.
        self.with(b, |a, b| (a.cast_signed() * b.cast_signed()).cast_unsigned())
    }

    #[inline(never)]
    fn meets(self, b: Self) -> u8 {
        self.with(b, |a, b| a & b).mask(|a| a != 0)
    }

    #[inline(never)]
    fn negative(self) -> u8 {
        self.mask(|a| a.cast_signed() < 0)
    }

    #[inline(never)]
    fn zero(self) -> u8 {
        self.mask(|a| a == 0)
    }

    #[inline(never)]
    fn select(self, mask: u8, b: Self) -> Self {
        Self(std::array::from_fn(|l| if mask >> l & 1 == 1 { b.0[l] } else { self.0[l] }))
    }
}
