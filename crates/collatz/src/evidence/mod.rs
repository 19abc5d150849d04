//! Evidence that a method did its work on a region: random parts of it, recomputed by other code.
//!
//! # Items
//!
//! The work of a method on a region consists of N *items*, in a fixed order, of which each adds to `walked` and to the
//! checksum:
//!
//! * sieve: the nodes of the last levels of its trees (see [`crate::sieve`]). Trees ascend; in a tree the nodes below the
//!   child with bit 0 come before those below the child with bit 1, from the root down;
//! * table: the numbers that it walks; parts of the region ascend; in blocks the numbers of one mandatory residue stand
//!   together, ascending, and the residues below the child whose last step was even come before the others;
//! * plain: the numbers of the region, ascending.
//!
//! N follows from the region and the parameters by a recurrence, without any walk.
//!
//! # Draw
//!
//! Challenge j = 0 … q − 1 is item (2^64·x_2j + x_(2j+1)) mod N, x the stream of SplitMix64 from the seed,
//! x_j = mix(seed + j·0x9e3779b97f4a7c15) with mix of [`crate::runs::sample`]; for q = N it is item j.
//!
//! The seed comes from the operating system's randomness when a region is begun. Only the host knows it. A
//! device gets to know an item after it has answered for that item's part of the work; what it is asked before is where in a list
//! of the levels above a node stands.
//!
//! q is about N divided by a number of items that depends on the place, at most [`MOST_CHALLENGES`], at least
//! min([`MOST_CHALLENGES`], ⌊N/M⌋), M = [`NODES`] for the sieve and [`NUMBERS`] for other methods. For small regions q is 0 or 1 at random, so that over many regions
//! the share of items that are challenged is the same.
//!
//! # What a place must answer
//!
//! * The number of items: of a sieve the nodes of every level, each of which must be what the recurrence says.
//! * For each challenge a tally that was fixed before the challenge was known: of the node, or of up to 32
//!   nodes in a row with it. The host finds the numbers that are left by the rules one by one, walks them step by step, and
//!   compares count and sum.
//! * The sums of all tallies must be those of the region.
//!
//! # What it proves
//!
//! Let a fault leave out or miscompute a share s of the items, not depending on the draw. It passes with probability
//! at most (1 − s)^q: for q = 1,024 and s = 1 % with 3.4·10^−5, for s = 0.1 % with 36 %. If the tallies are of 32 nodes and the wrong
//! nodes are spread at random, with (1 − s)^(32·q): for s = 0.1 % with 6·10^−15. Nodes left out of a list without replacement
//! are always found, by the counts. A single wrong item among 10^10 is not found: only a second run finds it.
//!
//! It is no proof against a participant who forges on purpose: everybody can compute the challenged items alone, and make up
//! the sums within the bounds of [`Evidence::check`].

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

/// Raised when items, draw or sums change their meaning.
const VERSION: u32 = 1;

/// Most challenges of a region.
pub const MOST_CHALLENGES: u64 = 1024;

/// A region of the sieve has a challenge for this many nodes at least, until it has [`MOST_CHALLENGES`].
pub const NODES: u64 = 1 << 24;

/// A region of other methods has a challenge for this many numbers at least, until it has [`MOST_CHALLENGES`].
pub const NUMBERS: u64 = 1 << 30;

/// What an item, or several, add to a region's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// Numbers walked.
    pub walked: u64,
    /// To the method's checksum.
    pub checksum: u64,
}

impl Share {
    /// Both together; the checksum is modulo 2^64.
    pub fn add(&mut self, other: Self) {
        self.walked = self.walked.wrapping_add(other.walked);
        self.checksum = self.checksum.wrapping_add(other.checksum);
    }
}

/// What the challenges of a region found, so that anybody can repeat them: see the module's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Evidence {
    /// Of the definition.
    pub version: u32,
    /// Of the draw.
    #[serde(with = "decimal")]
    pub seed: u64,
    /// N, the items of the region.
    #[serde(with = "decimal")]
    pub items: u128,
    /// q, how many were challenged; an item may be among them several times.
    #[serde(with = "decimal")]
    pub challenges: u64,
    /// Numbers walked of the challenged items, summed.
    #[serde(with = "decimal")]
    pub walked: u64,
    /// What the challenged items add to the method's checksum, summed modulo 2^64.
    #[serde(with = "decimal")]
    pub checksum: u64,
}

impl Evidence {
    /// Of q challenges, and what they found.
    pub(crate) fn new(seed: u64, items: u128, challenges: u64, found: Share) -> Self {
        let Share { walked, checksum } = found;
        Self { version: VERSION, seed, items, challenges, walked, checksum }
    }
}

/// The challenges of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) items: u128,
    /// q.
    pub(crate) challenges: u64,
}

impl Plan {
    /// One challenge for about `every` items, drawn from a seed.
    pub(crate) fn new(seed: u64, items: u128, every: u64) -> Self {
        let every = every.max(1);
        let more = mix(!seed) % every;
        let challenges = u64::try_from((items + u128::from(more)) / u128::from(every));
        let challenges = challenges.unwrap_or(u64::MAX).min(MOST_CHALLENGES);
        Self { seed, items, challenges: u64::try_from(items).unwrap_or(u64::MAX).min(challenges) }
    }

    /// The items, by number; some perhaps several times.
    pub(crate) fn indices(self) -> impl Iterator<Item = u128> {
        let Self { seed, items, challenges } = self;
        let is_all = u128::from(challenges) == items;
        let draw = Draw::new(seed);
        (0..challenges).map(move |j| if is_all { j.into() } else { draw.below(j, items) })
    }
}

/// A seed that nobody knows.
///
/// # Errors
/// The operating system has no randomness.
pub fn secret() -> Result<u64, CollatzError> {
    getrandom::u64().map_err(|source| CollatzError::Randomness { reason: source.to_string() })
}

#[cfg(test)]
mod tests;
