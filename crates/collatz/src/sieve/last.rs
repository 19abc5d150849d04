//! The last bits: which numbers of a node, differing only in these bits, survive.

use super::tree::Tree;
use crate::descent::min_odd;

/// The number of bits of a number that are not grown one by one.
pub(crate) const LAST: u32 = 10;

/// The residues modulo 9 whose numbers are on the path of a smaller number (see the module's
/// documentation).
const KILLED_MOD_9: [usize; 4] = [2, 4, 5, 8];

/// Returns a bit table: bit a of word i of row r says whether low + (top + a')·2^level, with a' =
/// 32·i + a and low ≡ r mod 9, has a surviving residue modulo 9.
pub(crate) fn mod_9(tree: &Tree) -> Vec<u32> {
    let step = (1u128 << tree.level) % 9;
    let bit = |row: u128, a: u128| {
        let residue = (row + (tree.top % 9 + a) * step) % 9;
        !tree.rules.mod_9 || !KILLED_MOD_9.contains(&(residue as usize))
    };
    let word = |row, i: u128| (0..32).fold(0u32, |w, a| w | u32::from(bit(row, 32 * i + a)) << a);
    (0..9).flat_map(|row| (0..1u128 << (LAST - 5)).map(move |i| word(row, i))).collect()
}

/// Returns the powers 3^0, 3^1, …, `count` of them, mod 2^128.
pub(crate) fn powers(count: u32) -> Vec<u128> {
    let next = |power: &u128| Some(power.wrapping_mul(3));
    std::iter::successors(Some(1u128), next).take(count as usize).collect()
}

/// Returns the powers 3^0, 3^(−1), …, `count` of them, mod 2^32.
pub(crate) fn inverses(count: u32) -> Vec<u32> {
    let next = |inverse: &u32| Some(inverse.wrapping_mul(0xaaaa_aaab));
    std::iter::successors(Some(1u32), next).take(count as usize).collect()
}

/// Returns the number of look-ahead vectors of a tree, c. Nodes whose odd steps exceed the least
/// number by c or more are not looked ahead.
pub(crate) fn class_count(level: u32, look: u32) -> u32 {
    // With more odd steps, no limit of the next `look` steps exceeds those of a number.
    (min_odd(level + look) + 1 - min_odd(level)).min(MOST_CLASSES)
}

/// The largest number of vectors of a tree. It covers 15 bits above the least growth; fewer than
/// one node in a thousand has more odd steps.
const MOST_CLASSES: u32 = 10;
