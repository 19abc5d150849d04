//! Digits that make errors large: patterns, and a local search.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::gpu::Line;
use super::super::{Roundings, constant, stages};
use super::factors::scanned_stages;
use super::model::Model;
use super::words::Words;

/// The digits of a pattern: values from −1 to 1 become digits of the largest magnitude, before or
/// after the weights.
fn digits(words: &Words, weighted: bool, value: impl Fn(usize) -> f64) -> Vec<i64> {
    let of = |w: usize| {
        let scale = f64::from(1u32 << (words.bits[w] - 1));
        // The largest weight is below 2, and long words have the smallest weights.
        let weight = if weighted {
            0.5 * f64::from(1u32 << (words.bits[0] - 1)) / words.exact_weights[w]
        } else {
            scale
        };
        (value(w).clamp(-1.0, 1.0) * weight).round() as i64
    };
    (0..words.bits.len()).map(of).collect()
}

fn sign_of(v: f64) -> f64 {
    if v < 0.0 { -1.0 } else { 1.0 }
}

/// Returns named patterns of digits.
fn patterns(words: &Words, rng: &mut ChaCha8Rng) -> Vec<(String, Vec<i64>)> {
    let n = words.bits.len();
    let turn = std::f64::consts::TAU / n as f64;
    let mut all = vec![];
    for weighted in [false, true] {
        let kind = if weighted { "weighted " } else { "" };
        let mut push = |name: &str, value: &dyn Fn(usize) -> f64| {
            all.push((format!("{kind}{name}"), digits(words, weighted, value)));
        };
        push("ones", &|_| 1.0);
        push("minus ones", &|_| -1.0);
        push("alternating", &|w| [1.0, -1.0][w % 2]);
        push("alternating pairs", &|w| [1.0, -1.0][w / 2 % 2]);
        for width in [n / 2, n / 4, n / 8] {
            push(&format!("blocks of {width}"), &|w| [1.0, -1.0][w / width % 2]);
        }
        push("half", &|w| if w < n / 2 { 1.0 } else { 0.0 });
        for k in [1, 3, n / 8, n / 4 + 1, n / 2 - 1] {
            push(&format!("tone {k}"), &|w| (turn * (k * w % n) as f64).cos());
            push(&format!("sign of tone {k}"), &|w| {
                sign_of((turn * (k * w % n) as f64 + 0.1).cos())
            });
        }
        for rate in [0.5, 1.0, 3.7] {
            let phase = |w: usize| rate * turn * 0.5 * (w * w) as f64;
            push(&format!("chirp {rate}"), &|w| phase(w).cos());
            push(&format!("sign of chirp {rate}"), &|w| sign_of(phase(w).cos()));
        }
        push("spike", &|w| if w == 0 { 1.0 } else { 0.0 });
        push("last spike", &|w| if w == n - 1 { 1.0 } else { 0.0 });
        push("two spikes", &|w| if w == 1 || w == n / 2 + 1 { 1.0 } else { 0.0 });
        for i in 0..4 {
            let signs: Vec<f64> = (0..n).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
            push(&format!("random extremes {i}"), &|w| signs[w]);
            let values: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            push(&format!("random {i}"), &|w| values[w]);
        }
    }
    all
}

/// Changes digits one at a time as long as the error grows, for a number of trials.
fn climb(
    model: &Model,
    words: &Words,
    digits: &mut [i64],
    trials: u32,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let mut best = words.error(model, digits);
    for _ in 0..trials {
        let w = rng.random_range(0..digits.len());
        let largest = 1i64 << (words.bits[w] - 1);
        let before = digits[w];
        digits[w] = match rng.random_range(0..4) {
            0 => -before,
            1 => largest,
            2 => -largest,
            _ => rng.random_range(-largest..=largest),
        };
        let error = words.error(model, digits);
        if error > best {
            best = error;
        } else {
            digits[w] = before;
        }
    }
    best
}

/// The result of an attack on a shape.
pub(super) struct Attack {
    pub(super) pattern: String,
    /// The largest error of all patterns, then that of the search, in units of u·‖x‖².
    pub(super) found: [f64; 2],
    /// K by the formula, then by computed factors.
    pub(super) proven: [f64; 2],
}

/// Attacks a shape with words of about `bits` bits.
pub(super) fn attack(column: Line, row: Line, bits: f64, trials: u32) -> Attack {
    let model = Model::new(column, row);
    let n = 2 * model.rows() * model.columns();
    // Without weights for whole bits; else an odd exponent that has no common factor with N.
    let p = (n as f64 * bits) as u64;
    let p = match n.is_multiple_of(11) {
        _ if bits.fract() == 0.0 => p,
        true => p / 2_310 * 2_310 + 13,
        false => p / 210 * 210 + 11,
    };
    let words = Words::new(p, &model);
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let mut best = (String::new(), vec![], 0.0);
    for (name, digits) in patterns(&words, &mut rng) {
        let error = words.error(&model, &digits);
        if error > best.2 {
            best = (name, digits, error);
        }
    }
    let (pattern, mut digits, of_patterns) = best;
    let searched = climb(&model, &words, &mut digits, trials, &mut rng);
    let proven = [stages, scanned_stages]
        .map(|of| constant(&of(column, row), Roundings { rest: 0.0, ..Roundings::GPU }));
    Attack { pattern, found: [of_patterns, searched], proven }
}

#[test]
fn no_digits_reach_the_bound() {
    for (column, row) in [
        ([4, 1, 2], [2, 1, 4]),
        ([2, 2, 4], [4, 2, 2]),
        ([4, 1, 3], [4, 1, 4]),
        ([6, 1, 4], [2, 3, 4]),
        ([4, 2, 2], [2, 7, 2]),
        ([4, 1, 2], [2, 11, 2]),
        ([4, 1, 4], [4, 1, 4]),
    ] {
        let found = attack(column, row, 24.3, 100);
        let [_, least] = found.proven;
        let error = found.found[1];
        assert!(error > 0.3, "{column:?} {row:?}: an error of {error} is none");
        assert!(error < least, "{column:?} {row:?}: {error} > {least}, {}", found.pattern);
    }
}

#[test]
fn the_model_squares() {
    // Relative errors are a few u: every word of the model is the exact one when digits are short.
    for (column, row) in [([4, 1, 2], [2, 1, 4]), ([6, 1, 4], [2, 3, 4]), ([5, 2, 2], [4, 1, 7])] {
        let model = Model::new(column, row);
        let n = 2 * model.rows() * model.columns();
        for p in [n as u64 * 13 + 5, n as u64 * 14] {
            let words = Words::new(p, &model);
            let mut rng = ChaCha8Rng::seed_from_u64(p);
            let digit = |&b: &i32| rng.random_range(-(1i64 << (b - 1))..=1 << (b - 1));
            let digits: Vec<i64> = words.bits.iter().map(digit).collect();
            let rounded: Vec<i64> =
                words.square(&model, &digits).into_iter().map(|v| v.round() as i64).collect();
            assert_eq!(rounded, words.exact_square(&digits), "{column:?} {row:?} M{p}");
        }
    }
}
