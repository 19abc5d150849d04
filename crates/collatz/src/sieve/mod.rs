#![doc = include_str!("sieve.md")]

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

use num_bigint::BigUint;

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
pub(crate) use steps::{kill, stages};
pub(crate) use tables::Tables;
pub use tree::Tree;

use crate::walk::Walker;
use crate::{CollatzError, Highest, Method, Plain, Region, Verified, Verifier, Watch};

/// How the sieve works; the checksum depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// Which rules prune.
    pub rules: Rules,
    /// How many steps the vectors look ahead; by the size of the region if it is not said.
    pub look: Option<Looking>,
    /// Bits of a step of the walk, 8 to 13.
    pub step: Step,
}

/// Bits of a step of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step(u32);

impl Default for Step {
    fn default() -> Self {
        Self(12)
    }
}

impl Step {
    /// So many bits, if there are tables for them: 8 to 13.
    #[must_use]
    pub fn new(bits: u32) -> Option<Self> {
        (8..=13).contains(&bits).then_some(Self(bits))
    }

    /// Bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

/// What the walks of a tree add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Numbers walked.
    pub walked: u64,
    /// The sum of odd steps until their ends.
    pub checksum: u64,
    /// The highest value of the long ones' paths.
    pub highest: Option<Highest>,
    /// Those that did not come down.
    pub unresolved: Vec<u128>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.walked += other.walked;
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.highest = Highest::of(self.highest.take(), other.highest);
        self.unresolved.extend(other.unresolved);
    }
}

/// A place that verifies trees.
pub trait Engine: Send {
    /// Walks all numbers of a tree that its rules leave; nothing if the watch stopped it. `highest` is the
    /// highest value known from other trees, which need not be told again.
    ///
    /// # Errors
    /// The device fails, or lacks memory.
    fn tree(
        &mut self,
        tree: &Tree,
        highest: Option<&BigUint>,
        watch: &dyn Watch,
    ) -> Result<Option<Tally>, CollatzError>;

    /// The most steps that its vectors look ahead.
    fn most_looking(&self) -> Looking;

    /// Its place: `cpu`, `cuda:0`.
    fn place(&self) -> String;
}

/// The recursive sieve at a place.
#[derive(Debug, Clone)]
pub struct Sieve<E> {
    /// Who walks.
    pub engine: E,
    /// How.
    pub shape: Shape,
    /// For numbers that no sieve is for.
    pub walker: Walker,
}

impl<E: Engine> Sieve<E> {
    /// With all rules.
    pub fn new(engine: E) -> Self {
        Self { engine, shape: Shape::default(), walker: Walker::default() }
    }
}

impl<E: Engine> Verifier for Sieve<E> {
    fn method(&self) -> Method {
        Method::Sieve
    }

    fn version(&self) -> u32 {
        1
    }

    fn parameters(&self) -> String {
        parameters::text(self.shape, self.engine.most_looking())
    }

    fn place(&self) -> String {
        self.engine.place()
    }

    fn takes(&self, region: &Region) -> Result<(), CollatzError> {
        pieces(region, self.shape, self.engine.most_looking()).map(drop)
    }

    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let mut verified = Verified { numbers: region.numbers(), ..Verified::default() };
        let pieces = pieces(region, self.shape, self.engine.most_looking())?;
        let counts = |piece: &Piece| !matches!(piece, Piece::Plain { counted: false, .. });
        if !pieces.iter().any(counts) {
            watch.done(verified.numbers);
        }
        for piece in pieces {
            let part = match piece {
                Piece::Tree(tree) => {
                    let known = verified.highest.as_ref().map(|highest| &highest.value);
                    let tally = self.engine.tree(&tree, known, watch)?;
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
                    let mut plain = Plain { walker: self.walker.clone() };
                    let quiet = Quiet { watch, counted };
                    let part = plain.verify(&region, &quiet)?;
                    // Those of a tree are its numbers already.
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
        Ok(Some(verified))
    }
}

/// A watch that is told of numbers only if they count.
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
