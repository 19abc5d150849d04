//! Division of a region into whole blocks, to which the sieve applies, and irregular ends.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use num_bigint::BigUint;

use super::residues::{LEAST_SIEVE_BITS, MOST_SIEVE_BITS, Residue};
use crate::{CollatzError, Region, descent};

/// The blocks at the ends of an interval have this many bits fewer than the blocks within it.
const FEWER: u32 = 8;

/// The bound of small numbers. For numbers below 2^40, at most two words per number are used, so
/// that numbers are compared with their starts exactly. The sieve for them has at most 30 bits, or
/// as many bits as the class fixes if these are more.
const SMALL: u128 = 1 << 40;
const SMALL_WORDS: u32 = 2;
const SMALL_SIEVE: u32 = 30;

/// The number of bits by which a path may rise above the largest number of its region without
/// overflow, if the number of words is derived from the region. Paths rarely rise by more.
const RISE: u32 = 22;

/// Returns the largest number of bits of a number that is stored in `words` words of 32 bits. It is
/// two less than the number of bits of the words, because devices store numbers multiplied by four.
pub(crate) const fn width(words: u32) -> u32 {
    32 * words - 2
}

/// The numbers n ≡ `low` mod 2^`bits`. For an interval `bits` is 0, so that all numbers belong to
/// the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) bits: u32,
    pub(crate) low: u128,
}

impl Class {
    /// Returns the count of the numbers n of the class with from ≤ n < to.
    pub(crate) fn count(self, from: u128, to: u128) -> u128 {
        self.below(to) - self.below(from)
    }

    /// Returns the count of the class's numbers below `end`.
    fn below(self, end: u128) -> u128 {
        match end.checked_sub(self.low) {
            None | Some(0) => 0,
            Some(rest) if self.bits == 0 => rest,
            Some(rest) => ((rest - 1) >> self.bits) + 1,
        }
    }

    /// Returns the number at position `index`, counted from 0, among the numbers of the class that
    /// are at least `from`, in ascending order.
    pub(crate) fn nth(self, from: u128, index: u128) -> u128 {
        self.low + ((self.below(from) + index) << self.bits)
    }
}

/// A part of a region, which is processed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The numbers n of the class with from ≤ n < to, which are walked one by one.
    Plain { from: u128, to: u128 },
    /// One or more blocks; all their numbers are at least 2^20.
    Blocks(Blocks),
}

/// The blocks [h·2^bits, (h + 1)·2^bits) for `count` consecutive values h, the first of which is
/// `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub(crate) bits: u32,
    /// The number of 32-bit words per number.
    pub(crate) words: u32,
    pub(crate) first: u128,
    pub(crate) count: u128,
}

impl Blocks {
    /// Returns true if all values n, T(n), …, T^bits(n) of the numbers n of the blocks are certain
    /// to be below 2^w, where w is [`width`] of `words`. The test uses T^j(n) + 1 ≤ (n +
    /// 1)·(3/2)^j.
    fn fits(self) -> bool {
        let end = BigUint::from(self.first + self.count) << self.bits;
        (end * BigUint::from(3u32).pow(self.bits)) >> self.bits
            < BigUint::from(1u32) << width(self.words)
    }
}

/// The division of a region into parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cover {
    pub(crate) class: Class,
    /// The largest number of 32-bit words of a number.
    pub(crate) words: u32,
    pub(crate) parts: Vec<Part>,
}

impl Cover {
    /// Divides a region into parts. `bits` is the number of bits of the sieve, and `words` is the
    /// number of 32-bit words per number. If `bits` or `words` is `None`, it is derived from the
    /// region.
    ///
    /// # Errors
    /// [`CollatzError::LowBits`] if the region is a class that fixes more low bits than the sieve
    /// has.
    pub(crate) fn new(
        region: &Region,
        bits: Option<u32>,
        words: Option<u32>,
    ) -> Result<Self, CollatzError> {
        let (from, to, class) = match *region {
            Region::Interval { from, to } => (from, to, Class { bits: 0, low: 0 }),
            Region::Class { bits, low_bits, residue } => {
                (0, 1 << bits, Class { bits: low_bits, low: residue })
            }
        };
        // About 1,000 numbers per residue: then growing it costs little.
        let sized = (to - from).ilog2().saturating_sub(10).clamp(LEAST_SIEVE_BITS, MOST_SIEVE_BITS);
        let bits = bits.unwrap_or_else(|| {
            if class.bits <= MOST_SIEVE_BITS { sized.max(class.bits) } else { sized }
        });
        if class.bits > bits {
            return Err(CollatzError::LowBits { low_bits: class.bits, sieve_bits: bits });
        }
        let size = 128 - (to - 1).leading_zeros() + RISE;
        let words = words.unwrap_or_else(|| (size + 2).div_ceil(32).clamp(2, 4));
        let mut cover = Self { class, words, parts: vec![] };
        let middle = to.min(descent::LEAST).max(from);
        let upper = to.min(SMALL).max(middle);
        cover.plain(from, middle);
        let few = bits.min(SMALL_SIEVE).max(class.bits);
        cover.inside(middle, upper, few, words.min(SMALL_WORDS));
        cover.inside(upper, to, bits, words);
        Ok(cover)
    }

    fn plain(&mut self, from: u128, to: u128) {
        if from < to {
            self.parts.push(Part::Plain { from, to });
        }
    }

    /// Adds the blocks of 2^bits numbers within [from, to), and divides the two ends into smaller
    /// blocks in the same way.
    fn inside(&mut self, from: u128, to: u128, bits: u32, words: u32) {
        if from >= to {
            return;
        }
        if bits < LEAST_SIEVE_BITS.max(self.class.bits) {
            return self.plain(from, to);
        }
        let first = (from >> bits) + u128::from(from & ((1 << bits) - 1) != 0);
        let end = to >> bits;
        let fewer = bits.saturating_sub(FEWER);
        if first >= end {
            return self.inside(from, to, fewer, words);
        }
        let blocks = Blocks { bits, words, first, count: end - first };
        if !blocks.fits() {
            return if fewer == 0 {
                self.plain(from, to)
            } else {
                self.inside(from, to, fewer, words)
            };
        }
        self.inside(from, first << bits, fewer, words);
        self.parts.push(Part::Blocks(blocks));
        self.inside(end << bits, to, fewer, words);
    }

    /// Returns the residue of the class, from which the residues of the blocks are grown. Returns
    /// `None` if this residue is not mandatory. In that case all numbers of the class that are at
    /// least 2^20 provably fall below their starts.
    pub(crate) fn root(&self, powers: &[u64; 41]) -> Option<Residue> {
        // A class of blocks has at most 37 bits.
        u64::try_from(self.class.low).ok().and_then(|low| Residue::of(low, self.class.bits, powers))
    }

    /// Returns the count of the region's numbers in a part.
    pub(crate) fn numbers(&self, part: &Part) -> u128 {
        match *part {
            Part::Plain { from, to } => self.class.count(from, to),
            Part::Blocks(Blocks { bits, count, .. }) => count << (bits - self.class.bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(region: Region, bits: Option<u32>, words: Option<u32>) {
        let cover = Cover::new(&region, bits, words).unwrap();
        let numbers: u128 = cover.parts.iter().map(|part| cover.numbers(part)).sum();
        assert_eq!(numbers, region.numbers(), "{region}: {cover:?}");
        // The parts are contiguous.
        let (mut at, end) = match region {
            Region::Interval { from, to } => (from, to),
            Region::Class { bits, .. } => (0, 1 << bits),
        };
        for part in &cover.parts {
            let (from, to) = match *part {
                Part::Plain { from, to } => (from, to),
                Part::Blocks(Blocks { bits, first, count, .. }) => {
                    assert!(first << bits >= descent::LEAST);
                    (first << bits, (first + count) << bits)
                }
            };
            assert_eq!(at, from, "{region}: {cover:?}");
            at = to;
        }
        assert_eq!(at, end, "{region}: {cover:?}");
    }

    proptest! {
        #[test]
        fn parts_are_the_region(from in 0u128..1 << 100, by in 0u32..100, length in 1u128..1 << 60, least in 0u32..60) {
            let (from, length) = (from >> by, (length >> least).max(1));
            let region = Region::interval(from, from + length).unwrap();
            check(region, None, None);
            check(region, Some(13), Some(3));
            check(region, Some(37), Some(4));
        }
    }

    #[test]
    fn corners_are_covered() {
        for (from, to) in [
            (0, 1),
            (0, 1 << 20),
            (1 << 20, (1 << 20) + 1),
            (0, u128::MAX),
            (u128::MAX - 1, u128::MAX),
        ] {
            let region = Region::interval(from, to).unwrap();
            check(region, Some(37), None);
        }
        for (bits, low_bits, residue) in
            [(0, 0, 0), (21, 0, 0), (30, 9, 511), (71, 24, 0xff_ffff), (127, 37, 27)]
        {
            check(Region::class(bits, low_bits, residue).unwrap(), None, None);
        }
    }

    #[test]
    fn a_class_is_counted() {
        for (bits, low) in [(0, 0), (3, 5), (3, 0), (4, 15)] {
            let class = Class { bits, low };
            for (from, to) in [(0, 0), (0, 5), (0, 6), (5, 6), (6, 40), (15, 16), (1, 100)] {
                let listed: Vec<_> = (from..to).filter(|n| n & ((1 << bits) - 1) == low).collect();
                let count = class.count(from, to);
                assert_eq!((0..count).map(|i| class.nth(from, i)).collect::<Vec<_>>(), listed);
            }
        }
    }
}
