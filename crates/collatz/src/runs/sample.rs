//! A checksum that is independent of methods and sieves.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.
//!
//! Let the region have c numbers, n_0 < n_1 < …. If c ≤ 2^20, the sample has all of them once.
//! Otherwise it has 2^20 numbers, drawn with replacement. For each number of the sample, the odd
//! steps are counted until its path is below its start for the first time (0 for even numbers and
//! for 1). The checksum is the sum of these counts. Any other program can compute it:
//!
//! * mix(z), one step of SplitMix64 (Steele, Lea, Flood 2014), modulo 2^64:
//!   z += 0x9e3779b97f4a7c15; z = (z ^ z >> 30)·0xbf58476d1ce4e5b9;
//!   z = (z ^ z >> 27)·0x94d049bb133111eb; the result is z ^ z >> 31.
//! * seed: s = 0; then s = mix(s ^ w) for each of five words w, in this order: n_0 mod 2^64, n_0
//!   div 2^64, the exponent u of the distance 2^u between neighbours (0 for an interval), c mod
//!   2^64, c div 2^64.
//! * The stream of SplitMix64 from s: x_j = mix(s + j·0x9e3779b97f4a7c15), j = 0, 1, …
//! * Number i of the sample, i = 0 … 2^20 − 1, is n_k with k = (2^64·x_2i + x_(2i+1)) mod c.
//!
//! The checksum of a region takes about 20 ms of CPU time for numbers below 2^71, and more near
//! 2^127, where values need more than 128 bits.

use num_bigint::BigUint;
use rayon::prelude::*;

use crate::Region;
use crate::evidence::draw::{GAMMA, mix};

/// The version of the checksum's definition. It is incremented when the definition changes.
pub const VERSION: u32 = 1;

/// The largest count of numbers in a sample.
pub(super) const NUMBERS: u128 = 1 << 20;

/// The count of numbers that one task walks.
const CHUNK: u64 = 1 << 12;

/// The limit of odd steps: a number is unresolved if its path is not below its start after more
/// odd steps than this. The limit of [`Walker`](crate::walk::Walker) has the same value, but counts
/// all steps of T.
const LIMIT: u64 = 100_000;

/// The result of the sample of a region.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// The count of numbers of the sample, including unresolved numbers.
    pub numbers: u64,
    /// The sum of the odd steps of the sample's numbers. The odd steps of a number are counted
    /// until its path is below the number.
    pub odd_steps: u64,
    /// The numbers whose paths did not fall below their starts within the limit of steps:
    /// ascending, each once. They do not contribute to the sum.
    pub unresolved: Vec<u128>,
}

impl Sample {
    /// Walks the sample of a region and returns the result.
    #[must_use]
    pub fn of(region: &Region) -> Self {
        let choice = Choice::new(region);
        let chunks = choice.numbers.div_ceil(CHUNK);
        let one_chunk = |chunk: u64| {
            let mut sample = Self::default();
            for i in chunk * CHUNK..choice.numbers.min((chunk + 1) * CHUNK) {
                let Some(n) = choice.number(i) else { continue };
                sample.numbers += 1;
                match odd_steps(n) {
                    Some(steps) => sample.odd_steps += steps,
                    None => sample.unresolved.push(n),
                }
            }
            sample
        };
        let add = |mut a: Self, b: Self| {
            a.numbers += b.numbers;
            a.odd_steps += b.odd_steps;
            a.unresolved.extend(b.unresolved);
            a
        };
        let mut sample = (0..chunks).into_par_iter().map(one_chunk).reduce(Self::default, add);
        sample.unresolved.sort_unstable();
        sample.unresolved.dedup();
        sample
    }
}

/// The numbers of a region's sample.
struct Choice<'a> {
    region: &'a Region,
    /// The count of numbers of the region.
    count: u128,
    seed: u64,
    /// The count of numbers of the sample.
    numbers: u64,
}

impl<'a> Choice<'a> {
    fn new(region: &'a Region) -> Self {
        let (first, step_bits) = match *region {
            Region::Interval { from, .. } => (from, 0),
            Region::Class { low_bits, residue, .. } => (residue, u64::from(low_bits)),
        };
        let count = region.numbers();
        let words =
            [first as u64, (first >> 64) as u64, step_bits, count as u64, (count >> 64) as u64];
        let seed = words.iter().fold(0, |seed, word| mix(seed ^ word));
        Self { region, count, seed, numbers: count.min(NUMBERS) as u64 }
    }

    /// Returns number i of the sample, counted from 0.
    fn number(&self, i: u64) -> Option<u128> {
        if self.count <= NUMBERS {
            return self.region.nth(u128::from(i));
        }
        let word = |j: u64| u128::from(mix(self.seed.wrapping_add(j.wrapping_mul(GAMMA))));
        self.region.nth((word(2 * i) << 64 | word(2 * i + 1)) % self.count)
    }
}

/// The powers 3^k for k ≤ 80, below 2^127.
const POWERS: [u128; 81] = {
    let mut powers = [1; 81];
    let mut k = 1;
    while k < powers.len() {
        powers[k] = 3 * powers[k - 1];
        k += 1;
    }
    powers
};

/// Returns the number of odd steps of T from n until the value is below n. Returns 0 for n = 0 and
/// n = 1, and `None` if the value is not below n after more than [`LIMIT`] odd steps.
///
/// From x = 2^a·y − 1 with y odd, a ≥ 1 odd steps lead to 3^a·y − 1, which is even. Only even steps
/// decrease the value, so a comparison after each run of even steps finds the first descent (Barina
/// 2021, §3).
fn odd_steps(n: u128) -> Option<u64> {
    if n & 1 == 0 || n == 1 {
        return Some(0);
    }
    let (mut x, mut steps) = (n, 0);
    while steps <= LIMIT {
        // 2^128 − 1 plus one, and products beyond 128 bits, need large integers.
        let next = x.checked_add(1).and_then(|y| {
            let a = y.trailing_zeros();
            let power = *POWERS.get(a as usize)?;
            Some(((y >> a).checked_mul(power)? - 1, u64::from(a)))
        });
        let Some((even, a)) = next else { return big_odd_steps(n, x, steps) };
        steps += a;
        x = even >> even.trailing_zeros();
        if x < n {
            return Some(steps);
        }
    }
    None
}

/// Like [`odd_steps`], but continues from the odd value x, which the path of n reaches after
/// `steps` odd steps. Values may have any size.
fn big_odd_steps(n: u128, x: u128, mut steps: u64) -> Option<u64> {
    let (mut x, start) = (BigUint::from(x), BigUint::from(n));
    while steps <= LIMIT {
        x += 1u32;
        let mut a = x.trailing_zeros().unwrap_or(0);
        steps += a;
        x >>= a;
        // 3^40 is the largest power below 2^64.
        while a > 0 {
            let some = a.min(40);
            x *= POWERS[some as usize] as u64;
            a -= some;
        }
        x -= 1u32;
        let zeros = x.trailing_zeros().unwrap_or(0);
        x >>= zeros;
        if x < start {
            return Some(steps);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;
    use crate::walk::Walker;

    fn slow(n: u128) -> Option<u64> {
        Walker::default().descend(n).map(|descent| descent.odd_steps)
    }

    #[test]
    fn odd_steps_are_those_of_the_walk() {
        for n in (0..20_000).chain((0..128).map(|k| (1 << k) - 1)).chain([u128::MAX - 1, u128::MAX])
        {
            assert_eq!(odd_steps(n), slow(n), "{n}");
            if n > 1 && n & 1 == 1 {
                assert_eq!(big_odd_steps(n, n, 0), slow(n), "{n}");
            }
        }
    }

    proptest! {
        #[test]
        fn odd_steps_of_any_number(n: u128, shift in 0u32..128) {
            prop_assert_eq!(odd_steps(n >> shift), slow(n >> shift));
        }
    }

    #[derive(Deserialize)]
    struct Vectors {
        sample: Vec<Vector>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Vector {
        /// The first number of an interval; empty for a class.
        #[serde(default)]
        from: String,
        #[serde(default)]
        to: String,
        /// The exponent of the bound of a class, whose numbers are below 2^bits; 0 for an interval.
        #[serde(default)]
        bits: u32,
        #[serde(default)]
        low_bits: u32,
        #[serde(default)]
        residue: String,
        first_three: Vec<String>,
        numbers: u64,
        odd_steps: u64,
    }

    #[test]
    fn samples_are_those_of_another_program() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/collatz_samples.toml");
        let vectors: Vectors = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(vectors.sample.len() >= 6);
        for vector in vectors.sample {
            let number = |text: &str| text.parse::<u128>().unwrap();
            let region = if vector.from.is_empty() {
                Region::class(vector.bits, vector.low_bits, number(&vector.residue))
            } else {
                Region::interval(number(&vector.from), number(&vector.to))
            };
            let region = region.unwrap();
            let choice = Choice::new(&region);
            let first: Vec<_> =
                (0..3).map(|i| choice.number(i).map_or(String::new(), |n| n.to_string())).collect();
            assert_eq!(first, vector.first_three, "{region}");
            let sample = Sample::of(&region);
            assert_eq!(
                (sample.numbers, sample.odd_steps),
                (vector.numbers, vector.odd_steps),
                "{region}"
            );
            assert!(sample.unresolved.is_empty());
        }
    }

    #[test]
    fn few_numbers_are_all_taken() {
        let region = Region::interval(20, 30).unwrap();
        let sample = Sample::of(&region);
        let expected: u64 = (20..30).filter_map(slow).sum();
        assert_eq!((sample.numbers, sample.odd_steps), (10, expected));
    }
}
