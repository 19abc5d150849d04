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
    /// The number of steps that the look-ahead vectors cover. `None` means that this number is
    /// derived from the size of the region.
    pub look: Option<Looking>,
    /// The number of bits that a step of the walk processes.
    pub step: Step,
}

/// The number of bits of a number that a step of the sieve's walk processes, from 8 to 13.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step(u32);

impl Default for Step {
    fn default() -> Self {
        Self(12)
    }
}

impl Step {
    /// Returns a step of `bits` bits. Returns `None` unless `bits` is from 8 to 13, the sizes that
    /// the tables support.
    #[must_use]
    pub fn new(bits: u32) -> Option<Self> {
        (8..=13).contains(&bits).then_some(Self(bits))
    }

    /// Returns the number of bits that a step processes.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

/// The totals over all walked numbers of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// The number of nodes at the last level of the tree.
    pub nodes: u128,
    /// The count of numbers walked. A number of a node of the last level is walked unless a
    /// look-ahead vector or the rule of residues modulo 9 excludes the number.
    pub walked: u64,
    /// The sum, modulo 2^64, of the odd steps of all walked numbers. The odd steps of a number are
    /// counted until its walk ends.
    pub checksum: u64,
    /// The highest value on the paths of long numbers, which are the numbers that no rule excludes
    /// during the walk. `None` if there is no long number. If no value exceeds [`Task::highest`],
    /// this field may also be `None` or too low.
    pub highest: Option<Highest>,
    /// The numbers whose paths did not fall below their starts within the limit of steps.
    pub unresolved: Vec<u128>,
    /// The contributions of the challenged nodes, in any order.
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

/// The contribution of a challenged node to a [`Tally`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The low bits of the node, which identify it.
    pub low: u128,
    /// The contribution of the node to `walked` and `checksum` of the [`Tally`].
    pub share: Share,
}

/// A tree to walk, with the challenges that its [`Tally`] must answer.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The tree to walk.
    pub tree: &'a Tree,
    /// The challenged nodes of the last level, given by their low bits and possibly repeated. The
    /// tally must have the contribution of each of these nodes. A device must not receive all low
    /// bits of a node before it has walked the numbers of that node; [`crate::evidence`] describes
    /// an exception.
    pub challenges: &'a [u128],
    /// The highest value known from other trees. The tally need not contain the highest value of
    /// this tree unless that value exceeds the known one.
    pub highest: Option<&'a BigUint>,
}

impl<'a> Task<'a> {
    /// Creates the task of walking a tree without challenges, and with no value known from other
    /// trees.
    #[must_use]
    pub fn new(tree: &'a Tree) -> Self {
        Self { tree, challenges: &[], highest: None }
    }
}

/// An engine that walks the trees of the sieve, on the CPU or on a device.
pub trait Backend: Send {
    /// Walks the numbers of a tree, except the numbers that the tree's rules exclude, and returns
    /// the totals. Returns `None` if the watch stopped the work.
    ///
    /// # Errors
    /// The device fails, lacks memory or cannot compile a kernel, or its results contradict the
    /// host's.
    fn tree(&mut self, task: Task<'_>, watch: &dyn Watch) -> Result<Option<Tally>, CollatzError>;

    /// Returns the largest number of steps that the engine's look-ahead vectors can cover.
    fn most_looking(&self) -> Looking;

    /// Returns a number E of nodes: about one challenge is drawn for every E nodes. E is large
    /// enough that the challenges cost little time.
    fn nodes_of_a_challenge(&self) -> u64;

    /// Returns the name of the CPU or device on which the engine runs: `cpu`, `cuda:0`.
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

/// The sieve, with the engine that walks its trees.
#[derive(Debug, Clone)]
pub struct Sieve<B> {
    /// The engine that walks the trees.
    pub backend: B,
    /// The parameters of the sieve.
    pub shape: Shape,
    /// The walker for the numbers outside the trees, and for the check of challenges. The engine
    /// must have an equal walker.
    pub walker: Walker,
    /// The seed from which challenges are drawn (see [`crate::evidence`]). `None` means a new
    /// random seed for each region.
    pub seed: Option<u64>,
    /// The data of earlier regions that later regions can reuse.
    pub kept: Kept,
}

/// The counts of the last tree: the number of nodes of the last level below a node. It depends only
/// on the level of the node, its number of odd steps and its pattern. Trees with the same last
/// level and rules share these counts.
#[derive(Debug, Clone, Default)]
pub struct Kept(Option<Arc<Counts>>);

impl<B: Backend> Sieve<B> {
    /// Creates a sieve with an engine, the default parameters and all rules.
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
    /// Draws the challenges of a region, whose parts are `pieces`, and returns them.
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

/// A watch that forwards the counts of finished numbers to another watch only if `counted` is true.
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
