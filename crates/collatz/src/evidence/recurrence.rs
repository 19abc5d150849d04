//! The number of nodes of the sieve's tree at each level, computed without growing the tree.
//!
//! Let a node have the path x and f odd steps (see [`Node`]). It has two children, one by an even
//! step and one by an odd step: their values before the step are x and x + 3^f, and 3^f is odd.
//! Which of the two children the rules keep depends only on the level, on f and on the pattern. Let
//! N_k(f, p) be the number of nodes of the last level K below a node of level k with f odd steps
//! and pattern p. Let odd(p) be the pattern that follows p at an odd step, and even(p) the pattern
//! that follows p at an even step. Then
//!
//! N_K(f, p) = 1, N_k(f, p) = N_(k+1)(f + 1, odd(p)) + N_(k+1)(f, even(p)),
//!
//! where the second term is 0 if a rule kills the numbers at the even step. A table for all levels
//! costs about 2·K² additions and takes about 50 µs.

use crate::descent::min_odd;
use crate::sieve::{Limits, Node, Pattern, Rules, Tree};

/// The number of patterns: each of the two fields of a [`Pattern`] is 0, 1 or 2.
const PATTERNS: usize = 9;

/// A table of the number of nodes of the last level below each node of a tree. It is valid for all
/// trees with the last level and the rules for which it was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    level: u32,
    rules: Rules,
    /// The numbers of nodes, with one row for each level k. [`place`] returns the index in a row
    /// for a number of odd steps and a pattern.
    below: Vec<Vec<u128>>,
}

fn place(odd: u32, pattern: Pattern) -> usize {
    odd as usize * PATTERNS + (3 * pattern.evens + pattern.run) as usize
}

fn pattern(index: usize) -> Pattern {
    let index = index as u32;
    Pattern { run: index % 3, evens: index / 3 }
}

impl Counts {
    pub(crate) fn new(level: u32, rules: Rules) -> Self {
        let mut below = vec![vec![1; (level as usize + 1) * PATTERNS]];
        for k in (0..level).rev() {
            let limits = Limits::of(k, rules);
            let later = &below[below.len() - 1];
            let mut here = vec![0; (k as usize + 1) * PATTERNS];
            // Nodes with fewer odd steps are killed.
            let least = if k == 0 { 0 } else { min_odd(k) };
            for odd in least..=k {
                for p in (0..PATTERNS).map(pattern) {
                    let even = p.even(odd, &limits).map_or(0, |p| later[place(odd, p)]);
                    here[place(odd, p)] = later[place(odd + 1, p.odd(odd, &limits))] + even;
                }
            }
            below.push(here);
        }
        below.reverse();
        Self { level, rules, below }
    }

    /// Computes the counts of a tree.
    pub(crate) fn of(tree: &Tree) -> Self {
        Self::new(tree.level(), tree.rules())
    }

    /// Returns whether `tree` has the last level and the rules for which the counts were computed.
    pub(crate) fn suits(&self, tree: &Tree) -> bool {
        (self.level, self.rules) == (tree.level(), tree.rules())
    }

    /// Returns the number of nodes of the last level below a node of level k.
    pub(crate) fn below(&self, node: &Node, k: u32) -> u128 {
        let at = place(node.odd, node.pattern);
        self.below.get(k as usize).and_then(|row| row.get(at)).copied().unwrap_or(0)
    }

    /// Returns node `index` of the last level of a tree, counted from 0. At every level from the
    /// root down, the nodes below the child with bit 0 precede the nodes below the other child.
    /// Returns `None` if the last level has at most `index` nodes.
    pub(crate) fn node(&self, tree: &Tree, index: u128) -> Option<Node> {
        let (mut node, mut index) = (tree.root, index);
        for k in tree.root_level..tree.level {
            let power = 3u128.checked_pow(node.odd)?;
            let limits = Limits::of(k, tree.rules);
            let children = [0, 1].map(|bit| node.child(k, bit, power, &limits));
            node = *children.iter().flatten().find(|child| {
                let here = self.below(child, k + 1);
                let found = index < here;
                if !found {
                    index -= here;
                }
                found
            })?;
        }
        (index == 0).then_some(node)
    }
}

/// Returns the number of nodes of each level of a tree, from the level of its root to the last
/// level.
pub(crate) fn levels(tree: &Tree) -> Vec<u128> {
    let (from, to) = (tree.root_level, tree.level);
    let mut here = vec![0u128; (to as usize + 2) * PATTERNS];
    here[place(tree.root.odd, tree.root.pattern)] = 1;
    let mut totals = vec![1];
    for k in from..to {
        let limits = Limits::of(k, tree.rules);
        let mut next = vec![0; here.len()];
        let most = tree.root.odd + (k - from);
        let mut total = 0;
        for odd in tree.root.odd..=most {
            for p in (0..PATTERNS).map(pattern) {
                let count = here[place(odd, p)];
                if count == 0 {
                    continue;
                }
                next[place(odd + 1, p.odd(odd, &limits))] += count;
                total += count;
                if let Some(p) = p.even(odd, &limits) {
                    next[place(odd, p)] += count;
                    total += count;
                }
            }
        }
        totals.push(total);
        here = next;
    }
    totals
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Region;
    use crate::sieve::{Looking, Piece, Shape, pieces, powers};

    fn trees() -> Vec<Tree> {
        let regions = [
            Region::interval(1 << 24, 1 << 25),
            Region::class(26, 4, 15),
            Region::class(40, 22, (1 << 22) - 1),
            Region::class(71, 54, (1 << 54) - 1),
            Region::class(16, 0, 0),
        ];
        let mut trees = vec![];
        for region in regions {
            for rules in [
                Rules::default(),
                Rules { preimages: false, ..Rules::default() },
                Rules { runs: false, ..Rules::default() },
                Rules { preimages: false, runs: false, mod_9: false },
            ] {
                let shape = Shape { rules, ..Shape::default() };
                let pieces = pieces(region.as_ref().unwrap(), shape, Looking::LEAST).unwrap();
                trees.extend(pieces.into_iter().filter_map(|piece| match piece {
                    Piece::Tree(tree) => Some(tree),
                    Piece::Plain { .. } => None,
                }));
            }
        }
        assert_eq!(trees.len(), 20);
        trees
    }

    fn grown(tree: &Tree, to: u32) -> Vec<Node> {
        let powers = powers(tree.level + 2);
        let mut nodes = vec![tree.root];
        for k in tree.root_level..to {
            let limits = Limits::of(k, tree.rules);
            let child = |node: &Node, bit| node.child(k, bit, powers[node.odd as usize], &limits);
            nodes = nodes
                .iter()
                .flat_map(|node| [0, 1].map(|bit| child(node, bit)))
                .flatten()
                .collect();
        }
        nodes
    }

    #[test]
    fn nodes_are_counted() {
        for tree in trees() {
            let counts = Counts::of(&tree);
            let levels = levels(&tree);
            let last = grown(&tree, tree.level).len() as u128;
            assert_eq!(levels.len() as u32, tree.level - tree.root_level + 1);
            assert_eq!(counts.below(&tree.root, tree.root_level), last, "{tree:?}");
            for (k, &total) in (tree.root_level..).zip(&levels) {
                let nodes = grown(&tree, k);
                assert_eq!(nodes.len() as u128, total, "level {k} of {tree:?}");
                let below: u128 = nodes.iter().map(|node| counts.below(node, k)).sum();
                assert_eq!(below, last, "level {k} of {tree:?}");
            }
        }
    }

    #[test]
    fn without_other_rules_they_are_the_residues_of_the_table_method() {
        let rules = Rules { preimages: false, runs: false, mod_9: false };
        for bits in 8..=37 {
            let counts = Counts::new(bits, rules);
            assert_eq!(counts.below(&Node::ROOT, 0), crate::table::sieve_size(bits).into());
        }
    }

    #[test]
    fn every_node_has_one_index() {
        for tree in trees() {
            let counts = Counts::of(&tree);
            let all: BTreeSet<u128> =
                grown(&tree, tree.level).iter().map(|node| node.low).collect();
            let count = all.len() as u128;
            let found: BTreeSet<u128> =
                (0..count).map(|i| counts.node(&tree, i).unwrap().low).collect();
            assert_eq!(found, all, "{tree:?}");
            assert_eq!(counts.node(&tree, count), None, "{tree:?}");
        }
    }
}
