//! The challenges of a region's trees, and whether an engine answers them.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{Answer, Node, Tally};
use crate::evidence::nodes::SlowNodes;
use crate::evidence::{Evidence, Plan, Share, SieveItems};
use crate::{CollatzError, Region};

/// The challenges of a region, and what was found so far.
pub(super) struct Challenged {
    place: String,
    region: Region,
    items: SieveItems,
    plan: Plan,
    /// By tree.
    nodes: Vec<Vec<Node>>,
    /// Trees that were begun.
    begun: usize,
    found: Share,
}

impl Challenged {
    pub(super) fn new(
        place: String,
        region: Region,
        items: SieveItems,
        seed: u64,
        every: u64,
    ) -> Self {
        let plan = Plan::new(seed, items.count(), every);
        let mut nodes = vec![vec![]; items.trees().count()];
        for (tree, node) in plan.indices().filter_map(|index| items.place(index)) {
            nodes[tree].push(node);
        }
        Self { place, region, items, plan, nodes, begun: 0, found: Share::default() }
    }

    /// The low bits of the challenged nodes of the next tree.
    pub(super) fn next(&mut self) -> Vec<u128> {
        let nodes = self.nodes.get(self.begun).map_or(&[][..], |nodes| nodes);
        self.begun += 1;
        nodes.iter().map(|node| node.low).collect()
    }

    /// Whether a tally of the last tree that was begun is what it must be.
    pub(super) fn check(&mut self, tally: &Tally) -> Result<(), CollatzError> {
        let current = self.begun.wrapping_sub(1);
        let Some((tree, count)) = self.items.trees().nth(current) else { return Ok(()) };
        if tally.nodes != count {
            return Err(self.refuted("the number of nodes", tally.nodes, count));
        }
        let nodes = &self.nodes[current];
        let answers: HashMap<u128, Share> =
            tally.answers.iter().map(|&Answer { low, share }| (low, share)).collect();
        let slow = SlowNodes::new(tree, self.items.walker());
        let shares: Vec<Share> = nodes.par_iter().map(|node| slow.walks(node).share()).collect();
        for (node, expected) in nodes.iter().zip(shares) {
            let what = |what: &str| format!("{what} of the node {}", node.low);
            let Some(found) = answers.get(&node.low) else {
                return Err(self.refuted(&what("the answer"), "missing", expected.walked));
            };
            if found.walked != expected.walked {
                let what = what("the count of numbers walked");
                return Err(self.refuted(&what, found.walked, expected.walked));
            }
            if found.checksum != expected.checksum {
                return Err(self.refuted(&what("the checksum"), found.checksum, expected.checksum));
            }
            self.found.add(expected);
        }
        Ok(())
    }

    /// What was found in all.
    pub(super) fn end(self) -> Evidence {
        Evidence::new(self.plan.seed, self.plan.items, self.plan.challenges, self.found)
    }

    fn refuted(&self, what: &str, found: impl ToString, expected: impl ToString) -> CollatzError {
        CollatzError::refuted(&self.place, &self.region, what, found, expected)
    }
}
