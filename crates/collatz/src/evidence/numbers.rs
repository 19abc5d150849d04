//! Counts the steps of numbers that are walked one by one.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use super::nodes::Value;
use crate::walk::Walker;

/// Returns the number of steps of T from n until the value is below n. Returns 0 for n ≤ 1, and
/// `None` if n is unresolved.
pub(crate) fn steps(n: u128, walker: &Walker) -> Option<u64> {
    if walker.trap.is_some() {
        return walker.descend(n).map(|descent| descent.steps);
    }
    let (mut value, mut steps) = (Value::Short(n), 0);
    while n > 1 && !(steps > 0 && value.is_below(n)) {
        if steps == walker.limit {
            return None;
        }
        value = value.step();
        steps += 1;
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_walker() {
        let walkers = [Walker::default(), Walker { limit: 50, trap: None }];
        for walker in walkers {
            for n in (0..5_000).chain((1 << 127) - 100..1 << 127).chain([u128::MAX]) {
                let expected = walker.descend(n).map(|descent| descent.steps);
                assert_eq!(steps(n, &walker), expected, "{n}");
            }
        }
    }
}
