//! Exact walks: the path of one number, step by step. Tests compare all methods with exact walks,
//! and methods use them for numbers whose paths exceed the methods' fixed-size integers.

use num_bigint::BigUint;

/// Returns T(n) = n/2 for even n, (3n + 1)/2 for odd n. Returns `None` if the result is 2^128 or
/// more.
#[must_use]
pub fn step(n: u128) -> Option<u128> {
    if n & 1 == 0 { Some(n / 2) } else { n.checked_add(n / 2 + 1) }
}

/// Returns T(n) = n/2 for even n, (3n + 1)/2 for odd n, for n of any size.
#[must_use]
pub fn big_step(n: &BigUint) -> BigUint {
    if n.bit(0) { (n * 3u32 + 1u32) >> 1 } else { n >> 1 }
}

/// The properties of a path from a number to the first value below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descent {
    /// The number of steps n/2 or (3n + 1)/2 to the first value below the start.
    pub steps: u64,
    /// The number of steps (3n + 1)/2 on the way to the first value below the start.
    pub odd_steps: u64,
    /// The largest number on this part of the path under n/2 and 3n + 1, the start included.
    pub highest: BigUint,
}

/// The rules of a walk, and its limit of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walker {
    /// The largest number of steps of a walk. A number is unresolved if its path does not fall
    /// below the number within this limit.
    pub limit: u64,
    /// A changed rule for tests: a step from this number leads to the number itself, so a path that
    /// reaches it never ends.
    pub trap: Option<BigUint>,
}

impl Default for Walker {
    /// Creates a walker with the usual rules and a limit of 100,000 steps. All known paths from
    /// starts below 2^128 fall below their starts within 2,000 steps.
    fn default() -> Self {
        Self { limit: 100_000, trap: None }
    }
}

impl Walker {
    /// Follows the path of n to the first value below n, and returns the properties of this part of
    /// the path. Returns `None` if the path does not fall below n within the limit of steps. The
    /// numbers 0 and 1 take no step.
    #[must_use]
    pub fn descend(&self, n: u128) -> Option<Descent> {
        let start = BigUint::from(n);
        let mut descent = Descent { steps: 0, odd_steps: 0, highest: start.clone() };
        if n <= 1 {
            return Some(descent);
        }
        let trap = self.trap.as_ref().map(|trap| u128::try_from(trap).ok());
        // `highest` is the highest result of an odd step, which is half of 3x + 1.
        let (mut x, mut highest) = (n, 0);
        let path_highest = |highest: BigUint| start.clone().max(highest << 1u32);
        loop {
            if descent.steps == self.limit || trap == Some(Some(x)) {
                return None;
            }
            let Some(next) = step(x) else { break };
            descent.steps += 1;
            if x & 1 == 1 {
                descent.odd_steps += 1;
                highest = highest.max(next);
            }
            x = next;
            if x < n {
                descent.highest = path_highest(highest.into());
                return Some(descent);
            }
        }
        let (mut x, mut highest) = (BigUint::from(x), BigUint::from(highest));
        loop {
            if descent.steps == self.limit || self.trap.as_ref() == Some(&x) {
                return None;
            }
            descent.steps += 1;
            let odd = x.bit(0);
            x = big_step(&x);
            if odd {
                descent.odd_steps += 1;
                highest = highest.max(x.clone());
            }
            if x < start {
                descent.highest = path_highest(highest);
                return Some(descent);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_big_numbers() {
        for n in [0, 1, 2, 3, 27, u128::MAX / 3, u128::MAX / 3 * 2 - 1, u128::MAX - 1, u128::MAX] {
            let big = big_step(&n.into());
            assert_eq!(step(n), u128::try_from(&big).ok(), "{n}");
        }
    }

    #[test]
    fn twenty_seven_comes_down_after_59_steps() {
        // 27 first falls below itself at 23, after 59 steps, 37 of them odd.
        let descent = Walker::default().descend(27).unwrap();
        assert_eq!((descent.steps, descent.odd_steps), (59, 37));
        assert_eq!(descent.highest, 9232u32.into());
    }

    #[test]
    fn the_highest_is_that_of_the_path_under_3n_plus_1() {
        let three_n_plus_one = |n: u128| {
            let (mut x, start) = (BigUint::from(n), BigUint::from(n));
            let mut highest = x.clone();
            while n > 1 && x >= start {
                x = if x.bit(0) { x * 3u32 + 1u32 } else { x >> 1u32 };
                highest = highest.max(x.clone());
            }
            highest
        };
        // 2^85 − 1 and 3·2^126 + 3 are beyond 128 bits soon.
        let large = [(1 << 85) - 1, (3 << 126) + 3, u128::MAX, u128::MAX - 1];
        for n in (0..20_000).chain(large) {
            assert_eq!(Walker::default().descend(n).unwrap().highest, three_n_plus_one(n), "{n}");
        }
    }

    #[test]
    fn beyond_128_bits_is_exact() {
        // 2^120 − 1 rises to 2·(3^120 − 1).
        let descent = Walker::default().descend((1 << 120) - 1).unwrap();
        assert!(descent.highest >= (BigUint::from(3u32).pow(120) - 1u32) << 1u32);
    }

    #[test]
    fn a_trap_is_a_counter_example() {
        for trap in [4616u32, 27, 41] {
            let walker = Walker { trap: Some(trap.into()), ..Walker::default() };
            assert_eq!(walker.descend(27), None, "{trap}");
        }
        let walker = Walker { limit: 58, trap: None };
        assert_eq!(walker.descend(27), None);
    }
}
