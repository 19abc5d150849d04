//! The rules by which a number need not be walked. Each rule, except the rule of residues modulo 9,
//! sets limits: it excludes numbers with fewer odd steps than a limit.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use std::fmt;

use crate::descent::min_odd;

/// The rules that are used in addition to the rule of descent, which is always used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Whether a number n is pruned if its path has a value v ≡ 2 mod 3 with v < 3n/2. Such a v is
    /// also on the path of (2v − 1)/3, which is below n.
    pub preimages: bool,
    /// Whether a number n is pruned if its path has a value v < 2n + 1 that is followed by one or
    /// more odd steps and then two even steps. Then the path of n joins the path of (v − 1)/2,
    /// which is below n.
    pub runs: bool,
    /// Whether numbers n with n mod 9 equal to 2, 4, 5 or 8 are pruned. Each of them is on the path
    /// of a smaller number.
    pub mod_9: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { preimages: true, runs: true, mod_9: true }
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(self.preimages, "+preimages"), (self.runs, "+runs"), (self.mod_9, "+mod9")];
        f.write_str("descent")?;
        names.iter().filter(|(used, _)| *used).try_for_each(|(_, name)| f.write_str(name))
    }
}

/// The limits of the step from T^k(n) to T^(k+1)(n), one per rule. A rule excludes a number with
/// fewer odd steps than its limit, so a limit of 0 switches the rule off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The limit of the rule of descent for an even step from T^k(n): with fewer odd steps,
    /// T^(k+1)(n) < n.
    pub descent: u32,
    /// The limit of the rule of runs for an odd step. The limit is compared with the number of odd
    /// steps before this step. The rule applies if the run of odd steps to which this step belongs
    /// is followed by two even steps.
    pub run: u32,
    /// The limit of the rule of preimages for an even step. The rule applies only if the number of
    /// even steps since the last odd step, this step included, is even.
    pub preimage: u32,
}

impl Limits {
    /// Returns the limits of the step from level k to level k + 1.
    pub(crate) fn of(k: u32, rules: Rules) -> Self {
        let next = min_odd(k + 1);
        Self {
            descent: next,
            run: if rules.runs { next } else { 0 },
            preimage: if rules.preimages { min_odd(k) + 1 } else { 0 },
        }
    }

    /// Returns the limits of `steps` steps, the first of which begins at level `level`.
    pub(crate) fn from(level: u32, steps: u32, rules: Rules) -> Vec<Self> {
        (level..level + steps).map(|k| Self::of(k, rules)).collect()
    }
}

/// The value of [`Pattern::evens`] before the first known odd step.
const NONE: u32 = 2;

/// A summary of the steps of a number so far. It suffices to recognise the patterns of steps to
/// which the rules of runs and of preimages apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The state of the rule of runs. It is 1 in a run of odd steps, from the first step of the run
    /// before which the number of odd steps is below the limit of the rule. It is 2 after the even
    /// step that ends such a run; another even step then excludes the number. Otherwise it is 0.
    pub run: u32,
    /// The parity of the number of even steps since the last odd step; 2 if no odd step is known.
    pub evens: u32,
}

impl Pattern {
    /// The pattern before the first known step.
    pub(crate) const UNKNOWN: Self = Self { run: 0, evens: NONE };

    /// Returns the pattern after an odd step. `odd` is the number of odd steps before this step.
    pub(crate) fn odd(self, odd: u32, limits: &Limits) -> Self {
        Self { run: u32::from(self.run == 1 || odd < limits.run), evens: 0 }
    }

    /// Returns the pattern after an even step. Returns `None` if a rule says that the number need
    /// not be walked. `odd` is the number of odd steps before this step.
    pub(crate) fn even(self, odd: u32, limits: &Limits) -> Option<Self> {
        let evens = if self.evens == NONE { NONE } else { self.evens ^ 1 };
        let dead = self.run == 2 || odd < limits.descent || evens == 0 && odd < limits.preimage;
        (!dead).then_some(Self { run: 2 * self.run, evens })
    }
}

/// Performs s steps of T from `residue`, where s is the number of limits. Returns three numbers:
/// the value at the end, modulo 2^128; the number of odd steps among these s steps; and a
/// threshold.
///
/// The threshold is for numbers whose value before these steps is congruent to `residue` modulo
/// 2^s. If fewer odd steps than the threshold precede the s steps, a rule excludes the number in
/// one of the s steps; otherwise no rule does.
pub(crate) fn threshold(residue: u128, limits: &[Limits]) -> (u128, u32, i32) {
    let (mut x, mut odd, mut least) = (residue, 0i32, 0i32);
    // For a run: with fewer odd steps before the residue, the rule applies to it.
    let (mut pending, mut run, mut evens) = (i32::MIN, 0, NONE);
    for limit in limits {
        if x & 1 == 1 {
            let this = if limit.run == 0 { i32::MIN } else { limit.run as i32 - odd };
            pending = if run == 1 { pending.max(this) } else { this };
            (run, evens) = (1, 0);
            x = x.wrapping_add((x >> 1) + 1);
            odd += 1;
        } else {
            if run == 2 {
                least = least.max(pending);
            }
            run = if run == 1 { 2 } else { 0 };
            evens = if evens == NONE { NONE } else { evens ^ 1 };
            x >>= 1;
            least = least.max(limit.descent as i32 - odd);
            if evens == 0 {
                least = least.max(limit.preimage as i32 - odd);
            }
        }
    }
    (x, odd as u32, least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descent::{LEAST, MOST_STEPS};
    use crate::walk::step;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    #[test]
    fn one_more_odd_step_is_within_the_bound() {
        // (3n + 1)^(f + 1)·3^f < 2^k·(3n)^(f + 1): the condition of the rule of preimages.
        let power = |base: u128, exponent: u32| BigUint::from(base).pow(exponent);
        for k in 1..=MOST_STEPS {
            let f = min_odd(k) - 1;
            let left = power(3 * LEAST + 1, f + 1) * power(3, f);
            assert!(left < power(2, k) * power(3 * LEAST, f + 1), "{k}");
        }
    }

    #[test]
    fn residues_modulo_9_have_smaller_numbers_before_them() {
        let path = |n: u128, steps: usize| (0..steps).fold(n, |x, _| step(x).unwrap());
        for t in 0..10_000u128 {
            // n ≡ 2 mod 3, which is 2, 5 or 8 mod 9.
            let (n, before) = (3 * t + 2, 2 * t + 1);
            assert!(before < n && path(before, 1) == n);
            let (n, before) = (9 * t + 4, 8 * t + 3);
            assert!(before < n && path(before, 3) == n);
        }
    }

    proptest! {
        /// Tests that the path of a number that a rule excludes joins the path of a smaller number.
        #[test]
        fn killed_numbers_join_smaller_ones(n in LEAST..1 << 90) {
            let (mut x, mut odd, mut pattern) = (n, 0, Pattern::UNKNOWN);
            // T^j(n) for the current run of odd steps, from its first step with the limit on.
            let mut armed: Option<u128> = None;
            for k in 0..MOST_STEPS - 1 {
                let limits = Limits::of(k, Rules::default());
                if x & 1 == 1 {
                    if pattern.run != 1 {
                        armed = (odd < limits.run).then_some(x);
                    } else {
                        armed = armed.or((odd < limits.run).then_some(x));
                    }
                    pattern = pattern.odd(odd, &limits);
                    odd += 1;
                    x = step(x).unwrap();
                    continue;
                }
                let next = step(x).unwrap();
                let Some(living) = pattern.even(odd, &limits) else {
                    let preimage = (2 * next).wrapping_sub(1) / 3;
                    let joined = pattern.run == 2 && armed.is_some_and(|first| {
                        // first is odd, followed by odd, …, odd, even, even to next: (first − 1)/2
                        // takes one step less.
                        let mut smaller = (first - 1) / 2;
                        let mut steps = 0;
                        while smaller != next && steps < 300 {
                            smaller = step(smaller).unwrap();
                            steps += 1;
                        }
                        (first - 1) / 2 < n && smaller == next
                    });
                    let killed = next < n
                        || preimage < n && next % 3 == 2 && step(preimage) == Some(next)
                        || joined;
                    prop_assert!(killed, "{n} at {k}: {pattern:?}");
                    return Ok(());
                };
                pattern = living;
                x = next;
            }
        }

        /// Tests that a number survives the rules exactly if its number of odd steps is at least
        /// the threshold.
        #[test]
        fn thresholds_are_those_of_the_rules(
            residue in 0u128..1 << 24,
            level in 10u32..100,
            more in 0u32..12,
        ) {
            for rules in [
                Rules::default(),
                Rules { preimages: false, ..Rules::default() },
                Rules { runs: false, ..Rules::default() },
            ] {
                let limits = Limits::from(level, 24, rules);
                let before = min_odd(level) + more;
                let (value, odd, least) = threshold(residue, &limits);
                let (mut x, mut f, mut pattern) = (residue, before, Some(Pattern::UNKNOWN));
                for limits in &limits {
                    let is_odd = x & 1 == 1;
                    pattern = pattern.and_then(|p| if is_odd { Some(p.odd(f, limits)) } else { p.even(f, limits) });
                    f += u32::from(is_odd);
                    x = step(x).unwrap();
                }
                prop_assert_eq!((value, before + odd), (x, f));
                prop_assert_eq!(pattern.is_some(), before as i32 >= least);
            }
        }
    }
}
