//! Blocks of columns. In memory, a block is stored row by row. To transform its columns, a thread
//! copies the block to its working memory, in which each column is contiguous.
//!
//! Let (r, w) be the point in row r and column w of a block of R rows. In memory it is at index
//! r·WIDTH + w of the block. In a thread's copy it is at index w·(R + GAP) + r.

use multiversion::multiversion;
use rustfft::num_complex::Complex;

type C64 = Complex<f64>;

/// The number of columns of a block. A row of a block is then two cache lines.
pub(super) const WIDTH: usize = 8;

/// The number of unused elements after each column in a thread's copy of a block. Without them,
/// columns of 2^k points would fall on the same cache sets.
pub(super) const GAP: usize = 4;

/// Copies a block from `points` in memory to the columns in `block`, and multiplies each point by
/// the conjugate of its twiddle. The twiddle of point (r, w) is `base[r]·step[r·WIDTH + w]`.
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

/// Copies a block from the columns in `block` to `points` in memory, and multiplies each point by
/// its twiddle. The twiddle of point (r, w) is `base[r]·step[r·WIDTH + w]`.
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

/// Copies a block of `rows` rows from `points` in memory to the columns in `block`, without
/// twiddles.
pub(super) fn gather(points: &[C64], rows: usize, block: &mut [C64]) {
    for (r, points) in points.chunks_exact(WIDTH).take(rows).enumerate() {
        for (w, &z) in points.iter().enumerate() {
            block[w * (rows + GAP) + r] = z;
        }
    }
}

/// Copies a block of `rows` rows from the columns in `block` to `points` in memory, without
/// twiddles.
pub(super) fn scatter(block: &[C64], rows: usize, points: &mut [C64]) {
    for (r, points) in points.chunks_exact_mut(WIDTH).take(rows).enumerate() {
        for (w, z) in points.iter_mut().enumerate() {
            *z = block[w * (rows + GAP) + r];
        }
    }
}
