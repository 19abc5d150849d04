//! The unit of work of the sieve: a node, and all its numbers in an aligned interval.

use super::last::{LAST, class_count};
use super::node::Node;
use super::rules::Limits;
use super::{Looking, Rules, Step};
use crate::descent::min_odd;

/// The numbers n ≡ low mod 2^`root_level` of an aligned interval [H·2^m, (H + 1)·2^m), m = `level`
/// + 10: all numbers below 2^m for H = 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    pub(crate) root: Node,
    pub(crate) root_level: u32,
    /// Low bits that are grown one by one; the last ones are processed at once.
    pub(crate) level: u32,
    /// The bits above the low bits of the interval's first number: H·2^10.
    pub(crate) top: u128,
    pub(crate) rules: Rules,
    pub(crate) look: Looking,
    pub(crate) step: Step,
}

impl Tree {
    /// Returns the count of its numbers, including those that the rules kill.
    #[must_use]
    pub fn numbers(&self) -> u128 {
        1 << (self.level + LAST - self.root_level)
    }

    /// Describes these numbers, for messages.
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

    /// Returns the least number of odd steps at the last level.
    pub(crate) fn least(&self) -> u32 {
        min_odd(self.level)
    }

    /// Returns the number of look-ahead vectors.
    pub(crate) fn classes(&self) -> u32 {
        class_count(self.level, self.look.bits())
    }

    /// Returns number a of a node of the last level.
    pub(crate) fn number(&self, low: u128, a: u32) -> u128 {
        low + ((self.top + u128::from(a)) << self.level)
    }

    /// Returns the limits of the steps that follow level `level` + `from`.
    pub(crate) fn limits(&self, from: u32, steps: u32) -> Vec<Limits> {
        Limits::from(self.level + from, steps, self.rules)
    }
}
