//! Roots of unity and roots of 2 modulo q = 2^64 − 2^32 + 1.

use super::{Q, pow};
use crate::primes::inverse_mod;

/// A generator of the multiplicative group of Z/qZ, q = 2^64 − 2^32 + 1. Its power 554^((q−1)/64)
/// is 8 (Hérault 2025, §2). So the roots of unity in transforms of up to 64 points are powers of
/// two, and products by these roots are shifts.
pub const GENERATOR: u64 = 554;

/// The order of the multiplicative group of Z/qZ, which is q − 1 = 2^32·3·5·17·257·65537.
const GROUP: u64 = Q - 1;

/// The order of 2 in the multiplicative group of Z/qZ, q = 2^64 − 2^32 + 1. The order is 192,
/// because 2^96 ≡ −1 and 2^64 ≡ 2^32 − 1 mod q.
const ORDER_OF_TWO: u64 = 192;

/// Returns ω_n = 554^((q−1)/n) mod q, a root of unity of order n, where q = 2^64 − 2^32 + 1.
/// Returns `None` if n does not divide q − 1.
///
/// The roots are compatible: if mn divides q − 1, the m-th power of ω_(mn) is ω_n. In particular
/// ω_64 = 8, ω_8 = 2^24 and ω_4 = 2^48.
#[must_use]
pub const fn root_of_unity(n: u64) -> Option<u64> {
    if n == 0 || !GROUP.is_multiple_of(n) { None } else { Some(pow(GENERATOR, GROUP / n)) }
}

/// The reason why 2 has no n-th root modulo q = 2^64 − 2^32 + 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoot {
    /// The degree n is 0.
    #[error("there is no 0-th root of 2")]
    Zero,
    /// The number 2 is not an n-th power modulo q.
    #[error(
        "2 has no {n}-th root modulo 2^64 − 2^32 + 1: gcd({n}, q − 1) = {gcd} does not divide \
         (q − 1)/192 = 2^26·5·17·257·65537"
    )]
    NotAPower {
        /// The degree n of the root.
        n: u64,
        /// The greatest common divisor of n and q − 1 = 2^64 − 2^32.
        gcd: u64,
    },
}

/// Returns an n-th root of 2: a number r with r^n ≡ 2 mod q, where q = 2^64 − 2^32 + 1.
///
/// The root exists if and only if g = gcd(n, q − 1) divides (q − 1)/192 = 2^26·5·17·257·65537.
/// Proof: The multiplicative group is cyclic, so the n-th powers are the g-th powers. These are the
/// elements whose order divides (q − 1)/g. The order of 2 is 192, so the condition is that 192
/// divides (q − 1)/g.
///
/// For transform lengths n, which divide q − 1, this means: An n-th root of 2 exists for n = 2^k
/// and n = 5·2^k with k ≤ 26. No n-th root of 2 exists if n is a multiple of 3 or of 2^27.
///
/// For n dividing (q − 1)/192, the root is ω_(192n)^t, where ω_m is the result of [`root_of_unity`]
/// for m, and t is the exponent from 1 to 191 for which 2 = ω_192^t.
///
/// # Errors
/// Returns an error if n is 0 or if 2 is not an n-th power modulo q.
pub const fn nth_root_of_two(n: u64) -> Result<u64, NoRoot> {
    if n == 0 {
        return Err(NoRoot::Zero);
    }
    let g = gcd(n, GROUP);
    if !(GROUP / ORDER_OF_TWO).is_multiple_of(g) {
        return Err(NoRoot::NotAPower { n, gcd: g });
    }
    // 2 = GENERATOR^e. Find y with n·y ≡ e mod q − 1, that is, (n/g)·y ≡ e/g mod (q − 1)/g. There
    // n/g is a unit: 2 divides n at most 26 times, 3 does not divide it, and if any other prime of
    // q − 1 divides n, it does not divide (q − 1)/g.
    let e = GROUP / ORDER_OF_TWO * log_of_two();
    let modulus = GROUP / g;
    let y = mul_mod(e / g % modulus, inverse_mod(n / g % modulus, modulus), modulus);
    Ok(pow(GENERATOR, y))
}

/// Returns the exponent t from 1 to 191 with ω_192^t = 2 mod q, where ω_192 = 554^((q−1)/192).
const fn log_of_two() -> u64 {
    let omega = pow(GENERATOR, GROUP / ORDER_OF_TWO);
    let mut t = 1;
    while pow(omega, t) != 2 {
        t += 1;
    }
    t
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

const fn mul_mod(a: u64, b: u64, m: u64) -> u64 {
    (a as u128 * b as u128 % m as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::super::{inverse, mul, mul_pow2};
    use super::*;

    const PRIME_FACTORS: [u64; 6] = [2, 3, 5, 17, 257, 65537];

    #[test]
    fn the_generator_has_full_order() {
        assert_eq!((1u64 << 32) * 3 * 5 * 17 * 257 * 65537, GROUP);
        for f in PRIME_FACTORS {
            assert_ne!(pow(GENERATOR, GROUP / f), 1, "554 is an {f}-th power");
        }
        assert_eq!(pow(GENERATOR, GROUP), 1);
    }

    #[test]
    fn small_roots_are_shifts() {
        for (n, bits) in [(2, 96), (4, 48), (8, 24), (16, 12), (32, 6), (64, 3)] {
            assert_eq!(root_of_unity(n), Some(mul_pow2(1, bits)), "ω_{n}");
        }
    }

    #[test]
    fn roots_have_exactly_their_order() {
        let lengths = (0..=32).flat_map(|k| [1u64 << k, 3 << k, 5 << k]);
        for n in lengths {
            let omega = root_of_unity(n).unwrap();
            assert_eq!(pow(omega, n), 1, "ω_{n}");
            for f in PRIME_FACTORS.into_iter().filter(|f| n.is_multiple_of(*f)) {
                assert_ne!(pow(omega, n / f), 1, "ω_{n}");
                assert_eq!(pow(omega, f), root_of_unity(n / f).unwrap());
            }
        }
        for n in [0, 7, 9, 25, 1 << 33, 3 * 9] {
            assert_eq!(root_of_unity(n), None, "{n} does not divide q − 1");
        }
    }

    #[test]
    fn roots_of_two() {
        for k in 0..=26 {
            for n in [1u64 << k, 5 << k, 17 << k, (5 * 257) << k] {
                let r = nth_root_of_two(n).unwrap();
                assert_eq!(pow(r, n), 2, "n = {n}");
                assert_eq!(mul(r, inverse(r).unwrap()), 1);
            }
        }
        // Exponents without a common factor with q − 1, or with additional factors.
        for n in [7u64, 11, 49, 7 * 32, 25, 34 * 17, u64::MAX / 3 / 257] {
            match nth_root_of_two(n) {
                Ok(r) => assert_eq!(pow(r, n), 2, "n = {n}"),
                Err(e) => assert!(two_is_no_nth_power(n), "{e}"),
            }
        }
        for n in [3u64, 6, 15, 1 << 27, 5 << 27, 1 << 40, 9] {
            assert!(two_is_no_nth_power(n));
            let error = nth_root_of_two(n).unwrap_err();
            assert_eq!(error, NoRoot::NotAPower { n, gcd: gcd(n, GROUP) });
            assert!(error.to_string().contains("does not divide"));
        }
        assert_eq!(nth_root_of_two(0), Err(NoRoot::Zero));
    }

    /// Returns whether 2 is not an n-th power mod q. By Euler's criterion, this holds if and only
    /// if 2^((q−1)/g) ≠ 1 mod q for g = gcd(n, q − 1).
    fn two_is_no_nth_power(n: u64) -> bool {
        pow(2, GROUP / gcd(n, GROUP)) != 1
    }
}
