//! Draws exponents, residues, patterns and shifts for tests of engines from a seed, and selects
//! transform lengths. M_p denotes 2^p − 1.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::primes;
use warpint_device::CPU;
use warpint_mersenne::layout::WordLayout;
use warpint_mersenne::{EngineFamily, Number, Residue, Shift};
use warpint_natural::limbs;

use crate::Depth;

/// The random generator of a case. The same seed gives the same numbers on every machine.
pub type Random = ChaCha8Rng;

/// Creates a generator from a seed.
#[must_use]
pub fn random(seed: u64) -> Random {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The amount of work that suits the place (CPU, simulator or GPU) where a family computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The amount of work for the simulator: an eighth of the exponents, and no large exponents.
    /// The simulator is some hundred times slower than the CPU.
    Small,
    /// The amount of work for the CPU.
    Whole,
    /// The amount of work for a GPU. It includes tests that take too long on a CPU.
    Large,
    /// The amount of work for the quick cases of a GPU: a few small exponents, which are the same
    /// in all cases, because kernels must be compiled for every length.
    Quick,
}

impl Scale {
    /// Returns the scale for the place where a family computes.
    #[must_use]
    pub fn of(family: &dyn EngineFamily) -> Self {
        match family.place() {
            "sim" => Self::Small,
            CPU => Self::Whole,
            _ => Self::Large,
        }
    }

    /// Returns the scale for the place where a family computes, for a run of the given depth.
    #[must_use]
    pub fn at(family: &dyn EngineFamily, depth: Depth) -> Self {
        match (Self::of(family), depth) {
            (Self::Large, Depth::Quick) => Self::Quick,
            (scale, _) => scale,
        }
    }

    /// Returns the number of exponents that a case tests at this scale instead of n: ⌈n/8⌉ on the
    /// simulator, ⌈n/16⌉ in quick cases, and otherwise n.
    #[must_use]
    pub fn count(self, n: usize) -> usize {
        match self {
            Self::Small => n.div_ceil(8),
            Self::Quick => n.div_ceil(16),
            Self::Whole | Self::Large => n,
        }
    }

    /// Returns the largest exponent at this scale: `p`, but at most 50,000 on the simulator and
    /// 12,500 in quick cases. No quick case passes a smaller `p` than 12,500, so all quick cases
    /// draw the same exponents.
    #[must_use]
    pub fn largest(self, p: u32) -> u32 {
        match self {
            Self::Small => p.min(50_000),
            Self::Quick => p.min(12_500),
            Self::Whole | Self::Large => p,
        }
    }
}

/// Returns the two smallest exponents of a family and `count` random exponents up to `largest`,
/// whose logarithms are uniformly distributed. The result is ascending, without duplicates. `scale`
/// may reduce `count` and `largest`.
///
/// Not all exponents are prime. Engines do not need primes, and if p is a multiple of 64 or of the
/// length, word boundaries are at unusual positions.
pub fn exponents(
    family: &dyn EngineFamily,
    scale: Scale,
    rng: &mut Random,
    count: usize,
    largest: u32,
) -> Vec<u32> {
    let range = family.exponent_range();
    let (count, largest) = (scale.count(count), scale.largest(largest));
    let (from, to) = (*range.start(), largest.clamp(*range.start(), *range.end()));
    let mut drawn: Vec<u32> = (0..count).map(|_| log_uniform(rng, from, to)).collect();
    drawn.extend([from, (from + 1).min(to)]);
    drawn.sort_unstable();
    drawn.dedup();
    drawn
}

/// Draws exponents by [`exponents`] with the same arguments. Returns, for each drawn exponent, the
/// largest prime that does not exceed this exponent. Omits primes that the family does not support.
pub fn prime_exponents(
    family: &dyn EngineFamily,
    scale: Scale,
    rng: &mut Random,
    count: usize,
    largest: u32,
) -> Vec<u32> {
    exponents(family, scale, rng, count, largest)
        .into_iter()
        .map(u64::from)
        // A prime between n and 2n always exists (Chebyshev). A prime that is out of the family's
        // range is dropped.
        .filter_map(|p| (2..=p).rev().find(|&q| primes::is_prime(q)))
        .map(|q| q as u32)
        .filter(|q| family.exponent_range().contains(q))
        .collect()
}

/// Returns a random integer in from..=to whose logarithm is uniformly distributed.
fn log_uniform(rng: &mut Random, from: u32, to: u32) -> u32 {
    let (low, high) = (f64::from(from).ln(), (f64::from(to) + 1.0).ln());
    (rng.random_range(low..=high).exp() as u32).clamp(from, to)
}

/// Returns the transform lengths in `from..=to` with enough margin for the exponent p, ascending.
#[must_use]
pub fn safe_lengths(family: &dyn EngineFamily, p: u32, from: usize, to: usize) -> Vec<usize> {
    let mut lengths = family.lengths(from, to);
    lengths.retain(|&n| family.margin(p, n).is_ok_and(|m| m.bits >= 0.0));
    lengths
}

/// Returns the shortest transform length with enough margin for the exponent p. If there is no such
/// length, returns an error message.
pub fn shortest_length(family: &dyn EngineFamily, p: u32) -> Result<usize, String> {
    safe_lengths(family, p, 1, p as usize)
        .first()
        .copied()
        .ok_or_else(|| format!("{} has no length for M{p}, which is in its range", family.name()))
}

/// Returns a random residue modulo a number; an exponent p stands for M_p.
pub fn residue(rng: &mut Random, number: impl Into<Number>) -> Residue {
    let number = number.into();
    let x: Vec<u64> = (0..number.limbs()).map(|_| rng.random()).collect();
    Residue::from_limbs(number, &x)
}

/// Returns the shifts by 0, 1, p − 1 and a random number of bits, for the exponent p.
pub fn shifts(rng: &mut Random, p: u32) -> [Shift; 4] {
    [0, 1, p - 1, rng.random_range(0..p)].map(|s| Shift::new(s, p))
}

/// Returns named residues modulo M_p whose products are hard for an engine of the given length:
/// carries run through every word, terms cancel, or words are at the ends of their range.
pub fn patterns(rng: &mut Random, p: u32, length: usize) -> Vec<(String, Residue)> {
    let repeated = |limb: u64| Residue::from_limbs(p, &vec![limb; limbs::limbs_for_bits(p)]);
    let mut out: Vec<(String, Residue)> = vec![
        ("0".into(), Residue::from_u64(p, 0)),
        ("1".into(), Residue::from_u64(p, 1)),
        ("2".into(), Residue::from_u64(p, 2)),
        ("2^p − 2".into(), minus(p, 1)),
        ("2^p − 3".into(), minus(p, 2)),
        ("bits 01 repeated".into(), repeated(0x5555_5555_5555_5555)),
        ("bits 10 repeated".into(), repeated(0xAAAA_AAAA_AAAA_AAAA)),
        ("bits 0011 repeated".into(), repeated(0x3333_3333_3333_3333)),
        ("32 ones, 32 zeros repeated".into(), repeated(0xFFFF_FFFF)),
    ];
    for k in boundary_bits(rng, p, length) {
        out.push((format!("2^{k}"), power_of_two(p, k)));
        out.push((format!("2^{k} − 1"), difference(p, &power_of_two(p, k), 1)));
        out.push((format!("−2^{k}"), difference(p, &Residue::from_u64(p, 0), 1).rotated_left(k)));
    }
    out.extend(extreme_words(rng, p, length));
    out
}

/// Returns indices of bits below p: 1, ⌊p/2⌋, p − 1, and bits at, just below or just above the
/// borders of some words and limbs, for a transform of `length` words. The indices are ascending,
/// without duplicates.
fn boundary_bits(rng: &mut Random, p: u32, length: usize) -> Vec<u32> {
    let mut bits = vec![1, p / 2, p - 1, 63 % p, 64 % p];
    if length > 1 {
        let layout = WordLayout::new(p, length);
        for j in [1, length / 2, length - 1, rng.random_range(0..length)] {
            let k = layout.offset(j) as u32;
            bits.extend([k.saturating_sub(1), k, (k + 1) % p]);
        }
    }
    bits.sort_unstable();
    bits.dedup();
    bits
}

/// Returns named residues modulo M_p whose balanced digits, in `length` words, are all at an end of
/// their range. The signs of the digits are equal, alternating or random, so that the sums of a
/// convolution, their cancellation or their signs are extreme. Returns no residues if there is only
/// one word, or if words have more than 30 bits on average.
fn extreme_words(rng: &mut Random, p: u32, length: usize) -> Vec<(String, Residue)> {
    const LARGEST_WORD: f64 = 30.0;
    if length == 1 || f64::from(p) / length as f64 > LARGEST_WORD {
        return vec![];
    }
    let layout = WordLayout::new(p, length);
    // A word of b bits contains a digit from −2^(b−1) to 2^(b−1) − 1.
    let half = |j: usize| (1i32 << layout.bits(j)) / 2;
    let signs: Vec<bool> = (0..length).map(|_| rng.random()).collect();
    let digits = |name: &str, digit: &dyn Fn(usize) -> i32| {
        let d: Vec<i32> = (0..length).map(digit).collect();
        (format!("words at {name}"), layout.residue(&d))
    };
    vec![
        digits("+half − 1", &|j| half(j) - 1),
        digits("−half", &|j| -half(j)),
        digits("±half alternating", &|j| if j % 2 == 0 { half(j) - 1 } else { -half(j) }),
        digits("±half at random", &|j| if signs[j] { half(j) - 1 } else { -half(j) }),
    ]
}

/// Returns the residue 2^k mod M_p for k < p.
fn power_of_two(p: u32, k: u32) -> Residue {
    Residue::from_u64(p, 1).rotated_left(k)
}

/// Returns the residue −v mod M_p.
fn minus(p: u32, v: u64) -> Residue {
    difference(p, &Residue::from_u64(p, 0), v)
}

/// Returns the residue x − v mod M_p.
fn difference(p: u32, x: &Residue, v: u64) -> Residue {
    let v = Residue::from_u64(p, v);
    Residue::from_limbs(p, &limbs::sub_mod(x.limbs(), v.limbs(), p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{CASES, QUICK};
    use crate::oracle::Limbs;
    use warpint_mersenne::engine::fp64::Fp64;

    #[test]
    fn quick_cases_share_their_exponents() {
        let drawn = |count, largest| {
            exponents(&Fp64, Scale::Quick, &mut random(crate::SEED), count, largest)
        };
        let all = drawn(80, Limbs::LARGEST);
        assert!(all.len() <= 7 && all.iter().all(|&p| p <= 12_500), "{all:?}");
        for (count, largest) in [(48, 2), (32, 2), (16, 4), (60, 1)] {
            let some = drawn(count, Limbs::LARGEST / largest);
            assert!(some.iter().all(|p| all.contains(p)), "{some:?} of {all:?}");
        }
        assert!(QUICK.iter().all(|name| CASES.iter().any(|case| case.name == *name)));
        let prime = crate::transforms::prime::CASES;
        let quick = crate::transforms::prime::QUICK;
        assert!(quick.iter().all(|name| prime.iter().any(|(case, _)| case == name)));
    }
}
