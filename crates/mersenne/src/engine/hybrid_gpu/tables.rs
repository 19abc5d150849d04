//! The tables of the kernels: factors of both transforms, and weights.

use warpint_arith::dd::{Dd, exp2_ratio};
use warpint_arith::m31::{self, Gauss, root_of_unity};

use super::Shape;
use super::roots::Root;
use crate::engine::fp64_gpu::tables as fp64;
use crate::engine::gpu::{Line, LineTables, Shape as _};
use crate::layout::WordLayout;

/// The tables that the kernels of a shape read. The order of entries is defined in the source text
/// of the kernels.
pub(super) struct Tables {
    /// The tables for `columns.cu` and `rows.cu`: complex numbers as the bits of two doubles, then
    /// doubled factors of the exact transform, with the real component in the lower half.
    pub(super) lines: LineTables<u64>,
    /// The weights 2^u_w of the words w = 2·j1·C for 0 ≤ j1 < M, each with its inverse. Here C is
    /// the number of columns, and M = A·B for the radices A and B of a column. For the exponent p
    /// and N words, u_w = (−p·w mod N)/N.
    pub(super) row_weights: Vec<fp64::Point>,
    /// The weights a_w = 2^u_w of the words w = 2·j2 for every column j2, each with 1/(n·q·a_w)
    /// for n = N/2 points and q = 2^31 − 1.
    pub(super) column_weights: Vec<fp64::Point>,
    /// The numbers 2^32·u_w, rounded down, first for the words w of `row_weights`, then for those of
    /// `column_weights`. Half of 2^32/N, rounded down, is added to every number of the second
    /// group. Then the exponents modulo 31 of the weights modulo q, in the same order: from 0 to 30
    /// in the first group, from 1 to 31 in the second.
    pub(super) fractions: Vec<u32>,
}

/// The constants of a layout that are passed to the kernels in addition to the tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Words {
    /// The ratio of the weights of successive words, up to a factor of 2: 2^(−(p mod N)/N) for the
    /// exponent p and N words.
    pub(super) ratio: f64,
    /// The inverse of `ratio`: 2^((p mod N)/N) for the exponent p and N words.
    pub(super) inverse_ratio: f64,
    /// The number of bits of a short word, ⌊p/N⌋; a long word has one more.
    pub(super) bits: u32,
    /// 2^32·(p mod N)/N, rounded down. Word w is long exactly if 2^32·u_w is below it.
    pub(super) long_below: u32,
    /// The exponent modulo 31 of a_(w+1)/a_w modulo q for a short word w.
    pub(super) exponent: u32,
}

/// Returns the inverse of N modulo 31: the exponent of 2^(1/N) modulo q = 2^31 − 1.
///
/// # Panics
/// Panics if N is a multiple of 31, which no transform length is.
fn inverse_mod_31(n: u64) -> u64 {
    let exponent = m31::root_of_two(n);
    assert!(exponent.is_some(), "{n} words are a multiple of 31");
    u64::from(exponent.unwrap_or_default())
}

/// Returns ω_n^k for any sign of k.
///
/// # Panics
/// Panics if there is no root of order n.
pub(super) fn unit(k: i64, n: u64) -> Gauss {
    let k = k.rem_euclid(n as i64) as u64;
    let root = root_of_unity(n);
    assert!(root.is_some(), "there is no root of unity of order {n}");
    root.unwrap_or_default().pow(k)
}

/// Returns a factor as the kernels read it: both components doubled.
fn doubled(Gauss { re, im }: Gauss) -> u64 {
    u64::from(2 * re) | u64::from(2 * im) << 32
}

/// Returns the doubled factors ω_n^(sign·i·j) for every i in `outer` and, next to each other, every
/// j < `inner`.
fn powers(outer: std::ops::Range<u32>, inner: u32, n: u64, sign: i64) -> impl Iterator<Item = u64> {
    outer.flat_map(move |i| {
        (0..inner).map(move |j| doubled(unit(sign * i64::from(i) * i64::from(j), n)))
    })
}

/// Returns the doubled factors ω_len^(−b·(kq + Q·ka)) for 0 < b < B and, next to each other, all kq
/// and ka.
fn last_step(line: Line) -> impl Iterator<Item = u64> {
    let Line { q, a, b } = line;
    let len = u64::from(line.len());
    (1..b).flat_map(move |b| {
        (0..q).flat_map(move |kq| {
            (0..a).map(move |ka| doubled(unit(-i64::from(b) * i64::from(kq + q * ka), len)))
        })
    })
}

/// Returns the table of exact factors for `columns.cu`. Column j2 = P·v2 + t has the factors of v2 in transforms of n/P
/// points.
fn exact_columns(shape: &Shape, root: Root) -> Vec<u64> {
    let line = shape.column();
    let Line { q, a, b } = line;
    let [lq, la, lb] = [q, a, b].map(u64::from);
    let parts = u64::from(root.parts);
    let (rows, columns) = (u64::from(shape.rows()), u64::from(shape.columns()) / parts);
    let mut table: Vec<u64> = powers(1..a, q, lq * la, -1).collect();
    table.extend(last_step(line));
    table.extend(powers(1..a, b, la * lb, 1));
    table.extend(powers(1..q, a * b, rows, 1));
    for j2 in 0..columns * parts {
        let v2 = (j2 / parts) as i64;
        let of = |from: u32, to: u32, n: u64| {
            (from..to).map(move |e| doubled(unit(i64::from(e) * v2, n)))
        };
        table.extend(of(1, b, lb * columns));
        table.extend(of(0, a, la * lb * columns));
        table.extend(of(0, q, rows * columns));
    }
    table
}

/// Returns the table of exact factors for `exact_rows.cu`. With parts, q, n and columns are those of a part.
fn exact_rows(shape: &Shape, root: Root) -> Vec<u64> {
    let line = Line { q: shape.row().q / root.parts, ..shape.row() };
    let Line { q, a, b } = line;
    let [lq, la, lb] = [q, a, b].map(u64::from);
    let (rows, columns) = (u64::from(shape.rows()), u64::from(line.len()));
    let n = rows * columns;
    let times = |x: Gauss, by: u32| x.times(Gauss { re: by, im: 0 });
    let scale = m31::inverse(m31::reduce(n));

    let mut table: Vec<u64> = powers(1..a, q, lq * la, -1).collect();
    table.extend(last_step(line));
    let (of_points, last) =
        if root.parts == 1 { (m31::mul(root.h, m31::inverse(4)), 1) } else { (root.h, b) };
    for kb in 0..last {
        for kq in 0..q {
            let k2 = |ka: u32| i64::from(kq + q * (ka + a * kb));
            table.extend((0..a).map(|ka| doubled(times(unit(-k2(ka), columns), of_points))));
        }
    }
    for ka in 0..i64::from(a) {
        table.extend((0..i64::from(b)).map(|b| doubled(times(unit(ka * b, la * lb), scale))));
    }
    table.extend(powers(1..q, a * b, columns, 1));
    // conj(ω_2n)·ω_2n, to the power j2 times twice the frequency k1 or k1 + ½.
    let norm = unit(1, 2 * n).times(unit(1, 2 * n).conjugate());
    for k1 in 0..odd_part(line) {
        let frequency = 2 * k1 + u64::from(root.negacyclic);
        let partner =
            |j2: u64| norm.pow(j2 * frequency).times(unit(-(j2 as i64), columns)).conjugate();
        table.extend((0..columns).map(|j2| doubled(partner(j2))));
    }
    for k1 in 0..=rows as i64 / 2 {
        // Twice the frequency, so roots have twice the order.
        let k1 = 2 * k1 + i64::from(root.negacyclic);
        let of = |from: u32, to: u32, n: u64| {
            (from..to).map(move |e| doubled(unit(-i64::from(e) * k1, 2 * n)))
        };
        table.extend(of(1, q, lq * rows));
        table.extend(of(0, a, lq * la * rows));
        table.extend(of(0, b, n));
    }
    table
}

/// Returns the odd part of the length of a line.
fn odd_part(line: Line) -> u64 {
    u64::from(line.len() >> line.len().trailing_zeros())
}

/// Returns the number of entries of the exact tables for `columns.cu` and `exact_rows.cu` without parts. With parts, there
/// are fewer.
fn exact_points(shape: &Shape) -> [usize; 2] {
    let of_line = |Line { q, a, b }: Line| (a - 1) * q + (b - 1) * q * a + (q - 1) * a * b;
    let (c, r) = (shape.column(), shape.row());
    let odd = odd_part(r) as u32;
    let columns = of_line(c) + (c.a - 1) * c.b + shape.columns() * (c.b - 1 + c.a + c.q);
    let rows = of_line(r)
        + r.q * r.a
        + r.a * r.b
        + odd * shape.columns()
        + (shape.rows() / 2 + 1) * (r.q - 1 + r.a + r.b);
    [columns as usize, rows as usize]
}

/// Returns the size in bytes of the tables of a shape in device memory.
pub(super) fn bytes(shape: &Shape) -> u64 {
    let [columns, rows] = exact_points(shape);
    let exponents = shape.column().a * shape.column().b + shape.columns();
    fp64::bytes(&shape.0) + 8 * (columns + rows) as u64 + 4 * u64::from(exponents)
}

/// Returns the tables of both kinds of factors, from those of complex factors. The number's root decides about parts, and
/// about frequencies k or k + ½.
pub(super) fn lines(
    shape: &Shape,
    complex: LineTables<fp64::Point>,
    root: Root,
) -> LineTables<u64> {
    let both = |complex: Vec<fp64::Point>, exact: Vec<u64>| {
        let complex = complex.into_iter().flatten().map(f64::to_bits);
        complex.chain(exact).collect()
    };
    LineTables {
        columns: both(complex.columns, exact_columns(shape, root)),
        rows: both(complex.rows, exact_rows(shape, root)),
    }
}

impl Tables {
    /// Computes the tables for a layout of N words. The shape must have N/2 points.
    pub(super) fn new(layout: &WordLayout, shape: &Shape) -> Self {
        let complex = fp64::Tables::new(layout, &shape.0);
        let complex = LineTables { columns: complex.columns, rows: complex.rows };
        let columns = u64::from(shape.columns());
        let (n, words) = (u64::from(shape.rows()) * columns, layout.len() as u64);
        let numerator = |w: u64| layout.weight_numerator(w as usize);
        let weight = |w: u64| exp2_ratio(numerator(w), words);
        let scale = Dd::from_u64(n) * Dd::from_u64(u64::from(m31::Q));
        let pair = |v: Dd, scale: Dd| [v.to_f64(), (Dd::ONE / (v * scale)).to_f64()];
        let m = u64::from(shape.column().a * shape.column().b);
        let starts = (0..m).map(|j1| 2 * j1 * columns);
        let firsts = (0..columns).map(|j2| 2 * j2);
        // Half of 2^32/N is added, which is more than the error of rounding, so that different sums
        // stay different.
        let half = (1u64 << 31) / words;
        let fixed = |w: u64| (numerator(w) << 32) / words;
        let inverse = inverse_mod_31(words);
        let exponent = |w: u64| numerator(w) % 31 * inverse % 31;
        Self {
            lines: lines(shape, complex, Root::one(shape.fewest_parts())),
            row_weights: starts.clone().map(|w| pair(weight(w), Dd::ONE)).collect(),
            column_weights: firsts.clone().map(|w| pair(weight(w), scale)).collect(),
            fractions: starts
                .clone()
                .map(fixed)
                .chain(firsts.clone().map(|w| fixed(w) + half))
                .chain(starts.map(exponent))
                .chain(firsts.map(|w| (exponent(w) + 30) % 31 + 1))
                .map(|f| f as u32)
                .collect(),
        }
    }
}

impl Words {
    /// Computes the constants of the words of a layout.
    pub(super) fn new(layout: &WordLayout) -> Self {
        let (p, n) = (u64::from(layout.exponent()), layout.len() as u64);
        let rest = p % n;
        let inverse_ratio = exp2_ratio(rest, n);
        let bits = p / n;
        let drop = p % 31 * inverse_mod_31(n) % 31;
        Self {
            ratio: (Dd::ONE / inverse_ratio).to_f64(),
            inverse_ratio: inverse_ratio.to_f64(),
            bits: bits as u32,
            long_below: ((rest << 32) / n) as u32,
            exponent: ((bits + 31 - drop) % 31) as u32,
        }
    }
}
