//! Waiting nodes: one stage per group of levels; deeper stages are processed first.

use warpint_device::{Buffer, View};

use super::NodeWords;

/// The waiting nodes of one level, some of them already processed.
#[derive(Debug)]
pub(super) struct Stage {
    nodes: Buffer<NodeWords>,
    pub level: u32,
    count: usize,
    next: usize,
    /// The share of the tree that belongs to all nodes of the stage.
    share: f64,
    /// The indices of nodes above challenged nodes, each with the low bits of a challenged node;
    /// ascending.
    challenged: Vec<(usize, u128)>,
}

impl Stage {
    pub(super) fn new(nodes: Buffer<NodeWords>, level: u32, count: usize, share: f64) -> Self {
        Self { nodes, level, count, next: 0, share, challenged: vec![] }
    }

    /// Stores which nodes are above challenged nodes.
    pub(super) fn challenged(self, mut challenged: Vec<(usize, u128)>) -> Self {
        challenged.sort_unstable();
        Self { challenged, ..self }
    }

    /// Returns the low bits of the challenged nodes below `count` nodes from index `first` on.
    pub(super) fn below(&self, first: usize, count: usize) -> Vec<u128> {
        let from = self.challenged.partition_point(|&(place, _)| place < first);
        let to = self.challenged.partition_point(|&(place, _)| place < first + count);
        self.challenged[from..to].iter().map(|&(_, low)| low).collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.next == self.count
    }

    /// Takes at most `most` of the next nodes. Returns the index of the first, their count, and
    /// their share of the tree.
    pub(super) fn take(&mut self, most: usize) -> (usize, usize, f64) {
        let (first, count) = (self.next, most.max(1).min(self.count - self.next));
        self.next += count;
        (first, count, self.share * count as f64 / self.count as f64)
    }

    /// Returns the nodes from index `node` on.
    pub(super) fn from(&self, node: usize) -> View<'_, NodeWords> {
        self.nodes.view(node..self.count)
    }
}

/// The stages of a tree, and the share of its numbers that is done.
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

    /// Removes the deepest stage and returns its memory.
    pub(super) fn pop(&mut self) -> Option<Buffer<NodeWords>> {
        self.stages.pop().map(|stage| stage.nodes)
    }

    /// Adds a share of the tree to what is done; returns the count of numbers done since the last
    /// call.
    pub(super) fn done(&mut self, share: f64) -> u128 {
        self.share += share;
        let done = ((self.numbers as f64 * self.share) as u128).clamp(self.told, self.numbers);
        let more = done - self.told;
        self.told = done;
        more
    }

    /// Returns the count of numbers not yet reported.
    pub(super) fn rest(&mut self) -> u128 {
        self.numbers - std::mem::replace(&mut self.told, self.numbers)
    }
}
