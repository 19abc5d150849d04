//! A tree, the unit of work of the sieve: a node, and all its numbers in an aligned interval.

use super::last::{LAST, class_count};
use super::node::Node;
use super::rules::Limits;
use super::{Looking, Rules, Step};
use crate::descent::min_odd;

/// A tree of the sieve: the numbers n ≡ r mod 2^`root_level` in an aligned interval [H·2^m, (H +
/// 1)·2^m), where r is the residue of the root and m = `level` + 10. For H = 0 these are all
/// numbers of the residue class below 2^m.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    pub(crate) root: Node,
    pub(crate) root_level: u32,
    /// The last level of the tree: the number of low bits that a node of this level fixes. All
    /// values of the next 10 bits are processed together.
    pub(crate) level: u32,
    /// The number H·2^10, where [H·2^m, (H + 1)·2^m) is the interval of the tree and m =
    /// `level` + 10.
    pub(crate) top: u128,
    pub(crate) rules: Rules,
    pub(crate) look: Looking,
    pub(crate) step: Step,
}

impl Tree {
    /// Returns the count of the tree's numbers, including those that the rules exclude.
    #[must_use]
    pub fn numbers(&self) -> u128 {
        1 << (self.level + LAST - self.root_level)
    }

    /// Returns a description of the tree's numbers, for messages: residue, modulus and interval.
    pub(crate) fn described(&self) -> String {
        let (bits, first) = (self.level + LAST, self.top >> LAST);
        let Self { root, root_level, .. } = self;
        format!("{} mod 2^{root_level} in [{first}·2^{bits}, {}·2^{bits})", root.low, first + 1)
    }

    pub(crate) fn root_level(&self) -> u32 {
        self.root_level
    }

    pub(crate) fn root_words(&self) -> [u32; 8] {
        self.root.words()
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    pub(crate) fn top(&self) -> u128 {
        self.top
    }

    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }

    pub(crate) fn look(&self) -> Looking {
        self.look
    }

    pub(crate) fn step(&self) -> Step {
        self.step
    }

    /// Returns the least number of odd steps of a node of the last level.
    pub(crate) fn least(&self) -> u32 {
        min_odd(self.level)
    }

    /// Returns the number of look-ahead vectors of the tree.
    pub(crate) fn classes(&self) -> u32 {
        class_count(self.level, self.look.bits())
    }

    /// Returns the number with index `a`, from 0 to 1,023, among the numbers of the node of the
    /// last level with the low bits `low`.
    pub(crate) fn number(&self, low: u128, a: u32) -> u128 {
        low + ((self.top + u128::from(a)) << self.level)
    }

    /// Returns the limits of `steps` steps that follow the last level. The first of them is step
    /// `from`, where step 0 is the step from the last level.
    pub(crate) fn limits(&self, from: u32, steps: u32) -> Vec<Limits> {
        Limits::from(self.level + from, steps, self.rules)
    }
}
