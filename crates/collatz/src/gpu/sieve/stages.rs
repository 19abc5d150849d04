//! Nodes that wait: a stage for some levels, deeper ones before those above.

use warpint_device::{Buffer, View};

use super::NodeWords;

/// Nodes of one level, some of them done.
#[derive(Debug)]
pub(super) struct Stage {
    nodes: Buffer<NodeWords>,
    pub level: u32,
    count: usize,
    next: usize,
    /// Of the tree, all of these nodes together.
    share: f64,
    /// The places of nodes that have challenged ones below them, and the low bits of these; ascending.
    challenged: Vec<(usize, u128)>,
}

impl Stage {
    pub(super) fn new(nodes: Buffer<NodeWords>, level: u32, count: usize, share: f64) -> Self {
        Self { nodes, level, count, next: 0, share, challenged: vec![] }
    }

    /// With the places of nodes that have challenged ones below them.
    pub(super) fn challenged(self, mut challenged: Vec<(usize, u128)>) -> Self {
        challenged.sort_unstable();
        Self { challenged, ..self }
    }

    /// The challenged nodes below some of its nodes.
    pub(super) fn below(&self, first: usize, count: usize) -> Vec<u128> {
        let from = self.challenged.partition_point(|&(place, _)| place < first);
        let to = self.challenged.partition_point(|&(place, _)| place < first + count);
        self.challenged[from..to].iter().map(|&(_, low)| low).collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.next == self.count
    }

    /// At most so many of the next nodes: the first, how many, and their share of the tree.
    pub(super) fn take(&mut self, most: usize) -> (usize, usize, f64) {
        let (first, count) = (self.next, most.max(1).min(self.count - self.next));
        self.next += count;
        (first, count, self.share * count as f64 / self.count as f64)
    }

    /// The nodes from one on.
    pub(super) fn from(&self, node: usize) -> View<'_, NodeWords> {
        self.nodes.view(node..self.count)
    }
}

/// The stages, and how many numbers of the tree are done.
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

    /// The memory of the deepest stage.
    pub(super) fn pop(&mut self) -> Option<Buffer<NodeWords>> {
        self.stages.pop().map(|stage| stage.nodes)
    }

    /// Numbers done since the last call, with a share of the tree more.
    pub(super) fn done(&mut self, share: f64) -> u128 {
        self.share += share;
        let done = ((self.numbers as f64 * self.share) as u128).clamp(self.told, self.numbers);
        let more = done - self.told;
        self.told = done;
        more
    }

    /// Numbers not yet told of.
    pub(super) fn rest(&mut self) -> u128 {
        self.numbers - std::mem::replace(&mut self.told, self.numbers)
    }
}
