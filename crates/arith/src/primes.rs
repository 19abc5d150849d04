//! Primality tests and factorization of 64-bit integers.

/// Returns a·b mod m. Panics if m = 0.
#[must_use]
pub fn mul_mod(a: u64, b: u64, m: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(m)) as u64
}

/// Returns a^e mod m by square-and-multiply. For m = 1, the result is 0. Panics if m = 0.
#[must_use]
pub fn pow_mod(mut a: u64, mut e: u64, m: u64) -> u64 {
    let mut power = 1 % m;
    a %= m;
    while e > 0 {
        if e & 1 == 1 {
            power = mul_mod(power, a, m);
        }
        a = mul_mod(a, a, m);
        e >>= 1;
    }
    power
}

/// Returns whether n is prime, by Miller–Rabin tests to the first twelve prime bases 2, 3, …, 37.
///
/// The answer is proven for every 64-bit n, because no composite number below 3.3·10^24 passes
/// these tests (Sorenson and Webster 2015, *Strong pseudoprimes to twelve prime bases*).
#[must_use]
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    for q in BASES {
        if n.is_multiple_of(q) {
            return n == q;
        }
    }
    let s = (n - 1).trailing_zeros();
    let d = (n - 1) >> s;
    BASES.iter().all(|&base| {
        let mut x = pow_mod(base, d, n);
        if x == 1 || x == n - 1 {
            return true;
        }
        for _ in 1..s {
            x = mul_mod(x, x, n);
            if x == n - 1 {
                return true;
            }
        }
        false
    })
}

/// Returns the smallest prime factor of n ≥ 2 by trial division. Cost: O(√n) divisions.
///
/// # Panics
/// Panics if n < 2.
#[must_use]
pub fn smallest_factor(n: u64) -> u64 {
    assert!(n >= 2, "{n} has no prime factor");
    if n.is_multiple_of(2) {
        return 2;
    }
    (3..).step_by(2).take_while(|&d| d <= n / d).find(|&d| n.is_multiple_of(d)).unwrap_or(n)
}

/// Returns the distinct prime factors of n in ascending order. The result is empty for n = 0 and
/// n = 1.
///
/// The method is Pollard's rho (1975, *A Monte Carlo method for factorization*). Cost: about √q
/// products, where q is the second largest prime factor of n.
#[must_use]
pub fn prime_factors(n: u64) -> Vec<u64> {
    let (mut factors, mut open) = (vec![], vec![n]);
    while let Some(n) = open.pop() {
        if is_prime(n) {
            factors.push(n);
        } else if n > 1 {
            let divisor = proper_divisor(n);
            open.extend([divisor, n / divisor]);
        }
    }
    factors.sort_unstable();
    factors.dedup();
    factors
}

/// Returns a divisor d of n with 1 < d < n. Requires a composite n.
fn proper_divisor(n: u64) -> u64 {
    // Pollard's rho is for larger divisors.
    if let Some(d) = (2..64).find(|&d| n.is_multiple_of(d) && d < n) {
        return d;
    }
    // If all prime factors appear at once, another c is tried; one of them separates the factors
    // long before c = n.
    let walk = |c: u64| {
        let next = |x: u64| ((u128::from(mul_mod(x, x, n)) + u128::from(c)) % u128::from(n)) as u64;
        let (mut slow, mut fast) = (next(2), next(next(2)));
        loop {
            let d = gcd(slow.abs_diff(fast), n);
            if d > 1 {
                return (d < n).then_some(d);
            }
            (slow, fast) = (next(slow), next(next(fast)));
        }
    };
    (1..n).find_map(walk).unwrap_or(1)
}

/// Returns the greatest common divisor of a and b.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Iterates in ascending order over the primes in `from..=to`, by a test of every integer.
pub fn primes_between(from: u64, to: u64) -> impl Iterator<Item = u64> {
    (from..=to).filter(|&n| is_prime(n))
}

/// Returns 1/a mod m by Euclid's algorithm. For m = 1, the result is 0. Requires gcd(a, m) = 1.
#[must_use]
pub const fn inverse_mod(a: u64, m: u64) -> u64 {
    // Each remainder is ≡ (its coefficient)·a mod m, with |coefficient| ≤ m.
    let (mut r0, mut r1) = (m as i128, a as i128);
    let (mut c0, mut c1) = (0i128, 1i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (c0, c1) = (c1, c0 - quotient * c1);
    }
    c0.rem_euclid(m as i128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_factor_of_the_largest_numbers() {
        // The largest primes below 2^16 and 2^32, and Euler's 2^32 + 1 = 641·6700417.
        assert_eq!(smallest_factor(65_521 * 65_521), 65_521);
        assert_eq!(smallest_factor(65_521 * 4_294_967_291), 65_521);
        assert_eq!(smallest_factor((1 << 32) + 1), 641);
        // 2^64 − 1 = 3·5·17·257·641·65537·6700417.
        assert_eq!(smallest_factor(u64::MAX), 3);
    }

    /// Tests that trial divisions end without an overflow. For the second number, they end at the
    /// divisor 4,294,967,297, whose square exceeds 2^64.
    #[test]
    #[ignore = "seconds: 2^31 divisions"]
    fn the_smallest_factor_of_the_square_of_the_largest_prime() {
        assert_eq!(smallest_factor(4_294_967_291 * 4_294_967_291), 4_294_967_291);
        // 2^64 − 59 is the largest prime below 2^64.
        assert_eq!(smallest_factor(u64::MAX - 58), u64::MAX - 58);
    }

    #[test]
    fn agrees_with_trial_division() {
        for n in 2..20_000 {
            assert_eq!(is_prime(n), smallest_factor(n) == n, "{n}");
        }
        assert!(!is_prime(0) && !is_prime(1));
    }

    #[test]
    fn factors_multiply_to_the_number() {
        let all = |mut n: u64| {
            let mut factors = vec![];
            while n > 1 {
                let q = smallest_factor(n);
                factors.push(q);
                while n.is_multiple_of(q) {
                    n /= q;
                }
            }
            factors
        };
        assert!(prime_factors(0).is_empty() && prime_factors(1).is_empty());
        for n in (2..20_000).chain([67 * 67, 71 * 71 * 73, 4_294_967_291, (1 << 36) - 1]) {
            assert_eq!(prime_factors(n), all(n), "{n}");
        }
        assert_eq!(prime_factors(4_294_967_291 * 4_294_967_291), [4_294_967_291]);
        assert_eq!(prime_factors(4_294_967_291 * 4_294_967_279), [4_294_967_279, 4_294_967_291]);
        assert_eq!(prime_factors((1 << 61) - 1), [(1 << 61) - 1]);
    }

    #[test]
    fn strong_pseudoprimes_and_large_primes() {
        // The least strong pseudoprimes to the first k prime bases (OEIS A014233).
        for n in [2047, 1_373_653, 25_326_001, 3_215_031_751, 341_550_071_728_321] {
            assert!(!is_prime(n), "{n}");
        }
        assert!(is_prime((1 << 61) - 1));
        assert!(is_prime(18_446_744_073_709_551_557), "the largest 64-bit prime");
        assert!(is_prime(0xffff_ffff_0000_0001), "2^64 − 2^32 + 1");
    }
}
