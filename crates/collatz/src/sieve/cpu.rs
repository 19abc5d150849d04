//! The sieve on the CPU, in parallel threads.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::last::{LAST, inverses, mod_9, powers};
use super::long::{Long, Tallest};
use super::look::Vectors;
use super::node::Node;
use super::rules::Limits;
use super::steps::Steps;
use super::tree::Tree;
use super::{Answer, Backend, Looking, Tally, Task};
use crate::evidence::Share;
use crate::walk::Walker;
use crate::{CollatzError, Watch};

/// The engine that walks the sieve's trees on the CPU, in parallel threads.
#[derive(Debug, Clone, Default)]
pub struct CpuSieve {
    /// The walker for long numbers.
    pub walker: Walker,
    /// The number E of nodes such that about one challenge is drawn for every E nodes; `None` means
    /// [`NODES_OF_A_CHALLENGE`].
    every: Option<u64>,
    /// The look-ahead vectors computed last. The key contains the last level of the tree to which
    /// they belong, the number of steps that they cover, and the rules.
    vectors: HashMap<String, Arc<Vectors>>,
}

/// By default, about one challenge is drawn for this number of nodes. The check of a challenge
/// takes about as long as the processing of 25 nodes.
const NODES_OF_A_CHALLENGE: u64 = 1 << 11;

/// The number of nodes that one thread grows before all threads share the work.
const SHARED: usize = 1 << 14;
/// The largest number of steps that look-ahead vectors cover on a CPU. Vectors for more steps take
/// longer to compute than they save, and exceed the caches.
const MOST_LOOKING: u32 = 24;

impl CpuSieve {
    /// Creates the engine with the given walker for long numbers.
    #[must_use]
    pub fn with_walker(walker: Walker) -> Self {
        Self { walker, ..Self::default() }
    }

    /// Makes the engine draw about one challenge for every `nodes` nodes.
    #[must_use]
    pub fn with_nodes_of_a_challenge(self, nodes: u64) -> Self {
        Self { every: Some(nodes), ..self }
    }

    fn vectors(&mut self, tree: &Tree) -> Arc<Vectors> {
        let key = format!("{} {} {}", tree.level, tree.look.bits(), tree.rules);
        if !self.vectors.contains_key(&key) {
            self.vectors.clear();
        }
        self.vectors.entry(key).or_insert_with(|| Arc::new(Vectors::new(tree))).clone()
    }
}

impl Backend for CpuSieve {
    fn most_looking(&self) -> Looking {
        Looking::new(MOST_LOOKING).unwrap_or(Looking::LEAST)
    }

    fn nodes_of_a_challenge(&self) -> u64 {
        self.every.unwrap_or(NODES_OF_A_CHALLENGE)
    }

    fn tree(&mut self, task: Task<'_>, watch: &dyn Watch) -> Result<Option<Tally>, CollatzError> {
        let Task { tree, challenges, highest } = task;
        let vectors = self.vectors(tree);
        let powers = powers(tree.level + 2);
        let limits: Vec<Limits> = Limits::from(0, tree.level, tree.rules);
        let (mut nodes, mut level) = (vec![tree.root], tree.root_level);
        while level < tree.level && nodes.len() < SHARED {
            let grown = nodes.iter().flat_map(|node| {
                [0, 1].map(|bit| {
                    node.child(level, bit, powers[node.odd as usize], &limits[level as usize])
                })
            });
            nodes = grown.flatten().collect();
            level += 1;
        }
        let steps = Steps::new(tree);
        let tallest = Tallest::new(steps.step, highest);
        let walk = Walk {
            tree,
            inverses: inverses(tree.level + 2),
            mod_9: mod_9(tree),
            vectors: &vectors,
            powers: &powers,
            limits: &limits,
            long: Long { words: &steps.words, step: steps.step, walker: &self.walker },
            steps: &steps,
            tallest: &tallest,
        };
        // The challenged nodes below each of the nodes that the cores share.
        let mut wanted: HashMap<u128, Vec<u128>> = HashMap::new();
        for &low in challenges {
            wanted.entry(low & ((1 << level) - 1)).or_default().push(low);
        }
        // The numbers of the tree, divided evenly over the nodes that the cores share.
        let (numbers, count) = (tree.numbers(), nodes.len() as u128);
        let stopped = AtomicBool::new(false);
        let tally = nodes.par_iter().enumerate().map(|(i, node)| {
            let mut tally = Tally::default();
            if watch.is_stopped() {
                stopped.store(true, Ordering::Relaxed);
            } else {
                let wanted = wanted.get(&node.low).map_or(&[][..], |lows| lows);
                walk.grow(node, level, wanted, &mut tally);
                let until = |i: usize| {
                    (numbers / count) * i as u128 + (numbers % count) * i as u128 / count
                };
                watch.done(until(i + 1) - until(i));
            }
            tally
        });
        let mut tally = tally.reduce(Tally::default, |mut a, b| {
            a.add(b);
            a
        });
        if nodes.is_empty() {
            watch.done(numbers);
        }
        tally.unresolved.sort_unstable();
        tally.highest = tallest.end();
        Ok((!stopped.into_inner()).then_some(tally))
    }

    fn place(&self) -> String {
        "cpu".into()
    }
}

/// The data that the walks of all nodes of a tree share.
struct Walk<'a> {
    tree: &'a Tree,
    powers: &'a [u128],
    inverses: Vec<u32>,
    mod_9: Vec<u32>,
    vectors: &'a Vectors,
    limits: &'a [Limits],
    steps: &'a Steps,
    long: Long<'a>,
    tallest: &'a Tallest,
}

impl Walk<'_> {
    /// Processes all numbers of a node of level `level` and adds their totals to `tally`. `wanted`
    /// has the low bits of the challenged nodes below this node. Their contributions are added to
    /// the answers of `tally`.
    fn grow(&self, node: &Node, level: u32, wanted: &[u128], tally: &mut Tally) {
        if level == self.tree.level {
            tally.nodes += 1;
            let before = Share { walked: tally.walked, checksum: tally.checksum };
            self.last(node, tally);
            if wanted.contains(&node.low) {
                let walked = tally.walked - before.walked;
                let checksum = tally.checksum.wrapping_sub(before.checksum);
                tally.answers.push(Answer { low: node.low, share: Share { walked, checksum } });
            }
            return;
        }
        for bit in [0, 1] {
            let power = self.powers[node.odd as usize];
            if let Some(child) = node.child(level, bit, power, &self.limits[level as usize]) {
                self.grow(&child, level + 1, wanted, tally);
            }
        }
    }

    /// Processes all numbers of a node of the last level and adds their totals to `tally`.
    fn last(&self, node: &Node, tally: &mut Tally) {
        let power = self.powers[node.odd as usize];
        let base = node.path + self.tree.top * power;
        let look = self.tree.look.bits();
        let first = self.inverses[node.odd as usize].wrapping_mul(base as u32);
        let row = (node.low % 9) as usize * (1 << (LAST - 5));
        for word in 0..1 << (LAST - 5) {
            let index = first.wrapping_add(32 * word);
            let mut left =
                self.mod_9[row + word as usize] & self.vectors.bits(node.odd, index, look);
            tally.walked += u64::from(left.count_ones());
            while left != 0 {
                let a = 32 * word + left.trailing_zeros();
                left &= left - 1;
                self.one(node, base, power, a, tally);
            }
        }
    }

    fn one(&self, node: &Node, base: u128, power: u128, a: u32, tally: &mut Tally) {
        let x = base + u128::from(a) * power;
        let odd = match self.steps.walk(x, node.odd, self.tree.look.bits()) {
            Some(odd) => odd.into(),
            None => {
                let n = self.tree.number(node.low, a);
                let Some(end) = self.long.end(n, x, node.odd, self.tallest.threshold()) else {
                    return tally.unresolved.push(n);
                };
                if end.tall {
                    self.tallest.take(n, self.tree.level, self.long.walker);
                }
                end.odd
            }
        };
        tally.checksum = tally.checksum.wrapping_add(odd);
    }
}
