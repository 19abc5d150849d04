//! The interface of vectors of 64-bit integers, which share registers with vectors of `f64`.

/// A vector of integers of 64 bits. Sums, differences and shifts are modulo 2^64 in each lane; as
/// usual, the same bits stand for unsigned and for signed integers in two's complement.
///
/// A vector is made from a vector of `f64` by [`F64s::to_bits`](super::F64s::to_bits). All methods
/// are `#[inline(always)]`, like those of [`F64s`](super::F64s).
pub trait U64s: Copy + Send + Sync + 'static {
    /// Returns a + b, with a = `self`.
    fn add(self, b: Self) -> Self;
    /// Returns a − b, with a = `self`.
    fn sub(self, b: Self) -> Self;
    /// Returns (a mod 2^32)·(b mod 2^32), with a = `self`.
    fn mul_low(self, b: Self) -> Self;
    /// Returns a·b for the signed integers of 32 bits in the low halves of the lanes, with
    /// a = `self`.
    fn mul_low_signed(self, b: Self) -> Self;
    /// Returns a AND b, with a = `self`.
    fn and(self, b: Self) -> Self;
    /// Returns a OR b, with a = `self`.
    fn or(self, b: Self) -> Self;
    /// Returns a XOR b, with a = `self`.
    fn xor(self, b: Self) -> Self;
    /// Returns a·2^K for K from 0 to 63, with a = `self`.
    fn shift_left<const K: u32>(self) -> Self;
    /// Returns ⌊a/2^K⌋ for unsigned a and K from 0 to 63, with a = `self`.
    fn shift_right<const K: u32>(self) -> Self;
    /// Returns a·2^k in each lane, with a = `self` and k from 0 to 63 in `counts`.
    fn shift_left_each(self, counts: Self) -> Self;
    /// Returns ⌊a/2^k⌋ in each lane for unsigned a, with a = `self` and k from 0 to 63 in `counts`.
    fn shift_right_each(self, counts: Self) -> Self;
}
