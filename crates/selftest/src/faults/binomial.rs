//! The binomial distribution of the number of heads in throws of a fair coin.

use std::ops::RangeInclusive;

/// Returns the shortest interval around n/2 such that the number of heads of n throws of a fair
/// coin lies below the interval with a probability of at most `tail`, and above it with the same
/// probability.
///
/// Sums the probabilities C(n, k)/2^n of k heads for k = 0, 1, 2, …. The terms are computed from
/// their logarithms. Cost: O(n).
#[must_use]
pub(super) fn interval(n: u64, tail: f64) -> RangeInclusive<u64> {
    // ln(C(n, 0)/2^n).
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut low = 0;
    while low < n / 2 {
        below += log_term.exp();
        if below > tail {
            break;
        }
        log_term += ((n - low) as f64 / (low + 1) as f64).ln();
        low += 1;
    }
    low..=n - low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes [`interval`] in integers. For k = 1, 2, 3, …, counts how many of the 2^n outcomes
    /// have fewer than k heads.
    fn by_counting(n: u64, tail: f64) -> RangeInclusive<u64> {
        let row = (0..n).fold(vec![1u128], |row, _| {
            let shifted = [0].iter().chain(&row);
            let mut next: Vec<u128> =
                shifted.zip(row.iter().chain(&[0])).map(|(a, b)| a + b).collect();
            next.truncate(row.len() + 1);
            next
        });
        let all: u128 = row.iter().sum();
        let mut below = 0;
        let low = row.iter().take_while(|&&ways| {
            below += ways;
            below as f64 <= tail * all as f64
        });
        let low = (low.count() as u64).min(n / 2);
        low..=n - low
    }

    #[test]
    fn is_that_of_pascal_s_triangle() {
        for n in 0..=100 {
            for tail in [0.000_5, 0.01, 0.3] {
                assert_eq!(interval(n, tail), by_counting(n, tail), "{n} throws, {tail}");
            }
        }
    }

    #[test]
    fn is_wide_as_the_normal_law_has_it() {
        // 3.29 deviations of √n/2 each.
        for n in [1_000u64, 100_000] {
            let half = 3.290_5 * (n as f64).sqrt() / 2.0;
            let found = interval(n, 0.000_5);
            let expected = n as f64 / 2.0 - half;
            assert!((*found.start() as f64 - expected).abs() < 2.0, "{found:?}, {expected}");
        }
    }
}
