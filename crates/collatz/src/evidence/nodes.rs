//! The contribution of a node of the sieve by the *slow rules*: the rules of [`crate::sieve`] are
//! applied to each number, step by step. Look-ahead vectors and the table of residues modulo 9 are
//! not used. Of the table of steps only the kills may be used.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.
//!
//! A rule *kills* a number if it shows that the number need not be walked further. A *stage* of the
//! walk is one step by the table of steps. Let m be the least number of odd steps of a number that
//! reaches the start of the stage without being killed. The *kill* of a residue is the largest v
//! from 0 to 15 with the following property in every stage. Suppose that a number's value at the
//! start of the stage is congruent to the residue, and that fewer than m + v odd steps precede this
//! value. Then a rule kills the number in this stage.

use std::ops::Range;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::Share;
use crate::descent::min_odd;
use crate::sieve::{LAST, Limits, Node, Pattern, Tree, class_count, kill, kill_of, stages};
use crate::walk::{Walker, big_step, step};

/// The slow rules for the nodes of a tree.
#[derive(Debug, Clone)]
pub(crate) struct SlowNodes<'a> {
    tree: &'a Tree,
    walker: &'a Walker,
    /// The limits of the rules in the steps that the look-ahead vectors cover.
    ahead: Vec<Limits>,
    /// The limits of the rules in each stage of the walk. A stage is one step by the table of
    /// steps, which performs several steps of T.
    stages: Vec<Vec<Limits>>,
    /// For each stage, the least number of odd steps that a number can have at the start of the
    /// stage without being killed earlier.
    least: Vec<u32>,
    /// The table of steps, from which kills are read; `None` if they are computed. Reading takes a
    /// third of the time of computing.
    steps: Option<&'a [u32]>,
}

/// The results of walking the numbers of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NodeWalks {
    /// The number of walked numbers.
    pub walked: u64,
    /// The sum of the odd steps of the numbers that a rule kills in a stage. For each of these
    /// numbers, the odd steps before the stage are counted.
    pub killed_odd: u64,
    /// The walked numbers that no rule kills. Each element contains the number's index among the
    /// 1,024 numbers of the node, and its count of odd steps. The odd steps are counted up to the
    /// end of the first table step after which the value is below the number. The count is `None`
    /// if the number is unresolved.
    pub long: Vec<(u32, Option<u64>)>,
}

impl NodeWalks {
    /// Returns the contribution of the node: the count of numbers walked and the sum of their odd
    /// steps.
    pub(crate) fn share(&self) -> Share {
        let long = self.long.iter().filter_map(|&(_, odd)| odd);
        let checksum = long.fold(self.killed_odd, u64::wrapping_add);
        Share { walked: self.walked, checksum }
    }

    /// Joins the results of two consecutive ranges of the numbers of a node, and returns the
    /// results of the whole range. `other` contains the results of the second range.
    fn followed_by(mut self, other: Self) -> Self {
        self.walked += other.walked;
        self.killed_odd += other.killed_odd;
        self.long.extend(other.long);
        self
    }
}

/// The count of numbers of a node.
const NUMBERS: u32 = 1 << LAST;
/// The count of numbers of a node that one task walks. A task takes about 0.1 ms, so that a few
/// nodes keep many threads busy.
const PIECE: u32 = 128;

impl<'a> SlowNodes<'a> {
    pub(crate) fn new(tree: &'a Tree, walker: &'a Walker) -> Self {
        let bits = tree.step.bits();
        let begins = (0..stages(bits)).map(|stage| stage * bits);
        Self {
            tree,
            walker,
            ahead: tree.limits(0, tree.look.bits()),
            stages: begins.clone().map(|begin| tree.limits(begin, bits)).collect(),
            least: begins.map(|begin| min_odd(tree.level + begin)).collect(),
            steps: None,
        }
    }

    /// Makes the rules read kills from the table of steps. These rules are for the nodes that are
    /// recomputed together with a challenged node. The challenged node itself is also recomputed
    /// without the table.
    pub(crate) fn with_steps(self, steps: &'a [u32]) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// Returns the node of the last level whose numbers have the low bits `low`, computed by single
    /// steps of T. Returns `None` if a rule kills these numbers or `low` does not belong to the
    /// tree.
    pub(crate) fn node(&self, low: u128) -> Option<Node> {
        let Tree { root, root_level, level, rules, .. } = *self.tree;
        let is_below = low >> level == 0 && (low ^ root.low) & ((1 << root_level) - 1) == 0;
        if !is_below {
            return None;
        }
        let (mut node, mut path) = (Node { low, ..Node::ROOT }, BigUint::from(low));
        for k in 0..level {
            let limits = Limits::of(k, rules);
            let is_odd = path.bit(0);
            node.pattern = if is_odd {
                node.pattern.odd(node.odd, &limits)
            } else {
                node.pattern.even(node.odd, &limits)?
            };
            node.odd += u32::from(is_odd);
            path = big_step(&path);
        }
        node.path = u128::try_from(path).ok()?;
        Some(node)
    }

    /// Walks all numbers of the given nodes of the last level in parallel threads. Returns one
    /// result for each node, in the order of `nodes`.
    pub(crate) fn walks_of_all(&self, nodes: &[Node]) -> Vec<NodeWalks> {
        let begins = (0..NUMBERS).step_by(PIECE as usize);
        let pieces: Vec<(&Node, u32)> =
            nodes.iter().flat_map(|node| begins.clone().map(move |begin| (node, begin))).collect();
        let walks: Vec<NodeWalks> = pieces
            .into_par_iter()
            .map(|(node, begin)| self.walks_of_some(node, begin..begin + PIECE))
            .collect();
        let mut walks = walks.into_iter();
        let of_one = |_: &Node| {
            let pieces = walks.by_ref().take(begins.len());
            pieces.fold(NodeWalks::default(), NodeWalks::followed_by)
        };
        nodes.iter().map(of_one).collect()
    }

    /// Walks all numbers of a node of the last level and returns the results.
    pub(crate) fn walks(&self, node: &Node) -> NodeWalks {
        self.walks_of_some(node, 0..NUMBERS)
    }

    /// Walks some of the 1,024 numbers of a node of the last level, and returns the results. `last`
    /// is the range of the indices of these numbers in the node.
    fn walks_of_some(&self, node: &Node, last: Range<u32>) -> NodeWalks {
        let mut walks = NodeWalks::default();
        let power = 3u128.wrapping_pow(node.odd);
        let class = node.odd.wrapping_sub(min_odd(self.tree.level));
        let is_looked_at = class < class_count(self.tree.level, self.tree.look.bits());
        for a in last {
            let n = self.tree.number(node.low, a);
            if self.tree.rules.mod_9 && matches!(n % 9, 2 | 4 | 5 | 8) {
                continue;
            }
            // T^K(n), below 2^126.
            let x = node.path + (self.tree.top + u128::from(a)) * power;
            if is_looked_at && !lives(x, node.odd, &self.ahead) {
                continue;
            }
            walks.walked += 1;
            match self.killed(x, node.odd) {
                Some(odd) => walks.killed_odd += u64::from(odd),
                None => walks.long.push((a, self.end(n, x, node.odd))),
            }
        }
        walks
    }

    /// Returns the count of a number's odd steps before the stage in which a rule kills the number.
    /// Returns `None` if no rule kills the number. At the start of the first stage, the path of the
    /// number has the value x and has made `odd` odd steps.
    fn killed(&self, mut x: u128, mut odd: u32) -> Option<u32> {
        let (bits, look) = (self.tree.step.bits(), self.tree.look.bits());
        for (stage, &least) in (1..).zip(&self.least) {
            let residue = x & ((1 << bits) - 1);
            let kill = || match self.steps {
                Some(words) => kill_of(words[residue as usize]),
                None => kill(residue, &self.stages, &self.least),
            };
            if stage * bits > look && odd < least + kill() {
                return Some(odd);
            }
            for _ in 0..bits {
                odd += (x & 1) as u32;
                // The value is known mod 2^128 at first, and one bit less after each of at most 96
                // steps.
                x = if x & 1 == 1 { x.wrapping_add((x >> 1) + 1) } else { x >> 1 };
            }
        }
        None
    }

    /// Returns the number of odd steps on the path of n up to the end of the first table step after
    /// which the value is below n. Returns `None` if n is unresolved. The table steps begin at the
    /// value x, which the path reaches after `odd` odd steps.
    fn end(&self, n: u128, x: u128, odd: u32) -> Option<u64> {
        if self.walker.trap.is_some() {
            self.walker.descend(n)?;
        }
        let bits = self.tree.step.bits();
        let (mut value, mut odd, mut steps) = (Value::Short(x), u64::from(odd), 0);
        while !value.is_below(n) {
            if steps >= self.walker.limit {
                return None;
            }
            for _ in 0..bits {
                odd += u64::from(value.is_odd());
                value = value.step();
            }
            steps += u64::from(bits);
        }
        Some(odd)
    }
}

/// Returns true if no rule kills a number in its next steps. `limits` has one element for each of
/// these steps. x is the value before these steps, and `odd` is the number of odd steps that
/// precede x. The pattern of the steps before x is not used.
fn lives(mut x: u128, mut odd: u32, limits: &[Limits]) -> bool {
    let mut pattern = Pattern::UNKNOWN;
    for limits in limits {
        if x & 1 == 1 {
            pattern = pattern.odd(odd, limits);
            odd += 1;
            x = x.wrapping_add((x >> 1) + 1);
        } else {
            match pattern.even(odd, limits) {
                Some(living) => pattern = living,
                None => return false,
            }
            x >>= 1;
        }
    }
    true
}

/// A value of a path, of any size.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Short(u128),
    Long(BigUint),
}

impl Value {
    pub(super) fn is_odd(&self) -> bool {
        match self {
            Self::Short(x) => x & 1 == 1,
            Self::Long(x) => x.bit(0),
        }
    }

    pub(super) fn is_below(&self, n: u128) -> bool {
        match self {
            Self::Short(x) => *x < n,
            Self::Long(x) => *x < n.into(),
        }
    }

    /// Returns ⌊value/2^bits⌋. Returns `None` if the quotient is 2^128 or more.
    pub(super) fn above(&self, bits: u32) -> Option<u128> {
        match self {
            Self::Short(x) => Some(x >> bits),
            Self::Long(x) => u128::try_from(x >> bits).ok(),
        }
    }

    pub(super) fn step(self) -> Self {
        match self {
            Self::Short(x) => match step(x) {
                Some(x) => Self::Short(x),
                None => Self::Long(big_step(&x.into())),
            },
            Self::Long(x) => {
                let next = big_step(&x);
                match u128::try_from(&next) {
                    Ok(short) => Self::Short(short),
                    Err(_) => Self::Long(next),
                }
            }
        }
    }
}
