//! Tests of one modulus n or one public exponent e.
//!
//! | function | finds |
//! |---|---|
//! | [`small_factor`] | a prime factor below [`SMALL_BELOW`] |
//! | [`PerfectPowers::find`] | n = a^k with k ≥ 2 |
//! | [`close_factors`] | n = p·q with \|p − q\| ≤ √(8·(s − 1))·n^(1/4), in s steps of Fermat's method |
//! | [`roca`] | the form of moduli of the library RSALib (ROCA) |
//! | [`exponent`] | e = 1, even e, e below 2^16 + 1 or above 2^256 |
//!
//! None of them proves that a modulus is sound.

mod exponent;
mod fermat;
mod power;
mod residue;
mod roca;
mod small_factor;
#[cfg(test)]
mod times;

use self::residue::DIVISORS_BELOW;
pub use exponent::{ExponentFlaw, exponent};
pub use fermat::close_factors;
pub use power::PerfectPowers;
pub use roca::roca;
pub use small_factor::{SMALL_BELOW, small_factor, without_small_factors};

/// Returns the primes below `limit`, by the sieve of Eratosthenes.
fn primes_below(limit: usize) -> Vec<u64> {
    let mut composite = vec![false; limit];
    let mut primes = vec![];
    for n in 2..limit {
        if !composite[n] {
            primes.push(n as u64);
            for multiple in (n * n..limit).step_by(n) {
                composite[multiple] = true;
            }
        }
    }
    primes
}

/// Divides the items into groups of consecutive items whose numbers have a product below
/// [`DIVISORS_BELOW`], each group as long as possible, and returns each product with its group.
fn grouped<T>(items: impl Iterator<Item = T>, number: impl Fn(&T) -> u64) -> Vec<(u64, Vec<T>)> {
    let mut groups: Vec<(u64, Vec<T>)> = vec![];
    for item in items {
        let number = number(&item);
        match groups.last_mut() {
            Some((product, group)) if *product <= (DIVISORS_BELOW - 1) / number => {
                *product *= number;
                group.push(item);
            }
            _ => groups.push((number, vec![item])),
        }
    }
    groups
}
