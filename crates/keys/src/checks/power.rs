//! Perfect powers.

use std::num::NonZeroU32;

use warpint_natural::limbs::{compare, trim, trimmed};
use warpint_natural::product::{FastProducts, Multiplier};
use warpint_natural::root::Root;

use super::residue::Divisor;
use super::{grouped, primes_below};
use crate::read::{MOST_BITS, bits};

/// The number of bits of the least number without a prime factor below
/// [`SMALL_BELOW`](super::SMALL_BELOW), 10,007, less 1: a^k ≥ 2^(13·k).
const BITS_OF_BASE: u64 = 13;

/// The number of further primes q for each exponent.
const MORE: usize = 3;

/// Finds perfect powers. The tables are computed once for many numbers.
#[derive(Debug)]
pub struct PerfectPowers {
    /// Consecutive prime exponents k.
    groups: Vec<Group>,
}

/// Exponents whose tests share a residue.
#[derive(Debug)]
struct Group {
    /// The product of the first primes q of the exponents.
    product: Divisor,
    exponents: Vec<Exponent>,
}

/// A prime exponent k, and some primes q with q ≡ 1 modulo k.
#[derive(Debug)]
struct Exponent {
    k: u32,
    first: u64,
    more: [u64; MORE],
    /// The product of `more`, which is below 2^58.
    product: Divisor,
}

impl Exponent {
    fn new(k: u64) -> Self {
        let is_prime = |n: u64| (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        let mut primes = (1..).map(|i| 2 * k * i + 1).filter(|&q| is_prime(q));
        let mut next = || primes.by_ref().next().unwrap_or(1);
        let first = next();
        let more = [(); MORE].map(|()| next());
        Self { k: k as u32, first, more, product: Divisor::new(more.iter().product()) }
    }

    /// Returns whether x is 0 or a k-th power modulo the prime q.
    fn is_power(&self, x: u64, q: u64) -> bool {
        let x = x % q;
        x == 0 || power_modulo(x, (q - 1) / u64::from(self.k), q) == 1
    }

    /// Returns whether n is 0 or a k-th power modulo each prime q. `residue` is n modulo a multiple of
    /// the first one.
    fn passes(&self, n: &[u64], residue: u64) -> bool {
        if !self.is_power(residue, self.first) {
            return false;
        }
        let residue = self.product.residue(n);
        self.more.iter().all(|&q| self.is_power(residue, q))
    }
}

impl Default for PerfectPowers {
    fn default() -> Self {
        Self::new()
    }
}

impl PerfectPowers {
    /// Computes the tables for moduli of up to [`MOST_BITS`] bits. They take about 300 KB.
    #[must_use]
    pub fn new() -> Self {
        let most = (MOST_BITS / BITS_OF_BASE) as usize + 1;
        let exponents = primes_below(most).into_iter().map(Exponent::new);
        let groups = grouped(exponents, |exponent| exponent.first);
        let group = |(product, exponents)| Group { product: Divisor::new(product), exponents };
        Self { groups: groups.into_iter().map(group).collect() }
    }

    /// Returns (a, k) with n = a^k for the least prime k, if n is a perfect power of a number a
    /// above 2^13. Other perfect powers of numbers have a prime factor below
    /// [`SMALL_BELOW`](super::SMALL_BELOW). n has no leading zero limbs.
    ///
    /// For each prime k ≤ log2(n)/13, n must be 0 or a k-th power modulo a few primes q with
    /// q ≡ 1 mod k: n^((q−1)/k) ≡ 1. Of other numbers, 1 in k passes each test. Numbers that pass
    /// all tests have their root computed. The first q of several k share a residue modulo their
    /// product, and so do the further q of one k.
    ///
    /// Cost: about 7 residues modulo one limb for 2,048 bits.
    #[must_use]
    pub fn find(&self, n: &[u64]) -> Option<(Vec<u64>, u32)> {
        let most = bits(n) / BITS_OF_BASE;
        let in_range = |exponent: &&Exponent| u64::from(exponent.k) <= most;
        let groups = self.groups.iter();
        let groups = groups.take_while(|group| group.exponents.first().filter(in_range).is_some());
        groups.into_iter().find_map(|group| {
            let residue = group.product.residue(n);
            group.exponents.iter().take_while(in_range).find_map(|exponent| {
                if !exponent.passes(n, residue) {
                    return None;
                }
                Some((exact_root(n, exponent.k)?, exponent.k))
            })
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
    use crate::checks::DIVISORS_BELOW;
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
        let exponents: Vec<&Exponent> = powers.groups.iter().flat_map(|g| &g.exponents).collect();
        let all = primes_below((MOST_BITS / BITS_OF_BASE) as usize + 1);
        assert!(exponents.iter().map(|e| u64::from(e.k)).eq(all));
        for &Exponent { k, first, more, .. } in exponents {
            let product = more.iter().try_fold(1u64, |product, &q| product.checked_mul(q));
            assert!(product.is_some_and(|product| product < DIVISORS_BELOW), "{k}: {more:?}");
            for q in [first].into_iter().chain(more) {
                assert_eq!(q % u64::from(k), 1);
                let e = (q - 1) / u64::from(k);
                assert!((1..q).any(|x| power_modulo(x, e, q) != 1), "{k} {q}");
            }
        }
    }
}
