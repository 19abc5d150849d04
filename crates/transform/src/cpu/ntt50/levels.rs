//! The loops of transforms of 2^m points, and the steps of 3 or 5 points.
//!
//! # Bounds
//!
//! Let p < 2^50 be the prime. Factors w are within p/2. A product of x and w is exact if |x| ≤ 4p, and
//! is then within p/2 + |x|/8 (`arith::f50`). A reduced element is within p/2 + 2. Sums are exact within
//! 8p.
//!
//! *Forward.* Elements before two levels are within 2p. In x = a ± w·c, a is reduced, and w·c is within
//! 3p/4, so x is within 5p/4 + 2. In the second level, x ± w'·y is within 5p/4 + 2 + p/2 + 5p/32 + 1 <
//! 2p, if y is such a number too. A single level gives 5p/4 + 2.
//!
//! *Inverse.* Elements before two levels are within 17p/16. Sums a + b are reduced. Differences are
//! within 17p/8, so their products with w are within p/2 + 17p/64 < 49p/64. The second level gives sums
//! of two reduced elements, which are within p + 4, reduced sums of two products, differences of reduced
//! elements times w, within p/2 + (p + 4)/8 + 1, and differences of products times w, within p/2 +
//! 49p/256 + 1. All are within 17p/16, because p > 2^46.

use multiversion::multiversion;
use rayon::prelude::*;
use warpint_arith::f50::F50;

use super::tables::Tables;
use crate::parallel::each_part;

/// The number of elements of a loop on one thread.
pub(super) const RUN: usize = 1 << 12;
/// Blocks with fewer elements are transformed on one thread.
const PARALLEL: usize = 1 << 15;
/// The number of elements of a block whose levels are done one after the other.
const LEAF: usize = 256;
/// The number of elements of the last blocks, of which `LANES` are done side by side.
const LAST: usize = 16;
const LANES: usize = 8;

/// Transforms block c of 2^m points in place, with results in bit-reversed order.
pub(super) fn forward(field: &F50, tables: &Tables, x: &mut [f64], c: usize) {
    match x.len() {
        LEAF => forward_leaf(field, &tables.blocks, x, c),
        n if n < LEAF => forward_small(field, &tables.blocks, x, c),
        n => {
            // Two levels, or one if two would pass over the length of a leaf.
            let parts = if n == 2 * LEAF { 2 } else { 4 };
            level(x, parts, &|[a, b, d, e]| {
                if parts == 4 {
                    let w = [c, 2 * c, 2 * c + 1].map(|c| tables.blocks[c]);
                    forward_two(field, w, [a, b, d, e]);
                } else {
                    forward_one(field, tables.blocks[c], a, b);
                }
            });
            let each = |(i, x): (usize, &mut [f64])| forward(field, tables, x, parts * c + i);
            if n >= PARALLEL {
                x.par_chunks_mut(n / parts).enumerate().for_each(each);
            } else {
                x.chunks_mut(n / parts).enumerate().for_each(each);
            }
        }
    }
}

/// The inverse of [`forward`], times 2^m.
pub(super) fn inverse(field: &F50, tables: &Tables, x: &mut [f64], c: usize) {
    match x.len() {
        LEAF => inverse_leaf(field, &tables.blocks, x, c),
        n if n < LEAF => inverse_small(field, &tables.blocks, x, c),
        n => {
            let parts = if n == 2 * LEAF { 2 } else { 4 };
            let each = |(i, x): (usize, &mut [f64])| inverse(field, tables, x, parts * c + i);
            if n >= PARALLEL {
                x.par_chunks_mut(n / parts).enumerate().for_each(each);
            } else {
                x.chunks_mut(n / parts).enumerate().for_each(each);
            }
            level(x, parts, &|[a, b, d, e]| {
                if parts == 4 {
                    let w = [c, 2 * c, 2 * c + 1].map(|c| inverse_root(&tables.blocks, c));
                    inverse_two(field, w, [a, b, d, e]);
                } else {
                    inverse_one(field, inverse_root(&tables.blocks, c), a, b);
                }
            });
        }
    }
}

/// Returns 1/w_c.
#[inline(always)]
fn inverse_root(blocks: &[f64], c: usize) -> f64 {
    if c == 0 { 1.0 } else { -blocks[c ^ ((1 << c.ilog2()) - 1)] }
}

/// Calls `work` with corresponding runs of the two or four parts of x. If there are two parts, the last
/// two runs are empty.
fn level(x: &mut [f64], parts: usize, work: &(dyn Fn([&mut [f64]; 4]) + Sync)) {
    let n = x.len();
    let (low, high) = x.split_at_mut(n / 2);
    if parts == 2 {
        work([low, high, &mut [], &mut []]);
        return;
    }
    let (a, b) = low.split_at_mut(n / 4);
    let (d, e) = high.split_at_mut(n / 4);
    if n < PARALLEL {
        work([a, b, d, e]);
        return;
    }
    let [a, b, d, e] = [a, b, d, e].map(|part| part.par_chunks_mut(RUN));
    a.zip(b).zip(d.zip(e)).for_each(|((a, b), (d, e))| work([a, b, d, e]));
}

/// Two levels, the first with the root w[0] and the second with w[1] and w[2].
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn forward_two(field: &F50, w: [f64; 3], parts: [&mut [f64]; 4]) {
    let [a, b, d, e] = parts;
    let n = a.len();
    let (b, d, e) = (&mut b[..n], &mut d[..n], &mut e[..n]);
    for i in 0..n {
        [a[i], b[i], d[i], e[i]] = two_forward(field, w, [a[i], b[i], d[i], e[i]]);
    }
}

#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn forward_one(field: &F50, w: f64, a: &mut [f64], b: &mut [f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        [*a, *b] = one_forward(field, w, *a, *b);
    }
}

#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn inverse_two(field: &F50, w: [f64; 3], parts: [&mut [f64]; 4]) {
    let [a, b, d, e] = parts;
    let n = a.len();
    let (b, d, e) = (&mut b[..n], &mut d[..n], &mut e[..n]);
    for i in 0..n {
        [a[i], b[i], d[i], e[i]] = two_inverse(field, w, [a[i], b[i], d[i], e[i]]);
    }
}

#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn inverse_one(field: &F50, w: f64, a: &mut [f64], b: &mut [f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        [*a, *b] = one_inverse(field, w, *a, *b);
    }
}

#[inline(always)]
fn one_forward(field: &F50, w: f64, a: f64, b: f64) -> [f64; 2] {
    let (a, b) = (field.reduce(a), field.mul(b, w));
    [a + b, a - b]
}

#[inline(always)]
fn two_forward(field: &F50, w: [f64; 3], [a, b, d, e]: [f64; 4]) -> [f64; 4] {
    let [a, d] = one_forward(field, w[0], a, d);
    let [b, e] = one_forward(field, w[0], b, e);
    let (b, e) = (field.mul(b, w[1]), field.mul(e, w[2]));
    [a + b, a - b, d + e, d - e]
}

#[inline(always)]
fn one_inverse(field: &F50, w: f64, a: f64, b: f64) -> [f64; 2] {
    [field.reduce(a + b), field.mul(a - b, w)]
}

#[inline(always)]
fn two_inverse(field: &F50, w: [f64; 3], [a, b, d, e]: [f64; 4]) -> [f64; 4] {
    let [a, b] = one_inverse(field, w[1], a, b);
    let [d, e] = one_inverse(field, w[2], d, e);
    [a + d, field.reduce(b + e), field.mul(a - d, w[0]), field.mul(b - e, w[0])]
}

/// All levels of block c, one after the other.
fn forward_small(field: &F50, blocks: &[f64], x: &mut [f64], c: usize) {
    let (mut size, mut first) = (x.len(), c);
    while size > 1 {
        for (i, x) in x.chunks_mut(size).enumerate() {
            let (a, b) = x.split_at_mut(size / 2);
            forward_one(field, blocks[first + i], a, b);
        }
        (size, first) = (size / 2, 2 * first);
    }
}

fn inverse_small(field: &F50, blocks: &[f64], x: &mut [f64], c: usize) {
    let (mut size, mut first) = (2, c * x.len() / 2);
    while size <= x.len() {
        for (i, x) in x.chunks_mut(size).enumerate() {
            let (a, b) = x.split_at_mut(size / 2);
            inverse_one(field, inverse_root(blocks, first + i), a, b);
        }
        (size, first) = (size * 2, first / 2);
    }
}

/// The blocks of `LAST` points, point by point: entry [i][lane] is point i of block `lane`.
type Side = [[f64; LANES]; LAST];

/// All levels of a block of `LEAF` points: two times two levels of the whole block, and four levels of
/// its blocks of `LAST` points.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn forward_leaf(field: &F50, blocks: &[f64], x: &mut [f64], c: usize) {
    const { assert!(LEAF == 16 * LAST) };
    let (mut size, mut first) = (LEAF, c);
    while size > LAST {
        for (i, x) in x.chunks_exact_mut(size).enumerate() {
            let c = first + i;
            let w = [blocks[c], blocks[2 * c], blocks[2 * c + 1]];
            let (low, high) = x.split_at_mut(size / 2);
            let ((a, b), (d, e)) = (low.split_at_mut(size / 4), high.split_at_mut(size / 4));
            for i in 0..size / 4 {
                [a[i], b[i], d[i], e[i]] = two_forward(field, w, [a[i], b[i], d[i], e[i]]);
            }
        }
        (size, first) = (size / 4, 4 * first);
    }
    for (i, x) in x.chunks_exact_mut(LANES * LAST).enumerate() {
        let first = first + i * LANES;
        let mut side = turned(x);
        for (level, size) in [(0, 16), (2, 4)] {
            // Blocks of `size` points: 2^level for each lane.
            for part in 0..1 << level {
                let root = |factor: usize, add: usize| -> [f64; LANES] {
                    std::array::from_fn(|lane| {
                        blocks[factor * (((first + lane) << level) + part) + add]
                    })
                };
                let (w0, w1, w2) = (root(1, 0), root(2, 0), root(2, 1));
                for j in 0..size / 4 {
                    let at: [usize; 4] = std::array::from_fn(|k| part * size + k * size / 4 + j);
                    for lane in 0..LANES {
                        let w = [w0[lane], w1[lane], w2[lane]];
                        let points = two_forward(field, w, at.map(|at| side[at][lane]));
                        (0..4).for_each(|k| side[at[k]][lane] = points[k]);
                    }
                }
            }
        }
        turn_back(&side, x);
    }
}

#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn inverse_leaf(field: &F50, blocks: &[f64], x: &mut [f64], c: usize) {
    for (i, x) in x.chunks_exact_mut(LANES * LAST).enumerate() {
        let first = c * (LEAF / LAST) + i * LANES;
        let mut side = turned(x);
        for (level, size) in [(2, 4), (0, 16)] {
            for part in 0..1 << level {
                let root = |factor: usize, add: usize| -> [f64; LANES] {
                    std::array::from_fn(|lane| {
                        let c = factor * (((first + lane) << level) + part) + add;
                        inverse_root(blocks, c)
                    })
                };
                let (w0, w1, w2) = (root(1, 0), root(2, 0), root(2, 1));
                for j in 0..size / 4 {
                    let at: [usize; 4] = std::array::from_fn(|k| part * size + k * size / 4 + j);
                    for lane in 0..LANES {
                        let w = [w0[lane], w1[lane], w2[lane]];
                        let points = two_inverse(field, w, at.map(|at| side[at][lane]));
                        (0..4).for_each(|k| side[at[k]][lane] = points[k]);
                    }
                }
            }
        }
        turn_back(&side, x);
    }
    let (mut size, mut first) = (4 * LAST, 4 * c);
    while size <= LEAF {
        for (i, x) in x.chunks_exact_mut(size).enumerate() {
            let c = first + i;
            let w = [c, 2 * c, 2 * c + 1].map(|c| inverse_root(blocks, c));
            let (low, high) = x.split_at_mut(size / 2);
            let ((a, b), (d, e)) = (low.split_at_mut(size / 4), high.split_at_mut(size / 4));
            for i in 0..size / 4 {
                [a[i], b[i], d[i], e[i]] = two_inverse(field, w, [a[i], b[i], d[i], e[i]]);
            }
        }
        (size, first) = (4 * size, first / 4);
    }
}

#[inline(always)]
fn turned(x: &[f64]) -> Side {
    std::array::from_fn(|i| std::array::from_fn(|lane| x[lane * LAST + i]))
}

#[inline(always)]
fn turn_back(side: &Side, x: &mut [f64]) {
    for (i, row) in side.iter().enumerate() {
        for (lane, value) in row.iter().enumerate() {
            x[lane * LAST + i] = *value;
        }
    }
}

/// Reduces elements to 0 ≤ x < p.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn finish(field: &F50, x: &mut [f64]) {
    for x in x {
        *x = field.nonnegative(*x);
    }
}

/// Multiplies elements by a factor within p/2, with 0 ≤ x < p afterwards.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn scale(field: &F50, x: &mut [f64], factor: f64) {
    for x in x {
        *x = field.nonnegative(field.mul(*x, factor));
    }
}

/// Computes x_i ← −x_i·w_(n − 1 − i) for n elements within p and factors within p/2, with 0 ≤ x_i < p
/// afterwards.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn multiply_back(field: &F50, x: &mut [f64], w: &[f64]) {
    for (x, w) in x.iter_mut().zip(w.iter().rev()) {
        *x = field.nonnegative(-field.mul(*x, *w));
    }
}

/// Transforms of f = 3 or 5 points that are N/f apart, within p. Output u of index j is multiplied by
/// ω^(u·j); results are within p.
pub(super) fn split_odd(field: &F50, tables: &Tables, x: &mut [f64]) {
    let power = 1 << x.len().trailing_zeros();
    if x.len() == 3 * power {
        each_run(x, power, &|first, parts| split_run::<3>(field, tables, power, first, parts));
    } else {
        each_run(x, power, &|first, parts| split_run::<5>(field, tables, power, first, parts));
    }
}

/// The inverse of [`split_odd`], times f, for elements within 17p/16. Results are within 4p.
pub(super) fn join_odd(field: &F50, tables: &Tables, x: &mut [f64]) {
    let power = 1 << x.len().trailing_zeros();
    if x.len() == 3 * power {
        each_run(x, power, &|first, parts| join_run::<3>(field, tables, power, first, parts));
    } else {
        each_run(x, power, &|first, parts| join_run::<5>(field, tables, power, first, parts));
    }
}

/// Calls `work(first, parts)` for runs of indices from `first` on: part u has the points j + power·u of
/// the run.
fn each_run<const F: usize>(
    x: &mut [f64],
    power: usize,
    work: &(dyn Fn(usize, &mut [&mut [f64]; F]) + Sync),
) {
    let run = power.min(RUN);
    let mut parts: Vec<_> = x.chunks_mut(power).map(|part| part.chunks_mut(run)).collect();
    let mut runs: Vec<[&mut [f64]; F]> = vec![];
    for _ in 0..power / run {
        let next = |u: usize| parts[u].next().unwrap_or_default();
        runs.push(std::array::from_fn(next));
    }
    each_part(&mut runs, 1, &|at, parts| parts.iter_mut().for_each(|parts| work(at * run, parts)));
}

#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn split_run<const F: usize>(
    field: &F50,
    tables: &Tables,
    power: usize,
    first: usize,
    parts: &mut [&mut [f64]; F],
) {
    for i in 0..parts[0].len() {
        let points = dft::<F>(field, &tables.short[0], std::array::from_fn(|u| parts[u][i]));
        parts[0][i] = field.reduce(points[0]);
        for u in 1..F {
            let w = tables.odd[(u - 1) * power + first + i];
            parts[u][i] = field.mul(field.reduce(points[u]), w);
        }
    }
}

/// With ω^(−u·j) = ω^(u·(P − j))·ω^(−u·P), where P is `power` and ω^P has order F: the outputs for the
/// factors ω^(u·(P − j)) are those for ω^(−u·j), one place further on.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
fn join_run<const F: usize>(
    field: &F50,
    tables: &Tables,
    power: usize,
    first: usize,
    parts: &mut [&mut [f64]; F],
) {
    for i in 0..parts[0].len() {
        let j = first + i;
        let mut points: [f64; F] = std::array::from_fn(|u| parts[u][i]);
        points[0] = field.reduce(points[0]);
        for (u, point) in points.iter_mut().enumerate().skip(1) {
            let w = if j == 0 { 1.0 } else { tables.odd[u * power - j] };
            *point = field.mul(*point, w);
        }
        let points = dft::<F>(field, &tables.short[1], points);
        for u in 0..F {
            parts[u][i] = points[if j == 0 { u } else { (u + 1) % F }];
        }
    }
}

/// Transforms of F = 3 or 5 points. If the points are within p, results are within 5p; if they are within
/// 3p/4, within 4p.
#[inline(always)]
fn dft<const F: usize>(field: &F50, w: &[f64; 4], x: [f64; F]) -> [f64; F] {
    let mut y = x;
    if F == 3 {
        let (c, d) = (field.mul(x[1] + x[2], w[0]), field.mul(x[1] - x[2], w[1]));
        y[0] = x[0] + x[1] + x[2];
        y[1] = x[0] + c + d;
        y[2] = x[0] + c - d;
    } else {
        let (s, t, d, e) = (x[1] + x[4], x[2] + x[3], x[1] - x[4], x[2] - x[3]);
        let p = x[0] + field.mul(s, w[0]) + field.mul(t, w[1]);
        let q = x[0] + field.mul(s, w[1]) + field.mul(t, w[0]);
        let v = field.mul(d, w[2]) + field.mul(e, w[3]);
        let u = field.mul(d, w[3]) - field.mul(e, w[2]);
        y[0] = x[0] + s + t;
        (y[1], y[2], y[3], y[4]) = (p + v, q + u, q - u, p - v);
    }
    y
}
