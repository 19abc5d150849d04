//! Nodes that wait to be processed, in stages: each stage has nodes of one level. The deepest stage
//! is processed first.

use warpint_device::{Buffer, View};

use super::NodeWords;

/// A buffer of nodes of one level, some of which are already processed.
#[derive(Debug)]
pub(super) struct Stage {
    nodes: Buffer<NodeWords>,
    pub level: u32,
    count: usize,
    next: usize,
    /// The fraction of the tree's numbers that belongs to all nodes of the stage.
    share: f64,
    /// A pair for each challenged node: the index of the node above it in this stage, and the low
    /// bits of the challenged node. The pairs ascend.
    challenged: Vec<(usize, u128)>,
}

impl Stage {
    pub(super) fn new(nodes: Buffer<NodeWords>, level: u32, count: usize, share: f64) -> Self {
        Self { nodes, level, count, next: 0, share, challenged: vec![] }
    }

    /// Sets the challenged nodes: for each one, the index of the node above it in this stage, and
    /// the low bits of the challenged node. The pairs may be in any order.
    pub(super) fn challenged(self, mut challenged: Vec<(usize, u128)>) -> Self {
        challenged.sort_unstable();
        Self { challenged, ..self }
    }

    /// Returns the low bits of the challenged nodes below `count` consecutive nodes of the stage,
    /// the first of which has index `first`.
    pub(super) fn below(&self, first: usize, count: usize) -> Vec<u128> {
        let from = self.challenged.partition_point(|&(place, _)| place < first);
        let to = self.challenged.partition_point(|&(place, _)| place < first + count);
        self.challenged[from..to].iter().map(|&(_, low)| low).collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.next == self.count
    }

    /// Marks the next nodes as processed: at most `most`, but at least one. Returns the index of
    /// the first of them, their count, and the fraction of the tree's numbers that belongs to them.
    pub(super) fn take(&mut self, most: usize) -> (usize, usize, f64) {
        let (first, count) = (self.next, most.max(1).min(self.count - self.next));
        self.next += count;
        (first, count, self.share * count as f64 / self.count as f64)
    }

    /// Returns the node with index `node` and all later nodes of the stage.
    pub(super) fn from(&self, node: usize) -> View<'_, NodeWords> {
        self.nodes.view(node..self.count)
    }
}

/// The stages of a tree, and the fraction of its numbers that is done.
#[derive(Debug)]
pub(super) struct Stages {
    stages: Vec<Stage>,
    numbers: u128,
    told: u128,
    share: f64,
}

impl Stages {
    pub(super) fn new(numbers: u128) -> Self {
        Self { stages: vec![], numbers, told: 0, share: 0.0 }
    }

    pub(super) fn top(&mut self) -> Option<&mut Stage> {
        self.stages.last_mut()
    }

    pub(super) fn push(&mut self, stage: Stage) {
        self.stages.push(stage);
    }

    /// Removes the deepest stage and returns its buffer.
    pub(super) fn pop(&mut self) -> Option<Buffer<NodeWords>> {
        self.stages.pop().map(|stage| stage.nodes)
    }

    /// Adds `share` to the fraction of the tree that is done. Returns the count of numbers done
    /// since the last call.
    pub(super) fn done(&mut self, share: f64) -> u128 {
        self.share += share;
        let done = ((self.numbers as f64 * self.share) as u128).clamp(self.told, self.numbers);
        let more = done - self.told;
        self.told = done;
        more
    }

    /// Returns the count of numbers that were not yet reported as done, and counts them as
    /// reported.
    pub(super) fn rest(&mut self) -> u128 {
        self.numbers - std::mem::replace(&mut self.told, self.numbers)
    }
}
