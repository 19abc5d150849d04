//! Bits that flip during squarings, for tests of the checks.
//!
//! [`Fp64::build_with_flip`](super::Fp64::build_with_flip) makes an engine in which one bit of the
//! working memory flips at a chosen squaring. Engines of plans never contain a flip.

/// The part of the working memory in which a bit flips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The spectrum of the digits before it is squared, or that of the product.
    Spectrum,
    /// The digits of the square: those that wait for carries, or those that are packed.
    Digits,
    /// A carry, after its sender has computed it and before its receiver reads it.
    Carries,
    /// A number of a table: a root of unity, a weight, or a factor of sums. Tables of addresses are
    /// not changed.
    Tables,
    /// The packed residue in the register, after the squaring.
    Register,
}

impl Place {
    /// All places.
    pub const ALL: [Self; 5] =
        [Self::Spectrum, Self::Digits, Self::Carries, Self::Tables, Self::Register];
}

/// A bit that flips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flip {
    /// The part of the memory.
    pub place: Place,
    /// The number of the squaring in which the bit flips, counted from 0 since the engine was built.
    /// A bit of a register flips after the first call that ends with this squaring or a later one.
    pub squaring: u64,
    /// Any number; it determines the bit.
    pub bit: u64,
}

impl Flip {
    /// Returns the number that determines the bit, if the bit is in this place.
    pub(super) fn at(self, place: Place) -> Option<u64> {
        (self.place == place).then_some(self.bit)
    }
}

/// Returns the number of a thing out of `count`, and what is left of `bit` to determine more.
pub(super) fn choose(bit: u64, count: usize) -> (usize, u64) {
    let count = count.max(1) as u64;
    ((bit % count) as usize, bit / count)
}

/// Flips a bit of one of the numbers.
pub(super) fn flip_f64(numbers: &mut [f64], bit: u64) {
    let (at, bit) = choose(bit, numbers.len());
    if let Some(x) = numbers.get_mut(at) {
        *x = f64::from_bits(x.to_bits() ^ 1 << (bit % 64));
    }
}

/// Flips a bit of one of the integers.
pub(super) fn flip_u64(numbers: &mut [u64], bit: u64) {
    let (at, bit) = choose(bit, numbers.len());
    if let Some(x) = numbers.get_mut(at) {
        *x ^= 1 << (bit % 64);
    }
}
