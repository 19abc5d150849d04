//! A block of columns: copied from memory, where it lies row by row, to contiguous columns, and
//! back.
//!
//! In memory a block of R rows holds point (r, w) at r·WIDTH + w; a worker's copy holds it at
//! w·(R + GAP) + r.

use multiversion::multiversion;
use rustfft::num_complex::Complex;

type C64 = Complex<f64>;

/// The number of columns of a block: a row of a block is two cache lines.
pub(super) const WIDTH: usize = 8;

/// The number of unused elements after each column in a worker's copy of a block. Without them,
/// columns of 2^k points would fall on the same cache sets.
pub(super) const GAP: usize = 4;

/// Copies `points` to the columns in `block` and multiplies them by the conjugate twiddles.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
pub(super) fn untwist(points: &[C64], base: &[C64], step: &[C64], block: &mut [C64]) {
    let stride = base.len() + GAP;
    let rows = points.chunks_exact(WIDTH).zip(step.chunks_exact(WIDTH)).zip(base);
    for (r, ((points, step), &base)) in rows.enumerate() {
        for w in 0..WIDTH {
            block[w * stride + r] = points[w] * (base * step[w]).conj();
        }
    }
}

/// Copies the columns in `block` to `points` and multiplies them by the twiddles.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
pub(super) fn twist(block: &[C64], base: &[C64], step: &[C64], points: &mut [C64]) {
    let stride = base.len() + GAP;
    let rows = points.chunks_exact_mut(WIDTH).zip(step.chunks_exact(WIDTH)).zip(base);
    for (r, ((points, step), &base)) in rows.enumerate() {
        for w in 0..WIDTH {
            points[w] = block[w * stride + r] * (base * step[w]);
        }
    }
}

/// Copies `points` to the columns in `block`, without twiddles.
pub(super) fn gather(points: &[C64], rows: usize, block: &mut [C64]) {
    for (r, points) in points.chunks_exact(WIDTH).take(rows).enumerate() {
        for (w, &z) in points.iter().enumerate() {
            block[w * (rows + GAP) + r] = z;
        }
    }
}

/// Copies the columns in `block` to `points`, without twiddles.
pub(super) fn scatter(block: &[C64], rows: usize, points: &mut [C64]) {
    for (r, points) in points.chunks_exact_mut(WIDTH).take(rows).enumerate() {
        for (w, z) in points.iter_mut().enumerate() {
            *z = block[w * (rows + GAP) + r];
        }
    }
}
