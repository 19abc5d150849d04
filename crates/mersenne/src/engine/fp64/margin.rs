//! The margin of a transform length: round-off as a random quantity.
//!
//! A residue mod 2^p − 1 has N words of β = p/N bits on average. The errors of the words of a
//! product behave like Gaussian variables. Their standard deviation σ is proportional to the size
//! of the words before rounding. For random digits the mean square of the words is N·(4^β·w/12)²,
//! where w = 3/ln 4 is the mean square of a weight. This gives the formula
//!
//! σ = c·2^−53·√(log2 N)·√N·4^β
//!
//! with a coefficient c that is measured.
//!
//! On a GPU, c was measured at every length of 64K words or more that plans use
//! ([`measured`](super::measured)).
//!
//! On a CPU, c was found by squaring random residues with the transforms of `rustfft`. In the table,
//! *measured/model* is a ratio: the mean over products of the largest error, divided by the largest
//! error expected of N Gaussian errors with the σ of the formula. The engine's own transforms
//! (`transform/tiled`), which are used from 4096 words on where the processor has AVX2, have smaller
//! errors; their ratios are the same with AVX2 and with AVX-512:
//!
//! | N | β at margin 0 | σ | measured/model, `rustfft` | own transforms |
//! |---|---|---|---|---|
//! | 1080 | 21.20 | 0.0483 | 0.65 | |
//! | 4096 | 21.07 | 0.0477 | 0.81 | 0.69 |
//! | 12288 | 20.49 | 0.0472 | 1.00 | 0.57 |
//! | 65536 | 19.95 | 0.0465 | 0.85 | 0.75 |
//! | 98304 | 19.66 | 0.0464 | 0.93 | 0.57 |
//! | 368640 | 18.92 | 0.0459 | 0.89 | 0.42 |
//! | 393216 | 19.11 | 0.0458 | 0.83 | 0.57 |
//! | 1048576 | 18.85 | 0.0455 | 0.92 | 0.77 |
//! | 2211840 | 18.14 | 0.0452 | 0.56 | 0.37 |
//! | 4194304 | 18.31 | 0.0450 | 0.99 | 0.80 |
//!
//! With words three bits shorter the ratio is the same, so the factor 4^β of the formula is right.
//! `cargo test -p warpint-mersenne calibration -- --ignored --nocapture` prints these lines and
//! others. At margin 0 the largest error of a product is about 0.24.
//!
//! The largest errors of products tend to a [`Gumbel`](crate::engine::Gumbel) distribution. The
//! program PRPLL chooses its longest words from the mean and the deviation of this distribution: Z,
//! the distance from the mode to ½ in units of the scale, must be at least 28. A margin of 0 by the
//! formula above agrees with this. Let z_N·σ be the median of the largest of N Gaussian errors; the
//! scale of its distribution is σ/z_N. Margin 0 means ½ = z·σ, where z is the number of standard
//! deviations that [`bits`] requires. So Z = (z − z_N)·z_N, which is 28 to 32 for 64K words and
//! more. With the Gumbel tail, which is exponential, one product in 2^40 then has an error above ½;
//! with the Gaussian tail, one in 2^71.
//!
//! If the mean and the deviation of the largest errors were measured at a length, they also limit
//! its words: Z must be at least ln(1000·p), so that even with the Gumbel tail only one test in a
//! thousand has an error above ½. Suppose that errors were larger by an eighth. With the Gumbel
//! tail, one test in seven would then have an error above ½ at 4M words, and one in four at 32M
//! words. With the Gaussian tail, fewer than one test in 10^9 would have such an error.
//!
//! Thall (2011, §3.1.1) tabulates the longest acceptable words of every length. Percival's
//! worst-case bound (2002) has N in place of √N, and holds for powers of two only. So the margin is
//! not proven. Therefore round-off is measured during a test: on a CPU at every product, on a GPU
//! at some products.

use std::f64::consts::{LN_2, PI};

use super::measured::{self, MeasuredLength};

/// The accuracy of the transforms on one kind of device, given by a coefficient c.
///
/// In a product of residues mod 2^p − 1 with N words of random digits, the errors of words have the
/// standard deviation σ = c·2^−53·√(log2 N)·√N·4^(p/N).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accuracy {
    /// A function that returns the measurement at a transform length; `None` if the length was not
    /// measured.
    measured: fn(usize) -> Option<&'static MeasuredLength>,
    /// The coefficient c of transform lengths that are not multiples of 3, before the increase for
    /// odd prime factors.
    deviation: f64,
    /// The coefficient c of transform lengths that are multiples of 3, before the increase for odd
    /// prime factors.
    of_multiples_of_3: f64,
    /// The increase of c for every odd prime factor of the transform length, counted with
    /// multiplicity.
    per_odd_factor: f64,
}

/// The accuracy of the transforms of `rustfft` on a CPU. The engine's own transforms are more
/// accurate.
pub(crate) const ON_CPU: Accuracy =
    Accuracy { measured: |_| None, deviation: 0.4, of_multiples_of_3: 0.4, per_odd_factor: 0.08 };

/// The accuracy of a whole transform by `rustfft`, as [`form`](super::form) may use it up to 131,072 words.
/// Ratios as in the table above are 0.47 to 1.09 from 4,096 words on, for k = 3, 10223 and 2^20 − 1; with the c
/// of [`ON_CPU`], they would be up to 1.3 for lengths 3·2^a. The engine's own transforms have ratios of 0.33 to
/// 0.75 from 8,192 words on, and of 0.37 to 0.78 to the c of [`ON_CPU`] at longer lengths up to 4,194,304 words
/// (`benches/runs/2026-11-28-epyc-zen4-2core/margins.txt`).
/// `cargo test -p warpint-mersenne --release calibration_of_other_numbers -- --ignored --nocapture` prints them.
pub(crate) const OF_WHOLE: Accuracy = Accuracy { of_multiples_of_3: 0.5, ..ON_CPU };

/// The accuracy of the kernels in `kernels/fp64`.
///
/// The coefficient c was measured at every transform length of 64K words or more that plans use.
/// For any other length, c is the largest c of the lengths of its kind (multiples of 3, or other
/// lengths), rounded up. For the shipped table, 2,000 squarings were measured on an H200 at each of
/// two exponents per length; the table has the exponent with the larger c. The values of c:
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

/// The allowance for other cases: the factor by which c may exceed the c measured at the same
/// transform length. c is the coefficient of [`Accuracy`]. Other cases are other exponents, and
/// transforms divided into other columns, rows and radices.
///
/// The files named here are in the folder `benches/runs/2026-11-21-h200`.
///
/// Seven lengths were divided in 51 ways (runs 2 and later in `fp64-steps.txt`). The largest c was
/// 1.11 times the c of the division that `fp64-lengths.txt` lists for the length. The division with
/// the largest c had a radix of 9 in place of 12.
///
/// In `fp64-round-off.txt`, the values of c of the two exponents of a length differ by up to a
/// factor of 1.14; the table of measurements has the exponent with the larger c.
///
/// Six exponents were measured at each of 27 lengths, in one shape each (`cargo xtask margins
/// --device sim --lengths 1152..8K --squarings 300 --exponents 6 --seed 1`). The largest c of a
/// length was at most 1.11 times the c of its first exponent, and 1.16 times its smallest c.
///
/// If some c exceeded this allowance by another 15 %, the probability of an error above ½ in 2^31
/// products would be 2^−17.
const OTHER_CASES: f64 = 1.12;

impl Accuracy {
    /// Returns the coefficient c of [`Accuracy`] from which the margin of transform length n is
    /// computed. For a measured length, the result is the measured c with an allowance. For any
    /// other length, the result is the c of lengths of the same kind.
    ///
    /// Up to [`ANY_DIGITS_UP_TO`] words, products must be right for digits of any pattern. A c
    /// measured with random digits says nothing about patterns, so these lengths always use the c
    /// of their kind.
    fn coefficient(&self, n: usize) -> f64 {
        self.line(n).map_or_else(|| self.of_kind(n), |line| self.with_other_cases(n, line.c))
    }

    /// Returns the measurement at transform length n. Returns `None` if the length was not
    /// measured.
    ///
    /// Also returns `None` for n ≤ [`ANY_DIGITS_UP_TO`]. The words of these lengths are limited by
    /// the worst patterns of digits, not by random digits.
    fn line(&self, n: usize) -> Option<&'static MeasuredLength> {
        if n > ANY_DIGITS_UP_TO { (self.measured)(n) } else { None }
    }

    /// Returns the measured coefficient `c` with the allowance for other exponents and shapes. The
    /// result is the smaller of 1.12·`c` and [`Self::of_kind`], but at least `c`.
    fn with_other_cases(&self, n: usize, c: f64) -> f64 {
        (OTHER_CASES * c).min(self.of_kind(n)).max(c)
    }

    /// Returns the coefficient c that is assumed for a transform length n that was not measured.
    /// This coefficient depends on whether n is a multiple of 3, and on the number of odd prime
    /// factors of n.
    fn of_kind(&self, n: usize) -> f64 {
        let odd_factors: u32 = [3, 5, 7].into_iter().map(|q| multiplicity(n, q)).sum();
        let of_kind = if n.is_multiple_of(3) { self.of_multiples_of_3 } else { self.deviation };
        of_kind + self.per_odd_factor * f64::from(odd_factors)
    }
}

/// The root mean square of the words of a product of random digits: 3/(12·ln 4), in units of
/// √N·4^(p/N) for N words and the exponent p.
const RANDOM_RMS: f64 = 0.180_337;

/// log2 of the number of products in which rounding must not fail. A test of the largest exponent
/// has fewer products.
const PRODUCTS: f64 = 31.0;

/// −log2 of the allowed probability that some error in 2^31 products exceeds ½.
const RELIABILITY: f64 = 40.0;

/// The transform length, in words, up to which products must be right for all digits, including the
/// worst patterns. Words of these lengths are made short enough for that. This costs little time,
/// because the transforms are short.
pub(crate) const ANY_DIGITS_UP_TO: usize = 1024;

/// The required ratio of ½ to the standard deviation of the errors if digits may have any pattern.
/// If the ratio is smaller, the rounding of a product is not trusted.
const PATTERN_SIGMAS: f64 = 7.0;

/// Returns the margin for the exponent p at transform length n, in bits: log2 of the ratio of the
/// allowed error to the expected error.
///
/// With random digits, the allowed standard deviation of errors is ½/z. The number z is chosen so
/// that, among n·2^31 words, some error exceeds ½ = z standard deviations with probability 2^−40.
///
/// Two other limits may lower the margin. The first applies up to 1024 words: if all digits of both
/// factors of a product have the largest value, the root mean square of its words must be at most
/// [`largest_rms`]. The second applies to longer lengths that were measured: the margin is at most
/// [`MeasuredLength::margin`].
pub(crate) fn bits(p: u32, n: usize, accuracy: Accuracy) -> f64 {
    let bits = bits_of_words(f64::from(p) / n as f64, n, accuracy);
    let line = accuracy.line(n);
    let of_largest = line.and_then(|line| line.margin(p));
    of_largest.map_or(bits, |largest| largest.min(bits))
}

/// Returns [`bits`] for n words of `word` bits on average, without the limit by measured largest errors.
pub(crate) fn bits_of_words(word: f64, n: usize, accuracy: Accuracy) -> f64 {
    let size = n as f64;
    let z = tail_quantile(size.log2() + PRODUCTS + RELIABILITY);
    let random = (0.5 / (z * deviation(word, n, accuracy))).log2();
    if n > ANY_DIGITS_UP_TO {
        return random;
    }
    // All digits are 2^b/2, for words of b bits, instead of 2^b/√12 in the mean, and their products
    // add up instead of cancelling.
    let alike = 3.0 * RANDOM_RMS * size * 4f64.powf(word);
    random.min((largest_rms(n, accuracy) / alike).log2())
}

/// Returns the standard deviation of the errors of words in a product of random digits. n is the
/// number of words, and `word` their mean number of bits.
fn deviation(word: f64, n: usize, accuracy: Accuracy) -> f64 {
    unit_deviation(n, accuracy) * RANDOM_RMS * (n as f64).sqrt() * 4f64.powf(word)
}

/// Returns the standard deviation of the errors of words in a product whose words have the root
/// mean square 1.
fn unit_deviation(n: usize, accuracy: Accuracy) -> f64 {
    accuracy.coefficient(n) / RANDOM_RMS * (n as f64).log2().sqrt() * 2f64.powi(-53)
}

/// Returns the standard deviation that the errors of words in a product of random digits would have
/// if the coefficient c of [`Accuracy`] were 1.
fn deviation_at_1(p: u32, n: usize) -> f64 {
    let size = n as f64;
    (size.log2() * size).sqrt() * 4f64.powf(f64::from(p) / size) * 2f64.powi(-53)
}

/// Returns the coefficient c of [`Accuracy`] that follows from measurements with random digits, for
/// the exponent p and n words. `mean` is the mean over the measured products of the largest error
/// of each product.
pub(crate) fn coefficient_of_mean(p: u32, n: usize, mean: f64) -> f64 {
    mean / (expected_largest(n) * deviation_at_1(p, n))
}

/// Returns the median of the largest magnitude of n Gaussian errors, in units of their standard
/// deviation. A single error exceeds this value with probability ln 2/n.
fn expected_largest(n: usize) -> f64 {
    tail_quantile((n as f64).log2() - LN_2.log2())
}

/// Returns the expected largest error of a product of random digits, in n words of `word` bits on average.
#[cfg(test)]
#[cfg(feature = "sim")]
pub(crate) fn expected_error(word: f64, n: usize, accuracy: Accuracy) -> f64 {
    expected_largest(n) * deviation(word, n, accuracy)
}

/// Returns the exponent of the prime q in the factorisation of n.
fn multiplicity(mut n: usize, q: usize) -> u32 {
    let mut count = 0;
    while n > 0 && n.is_multiple_of(q) {
        n /= q;
        count += 1;
    }
    count
}

/// Returns the largest trusted root mean square of the words of a product. If the words are larger,
/// the rounding of the product is not trusted. At this value, ½ is seven standard deviations of the
/// errors.
///
/// At more than [`ANY_DIGITS_UP_TO`] words, random digits of the longest words that [`bits`] allows
/// give about two thirds of this root mean square. If all digits have the largest value, the root
/// mean square is 3·√n times as large as for random digits, and the errors grow in proportion.
pub(crate) fn largest_rms(n: usize, accuracy: Accuracy) -> f64 {
    0.5 / (PATTERN_SIGMAS * unit_deviation(n, accuracy))
}

/// Returns z with P(|X| > z) = 2^−bits for a Gaussian variable X of deviation 1. Replaces the
/// probability by its leading term √(2/π)·e^(−z²/2)/z, which is larger. So the result is slightly
/// too large, never too small.
fn tail_quantile(bits: f64) -> f64 {
    let target = bits * LN_2;
    (0..50).fold((2.0 * target).sqrt(), |z, _| {
        (2.0 * (target - z.max(0.5).ln()) + (2.0 / PI).ln()).max(0.25).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64::{Fp64, form};
    use crate::engine::{BuildOptions, EngineFamily, Step};
    use crate::{Number, Residue, Shift, Sign};
    use rand::{RngExt, SeedableRng};

    /// Squares random residues on the CPU and takes the mean over products of the largest error.
    /// Returns this mean divided by the value expected of n Gaussian errors with the standard
    /// deviation [`deviation`].
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

    /// Returns the largest exponent p for which transform length n has a margin of at least `least`
    /// bits.
    fn longest(n: usize, least: f64) -> u32 {
        let (mut low, mut high) = (1u32, (25 * n).min(1 << 31) as u32);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if bits(middle, n, ON_CPU) >= least { low = middle } else { high = middle }
        }
        low
    }

    /// Prints the lines of the table in this module's documentation, and lines for other lengths
    /// and for words with a margin of 6 bits.
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
                println!("| {n} | {beta:.3} | {:.2e} | {ratio:.2} |", deviation(beta, n, ON_CPU));
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

    /// Squares random residues modulo k·2^n ± 1, at the largest n with a margin, and compares errors with
    /// the model as [`measured_over_model`] does.
    fn of_form(k: u64, n: usize, sign: Sign, products: u64) -> f64 {
        let number = |exponent| Number::new(k, 2, exponent, sign).unwrap();
        let margin = |e| Fp64.margin_for(number(e), n).map_or(-1.0, |margin| margin.bits);
        let (mut low, mut high) = (n.max(10_000) as u32, 25 * n as u32);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if margin(middle) >= 0.0 { low = middle } else { high = middle }
        }
        let number = number(low);
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(k);
        let mut engine = Fp64.build_for(number, n, BuildOptions::new(1, 2)).unwrap();
        for _ in 0..4 {
            let x: Vec<u64> = (0..number.limbs()).map(|_| rng.random()).collect();
            engine.write(0, &Residue::from_limbs(number, &x), Shift::ZERO).unwrap();
            engine.square(0, products / 4, Step::Square, Shift::ZERO).unwrap();
        }
        let word = (f64::from(low) + (k as f64).log2()) / n as f64;
        let expected = expected_largest(n) * deviation(word, n, form::accuracy(n)) * k as f64;
        let ratio = engine.health().round_off.unwrap().mean / expected;
        println!("| {number} | {n} | {word:.3} | {ratio:.2} |");
        ratio
    }

    #[test]
    fn errors_modulo_other_numbers_follow_the_model() {
        for n in [1024usize, 1080, 5120, 16384, 32_768, 61_440] {
            for k in [1, 3, 10_223, (1 << 20) - 1] {
                for sign in [Sign::Minus, Sign::Plus] {
                    if k > 1 || sign == Sign::Plus {
                        let ratio = of_form(k, n, sign, 64);
                        assert!((0.3..1.1).contains(&ratio), "k = {k}, {n} words: {ratio}");
                    }
                }
            }
        }
    }

    #[test]
    #[ignore = "a minute of measuring; run it with --nocapture for the table"]
    fn calibration_of_other_numbers() {
        let lengths = Fp64.lengths(1 << 12, 1 << 19);
        for n in lengths.into_iter().chain([1 << 20, 2_211_840, 3 << 20, 1 << 22]) {
            for k in [3, 10_223, (1 << 20) - 1] {
                for sign in [Sign::Minus, Sign::Plus] {
                    let ratio = of_form(k, n, sign, ((1 << 24) / n as u64).clamp(16, 4096));
                    assert!(ratio < 1.1, "k = {k}, {n} words: {ratio}");
                }
            }
        }
    }

    #[test]
    fn longest_words() {
        // Within half a bit of the word lengths of a program with its own FFTs (19.4 bits at 384K,
        // 18.34 at 4.5M), and decreasing with the length.
        let beta = |n: usize| f64::from(longest(n, 0.0)) / n as f64;
        assert!((18.9..19.4).contains(&beta(393_216)), "{}", beta(393_216));
        assert!((17.84..18.34).contains(&beta(4_718_592)), "{}", beta(4_718_592));
        let powers: Vec<f64> = (11..=26).map(|k| beta(1 << k)).collect();
        assert!(powers.is_sorted_by(|a, b| a > b), "{powers:?}");
    }

    /// The accuracy of the kernels if no length had been measured.
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
        // Lengths that must be safe for any digits, and a length without a measurement.
        for n in [256, 1024, 35 << 20] {
            assert_eq!(ON_GPU.coefficient(n), OF_KIND.coefficient(n));
        }
    }

    #[test]
    fn c_of_one_case_is_raised_for_others() {
        let c = |n, measured| ON_GPU.with_other_cases(n, measured);
        assert!((c(1 << 20, 0.35) - 0.392).abs() < 1e-12);
        // Limited by the worst c of the kind, and never lowered.
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
