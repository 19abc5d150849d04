//! A lemma that says when the low bits of a number alone prove that its path falls below its start.
//!
//! Let T(n) = n/2 for even n and (3n + 1)/2 for odd n, and let f be the number of odd steps among
//! the first k steps of T from n. For n = low + a·2^k with low < 2^k, f depends on low alone, and
//! T^k(n) = T^k(low) + a·3^f. The *coefficient* of n after k steps is 3^f/2^k; the low k bits of n
//! determine it.
//!
//! **Lemma.** Let n ≥ 2^20, and let k ≤ 256 be the first number of steps after which 3^f < 2^k.
//! Then T^k(n) < n.
//!
//! *Proof.* Let f_j be the number of odd steps among the first j. For j < k the coefficient
//! 3^(f_j)/2^j is at least 1, and a value is never below the coefficient times n: T^j(n) ≥
//! n·3^(f_j)/2^j ≥ n. An odd step takes x to (3x + 1)/2 = 3x/2·(1 + 1/(3x)). For x ≥ n this is at
//! most 3x/2·(1 + 1/(3n)). An even step takes x to x/2. Hence
//!
//! T^k(n) ≤ n · 3^f/2^k · (1 + 1/(3n))^f.
//!
//! Both 3^f/2^k and (1 + 1/(3n))^f grow with f, and the second factor decreases with n. So for each
//! k it suffices that their product is below 1 for n = 2^20 and the largest f with 3^f < 2^k. This
//! is the inequality (3n + 1)^f·3^f < 2^k·(3n)^f between integers. A test in this file evaluates it
//! for each k ≤ 256. ∎
//!
//! The lemma is false without its bound on n: for n = 1 and k = 2, f = 1 and 3 < 4, but T²(1) = 1.
//! It does not hold for later k either, only for the first one: 25 falls below itself at k = 2, but
//! T^8(25) = 26 although f = 5 and 3^5 < 2^8.

/// The smallest start n of a path to which the lemma of this module applies: 2^20.
pub const LEAST: u128 = 1 << 20;

/// The largest number k of steps to which the lemma of this module applies.
pub const MOST_STEPS: u32 = 256;

/// The constant ⌊2^64·log 2/log 3⌋.
const LOG_3_OF_2: u128 = 11_638_599_692_621_310_286;

/// Returns the smallest f with 3^f > 2^k, for k ≤ [`MOST_STEPS`]. For k > 0, a path with fewer than
/// f odd steps among its first k steps has a coefficient, 3^(odd steps)/2^k, below 1.
///
/// The value is ⌊k·log 2/log 3⌋ + 1, since 3^f = 2^k only for k = 0; a test compares it with powers
/// of 3 and 2.
#[must_use]
pub const fn min_odd(k: u32) -> u32 {
    debug_assert!(k <= MOST_STEPS);
    ((k as u128 * LOG_3_OF_2) >> 64) as u32 + 1
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::walk::{Walker, step};

    fn power(base: u128, exponent: u32) -> BigUint {
        BigUint::from(base).pow(exponent)
    }

    #[test]
    fn the_fewest_odd_steps_are_exact() {
        for k in 0..=MOST_STEPS {
            let f = min_odd(k);
            assert!(power(3, f) > power(2, k), "{k}");
            assert!(power(3, f - 1) < power(2, k) || k == 0, "{k}");
        }
    }

    #[test]
    fn the_lemma_holds_for_its_least_start() {
        for k in 1..=MOST_STEPS {
            let f = min_odd(k) - 1;
            let left = power(3 * LEAST + 1, f) * power(3, f);
            assert!(left < power(2, k) * power(3 * LEAST, f), "{k}");
        }
    }

    /// Follows n until 3^f < 2^k, where f is the number of odd steps among the first k steps of T.
    /// Returns k and T^k(n) for the smallest k with this property. Returns `None` if this k exceeds
    /// `most`.
    fn crossing(n: u128, most: u32) -> Option<(u32, u128)> {
        let (mut x, mut f) = (n, 0);
        for k in 1..=most {
            f += (x & 1) as u32;
            x = step(x).unwrap();
            if f < min_odd(k) {
                return Some((k, x));
            }
        }
        None
    }

    #[test]
    fn starts_come_down_when_their_coefficient_does() {
        let starts = (LEAST..LEAST + 20_000).chain((1 << 64)..(1 << 64) + 20_000);
        for n in starts {
            let (k, x) = crossing(n, MOST_STEPS).unwrap();
            assert!(x < n, "{n} at {k}");
            assert_eq!(Walker::default().descend(n).unwrap().steps, u64::from(k), "{n}");
        }
    }

    #[test]
    fn the_bounds_are_needed() {
        assert_eq!(crossing(1, 2), Some((2, 1)));
        assert_eq!(crossing(25, 8), Some((2, 19)));
        let at_eight = (0..8).fold(25, |x, _| step(x).unwrap());
        assert!(at_eight == 26 && power(3, 5) < power(2, 8));
    }
}
