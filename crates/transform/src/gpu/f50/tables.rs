//! Tables of powers of roots of unity modulo a prime p, as `f50_pass.cu` reads them.

use warpint_arith::f50::F50;

use crate::gpu::ntt::{Pass, PassField};

/// The numbers of factors before those of the pass: the roots of blocks, and the constants of
/// transforms of 3 or 5 points.
const ROOTS: usize = 16;
const ODD: usize = 4;

/// Returns root^i for i < count. The absolute values are at most p/2.
pub(super) fn powers(field: &F50, root: f64, count: usize) -> Vec<f64> {
    let powers = std::iter::successors(Some(1.0), |&power| Some(field.mul(power, root)));
    powers.take(count).map(|power| field.factor(power).constants()[0]).collect()
}

/// Returns the tables of a pass: `ROOTS + ODD` factors as pairs w and w/p rounded to nearest, the
/// inner factors as such pairs, and the outer factors. The number of words is even.
pub(super) fn of_pass(field: &F50, pass: &Pass) -> Vec<f64> {
    let [q, a, b] = pass.radices;
    let (inner, length) = (a * b, q * a * b);
    let root = |n: usize| field.root(n, pass.inverse).unwrap_or(1.0);
    let all = powers(field, root(length), length);
    let exponents: Vec<usize> = pass.exponents().collect();
    let factors = blocks(length, &all)
        .into_iter()
        .chain(odd(field, q, &powers(field, root(q), q)))
        .chain(exponents[..inner].iter().map(|&e| all[e]));
    let mut words: Vec<f64> = factors.flat_map(|w| field.factor(w).constants()).collect();
    words.extend(exponents[inner..].iter().map(|&e| all[e]));
    words.resize(words.len().next_multiple_of(2), 0.0);
    words
}

/// Returns the roots w of the blocks of transforms of up to 32 points: w_c = ω^r, where ω has order
/// 32 and r is c < 16 with its four bits in reverse order. Only roots whose order divides `length`
/// are needed; the others are 0. `all` has the powers of the root of order `length`.
fn blocks(length: usize, all: &[f64]) -> [f64; ROOTS] {
    std::array::from_fn(|c| {
        let r = (c as u32).reverse_bits() as usize >> (u32::BITS - 4);
        // ω^r = ω_(length)^(length·r/32).
        let at = length * r;
        if at.is_multiple_of(32) { all[at / 32] } else { 0.0 }
    })
}

/// Returns the constants of transforms of n = 3 or 5 points from the powers of ω, see `f50_pass.cu`.
fn odd(field: &F50, n: usize, w: &[f64]) -> [f64; ODD] {
    // Twice the elements are within p.
    let half = |x: f64| field.mul(x, field.inverse(2.0));
    match n {
        3 => [half(w[1] + w[2]), half(w[1] - w[2]), 0.0, 0.0],
        5 => [half(w[1] + w[4]), half(w[2] + w[3]), half(w[1] - w[4]), half(w[2] - w[3])],
        _ => [0.0; ODD],
    }
}
