//! Rounding and carries word after word, for a transform in one piece.

use multiversion::multiversion;
use rustfft::num_complex::Complex;

use super::{Observed, ROUNDER, Subtrahend};
use crate::layout::{WordLayout, carry_out};

/// Words rounded at a time: few enough for the first-level cache.
const BLOCK: usize = 256;

/// The digits of a product, and its round-off.
///
/// `points` holds words 2i and 2i + 1 as real and imaginary part; `inverse` and
/// `bits` are 1/(a_j·scale) and b_j of every word.
pub(crate) fn release(
    layout: &WordLayout,
    points: &[Complex<f64>],
    inverse: &[f64],
    bits: &[u8],
    subtract: Option<Subtrahend>,
    digits: &mut [i32],
) -> f64 {
    let mut rounded = [0i64; BLOCK];
    let mut total = Observed { largest: 0.0, energy: 0.0, foreign: 0 };
    let mut carry = 0i64;
    let blocks = points.chunks(BLOCK / 2).zip(inverse.chunks(BLOCK));
    let outs = bits.chunks(BLOCK).zip(digits.chunks_mut(BLOCK));
    for (block, ((points, inverse), (bits, digits))) in blocks.zip(outs).enumerate() {
        let rounded = &mut rounded[..digits.len()];
        let seen = round(points, inverse, rounded);
        total.largest = total.largest.max(seen.largest);
        total.energy += seen.energy;
        total.foreign |= seen.foreign;
        if let Some(s) = subtract.filter(|s| s.word / BLOCK == block) {
            rounded[s.word % BLOCK] -= 2 << s.bit;
        }
        carry = chain(rounded, bits, digits, carry);
    }
    layout.wrap_carry(digits, carry);
    total.round_off(layout.len())
}

/// z = round(t), t = y·inverse, for every word.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn round(points: &[Complex<f64>], inverse: &[f64], rounded: &mut [i64]) -> Observed {
    let mut errors = [0.0f64; 8];
    let mut energy = [0.0f64; 8];
    let mut foreign = 0u64;
    let chunks = points.chunks(4).zip(inverse.chunks(8)).zip(rounded.chunks_mut(8));
    for ((points, inverse), rounded) in chunks {
        let mut words = [0.0f64; 8];
        for (pair, z) in words.chunks_exact_mut(2).zip(points) {
            pair[0] = z.re;
            pair[1] = z.im;
        }
        for (i, (&inv, out)) in inverse.iter().zip(rounded).enumerate() {
            let t = words[i] * inv;
            let sum = t + ROUNDER;
            let error = (t - (sum - ROUNDER)).abs();
            errors[i] = if error > errors[i] { error } else { errors[i] };
            energy[i] += t * t;
            let difference = sum.to_bits() ^ ROUNDER.to_bits();
            foreign |= difference;
            *out = sum.to_bits().wrapping_sub(ROUNDER.to_bits()) as i64;
        }
    }
    Observed {
        largest: errors.into_iter().fold(0.0, f64::max),
        energy: energy.into_iter().sum(),
        foreign,
    }
}

/// Digits of the words v_j, with a carry in; returns the carry out.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn chain(rounded: &[i64], bits: &[u8], digits: &mut [i32], mut carry: i64) -> i64 {
    for ((&z, &bits), digit) in rounded.iter().zip(bits).zip(digits) {
        // A foreign word may be anything; its digits are thrown away.
        let v = z.wrapping_add(carry);
        let bits = u32::from(bits) & 63;
        carry = carry_out(v, bits);
        *digit = v.wrapping_sub(carry << bits) as i32;
    }
    carry
}

/// Replaces every digit x_j by f(j, x_j), |f| < 2^62, and carries.
pub(crate) fn map(layout: &WordLayout, digits: &mut [i32], f: impl Fn(usize, i32) -> i64) {
    let mut carry = 0i64;
    for (j, digit) in digits.iter_mut().enumerate() {
        let v = f(j, *digit) + carry;
        let bits = layout.bits(j);
        carry = carry_out(v, bits);
        *digit = (v - (carry << bits)) as i32;
    }
    layout.wrap_carry(digits, carry);
}
