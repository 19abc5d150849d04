#![doc = include_str!("sieve.md")]

mod challenged;
mod cpu;
mod last;
mod long;
mod look;
mod node;
mod parameters;
mod pieces;
mod rules;
mod steps;
mod tables;
mod tree;

use std::sync::Arc;

use num_bigint::BigUint;

use challenged::Challenged;
pub use cpu::CpuSieve;
pub(crate) use last::{LAST, class_count, powers};
pub(crate) use long::{Long, Tallest};
pub use look::Looking;
pub(crate) use look::vector_word;
pub(crate) use node::Node;
pub(crate) use parameters::parse;
pub(crate) use pieces::{Piece, pieces};
pub use rules::Rules;
pub(crate) use rules::{Limits, Pattern};
pub(crate) use steps::{kill, kill_of, stages};
pub(crate) use tables::Tables;
pub use tree::Tree;

use crate::evidence::recurrence::Counts;
use crate::evidence::{NODES, Share, SieveItems, secret};
use crate::walk::Walker;
use crate::{CollatzError, Highest, Method, Plain, Region, Verified, Verifier, Watch};

/// The parameters of the sieve, on which the checksum depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// The rules by which numbers are pruned.
    pub rules: Rules,
    /// The number of steps that the vectors look ahead; by default chosen by the size of the
    /// region.
    pub look: Option<Looking>,
    /// The number of bits of a step of the walk.
    pub step: Step,
}

/// The number of bits of a step of the walk, 8 to 13.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step(u32);

impl Default for Step {
    fn default() -> Self {
        Self(12)
    }
}

impl Step {
    /// Returns a step of `bits` bits, from 8 to 13; `None` outside that range, which tables do not
    /// support.
    #[must_use]
    pub fn new(bits: u32) -> Option<Self> {
        (8..=13).contains(&bits).then_some(Self(bits))
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

/// The totals of the walks of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// The number of nodes of the last level.
    pub nodes: u128,
    /// The count of numbers walked.
    pub walked: u64,
    /// The sum of the odd steps of the walked numbers until their ends.
    pub checksum: u64,
    /// The highest value of the long numbers' paths.
    pub highest: Option<Highest>,
    /// The numbers that did not come below their starts.
    pub unresolved: Vec<u128>,
    /// The answers for the challenged nodes, in any order.
    pub answers: Vec<Answer>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.walked += other.walked;
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.highest = Highest::of(self.highest.take(), other.highest);
        self.unresolved.extend(other.unresolved);
        self.answers.extend(other.answers);
    }
}

/// The contribution of a challenged node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The node's low bits.
    pub low: u128,
    /// The contribution of the node to `walked` and `checksum`.
    pub share: Share,
}

/// A tree to walk, and what its tally must contain.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The tree to walk.
    pub tree: &'a Tree,
    /// The low bits of nodes of the last level, possibly repeated, whose contributions must be in
    /// the tally. A device must not learn them before it has walked their numbers.
    pub challenges: &'a [u128],
    /// The highest value known from other trees, which the tally may omit.
    pub highest: Option<&'a BigUint>,
}

impl<'a> Task<'a> {
    /// Creates the task of a tree alone: without challenges, and with no value known from other
    /// trees.
    #[must_use]
    pub fn new(tree: &'a Tree) -> Self {
        Self { tree, challenges: &[], highest: None }
    }
}

/// An engine that verifies trees at a place.
pub trait Backend: Send {
    /// Walks all numbers of a tree that survive its rules, and returns their totals; `None` if the
    /// watch stopped it.
    ///
    /// # Errors
    /// The device fails, lacks memory, or contradicts the host.
    fn tree(&mut self, task: Task<'_>, watch: &dyn Watch) -> Result<Option<Tally>, CollatzError>;

    /// Returns the largest number of steps that the engine's vectors can look ahead.
    fn most_looking(&self) -> Looking;

    /// Returns the average number of nodes per challenge for which challenges cost little.
    fn nodes_of_a_challenge(&self) -> u64;

    /// Returns the name of the engine's place: `cpu`, `cuda:0`.
    fn place(&self) -> String;
}

impl<B: Backend + ?Sized> Backend for Box<B> {
    fn tree(&mut self, task: Task<'_>, watch: &dyn Watch) -> Result<Option<Tally>, CollatzError> {
        (**self).tree(task, watch)
    }

    fn most_looking(&self) -> Looking {
        (**self).most_looking()
    }

    fn nodes_of_a_challenge(&self) -> u64 {
        (**self).nodes_of_a_challenge()
    }

    fn place(&self) -> String {
        (**self).place()
    }
}

/// The sieve, with an engine at some place.
#[derive(Debug, Clone)]
pub struct Sieve<B> {
    /// The engine that walks.
    pub backend: B,
    /// The parameters of the sieve.
    pub shape: Shape,
    /// The walker for numbers outside the trees, and for challenges; the backend's walker must be
    /// the same.
    pub walker: Walker,
    /// The seed of the challenges; by default drawn anew for each region.
    pub seed: Option<u64>,
    /// The data of earlier regions that later ones reuse.
    pub kept: Kept,
}

/// The counts of the nodes of the last tree, which other trees of the same level share.
#[derive(Debug, Clone, Default)]
pub struct Kept(Option<Arc<Counts>>);

impl<B: Backend> Sieve<B> {
    /// Creates the sieve of an engine, with all rules.
    pub fn new(backend: B) -> Self {
        let (shape, walker) = (Shape::default(), Walker::default());
        Self { backend, shape, walker, seed: None, kept: Kept::default() }
    }
}

impl<B: Backend> Verifier for Sieve<B> {
    fn method(&self) -> Method {
        Method::Sieve
    }

    fn version(&self) -> u32 {
        1
    }

    fn parameters(&self) -> String {
        parameters::text(self.shape, self.backend.most_looking())
    }

    fn place(&self) -> String {
        self.backend.place()
    }

    fn takes(&self, region: &Region) -> Result<(), CollatzError> {
        pieces(region, self.shape, self.backend.most_looking()).map(drop)
    }

    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let mut verified = Verified { numbers: region.numbers(), ..Verified::default() };
        let pieces = pieces(region, self.shape, self.backend.most_looking())?;
        let mut challenged = self.challenged(region, &pieces)?;
        let counts = |piece: &Piece| !matches!(piece, Piece::Plain { counted: false, .. });
        if !pieces.iter().any(counts) {
            watch.done(verified.numbers);
        }
        for piece in pieces {
            let part = match piece {
                Piece::Tree(tree) => {
                    let highest = verified.highest.as_ref().map(|highest| &highest.value);
                    let tally = challenged.next(|challenges| {
                        let task = Task { tree: &tree, challenges, highest };
                        self.backend.tree(task, watch)
                    })?;
                    tally.map(|tally| Verified {
                        numbers: 0,
                        walked: tally.walked,
                        checksum: tally.checksum,
                        highest: tally.highest,
                        unresolved: tally.unresolved,
                        evidence: None,
                    })
                }
                Piece::Plain { region, counted } => {
                    let mut plain = Plain { walker: self.walker.clone(), ..Plain::default() };
                    let quiet = Quiet { watch, counted };
                    let part = plain.verify(&region, &quiet)?;
                    // The numbers of a tree are counted already.
                    let walked = |part: &Verified| if counted { part.walked } else { 0 };
                    part.map(|part| Verified {
                        numbers: 0,
                        walked: walked(&part),
                        highest: None,
                        ..part
                    })
                }
            };
            let Some(part) = part else { return Ok(None) };
            verified.add(part);
        }
        verified.unresolved.dedup();
        verified.evidence = Some(challenged.end());
        Ok(Some(verified))
    }
}

impl<B: Backend> Sieve<B> {
    /// Draws the challenges of a region and returns them.
    fn challenged(
        &mut self,
        region: &Region,
        pieces: &[Piece],
    ) -> Result<Challenged, CollatzError> {
        let items = SieveItems::of(pieces, &self.walker, self.kept.0.take());
        self.kept = Kept(items.counts());
        let seed = match self.seed {
            Some(seed) => seed,
            None => secret()?,
        };
        let every = self.backend.nodes_of_a_challenge().min(NODES);
        Ok(Challenged::new(self.place(), *region, items, seed, every))
    }
}

/// A watch that passes on the numbers done only if they count.
struct Quiet<'a> {
    watch: &'a dyn Watch,
    counted: bool,
}

impl Watch for Quiet<'_> {
    fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    fn done(&self, numbers: u128) {
        if self.counted {
            self.watch.done(numbers);
        }
    }
}

#[cfg(test)]
mod tests;
