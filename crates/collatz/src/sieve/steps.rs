//! The walk of numbers by the lowest 96 bits of their values.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use super::rules::{Limits, threshold};
use super::tree::Tree;

/// Returns the number of stages of a walk. A stage processes `step` bits, and the walk uses the
/// lowest 96 bits of a value.
pub(crate) const fn stages(step: u32) -> u32 {
    96 / step
}

/// The powers 3^0, …, 3^15.
pub(crate) const RISES: [u128; 16] = {
    let mut rises = [1; 16];
    let mut i = 1;
    while i < 16 {
        rises[i] = rises[i - 1] * 3;
        i += 1;
    }
    rises
};

/// The table of a step of the walk: one word for each residue r modulo 2^step. The word has
/// T^step(r) in bits 10 and above, the number of odd steps from r to T^step(r) in bits 2 to 5, and
/// the *kill* v of r in bits 6 to 9.
///
/// The kill has the following meaning in every stage. Let m be the least number of odd steps that a
/// surviving number has at the start of the stage. If the value of a number at the start of the
/// stage is congruent to r modulo 2^step, and fewer than m + v odd steps precede this value, then a
/// rule excludes the number in this stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The number of bits of a step, log2 of the number of words.
    pub step: u32,
    pub words: Vec<u32>,
    /// The least number m of odd steps at the start of each stage.
    pub least: Vec<u32>,
}

impl Steps {
    pub(crate) fn new(tree: &Tree) -> Self {
        let step = tree.step.bits();
        let stages = stages(step);
        let limits: Vec<Vec<Limits>> =
            (0..stages).map(|stage| tree.limits(stage * step, step)).collect();
        let least: Vec<u32> =
            (0..stages).map(|stage| crate::descent::min_odd(tree.level + stage * step)).collect();
        let word = |residue: u32| {
            let kill = kill(residue.into(), &limits, &least);
            let (value, odd, _) = threshold(residue.into(), &limits[0]);
            (value as u32) << 10 | kill << 6 | odd << 2
        };
        Self { step, words: (0..1 << step).map(word).collect(), least }
    }

    /// Walks a number from the value x, which it reached after `odd` odd steps. Only the low 96
    /// bits of x are used. Returns the number of odd steps before the stage in which a rule
    /// excludes the number. Returns `None` for a long number, which no rule excludes in any stage.
    /// Stages that lie within the first `look` steps exclude nothing, because the look-ahead
    /// vectors cover these steps.
    pub(crate) fn walk(&self, mut x: u128, mut odd: u32, look: u32) -> Option<u32> {
        let mask = (1 << self.step) - 1;
        for (stage, &least) in (1..).zip(&self.least) {
            let word = self.words[(x as u32 & mask) as usize];
            if stage * self.step > look && odd < least + kill_of(word) {
                return Some(odd);
            }
            let rise = rise_of(word);
            x = (x >> self.step).wrapping_mul(RISES[rise]).wrapping_add(value_of(word));
            odd += rise as u32;
        }
        None
    }
}

/// Returns the kill of a residue: the largest v from 0 to 15 for which the following is true in
/// every stage. If the value of a number at the start of the stage is congruent to the residue, and
/// fewer than m + v odd steps precede this value, then a rule excludes the number in this stage.
/// `limits` has the limits of the steps of each stage. `least` has m for each stage: the least
/// number of odd steps at its start.
pub(crate) fn kill(residue: u128, limits: &[Vec<Limits>], least: &[u32]) -> u32 {
    let kills = limits
        .iter()
        .zip(least)
        .map(|(limits, &least)| threshold(residue, limits).2 - least as i32);
    kills.min().unwrap_or(0).clamp(0, 15) as u32
}

/// Returns T^step(r) from the table word of the residue r.
pub(crate) fn value_of(word: u32) -> u128 {
    (word >> 10).into()
}

/// Returns the number of odd steps from r to T^step(r), from the table word of the residue r.
pub(crate) fn rise_of(word: u32) -> usize {
    (word >> 2 & 15) as usize
}

/// Returns the kill of the residue r from its table word: see [`kill`].
pub(crate) fn kill_of(word: u32) -> u32 {
    word >> 6 & 15
}
