//! Look-ahead vectors: tables of the residues whose numbers survive the rules in the first steps
//! after the last level of a tree.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use rayon::prelude::*;

use super::last::class_count;
use super::rules::threshold;
use super::tree::Tree;
use crate::descent::min_odd;

/// The number of steps, from 10 to 32, that the look-ahead vectors of the sieve cover. For s steps,
/// a vector has 2^s bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Looking(u32);

impl Looking {
    /// The least number of steps that look-ahead vectors can cover.
    pub(crate) const LEAST: Self = Self(10);

    /// Returns the value for a number of steps from 10 to 32. Returns `None` for any other number
    /// of steps.
    #[must_use]
    pub fn new(steps: u32) -> Option<Self> {
        (10..=32).contains(&steps).then_some(Self(steps))
    }

    /// Returns the number of steps that look-ahead vectors should cover for a tree of 2^`bits`
    /// numbers.
    #[must_use]
    pub fn for_numbers(bits: u32) -> Self {
        Self(match bits {
            0..30 => 16,
            30..36 => 20,
            36..43 => 24,
            43..53 => 28,
            _ => 32,
        })
    }

    /// Returns the number of steps, which is log2 of a vector's bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

/// Look-ahead vectors of 2^s bits each, one after the other, where s is the number of steps that
/// they cover. Vector c is for nodes of the tree's last level K with `least` + c odd steps. Its bit
/// i is 1 if the numbers n with T^K(n) ≡ 3^(`least` + c)·i mod 2^s survive the rules in the s steps
/// after level K.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vectors {
    pub words: Vec<u32>,
    /// The number of odd steps of the nodes to which vector 0 belongs.
    pub least: u32,
    /// The number of vectors.
    pub count: u32,
}

/// Returns one word of 32 bits of a look-ahead vector of a tree: the word with the index `word` of
/// the vector with the index `class`. The host compares it with the word that a device computed.
pub(crate) fn vector_word(tree: &Tree, class: u32, word: u32) -> u32 {
    let limits = tree.limits(0, tree.look.bits());
    let odd = min_odd(tree.level) + class;
    let mask = (1u64 << tree.look.bits()) - 1;
    let power = (0..odd).fold(1u64, |power, _| power.wrapping_mul(3) & mask);
    (0..32).fold(0, |bits, i| {
        let residue = (u64::from(word) * 32 + i).wrapping_mul(power) & mask;
        let (.., least) = threshold(residue.into(), &limits);
        bits | u32::from(odd as i32 >= least) << i
    })
}

impl Vectors {
    /// Computes the look-ahead vectors of a tree. For vectors of 2^s bits, costs time and memory
    /// proportional to 2^s.
    pub(crate) fn new(tree: &Tree) -> Self {
        let look = tree.look.bits();
        let limits = tree.limits(0, look);
        let least = min_odd(tree.level);
        let count = class_count(tree.level, look);
        let thresholds: Vec<u8> = (0..1u64 << look)
            .into_par_iter()
            .map(|residue| {
                let (.., needed) = threshold(residue.into(), &limits);
                (needed - least as i32).clamp(0, 255) as u8
            })
            .collect();
        let mask = (1u64 << look) - 1;
        let words = 1u64 << (look - 5);
        let vectors = (0..count).flat_map(|class| {
            let power = (0..least + class).fold(1u64, |power, _| power.wrapping_mul(3) & mask);
            let bit = |i: u64| {
                let residue = i.wrapping_mul(power) & mask;
                u32::from(u32::from(thresholds[residue as usize]) <= class)
            };
            let word = |w: u64| (0..32).fold(0, |word, i| word | bit(32 * w + i) << i);
            (0..words).into_par_iter().map(word).collect::<Vec<u32>>()
        });
        Self { words: vectors.collect(), least, count }
    }

    /// Returns 32 consecutive bits of the vector for nodes with `odd` odd steps. The first of them
    /// is bit `index`; bit 0 follows the last bit of the vector. If there is no vector for such
    /// nodes, all 32 bits are 1. A vector has 2^`look` bits.
    pub(crate) fn bits(&self, odd: u32, index: u32, look: u32) -> u32 {
        let class = odd - self.least;
        if class >= self.count {
            return u32::MAX;
        }
        let words = 1usize << (look - 5);
        let vector = &self.words[class as usize * words..][..words];
        let at = index as usize / 32 % words;
        let (lower, upper) = (vector[at], vector[(at + 1) % words]);
        let both = u64::from(upper) << 32 | u64::from(lower);
        (both >> (index % 32)) as u32
    }
}
