//! Vectors whose lanes can be treated differently, by masks. Division steps need them.

use super::sums::Sum;
use super::vector::Lanes;

/// Vectors with signed operations and masks. A *mask* selects the lanes l whose bits l are set.
/// Every limb is a factor (see [`Lanes::factor`]).
pub(super) trait Masks: Lanes {
    /// The numbers of steps in the parts of a batch, of which the last may be 0. Their sum is β. Each
    /// is at most 18, or at most 15 if [`Masks::HALVES_EXACTLY`] is false.
    const PARTS: [u32; 3];
    /// Whether the results of [`Masks::half`] are correct. Otherwise they are correct mod 2^63.
    const HALVES_EXACTLY: bool;
    /// The number of groups whose steps are computed at the same time, 3 or [`MOST_GROUPS`]. The
    /// operations of a step depend on each other, so several groups are faster than one, unless
    /// registers run out.
    const GROUPS: usize;
    /// How combinations of two numbers are computed.
    type Sum: Sum<Self>;

    /// Returns a − b mod 2^64, with a = `self`.
    fn sub(self, b: Self) -> Self;
    /// Returns ⌊a/2^bits⌋, with a = `self` as a signed integer. `bits` must be less than 64.
    fn shr_signed(self, bits: u64) -> Self;
    /// Returns a/2, with a = `self` as a signed even integer, or a number that is congruent to it
    /// mod 2^63.
    fn half(self) -> Self;
    /// Returns a·b of signed words, with a = `self`. a and b must be from −2^31 to 2^31 − 1 if
    /// β ≤ 32. The product must fit in a signed word.
    fn mul(self, b: Self) -> Self;
    /// Returns a number that is congruent to a + x·y mod 2^β, with a = `self`.
    fn add_low(self, proof: Self::Proof, x: Self, y: Self) -> Self;
    /// Returns `self`, computed before other numbers are added to it. Otherwise, the compiler may
    /// begin a sum with the number that is known last.
    fn computed_first(self) -> Self;
    /// Returns the lanes in which a AND b is not 0, with a = `self`.
    fn meets(self, b: Self) -> u8;
    /// Returns the lanes whose words are negative as signed integers.
    fn negative(self) -> u8;
    /// Returns the lanes whose words are 0.
    fn zero(self) -> u8;
    /// Returns b in the lanes of `mask`, and `self` in the others.
    fn select(self, mask: u8, b: Self) -> Self;

    /// Returns f, g and −δ after a division step of [`steps`](super::steps). |δ| must be below 2^31.
    /// `one` must be 1 in every lane. It is an argument because the compiler replaces a test with a
    /// constant by two instructions.
    #[inline(always)]
    fn step(proof: Self::Proof, [f, g, minus_delta]: [Self; 3], one: Self) -> [Self; 3] {
        let (zero, minus_one) = (Self::splat(proof, 0), Self::splat(proof, u64::MAX));
        let positive = minus_delta.negative();
        let odd = g.meets(one);
        let swap = positive & odd;
        let term = f.select(positive, zero.sub(f));
        [
            f.select(swap, g),
            g.select(odd, g.add(term)).half(),
            minus_delta.add(minus_one).select(swap, minus_one.sub(minus_delta)),
        ]
    }
}

/// The largest number of groups whose steps are computed at the same time.
pub(super) const MOST_GROUPS: usize = 4;

/// The mask of all lanes.
pub(super) const fn all<V: Lanes>() -> u8 {
    u8::MAX >> (8 - V::LANES)
}

/// Returns the limb with which a number in two's complement goes on above its highest limb, `top`:
/// 2^β − 1 if the highest bit of `top` is set, 0 otherwise.
#[inline(always)]
pub(super) fn sign<V: Masks>(proof: V::Proof, top: V) -> V {
    let unused = u64::from(u64::BITS - V::BITS);
    top.shl_each(V::splat(proof, unused)).shr_signed(63).shr(unused)
}
