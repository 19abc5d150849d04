//! The challenges of a region's trees, and the check of an engine's answers to them.

use std::collections::HashMap;

use super::{Answer, Node, Tally};
use crate::evidence::nodes::SlowNodes;
use crate::evidence::{Evidence, Plan, Share, SieveItems};
use crate::{CollatzError, Region};

/// The challenges of a region, and the sum of the answers checked so far.
pub(super) struct Challenged {
    place: String,
    region: Region,
    items: SieveItems,
    plan: Plan,
    /// The challenged nodes of the last level, for each tree.
    nodes: Vec<Vec<Node>>,
    /// The number of trees whose walk has begun.
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

    /// Walks the next tree. For this, calls `walk` with the low bits of the challenged nodes;
    /// `walk` makes an engine walk the tree. Meanwhile, other threads recompute these nodes. Then
    /// compares the results with the engine's answers. Returns the totals of the tree. Returns
    /// `None` if the walk was stopped.
    ///
    /// # Errors
    /// The walk fails, or its totals or answers are wrong.
    pub(super) fn next(
        &mut self,
        walk: impl FnOnce(&[u128]) -> Result<Option<Tally>, CollatzError>,
    ) -> Result<Option<Tally>, CollatzError> {
        let current = self.begun;
        self.begun += 1;
        let Some((tree, count)) = self.items.trees().nth(current) else { return walk(&[]) };
        let nodes = self.nodes.get(current).map_or(&[][..], |nodes| nodes);
        let lows: Vec<u128> = nodes.iter().map(|node| node.low).collect();
        let slow = SlowNodes::new(tree, self.items.walker());
        let mut again = vec![];
        let tally = rayon::in_place_scope(|scope| {
            scope.spawn(|_| again = slow.walks_of_all(nodes));
            walk(&lows)
        })?;
        let Some(tally) = tally else { return Ok(None) };
        if tally.nodes != count {
            return Err(self.refuted("the number of nodes", tally.nodes, count));
        }
        let answers: HashMap<u128, Share> =
            tally.answers.iter().map(|&Answer { low, share }| (low, share)).collect();
        if again.len() != nodes.len() {
            return Err(self.refuted("the count of challenges", again.len(), nodes.len()));
        }
        for (node, walks) in nodes.iter().zip(again) {
            let expected = walks.share();
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
        Ok(Some(tally))
    }

    /// Returns the evidence of the work on all trees.
    pub(super) fn end(self) -> Evidence {
        Evidence::new(self.plan.seed, self.plan.items, self.plan.challenges, self.found)
    }

    fn refuted(&self, what: &str, found: impl ToString, expected: impl ToString) -> CollatzError {
        CollatzError::refuted(&self.place, &self.region, what, found, expected)
    }
}
