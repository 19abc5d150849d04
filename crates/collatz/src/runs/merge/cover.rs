//! Unions of intervals and of residue classes.

/// Returns the union of intervals, as intervals that are ascending, disjoint and not adjacent. A
/// pair (from, to) stands for the interval [from, to).
pub(super) fn union(mut intervals: Vec<(u128, u128)>) -> Vec<(u128, u128)> {
    intervals.sort_unstable();
    let mut union: Vec<(u128, u128)> = vec![];
    for (from, to) in intervals {
        match union.last_mut() {
            Some((_, end)) if from <= *end => *end = (*end).max(to),
            _ => union.push((from, to)),
        }
    }
    union
}

/// Returns the parts of [from, to) outside a union of intervals.
pub(super) fn gaps(union: &[(u128, u128)], from: u128, to: u128) -> Vec<(u128, u128)> {
    let (mut gaps, mut at) = (vec![], from);
    for &(begin, end) in union {
        if begin.min(to) > at {
            gaps.push((at, begin.min(to)));
        }
        at = at.max(end);
    }
    if at < to {
        gaps.push((at, to));
    }
    gaps
}

/// A set of residue classes of the numbers below a power of two.
///
/// Reverse the order of the bits of all numbers below 2^bits. Then the numbers n ≡ r mod 2^u all
/// begin with the u bits of r in reverse order, and form one interval. So a union of classes is
/// computed as a union of intervals.
pub(super) struct Classes {
    bits: u32,
    /// log2 of the largest modulus of a class.
    low_bits: u32,
    /// The intervals [from, to) of the classes, in numbers with reversed bits.
    intervals: Vec<(u128, u128)>,
}

/// The residue classes of the numbers below 2^`bits` that no file covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The number of bits of the numbers, which are below 2^bits.
    pub bits: u32,
    /// log2 of the modulus of the classes. The modulus is the largest modulus of a class in the
    /// files.
    pub low_bits: u32,
    /// The number of missing classes; there are 2^`low_bits` classes in all.
    pub classes: u128,
    /// The residues of at most ten missing classes, ascending.
    pub some: Vec<u128>,
}

impl Classes {
    pub(super) fn new(bits: u32) -> Self {
        Self { bits, low_bits: 0, intervals: vec![] }
    }

    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    pub(super) fn add(&mut self, low_bits: u32, residue: u128) {
        self.low_bits = self.low_bits.max(low_bits);
        let from = reversed(residue, low_bits) << (self.bits - low_bits);
        self.intervals.push((from, from + (1 << (self.bits - low_bits))));
    }

    /// Returns the classes that are missing from this set, with the residues of at most `most` of
    /// them. Returns `None` if no class is missing.
    pub(super) fn missing(&self, most: usize) -> Option<Missing> {
        let gaps = gaps(&union(self.intervals.clone()), 0, 1 << self.bits);
        let high_bits = self.bits - self.low_bits;
        // All ends are multiples of the finest class.
        let classes = gaps.iter().map(|(from, to)| (to - from) >> high_bits).sum();
        let all = gaps.iter().flat_map(|(from, to)| from >> high_bits..to >> high_bits);
        let mut some: Vec<u128> =
            all.take(most).map(|place| reversed(place, self.low_bits)).collect();
        some.sort_unstable();
        let missing = Missing { bits: self.bits, low_bits: self.low_bits, classes, some };
        (classes > 0).then_some(missing)
    }
}

/// Returns the lowest `bits` bits of n in reverse order.
pub(super) fn reversed(n: u128, bits: u32) -> u128 {
    n.reverse_bits().checked_shr(128 - bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bits_are_reversed() {
        for (n, bits, expected) in [(0, 0, 0), (1, 1, 1), (1, 3, 4), (6, 3, 3), (1, 127, 1 << 126)]
        {
            assert_eq!(reversed(n, bits), expected);
        }
    }

    proptest! {
        #[test]
        fn unions_and_gaps_are_those_of_sets(
            intervals in prop::collection::vec((0u128..60, 1u128..10), 0..12), from in 0u128..30, length in 0u128..40
        ) {
            let intervals: Vec<_> = intervals.into_iter().map(|(a, n)| (a, a + n)).collect();
            let within = |set: &[(u128, u128)], n| set.iter().any(|&(a, b)| (a..b).contains(&n));
            let all = union(intervals.clone());
            let free = gaps(&all, from, from + length);
            for n in 0..80 {
                prop_assert_eq!(within(&all, n), within(&intervals, n));
                let is_gap = (from..from + length).contains(&n) && !within(&intervals, n);
                prop_assert_eq!(within(&free, n), is_gap);
            }
            for set in [all, free] {
                prop_assert!(set.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert!(set.iter().all(|(a, b)| a < b));
            }
        }

        #[test]
        fn missing_classes_are_those_of_sets(given in prop::collection::vec((0u32..=5, 0u128..32), 0..20)) {
            let mut classes = Classes::new(6);
            for &(low_bits, residue) in &given {
                classes.add(low_bits, residue % (1 << low_bits));
            }
            let finest = given.iter().map(|(low_bits, _)| *low_bits).max().unwrap_or(0);
            let has = |n: u128| given.iter().any(|&(u, r)| n % (1 << u) == r % (1 << u));
            let missing: Vec<u128> = (0..1 << finest).filter(|&n| !has(n)).collect();
            let found = classes.missing(100);
            prop_assert_eq!(found.is_none(), missing.is_empty());
            if let Some(found) = found {
                prop_assert_eq!(found.low_bits, finest);
                prop_assert_eq!(found.classes, missing.len() as u128);
                prop_assert_eq!(found.some, missing);
            }
        }
    }
}
