//! How long words may be: round-off as a random quantity.
//!
//! The errors of the words of a product behave like Gaussian variables whose
//! deviation is in proportion to the size of the words before rounding. For
//! random digits of β = p/N bits their mean square is N·(4^β·w/12)², w = 3/ln 4
//! the mean square of a weight, so
//!
//! σ = c·2^−53·√(log2 N)·√N·4^β.
//!
//! On a GPU c is measured at every length ([`measured`](super::measured)).
//!
//! On a CPU it was found by squaring random residues with AVX2 and FMA. The
//! mean over products of the largest error, over what N Gaussian errors of this
//! σ give:
//!
//! | N | β at margin 0 | σ | measured/model |
//! |---|---|---|---|
//! | 1080 | 21.20 | 0.0483 | 0.65 |
//! | 4096 | 21.07 | 0.0477 | 0.81 |
//! | 12288 | 20.49 | 0.0472 | 1.00 |
//! | 65536 | 19.95 | 0.0465 | 0.85 |
//! | 98304 | 19.66 | 0.0464 | 0.93 |
//! | 368640 | 18.92 | 0.0459 | 0.89 |
//! | 393216 | 19.11 | 0.0458 | 0.83 |
//! | 1048576 | 18.85 | 0.0455 | 0.92 |
//! | 2211840 | 18.14 | 0.0452 | 0.56 |
//! | 4194304 | 18.31 | 0.0450 | 0.99 |
//!
//! It is the same three bits below the margin: the model has the right power
//! of β. `cargo test -p warpint-mersenne calibration -- --ignored --nocapture`
//! prints the table. At margin 0 the largest error of a product is about 0.24.
//!
//! The largest errors themselves tend to a [`Gumbel`](crate::engine::Gumbel)
//! distribution, from whose mean and deviation PRPLL takes its longest words:
//! ½ has to be Z = 28 widths above the most frequent value. The model agrees:
//! of N Gaussian errors the largest is expected at z_N·σ, with a width of
//! σ/z_N, and margin 0 is ½ = z·σ, so that Z = (z − z_N)·z_N there: 28 to 32
//! from 64K words on. By the Gumbel tail, which is exponential, that is an
//! error in 2^40 products; by the Gaussian one, in 2^71. Where mean and
//! deviation were measured, they have the last word: in the case measured Z must
//! be ln(1000·p) at least, so that even by the Gumbel tail one test in a thousand
//! meets an error. (With errors larger by an eighth it would be one in seven at
//! 4M words and one in four at 32M; by the Gaussian tail none in 10^9.)
//!
//! Thall (2011, §3.1.1) tabulates the longest acceptable words of every length.
//! Percival's worst-case bound (2002) has N in place of √N, and holds for
//! powers of two only: nothing here is proven, and round-off is measured: on a
//! CPU at every product, on a GPU at some.

use std::f64::consts::{LN_2, PI};

use super::measured::{self, MeasuredLength};

/// c in the formula above, for the transforms of one kind of device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accuracy {
    /// What was measured at a length, if it was.
    measured: fn(usize) -> Option<&'static MeasuredLength>,
    /// For N a power of two.
    deviation: f64,
    /// For multiples of 3.
    of_multiples_of_3: f64,
    /// What every odd prime factor of N adds.
    per_odd_factor: f64,
}

/// Of `rustfft`'s transforms.
pub(crate) const ON_CPU: Accuracy =
    Accuracy { measured: |_| None, deviation: 0.4, of_multiples_of_3: 0.4, per_odd_factor: 0.08 };

/// Of the kernels in `kernels/fp64`: measured from 64K words on, and for the others by the worst
/// of their kind. The shipped table's 2,000 squarings at each of two exponents of a length on an
/// H200, of which it keeps the worse, gave for c:
///
/// | odd part of N | 1 | 5 | 7 | 35 | 3 | 15 | 9, 21, 45, 75, 105 |
/// |---|---|---|---|---|---|---|---|
/// | largest c | 0.462 | 0.428 | 0.418 | 0.378 | 0.417 | 0.396 | 0.382 |
/// | mean c | 0.41 | 0.40 | 0.40 | 0.37 | 0.36 | 0.37 | 0.34 |
pub(crate) const ON_GPU: Accuracy = Accuracy {
    measured: measured::line,
    deviation: 0.465,
    of_multiples_of_3: 0.42,
    per_odd_factor: 0.0,
};

/// What c may be at other exponents and of transforms cut in another way, in units of the c
/// measured at the same length.
///
/// Among 51 ways to cut seven lengths (`benches/runs/2026-11-21-h200/fp64-steps.txt`, from run 2
/// on), the largest c was 1.11 times that of the way in `fp64-lengths.txt` there (radix 9 in place
/// of 12). The two exponents of a length in `fp64-round-off.txt` there, of which the table has the
/// worse, differ by up to a factor 1.14. Of six exponents at each of 27 lengths, in one shape, the largest c was 1.11 times
/// that of the first, and 1.16 times the least
/// (`cargo xtask margins --device sim --lengths 1152..8K --squarings 300 --exponents 6 --seed 1`).
///
/// Should a c be larger still by 15 %, an error in 2^31 products has a probability of 2^−17.
const OTHER_CASES: f64 = 1.12;

impl Accuracy {
    /// The c that the margin of a length counts with.
    ///
    /// Words of short transforms that take any digits are as long as patterns allow, of which c
    /// of random digits says nothing: there it is that of the kind.
    fn coefficient(&self, n: usize) -> f64 {
        self.line(n).map_or_else(|| self.of_kind(n), |line| self.with_other_cases(n, line.c))
    }

    /// What was measured at a length at which random digits decide.
    fn line(&self, n: usize) -> Option<&'static MeasuredLength> {
        if n > ANY_DIGITS_UP_TO { (self.measured)(n) } else { None }
    }

    /// c measured in one case, for all cases: 1.12·c, or the worst of the kind if that is less.
    fn with_other_cases(&self, n: usize, c: f64) -> f64 {
        (OTHER_CASES * c).min(self.of_kind(n)).max(c)
    }

    /// The worst c of the lengths of a kind.
    fn of_kind(&self, n: usize) -> f64 {
        let odd_factors: u32 = [3, 5, 7].into_iter().map(|q| multiplicity(n, q)).sum();
        let of_kind = if n.is_multiple_of(3) { self.of_multiples_of_3 } else { self.deviation };
        of_kind + self.per_odd_factor * f64::from(odd_factors)
    }
}

/// 3/(12·ln 4): the root mean square of a word of a product of random digits,
/// in units of √N·4^β.
const RANDOM_RMS: f64 = 0.180_337;

/// log2 of the products for which a length must be good: more than a test of
/// the largest exponents has.
const PRODUCTS: f64 = 31.0;

/// −log2 of the probability that in so many products an error passes ½.
const RELIABILITY: f64 = 40.0;

/// Up to this length words are kept short enough for any digits, however far
/// from random: transforms this short cost nothing.
pub(crate) const ANY_DIGITS_UP_TO: usize = 1024;

/// σ/½ that is still credible in a single product of digits of any pattern.
const PATTERN_SIGMAS: f64 = 7.0;

/// log2 of the allowed over the expected error.
///
/// The allowed one is ½ at z·σ, z such that in N·2^31 words the probability of
/// an error above ½ is 2^−40. Up to 1024 words also the largest digits, all
/// alike, must give words within [`largest_rms`].
pub(crate) fn bits(p: u32, n: usize, accuracy: Accuracy) -> f64 {
    let size = n as f64;
    let z = tail_quantile(size.log2() + PRODUCTS + RELIABILITY);
    let random = (0.5 / (z * deviation(p, n, accuracy))).log2();
    if n > ANY_DIGITS_UP_TO {
        let of_largest = accuracy.line(n).and_then(|line| line.margin(p));
        return of_largest.map_or(random, |bits| bits.min(random));
    }
    // Digits of 2^b/2 instead of 2^b/√12, adding up instead of cancelling.
    let alike = 3.0 * RANDOM_RMS * size * 4f64.powf(f64::from(p) / size);
    random.min((largest_rms(n, accuracy) / alike).log2())
}

/// σ for random digits.
fn deviation(p: u32, n: usize, accuracy: Accuracy) -> f64 {
    let size = n as f64;
    unit_deviation(n, accuracy) * RANDOM_RMS * size.sqrt() * 4f64.powf(f64::from(p) / size)
}

/// σ for words whose root mean square is 1.
fn unit_deviation(n: usize, accuracy: Accuracy) -> f64 {
    accuracy.coefficient(n) / RANDOM_RMS * (n as f64).log2().sqrt() * 2f64.powi(-53)
}

/// σ for random digits and c = 1.
fn deviation_at_1(p: u32, n: usize) -> f64 {
    let size = n as f64;
    (size.log2() * size).sqrt() * 4f64.powf(f64::from(p) / size) * 2f64.powi(-53)
}

/// c, from the mean over products of random digits of the largest error in each.
pub(crate) fn coefficient_of_mean(p: u32, n: usize, mean: f64) -> f64 {
    mean / (expected_largest(n) * deviation_at_1(p, n))
}

/// The median of the largest of N Gaussian errors, in units of σ: the upper tail holds ln 2/N.
fn expected_largest(n: usize) -> f64 {
    tail_quantile((n as f64).log2() - LN_2.log2())
}

/// How often q divides n.
fn multiplicity(mut n: usize, q: usize) -> u32 {
    let mut count = 0;
    while n > 0 && n.is_multiple_of(q) {
        n /= q;
        count += 1;
    }
    count
}

/// The largest root mean square of the words of a product whose rounding is
/// credible: seven deviations are ½.
///
/// Random digits at the longest words that [`bits`] allows have about two
/// thirds of it. Digits that are all alike have √N times as much, and errors in
/// proportion.
pub(crate) fn largest_rms(n: usize, accuracy: Accuracy) -> f64 {
    0.5 / (PATTERN_SIGMAS * unit_deviation(n, accuracy))
}

/// z with P(|X| > z) = 2^−bits for a Gaussian X, by the leading term
/// √(2/π)·e^(−z²/2)/z of its tail (which is above it: z errs upwards).
fn tail_quantile(bits: f64) -> f64 {
    let target = bits * LN_2;
    (0..50).fold((2.0 * target).sqrt(), |z, _| {
        (2.0 * (target - z.max(0.5).ln()) + (2.0 / PI).ln()).max(0.25).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64::Fp64;
    use crate::engine::{BuildOptions, EngineFamily, Step};
    use crate::{Residue, Shift};
    use rand::{RngExt, SeedableRng};

    /// The mean over products of the largest error, in units of what is
    /// expected of N Gaussian errors of the model's σ.
    fn measured_over_model(p: u32, n: usize, products: u64) -> f64 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(u64::from(p));
        let options = BuildOptions::new(1, 2);
        let mut engine = Fp64.build(p, n, options).unwrap();
        let samples = products.min(64);
        for _ in 0..samples {
            let x: Vec<u64> = (0..(p as usize).div_ceil(64)).map(|_| rng.random()).collect();
            engine.write(0, &Residue::from_limbs(p, &x), Shift::ZERO).unwrap();
            engine.square(0, products / samples, Step::Square, Shift::ZERO).unwrap();
        }
        let mean = engine.health().round_off.unwrap().mean;
        coefficient_of_mean(p, n, mean) / ON_CPU.coefficient(n)
    }

    /// The largest p with a margin of at least `bits` at length n.
    fn longest(n: usize, least: f64) -> u32 {
        let (mut low, mut high) = (1u32, (25 * n).min(1 << 31) as u32);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if bits(middle, n, ON_CPU) >= least { low = middle } else { high = middle }
        }
        low
    }

    /// Prints the table of this module's documentation.
    #[test]
    #[ignore = "a minute of measuring; run it with --nocapture for the table"]
    fn calibration() {
        println!("| N | β | model | measured/model |");
        for n in [
            16usize,
            64,
            70,
            256,
            280,
            1024,
            1080,
            4096,
            5120,
            12288,
            16384,
            20480,
            35840,
            65536,
            98304,
            131_072,
            344_064,
            368_640,
            393_216,
            1 << 20,
            2_211_840,
            1 << 22,
        ] {
            for least in [0.0, 6.0] {
                let p = longest(n, least);
                let ratio = measured_over_model(p, n, ((1 << 24) / n as u64).clamp(8, 4096));
                let beta = f64::from(p) / n as f64;
                println!("| {n} | {beta:.3} | {:.2e} | {ratio:.2} |", deviation(p, n, ON_CPU));
                assert!(ratio < 1.1, "{n} words of {beta} bits: {ratio}");
            }
        }
    }

    #[test]
    fn measured_errors_follow_the_model() {
        for (n, least) in [(1024usize, 1.0), (1080, 0.0), (5120, 0.0), (16384, 2.0), (98304, 0.0)] {
            let ratio = measured_over_model(longest(n, least) | 1, n, 64);
            assert!((0.4..1.1).contains(&ratio), "{n} words: {ratio}");
        }
    }

    #[test]
    fn longest_words() {
        // Within half a bit of what a program with its own FFTs ventures (19.4 bits
        // at 384K, 18.34 at 4.5M), and shorter the longer the transform.
        let beta = |n: usize| f64::from(longest(n, 0.0)) / n as f64;
        assert!((18.9..19.4).contains(&beta(393_216)), "{}", beta(393_216));
        assert!((17.84..18.34).contains(&beta(4_718_592)), "{}", beta(4_718_592));
        let powers: Vec<f64> = (11..=26).map(|k| beta(1 << k)).collect();
        assert!(powers.is_sorted_by(|a, b| a > b), "{powers:?}");
    }

    /// The kernels' constants without the table.
    const OF_KIND: Accuracy = Accuracy { measured: |_| None, ..ON_GPU };

    #[test]
    fn measured_margins_are_near_those_of_the_kind() {
        // At most a quarter of a bit less, and at most half a bit more.
        let measured: Vec<usize> = (1 << 16..=1usize << 25)
            .step_by(1 << 10)
            .filter(|&n| measured::line(n).is_some())
            .collect();
        assert!(measured.len() >= 80, "{}", measured.len());
        let gain = |n: &usize| {
            let p = (18 * n) as u32;
            bits(p, *n, ON_GPU) - bits(p, *n, OF_KIND)
        };
        for n in &measured {
            assert!((-0.25..0.5).contains(&gain(n)), "{n}: {}", gain(n));
        }
        assert!(measured.iter().any(|n| gain(n) > 0.05));
        // Not where any digits must do, nor where nothing was measured.
        for n in [256, 1024, 35 << 20] {
            assert_eq!(ON_GPU.coefficient(n), OF_KIND.coefficient(n));
        }
    }

    #[test]
    fn c_of_one_case_is_raised_for_others() {
        let c = |n, measured| ON_GPU.with_other_cases(n, measured);
        assert!((c(1 << 20, 0.35) - 0.392).abs() < 1e-12);
        // No further than the worst of the kind, and never lowered.
        assert_eq!([c(1 << 20, 0.42), c(3 << 20, 0.39)], [0.465, 0.42]);
        assert_eq!([c(1 << 20, 0.47), c(3 << 20, 0.43)], [0.47, 0.43]);
    }

    #[test]
    fn margin_0_of_the_model_is_where_z_is_28_or_more() {
        for n in [1 << 16, 1 << 22, 36 << 20] {
            let z = tail_quantile((n as f64).log2() + PRODUCTS + RELIABILITY);
            let gumbel = (z - expected_largest(n)) * expected_largest(n);
            assert!((27.9..32.1).contains(&gumbel), "{n}: {gumbel}");
        }
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // P(|X| > z): 1/1000 at 3.2905, 1e−9 at 6.1094 (Abramowitz and Stegun, table 26.6).
        for (probability, z) in [(1e-3f64, 3.2905), (1e-9, 6.1094)] {
            let found = tail_quantile(-probability.log2());
            assert!((z..z * 1.02).contains(&found), "{probability}: {found}");
        }
    }
}
