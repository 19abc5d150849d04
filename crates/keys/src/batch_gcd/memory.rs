//! The memory need, and the groups of moduli that fit in a limit.

use std::ops::Range;

use super::tree::limbs;
use crate::KeysError;

/// The bytes of working memory per limb of a product of all threads, with its tables of roots of
/// unity ([`TransformMultiplier`](warpint_natural::product::TransformMultiplier)).
const BYTES_OF_PRODUCT: u64 = 180;

/// The largest number of limbs of a group. The product of two such numbers is still computed by the
/// fastest transforms.
const MOST_LIMBS: usize = (1 << 25) - 8;

/// Ranges of moduli, each of which has a tree of its own, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    ranges: Vec<Range<usize>>,
    memory: u64,
}

/// The limits of groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The largest number of limbs of a group.
    pub(super) most: usize,
    /// If products of other groups are in memory one at a time: the number of limbs of the longest
    /// one besides these groups. `None` if those of all groups are in memory.
    pub(super) other: Option<usize>,
    /// The largest amount of memory in bytes.
    pub(super) memory: u64,
    pub(super) threads: usize,
}

impl Limits {
    pub(super) fn new(memory: u64, threads: usize) -> Self {
        Self { most: MOST_LIMBS, other: None, memory, threads }
    }
}

impl Groups {
    /// Cuts the moduli into as few groups as the limits permit.
    pub(super) fn new(moduli: &[&[u64]], limits: &Limits) -> Result<Self, KeysError> {
        let (total, memory) = (limbs(moduli), limits.memory);
        let mut least = u64::MAX;
        let mut count = total.div_ceil(limits.most.min(MOST_LIMBS).max(1)).max(1);
        count = count.min(moduli.len().max(1));
        loop {
            let ranges = cut(moduli, total.div_ceil(count).max(1));
            let needed = need(moduli, &ranges, limits);
            least = least.min(needed);
            if needed <= memory {
                return Ok(Self { ranges, memory: needed });
            }
            if count >= moduli.len().max(1) {
                return Err(KeysError::Memory { needed: least, limit: memory });
            }
            count = (count + count.div_ceil(4)).min(moduli.len());
        }
    }

    /// Returns the ranges of moduli of the groups.
    pub(super) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Returns the memory need in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }
}

/// Cuts the moduli into ranges of about `most` limbs, each of at least one modulus.
fn cut(moduli: &[&[u64]], most: usize) -> Vec<Range<usize>> {
    let (mut ranges, mut begin, mut size) = (vec![], 0, 0);
    for (i, n) in moduli.iter().enumerate() {
        if size + n.len() > most && i > begin {
            ranges.push(begin..i);
            (begin, size) = (i, 0);
        }
        size += n.len();
    }
    ranges.push(begin..moduli.len());
    ranges
}

/// Returns the memory need of the largest group in bytes, with the products of other groups.
///
/// For a group of m limbs and k moduli: the products of its tree, 8·m bytes for each of ⌈log2 k⌉ + 1
/// levels; derivatives or fractions, 32·m bytes; the product of D and the reciprocal, of 2·m limbs,
/// with its working memory; and 120 bytes for each node.
fn need(moduli: &[&[u64]], ranges: &[Range<usize>], limits: &Limits) -> u64 {
    let group = |range: &Range<usize>| {
        let (m, k) = (limbs(&moduli[range.clone()]) as u64, range.len() as u64);
        let levels = u64::from(k.next_power_of_two().ilog2()) + 1;
        let root = 2 * m * BYTES_OF_PRODUCT + 40 * m;
        m * (8 * levels + 32) + root + 240 * k + (limits.threads as u64) * (1 << 16)
    };
    let longest = || ranges.iter().map(|range| limbs(&moduli[range.clone()])).max().unwrap_or(0);
    let roots = match limits.other {
        // One product with its bytes in the file, and the quotient by the product of the group.
        Some(other) => 24 * (if ranges.len() > 1 { other.max(longest()) } else { other }) as u64,
        None if ranges.len() > 1 => 8 * limbs(moduli) as u64,
        None => 0,
    };
    roots + ranges.iter().map(group).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_all_moduli_and_fit() {
        let number = [5u64; 40];
        let moduli: Vec<&[u64]> = (0..1000).map(|i| &number[..1 + i % 40]).collect();
        let all = Groups::new(&moduli, &Limits::new(u64::MAX, 2)).unwrap();
        assert_eq!(all.ranges(), std::slice::from_ref(&(0..1000)));
        for share in [2, 3, 10] {
            let groups = Groups::new(&moduli, &Limits::new(all.memory() / share, 2)).unwrap();
            assert!(groups.ranges().len() > 1 && groups.memory() <= all.memory() / share);
            let mut next = 0;
            for range in groups.ranges() {
                assert!(range.start == next && !range.is_empty());
                next = range.end;
            }
            assert_eq!(next, 1000);
        }
        let error = Groups::new(&moduli, &Limits::new(1000, 2)).unwrap_err();
        assert!(matches!(error, KeysError::Memory { limit: 1000, needed } if needed > 1000));
        // In turn: smaller groups on request, and memory for another product.
        let limits = Limits { most: 5000, other: Some(0), ..Limits::new(u64::MAX, 2) };
        let small = Groups::new(&moduli, &limits).unwrap();
        assert!(small.ranges().iter().all(|range| limbs(&moduli[range.clone()]) <= 5000));
        let more = Groups::new(&moduli, &Limits { other: Some(1 << 20), ..limits }).unwrap();
        assert!(more.memory() >= small.memory() + (23 << 20));
        assert_eq!(Groups::new(&[], &Limits::new(1 << 30, 2)).unwrap().ranges().len(), 1);
    }
}
