//! Tables and constants for the 10 bits of a number above the bits that a node of the last level
//! fixes. The 1,024 numbers of such a node differ in these bits. The tables serve to find the
//! numbers that survive the rules.

use super::tree::Tree;
use crate::descent::min_odd;

/// The number of bits of a number above the bits that a node of the last level fixes. The tree has
/// no levels for these bits.
pub(crate) const LAST: u32 = 10;

/// The residues modulo 9 that a rule excludes: each of their numbers is on the path of a smaller
/// number. The documentation of the module [`sieve`](super) has the proof.
const KILLED_MOD_9: [usize; 4] = [2, 4, 5, 8];

/// Returns a table of 9 rows of 32 words. Row r is for the nodes whose low bits `low` are congruent
/// to r modulo 9. Bit j of word i of the row is for the numbers low + (top + a)·2^level of these
/// nodes, where a = 32·i + j. The bit is 1 if the rule of residues modulo 9 does not exclude these
/// numbers. `top` and `level` are fields of the tree.
pub(crate) fn mod_9(tree: &Tree) -> Vec<u32> {
    let step = (1u128 << tree.level) % 9;
    let bit = |row: u128, a: u128| {
        let residue = (row + (tree.top % 9 + a) * step) % 9;
        !tree.rules.mod_9 || !KILLED_MOD_9.contains(&(residue as usize))
    };
    let word = |row, i: u128| (0..32).fold(0u32, |w, a| w | u32::from(bit(row, 32 * i + a)) << a);
    (0..9).flat_map(|row| (0..1u128 << (LAST - 5)).map(move |i| word(row, i))).collect()
}

/// Returns the `count` powers 3^0, 3^1, … modulo 2^128.
pub(crate) fn powers(count: u32) -> Vec<u128> {
    let next = |power: &u128| Some(power.wrapping_mul(3));
    std::iter::successors(Some(1u128), next).take(count as usize).collect()
}

/// Returns the `count` inverse powers 3^0, 3^(−1), … modulo 2^32.
pub(crate) fn inverses(count: u32) -> Vec<u32> {
    let next = |inverse: &u32| Some(inverse.wrapping_mul(0xaaaa_aaab));
    std::iter::successors(Some(1u32), next).take(count as usize).collect()
}

/// Returns the number c of look-ahead vectors of a tree whose last level is `level`, where a vector
/// covers `look` steps. If m is the least number of odd steps of a node of that level, there are
/// vectors for nodes with m to m + c − 1 odd steps. Nodes with more odd steps have no vector.
pub(crate) fn class_count(level: u32, look: u32) -> u32 {
    // With more odd steps, no limit of the next `look` steps exceeds those of a number.
    (min_odd(level + look) + 1 - min_odd(level)).min(MOST_CLASSES)
}

/// The largest number of look-ahead vectors of a tree. If a node has too many odd steps for ten
/// vectors, its coefficient 3^odd/2^level is more than 2^15 times the smallest coefficient of a
/// node. Fewer than one node in a thousand has such a coefficient.
const MOST_CLASSES: u32 = 10;
