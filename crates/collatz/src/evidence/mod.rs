//! Evidence that a method did its work on a region: random parts of the work, recomputed by other
//! code.
//!
//! # Items
//!
//! The work of a method on a region consists of N *items* in a fixed order. Each item contributes
//! to `walked` and to the checksum:
//!
//! * sieve: the nodes of the last levels of its trees (see [`crate::sieve`]). The trees are in
//!   ascending order of their numbers. In a tree, at every level from the root down, the nodes
//!   below the child with bit 0 precede the nodes below the child with bit 1;
//! * table: the numbers that it walks (see [`crate::table`]). The parts of the region are in
//!   ascending order. In blocks the numbers of one mandatory residue are consecutive and ascend. A
//!   residue has one or two children with one more bit. The residues below the child whose last
//!   step was even precede the residues below the other child;
//! * plain: the numbers of the region, ascending.
//!
//! N follows from the region and the parameters by a recurrence; no number needs to be walked.
//!
//! # Draw
//!
//! Challenge j, for j = 0 … q − 1, is item (2^64·x_2j + x_(2j+1)) mod N, where x is the stream of
//! SplitMix64 from the seed: x_j = mix(seed + j·0x9e3779b97f4a7c15), with the function mix of
//! [`crate::runs::sample`]. If q = N, challenge j is item j.
//!
//! The seed is drawn from the operating system's randomness when work on a region begins. Only the
//! host knows it. A device learns of an item only after it has processed the item and stored the
//! results. Earlier, it learns only some low bits of a challenged node: the host asks for the
//! position of the node above it in the device's list of an earlier level. There is one exception.
//! The device lists the numbers that no rule excludes. If this list is too short for a range of
//! nodes, the range is walked again in two halves. The device then learns of the challenged nodes
//! in the second half before it walks this half.
//!
//! q is about N/E, where the number E of items depends on the method and the device. q is at most
//! [`MOST_CHALLENGES`], and at least min([`MOST_CHALLENGES`], ⌊N/M⌋) with M = [`NODES`] for the
//! sieve and M = [`NUMBERS`] for other methods. If N < E, q is 1 with probability N/E, and
//! otherwise 0. So over many small regions, too, about one of every E items is challenged.
//!
//! # Required answers
//!
//! * The number of items. The sieve reports the number of nodes of the last level, and on a device
//!   also of the levels before it. Each must equal the number that the recurrence gives.
//! * For each challenge, a tally that was fixed before the challenge was known: the tally of the
//!   item, or of a group of consecutive items that includes it (on a device, up to 32 nodes of the
//!   sieve). The host determines which numbers of the group have to be walked, walks them step by
//!   step, and compares their count and sum with the tally. For nodes of the sieve, this
//!   recomputation is called the *slow rules*: the rules of the sieve are applied to each number,
//!   step by step, without look-ahead vectors and the table of residues modulo 9.
//! * The sums of all tallies, which must equal the totals of the region.
//!
//! # Detection probability
//!
//! Suppose that a fault omits or miscomputes a share s of the items, independently of the draw. The
//! fault remains undetected with probability at most (1 − s)^q: with q = 1,024, 3.4·10^−5 for s = 1
//! % and 36 % for s = 0.1 %. If tallies cover 32 nodes and the wrong nodes are spread at random,
//! the probability is (1 − s)^(32·q): 6·10^−15 for s = 0.1 %. Nodes missing from a list are always
//! detected, by the counts. A single wrong item among 10^10 is almost never detected by the
//! challenges; only a second run finds it.
//!
//! The evidence does not protect against a participant who forges it on purpose: anyone can compute
//! only the challenged items, and invent totals within the bounds of [`Evidence::check`].

pub(crate) mod asked;
mod check;
pub(crate) mod draw;
mod items;
pub(crate) mod nodes;
pub(crate) mod numbers;
pub(crate) mod recurrence;
pub(crate) mod tables;

use serde::{Deserialize, Serialize};

pub use check::EvidenceError;
pub(crate) use check::check_totals;
use draw::{Draw, mix};
pub(crate) use items::{Items, SieveItems};

use crate::{CollatzError, decimal};

/// The version of the evidence's definition. It is incremented when the definition of the items,
/// the draw or the sums changes.
const VERSION: u32 = 1;

/// The largest number of challenges of a region.
pub const MOST_CHALLENGES: u64 = 1024;

/// A region in which the sieve has N nodes gets at least ⌊N/`NODES`⌋ challenges, or
/// [`MOST_CHALLENGES`] if that is less.
pub const NODES: u64 = 1 << 24;

/// A region in which the plain or the table method walks N numbers gets at least ⌊N/`NUMBERS`⌋
/// challenges, or [`MOST_CHALLENGES`] if that is less.
pub const NUMBERS: u64 = 1 << 30;

/// The contribution of one or several items to a region's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// The count of numbers walked.
    pub walked: u64,
    /// The contribution to the method's checksum.
    pub checksum: u64,
}

impl Share {
    /// Adds another contribution; checksums are added modulo 2^64.
    pub fn add(&mut self, other: Self) {
        self.walked = self.walked.wrapping_add(other.walked);
        self.checksum = self.checksum.wrapping_add(other.checksum);
    }
}

/// The challenges of a region and the sums over the challenged items. With the region, the method
/// and its parameters, these fields suffice to repeat the challenges. The documentation of the
/// module defines items and challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Evidence {
    /// The version of the definition of evidence.
    pub version: u32,
    /// The seed from which the challenges are drawn.
    #[serde(with = "decimal")]
    pub seed: u64,
    /// The number of items of the region: N in the documentation of the module.
    #[serde(with = "decimal")]
    pub items: u128,
    /// The number of challenges: q in the documentation of the module. An item may be challenged
    /// several times.
    #[serde(with = "decimal")]
    pub challenges: u64,
    /// The count of numbers walked, summed over the challenged items.
    #[serde(with = "decimal")]
    pub walked: u64,
    /// The sum modulo 2^64 of the contributions of the challenged items to the method's checksum.
    #[serde(with = "decimal")]
    pub checksum: u64,
}

impl Evidence {
    /// Creates evidence. `found` is the sum of the contributions of all challenged items.
    pub(crate) fn new(seed: u64, items: u128, challenges: u64, found: Share) -> Self {
        let Share { walked, checksum } = found;
        Self { version: VERSION, seed, items, challenges, walked, checksum }
    }
}

/// The choice of a region's challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) items: u128,
    /// The number of challenges.
    pub(crate) challenges: u64,
}

impl Plan {
    /// Chooses about one challenge per `every` items, drawn from a seed.
    pub(crate) fn new(seed: u64, items: u128, every: u64) -> Self {
        let every = every.max(1);
        let more = mix(!seed) % every;
        let challenges = u64::try_from((items + u128::from(more)) / u128::from(every));
        let challenges = challenges.unwrap_or(u64::MAX).min(MOST_CHALLENGES);
        Self { seed, items, challenges: u64::try_from(items).unwrap_or(u64::MAX).min(challenges) }
    }

    /// Returns the indices of the challenged items; an item may occur several times.
    pub(crate) fn indices(self) -> impl Iterator<Item = u128> {
        let Self { seed, items, challenges } = self;
        let is_all = u128::from(challenges) == items;
        let draw = Draw::new(seed);
        (0..challenges).map(move |j| if is_all { j.into() } else { draw.below(j, items) })
    }
}

/// Returns a new secret seed.
///
/// # Errors
/// [`CollatzError::Randomness`] if the operating system provides no random numbers.
pub fn secret() -> Result<u64, CollatzError> {
    getrandom::u64().map_err(|source| CollatzError::Randomness { reason: source.to_string() })
}

#[cfg(test)]
mod tests;
