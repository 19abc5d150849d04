//! The memory need, and the groups of moduli that fit in a limit.

use std::ops::Range;

use super::device::DeviceTrees;
use super::tree::limbs;
use crate::KeysError;

/// The bytes of working memory per limb of a product of all threads, with its tables of roots of
/// unity ([`TransformMultiplier`](warpint_natural::product::TransformMultiplier)).
const BYTES_OF_PRODUCT: u64 = 180;

/// The largest number of limbs of a group. The product of two such numbers is still computed by the
/// fastest transforms.
const MOST_LIMBS: usize = (1 << 25) - 8;

/// The largest number of limbs of a group on a device. There are no transforms for longer roots.
const MOST_LIMBS_ON_DEVICE: usize = 1 << 28;
/// The bytes of the fractions of leaves that are in host memory at a time.
const BYTES_OF_LEAVES: u64 = 1 << 26;

/// Ranges of moduli, each of which has a tree of its own, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    ranges: Vec<Range<usize>>,
    memory: u64,
}

/// The limits of groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits<'d> {
    /// The largest number of limbs of a group.
    pub(super) most: usize,
    /// If products of other groups are in memory one at a time: the number of limbs of the longest
    /// one besides these groups. `None` if those of all groups are in memory.
    pub(super) other: Option<usize>,
    /// The largest amount of memory in bytes.
    pub(super) memory: u64,
    pub(super) threads: usize,
    /// The device that computes the trees.
    pub(super) device: Option<&'d DeviceTrees>,
}

impl Limits<'_> {
    pub(super) fn new(memory: u64, threads: usize) -> Self {
        Self { most: usize::MAX, other: None, memory, threads, device: None }
    }

    /// Returns the largest number of limbs of a group.
    fn most(&self) -> usize {
        let most = if self.device.is_some() { MOST_LIMBS_ON_DEVICE } else { MOST_LIMBS };
        most.min(self.most).max(1)
    }

    /// Returns whether each group fits on the device.
    fn fit_on_device(&self, moduli: &[&[u64]], ranges: &[Range<usize>]) -> bool {
        let fits = |trees: &DeviceTrees, range: &Range<usize>| {
            trees.fits(range.len(), longest(&moduli[range.clone()]))
        };
        self.device.is_none_or(|trees| ranges.iter().all(|range| fits(trees, range)))
    }
}

/// Returns the number of limbs of the longest modulus.
pub(super) fn longest(moduli: &[&[u64]]) -> usize {
    moduli.iter().map(|n| n.len()).max().unwrap_or(1)
}

impl Groups {
    /// Cuts the moduli into as few groups as the limits permit.
    pub(super) fn new(moduli: &[&[u64]], limits: &Limits) -> Result<Self, KeysError> {
        let (total, memory) = (limbs(moduli), limits.memory);
        let mut least = u64::MAX;
        let mut count = total.div_ceil(limits.most()).max(1);
        count = count.min(moduli.len().max(1));
        loop {
            let mut ranges = cut(moduli, total.div_ceil(count).max(1));
            if limits.device.is_some() {
                ranges = cut_by_length(moduli, ranges);
            }
            let needed = need(moduli, &ranges, limits);
            least = least.min(needed);
            let fit_on_device = limits.fit_on_device(moduli, &ranges);
            if needed <= memory && fit_on_device {
                return Ok(Self { ranges, memory: needed });
            }
            if count >= moduli.len().max(1) {
                if needed <= memory
                    && let Some(trees) = limits.device
                {
                    return Err(trees.too_small());
                }
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

/// Cuts ranges where a modulus is longer than all before it and than the next power of two limbs. So
/// all moduli are cut in a few places, however their lengths alternate. On a device, all moduli of a
/// group take the room of the longest.
fn cut_by_length(moduli: &[&[u64]], ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let (mut all, mut room) = (vec![], 0);
    for Range { start, end } in ranges {
        let mut begin = start;
        for (i, modulus) in (start..end).zip(&moduli[start..end]) {
            if modulus.len() > room {
                room = modulus.len().next_power_of_two();
                if i > begin {
                    all.push(begin..i);
                    begin = i;
                }
            }
        }
        all.push(begin..end);
    }
    all
}

/// Returns the memory need of the largest group in bytes, with the products of other groups.
///
/// For a group of m limbs and k moduli: the products of its tree, 8·m bytes for each of ⌈log2 k⌉ + 1
/// levels; derivatives or fractions, 32·m bytes; the product of D and the reciprocal, of 2·m limbs,
/// with its working memory; and 120 bytes for each node. If a device computes the tree, the host needs
/// memory for the root only: at most a dozen numbers of m limbs and working memory for leaves.
fn need(moduli: &[&[u64]], ranges: &[Range<usize>], limits: &Limits) -> u64 {
    let group = |range: &Range<usize>| {
        let (m, k) = (limbs(&moduli[range.clone()]) as u64, range.len() as u64);
        if limits.device.is_some() {
            // The root has leading zeros.
            let padded = longest(&moduli[range.clone()]) * range.len().next_power_of_two();
            return 100 * padded as u64 + BYTES_OF_LEAVES;
        }
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
