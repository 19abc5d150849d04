//! The lanes of AVX-512 IFMA, and the limbs of 30 bits of AVX2, on any processor: the oracle of the
//! other vectors.
//!
//! Operations are not inlined. Otherwise, algorithms with unrolled loops would take minutes to
//! compile.

use super::masks::{MOST_GROUPS, Masks};
use super::sums::{Sum, SumOfParts, SumOfProducts};
use super::vector::{Kernel, Lanes, PAIR_ROWS};

const LANES: usize = 8;

/// Eight words. `SPLIT` and `BITS` are as in [`Lanes`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(super) struct Portable<const SPLIT: bool, const BITS: u32 = 52>([u64; LANES]);

impl<const SPLIT: bool, const BITS: u32> Portable<SPLIT, BITS> {
    const MASK: u64 = (1 << BITS) - 1;

    fn with(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|l| f(self.0[l], b.0[l])))
    }

    /// Returns the lanes whose words have the property f.
    fn mask(self, f: impl Fn(u64) -> bool) -> u8 {
        self.0.iter().enumerate().fold(0, |mask, (l, &a)| mask | u8::from(f(a)) << l)
    }
}

// SAFETY: the type is an array of `LANES` words `u64`, of which every bit pattern is valid.
unsafe impl<const SPLIT: bool, const BITS: u32> Lanes for Portable<SPLIT, BITS> {
    const LANES: usize = LANES;
    const BITS: u32 = BITS;
    const SPLIT: bool = SPLIT;
    const LOW_BIAS: u64 = if SPLIT { 0 } else { 0x8765_4321_0fed_cba9 };
    const HIGH_BIAS: u64 = if SPLIT { 0 } else { 0x1357_9bdf_0246_8ace };
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
        assert!(self.0.iter().all(|&a| a <= Self::MASK), "not limbs: {self:x?}");
        self
    }

    #[inline(never)]
    fn mad(low: Self, high: Self, a: Self, b: Self) -> (Self, Self) {
        let exact = |a, b| u128::from(a & Self::MASK) * u128::from(b & Self::MASK);
        let product = a.with(b, |a, b| exact(a, b) as u64 & Self::MASK);
        let above = a.with(b, |a, b| (exact(a, b) >> BITS) as u64);
        if SPLIT {
            // In debug builds, an overflow of a column panics.
            return (low.with(product, |a, b| a + b), high.with(above, |a, b| a + b));
        }
        let sum = |bias: u64| move |a: u64, b: u64| a.wrapping_add(b).wrapping_add(bias);
        (low.with(product, sum(Self::LOW_BIAS)), high.with(above, sum(Self::HIGH_BIAS)))
    }

    fn low_product(self, (): (), b: Self) -> Self {
        let unbiased = Self([Self::LOW_BIAS.wrapping_neg(); LANES]);
        Self::mad(unbiased, unbiased, self, b).0
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

/// How combinations are computed with limbs of a number of bits.
pub(super) trait Combinations {
    type Sum<V: Masks>: Sum<V>;
}

/// Limbs of `BITS` bits.
pub(super) struct LimbsOf<const BITS: u32>;

impl Combinations for LimbsOf<52> {
    type Sum<V: Masks> = SumOfParts<V>;
}

impl Combinations for LimbsOf<30> {
    type Sum<V: Masks> = SumOfProducts<V>;
}

impl<const SPLIT: bool, const BITS: u32> Masks for Portable<SPLIT, BITS>
where
    LimbsOf<BITS>: Combinations,
{
    const PARTS: [u32; 3] = if BITS == 52 { [18, 17, 17] } else { [15, 15, 0] };
    const HALVES_EXACTLY: bool = BITS == 52;
    const GROUPS: usize = MOST_GROUPS;
    type Sum = <LimbsOf<BITS> as Combinations>::Sum<Self>;

    #[inline(never)]
    fn sub(self, b: Self) -> Self {
        self.with(b, u64::wrapping_sub)
    }

    #[inline(never)]
    fn shr_signed(self, bits: u64) -> Self {
        Self(self.0.map(|a| (a.cast_signed() >> bits).cast_unsigned()))
    }

    #[inline(never)]
    fn half(self) -> Self {
        if Self::HALVES_EXACTLY { self.shr_signed(1) } else { self.shr(1) }
    }

    #[inline(never)]
    fn mul(self, b: Self) -> Self {
        self.with(b, |a, b| {
            let (a, b) = (a.cast_signed(), b.cast_signed());
            let fits = |x: i64| BITS > 32 || i32::try_from(x).is_ok();
            assert!(fits(a) && fits(b), "too large factors: {a} and {b}");
            // In debug builds, a product that does not fit in a signed word panics.
            (a * b).cast_unsigned()
        })
    }

    #[inline(never)]
    fn add_low(self, (): (), x: Self, y: Self) -> Self {
        let sum = self.with(x.with(y, u64::wrapping_mul), u64::wrapping_add);
        // Bits from β on may be anything.
        Self(sum.0.map(|a| a ^ a.wrapping_mul(0x9e37_79b9) << BITS))
    }

    fn computed_first(self) -> Self {
        self
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
