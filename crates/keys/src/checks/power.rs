//! Perfect powers.

use std::num::NonZeroU32;

use warpint_natural::limbs::{compare, trim, trimmed};
use warpint_natural::product::{FastProducts, Multiplier};
use warpint_natural::root::Root;

use super::primes_below;
use super::residue::Divisor;
use crate::read::{MOST_BITS, bits};

/// The number of bits of the least number without a prime factor below
/// [`SMALL_BELOW`](super::SMALL_BELOW), 10,007, less 1: a^k ≥ 2^(13·k).
const BITS_OF_BASE: u64 = 13;

/// The number of primes q modulo which a candidate is tested for each exponent.
const TESTS: usize = 4;

/// Finds perfect powers. The tables are computed once for many numbers.
#[derive(Debug)]
pub struct PerfectPowers {
    /// For each prime exponent k, some primes q with q ≡ 1 modulo k.
    exponents: Vec<(u32, Vec<(u64, Divisor)>)>,
}

impl Default for PerfectPowers {
    fn default() -> Self {
        Self::new()
    }
}

impl PerfectPowers {
    /// Computes the tables for moduli of up to [`MOST_BITS`] bits.
    #[must_use]
    pub fn new() -> Self {
        let most = (MOST_BITS / BITS_OF_BASE) as usize + 1;
        let is_prime = |n: u64| (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        let tests = |k: u64| {
            let primes = (1..).map(|i| 2 * k * i + 1).filter(|&q| is_prime(q)).take(TESTS);
            primes.map(|q| (q, Divisor::new(q))).collect()
        };
        let exponents = primes_below(most).into_iter().map(|k| (k as u32, tests(k))).collect();
        Self { exponents }
    }

    /// Returns (a, k) with n = a^k for the least prime k, if n is a perfect power of a number a
    /// above 2^13. Other perfect powers of numbers have a prime factor below
    /// [`SMALL_BELOW`](super::SMALL_BELOW). n has no leading zero limbs.
    ///
    /// For each prime k ≤ log2(n)/13, n must be 0 or a k-th power modulo a few primes q with
    /// q ≡ 1 mod k: n^((q−1)/k) ≡ 1. Of other numbers, 1 in k passes each test. Numbers that pass
    /// all tests have their root computed. Cost: about 40 residues modulo one limb for 2,048 bits.
    #[must_use]
    pub fn find(&self, n: &[u64]) -> Option<(Vec<u64>, u32)> {
        let most = bits(n) / BITS_OF_BASE;
        let exponents = self.exponents.iter().take_while(|(k, _)| u64::from(*k) <= most);
        exponents.into_iter().find_map(|(k, tests)| {
            let passes = |(q, divisor): &(u64, Divisor)| {
                let residue = divisor.residue(n);
                residue == 0 || power_modulo(residue, (q - 1) / u64::from(*k), *q) == 1
            };
            if !tests.iter().all(passes) {
                return None;
            }
            let a = exact_root(n, *k)?;
            Some((a, *k))
        })
    }
}

/// Returns a with a^k = n.
fn exact_root(n: &[u64], k: u32) -> Option<Vec<u64>> {
    let mut a = vec![0; n.len()];
    Root::default().root(&mut a, n, NonZeroU32::new(k)?);
    trim(&mut a);
    let mut power = vec![1];
    for _ in 0..k {
        power = FastProducts.mul(&power, &a);
        trim(&mut power);
    }
    compare(&power, trimmed(n)).is_eq().then_some(a)
}

/// Returns x^e mod q for q below 2^32.
fn power_modulo(x: u64, e: u64, q: u64) -> u64 {
    let mut power = 1;
    for bit in (0..64 - e.leading_zeros()).rev() {
        power = power * power % q;
        if e >> bit & 1 == 1 {
            power = power * x % q;
        }
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_natural::limbs::{add_assign, mul};

    #[test]
    fn powers_are_found_and_their_neighbours_are_not() {
        let powers = PerfectPowers::new();
        for base in [vec![10_007], vec![u64::MAX], vec![1, 1], vec![u64::MAX; 7]] {
            assert_eq!(powers.find(&base), None);
            for k in [2, 3, 5, 7, 11, 13, 31] {
                let mut n = vec![1];
                for _ in 0..k {
                    n = mul(&n, &base);
                    trim(&mut n);
                }
                let (a, found) = powers.find(&n).unwrap();
                // 2^64 − 1 and its like are no powers themselves.
                assert_eq!((a, found), (base.clone(), k), "{base:x?}^{k}");
                n.push(0);
                add_assign(&mut n, &[1]);
                trim(&mut n);
                assert_eq!(powers.find(&n), None, "{base:x?}^{k} + 1");
            }
        }
    }

    #[test]
    fn a_power_of_a_power_has_the_least_exponent() {
        let powers = PerfectPowers::new();
        let mut n = vec![1];
        for _ in 0..6 {
            n = mul(&n, &[1_000_003]);
            trim(&mut n);
        }
        assert_eq!(powers.find(&n).unwrap().1, 2);
    }

    /// Every prime k of the table has primes q that tell some numbers apart.
    #[test]
    fn tests_are_of_primes_congruent_to_1() {
        let powers = PerfectPowers::new();
        assert_eq!(powers.exponents.first().map(|(k, _)| *k), Some(2));
        for (k, tests) in &powers.exponents {
            assert_eq!(tests.len(), TESTS);
            for (q, _) in tests {
                assert_eq!(q % u64::from(*k), 1);
                let e = (q - 1) / u64::from(*k);
                assert!((1..*q).any(|x| power_modulo(x, e, *q) != 1), "{k} {q}");
            }
        }
    }
}
