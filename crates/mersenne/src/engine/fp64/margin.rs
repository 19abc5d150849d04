//! How long words may be: round-off as a random quantity.
//!
//! The errors of the words of a product behave like Gaussian variables whose
//! deviation is in proportion to the size of the words before rounding. For
//! random digits of β = p/N bits their mean square is N·(4^β·w/12)², w = 3/ln 4
//! the mean square of a weight, so
//!
//! σ = c·2^−53·√(log2 N)·√N·4^β.
//!
//! Percival's worst-case bound (2002) has N in place of √N, and holds for
//! powers of two only: nothing here is proven, and round-off is measured at
//! every product.
use std::f64::consts::{LN_2, PI};

/// c in the formula above for N a power of two.
const DEVIATION: f64 = 0.65;

/// What every odd prime factor of N adds to c.
const DEVIATION_PER_ODD_FACTOR: f64 = 0.1;

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
const ANY_DIGITS_UP_TO: usize = 1024;

/// σ/½ that is still credible in a single product of digits of any pattern.
const PATTERN_SIGMAS: f64 = 7.0;

/// log2 of the allowed over the expected error.
///
/// The allowed one is ½ at z·σ, z such that in N·2^31 words the probability of
/// an error above ½ is 2^−40. Up to 1024 words also the largest digits, all
/// alike, must give words within [`largest_rms`].
pub(super) fn bits(p: u32, n: usize) -> f64 {
    let size = n as f64;
    let z = tail_quantile(size.log2() + PRODUCTS + RELIABILITY);
    let random = (0.5 / (z * deviation(p, n))).log2();
    if n > ANY_DIGITS_UP_TO {
        return random;
    }
    // Digits of 2^b/2 instead of 2^b/√12, adding up instead of cancelling.
    let alike = 3.0 * RANDOM_RMS * size * 4f64.powf(f64::from(p) / size);
    random.min((largest_rms(n) / alike).log2())
}

/// σ for random digits.
fn deviation(p: u32, n: usize) -> f64 {
    let size = n as f64;
    unit_deviation(n) * RANDOM_RMS * size.sqrt() * 4f64.powf(f64::from(p) / size)
}

/// σ for words whose root mean square is 1.
fn unit_deviation(n: usize) -> f64 {
    let odd_factors: u32 = [3, 5, 7].into_iter().map(|q| multiplicity(n, q)).sum();
    let c = DEVIATION + DEVIATION_PER_ODD_FACTOR * f64::from(odd_factors);
    c / RANDOM_RMS * (n as f64).log2().sqrt() * 2f64.powi(-53)
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
pub(super) fn largest_rms(n: usize) -> f64 {
    0.5 / (PATTERN_SIGMAS * unit_deviation(n))
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

    #[test]
    #[ignore = "prints a table"]
    fn calibration() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        println!("N  beta  mean  max  sigma/model");
        for n in [
            8usize,
            10,
            14,
            16,
            30,
            64,
            70,
            128,
            256,
            280,
            1024,
            1080,
            4096,
            5120,
            16384,
            20480,
            32768,
            35840,
            65536,
            98304,
            131072,
            344064,
            393216,
            368640,
            1 << 20,
            1 << 22,
        ] {
            for below in [0.0, 2.0] {
                let mut beta = 25.5 - below - 0.5 * (n as f64).log2();
                if below == 2.0 {
                    beta -= 2.0
                }
                while n as f64 * beta < 64.0 {
                    beta += 0.25
                }
                let beta = beta.min(24.5);
                let p = (n as f64 * (beta - 0.618 / 8.0)) as u32 | 1;
                let mut e = Fp64.build(p, n, BuildOptions { registers: 1, threads: 2 }).unwrap();
                let products = ((1 << 24) / n).clamp(10, 20000);
                let mut ok = 0;
                for _ in 0..products.min(200).max(1) {
                    let x: Vec<u64> =
                        (0..(p as usize).div_ceil(64)).map(|_| rng.random()).collect();
                    e.write(0, &Residue::from_limbs(p, &x), Shift::ZERO).unwrap();
                    if e.square(0, (products as u64).div_ceil(200), Step::Square, Shift::ZERO)
                        .is_ok()
                    {
                        ok += 1
                    }
                }
                let r = e.health().round_off.unwrap();
                let z = tail_quantile((n as f64).log2() + 0.8);
                println!(
                    "{n:8} {beta:6.3} mean {:.5} max {:.5} z {z:.2} c {:.4} ok {ok}",
                    r.mean,
                    r.max,
                    r.mean / z / deviation(p, n)
                );
            }
        }
    }
}
