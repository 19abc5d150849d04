//! Vectors for timing transforms, and comparisons of the results.
//!
//! An element of a vector is computed from a seed and its index, so that vectors need not be stored
//! for a comparison.

use std::fmt::Display;
use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use rayon::prelude::*;
use warpint_arith::field::Field;
use warpint_device::Buffer;
use warpint_transform::definition;

use crate::BenchError;

/// The time limit for computing outputs of a row by definition, on all cores. The outputs of the
/// measured transform are compared with these outputs.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time limit for computing a single output by definition, on all cores, if [`PATIENCE`] does
/// not suffice for one output.
const MOST_PATIENCE: Duration = Duration::from_secs(4);
/// The largest number of outputs of a row that are computed by definition.
const OUTPUTS: usize = 3;

/// The number of words of a vector that are downloaded and compared at a time.
const STRETCH: usize = 8 << 20;

/// Returns a pseudorandom 64-bit number that depends on x. The function is a permutation of the
/// 64-bit numbers (Steele, Lea and Flood 2014, *Fast splittable pseudorandom number generators*,
/// figure 16).
pub(crate) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Returns `word(i)` for each index i of a range, computed on all cores. Returns `None` if memory is
/// too short.
pub(crate) fn words<W: Pod + Send>(
    range: Range<usize>,
    word: impl Fn(usize) -> W + Sync,
) -> Option<Vec<W>> {
    const STRETCH: usize = 1 << 14;
    let mut all = vec![];
    all.try_reserve_exact(range.len()).ok()?;
    all.resize(range.len(), W::zeroed());
    all.par_chunks_mut(STRETCH).enumerate().for_each(|(i, stretch)| {
        for (at, to) in stretch.iter_mut().enumerate() {
            *to = word(range.start + i * STRETCH + at);
        }
    });
    Some(all)
}

/// Computes output i of a transform of n elements by definition, on all cores: the sum of x_j·ω^(i·j)
/// over all j, where x_j is `element(j)`, and ω is `root`.
pub(crate) fn output<F: Field>(
    field: &F,
    n: usize,
    root: &F::Element,
    element: impl Fn(usize) -> F::Element + Sync,
    i: usize,
) -> F::Element {
    const MOST: usize = 1 << 16;
    let point = field.pow(root, &[i as u64]);
    let run = n.div_ceil(4 * rayon::current_num_threads()).min(MOST);
    (0..n.div_ceil(run))
        .into_par_iter()
        .map(|part| {
            let from = part * run;
            let x: Vec<_> = (from..n.min(from + run)).map(&element).collect();
            let sum = definition::evaluate(field, &x, &point);
            field.mul(&sum, &field.pow(&point, &[from as u64]))
        })
        .reduce(|| field.zero(), |a, b| field.add(&a, &b))
}

/// Returns the indices of the outputs to compare with the definition, in ascending order, from 0 to
/// `outputs` − 1. There are at most [`OUTPUTS`], and no more than can be computed within
/// [`PATIENCE`]. If a single output takes longer than [`PATIENCE`], one index is returned, or none
/// if the output takes [`MOST_PATIENCE`] or more.
///
/// An output of a transform takes `products` products. The time of a product is measured with the
/// two `factors`. The indices are determined by `seed`.
pub(crate) fn looked_at<F: Field>(
    field: &F,
    factors: [F::Element; 2],
    products: usize,
    outputs: usize,
    seed: u64,
) -> Vec<usize> {
    const TRIES: u32 = 64;
    let begin = Instant::now();
    let [mut x, y] = factors;
    for _ in 0..TRIES {
        x = field.mul(&std::hint::black_box(x), &y);
    }
    std::hint::black_box(x);
    let products = products as f64 / rayon::current_num_threads() as f64;
    let each = begin.elapsed().as_secs_f64() / f64::from(TRIES) * products;
    let count = match (PATIENCE.as_secs_f64() / each.max(1e-12)) as usize {
        0 => usize::from(each < MOST_PATIENCE.as_secs_f64()),
        count => count.min(OUTPUTS),
    };
    let mut all: Vec<usize> =
        (0..count).map(|i| mixed(seed ^ !(i as u64)) as usize % outputs).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns a word of a vector on a device.
///
/// # Panics
/// If the vector has no word `at`.
pub(crate) fn word<W: Pod>(vector: &Buffer<W>, at: usize) -> Result<W, BenchError> {
    Ok(vector.download_part(at..at + 1)?[0])
}

/// Compares the words of a vector on a device with the expected words, range by range. `what` names
/// the vector in the error.
pub(crate) fn compare<W: Pod + PartialEq + Display>(
    found: &Buffer<W>,
    what: &str,
    expected: impl Fn(Range<usize>) -> Result<Vec<W>, BenchError>,
) -> Result<(), BenchError> {
    for from in (0..found.len()).step_by(STRETCH) {
        let part = from..found.len().min(from + STRETCH);
        let expected = expected(part.clone())?;
        let found = found.download_part(part)?;
        if let Some(at) =
            found.iter().zip(&expected).position(|(found, expected)| found != expected)
        {
            let (at, found, expected) = (from + at, found[at], expected[at]);
            let line = format!("{what} is wrong: word {at} is {found}, not {expected}");
            return Err(BenchError::Wrong(line));
        }
    }
    Ok(())
}

/// Returns an error that `what` describes unless a result of the CPU is right.
pub(crate) fn right_on_cpu(
    is_right: bool,
    what: impl FnOnce() -> String,
) -> Result<(), BenchError> {
    if is_right { Ok(()) } else { Err(BenchError::WrongOnCpu(what())) }
}
