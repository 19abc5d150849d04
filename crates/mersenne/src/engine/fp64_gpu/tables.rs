//! The tables of the kernels: factors of the transforms, and weights.

use warpint_arith::dd::{Dd, cos_sin_2pi, exp2_ratio};

use super::line::{Line, exponents};
use super::shape::Shape;
use crate::layout::WordLayout;

/// A point of a table: real and imaginary part.
pub(super) type Point = [f64; 2];

/// What the kernels of a shape read. The order within each list is that of the kernels' own text.
pub(super) struct Tables {
    /// For `columns.cu`.
    pub(super) columns: Vec<Point>,
    /// For `rows.cu`.
    pub(super) rows: Vec<Point>,
    /// V_(2·j1·C)/V_0 for j1 < M, and its inverse.
    pub(super) row_weights: Vec<Point>,
    /// V_(2·j2 + 1), and 1/(n·V_(2·j2 + 1)).
    pub(super) column_weights: Vec<Point>,
    /// u_w times 2^32 for w = 2·j1·C, j1 < M, and for w = 2·j2 + 1.
    pub(super) fractions: Vec<u32>,
}

/// What the kernels are told of a plan's words, beside the tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Words {
    /// 2^(−(p mod N)/N).
    pub(super) ratio: f64,
    /// 2^((p mod N)/N).
    pub(super) inverse_ratio: f64,
    /// ⌊p/N⌋.
    pub(super) bits: u32,
    /// A word w is long if u_(w+1) times 2^32 is above this …
    pub(super) long_above: u32,
    /// … and if u_w times 2^32 is below this.
    pub(super) long_below: u32,
}

/// e(k/n) = e^(2πik/n) in double-double.
fn root(k: u64, n: u64) -> (Dd, Dd) {
    cos_sin_2pi(k % n, n)
}

/// e(k/n), rounded.
fn rounded(k: u64, n: u64) -> Point {
    let (re, im) = root(k, n);
    [re.to_f64(), im.to_f64()]
}

/// e(k/n) − 1, rounded.
fn excess(k: u64, n: u64) -> Point {
    let (re, im) = root(k, n);
    [(re - Dd::ONE).to_f64(), im.to_f64()]
}

fn conjugate([re, im]: Point) -> Point {
    [re, -im]
}

/// For every exponent e that a transform of `radix` points asks for, f(e, i) for i < count.
fn by_exponent(radix: u32, count: u32, f: impl Fn(u64) -> Point) -> Vec<Point> {
    let f = &f;
    let of = |e: u32| (0..count).map(move |i| f(u64::from(e) * u64::from(i)));
    exponents(radix).into_iter().flat_map(of).collect()
}

/// The tables within a line, whose places the kernels name.
fn line_table(line: Line) -> Vec<Point> {
    let [q, a, b] = [line.q, line.a, line.b].map(u64::from);
    let len = q * a * b;
    let mut table = by_exponent(line.a, line.q, |e| conjugate(rounded(e, q * a)));
    for e in exponents(line.b).into_iter().map(u64::from) {
        let ka_of = |kq: u64| (0..a).map(move |ka| conjugate(rounded(e * (kq + q * ka), len)));
        table.extend((0..q).flat_map(ka_of));
    }
    table.extend(by_exponent(line.a, line.b, |e| rounded(e, a * b)));
    table.extend(by_exponent(line.q, line.a * line.b, |e| rounded(e, len)));
    table
}

/// Points of `line_table`.
fn line_points(line: Line) -> usize {
    let [q, a, b] = [line.q, line.a, line.b].map(|radix| exponents(radix).len());
    let Line { q: lq, a: la, b: lb } = line;
    a * lq as usize + b * (lq * la) as usize + a * lb as usize + q * (la * lb) as usize
}

/// Points of a record of a column or a row.
fn record_points(line: Line) -> usize {
    [line.q, line.a, line.b].map(|radix| exponents(radix).len()).iter().sum()
}

/// Bytes of the tables of a shape.
pub(super) fn bytes(shape: &Shape) -> u64 {
    let (rows, columns) = (shape.rows() as usize, shape.columns() as usize);
    let m = (shape.column.a * shape.column.b) as usize;
    let points = line_points(shape.column)
        + columns * record_points(shape.column)
        + line_points(shape.row)
        + rows * record_points(shape.row)
        + m
        + columns;
    (size_of::<Point>() * points + size_of::<u32>() * (m + columns)) as u64
}

impl Tables {
    /// For a layout of N words; N must be twice the shape's points.
    pub(super) fn new(layout: &WordLayout, shape: &Shape) -> Self {
        let [rows, columns] = [shape.rows(), shape.columns()].map(u64::from);
        let n = rows * columns;

        let Line { q, a, b } = shape.column;
        let [qa, qb, qq] = [a, b, q].map(exponents);
        let mut of_columns = line_table(shape.column);
        for j2 in 0..columns {
            let list = |exponents: &[u32], f: &dyn Fn(u64) -> Point| -> Vec<Point> {
                exponents.iter().map(|&e| f(u64::from(e) * j2)).collect()
            };
            let [a, b] = [a, b].map(u64::from);
            of_columns.extend(list(&qb, &|e| rounded(e, b * columns)));
            of_columns.extend(list(&qa, &|e| excess(e, a * b * columns)));
            of_columns.extend(list(&qq, &|e| excess(e, n)));
        }

        let Line { q, a, b } = shape.row;
        let [eq, ea, eb] = [q, a, b].map(exponents);
        let mut of_rows = line_table(shape.row);
        for k1 in 0..rows {
            let list = |exponents: &[u32], f: &dyn Fn(u64) -> Point| -> Vec<Point> {
                exponents.iter().map(|&e| conjugate(f(u64::from(e) * k1))).collect()
            };
            let [q, a] = [q, a].map(u64::from);
            of_rows.extend(list(&eq, &|e| rounded(e, q * rows)));
            of_rows.extend(list(&ea, &|e| excess(e, q * a * rows)));
            of_rows.extend(list(&eb, &|e| excess(e, n)));
        }

        let words = layout.len() as u64;
        let fraction = |w: u64| layout.weight_numerator(w as usize);
        let weight = |w: u64| exp2_ratio(fraction(w), words);
        // 2^(p/N), a power of 2 apart in double-double.
        let p = u64::from(layout.exponent());
        let base = exp2_ratio(p % words, words).scaled(2f64.powi((p / words) as i32));
        let scale = Dd::from_u64(n);
        let m = u64::from(shape.column.a * shape.column.b);
        let starts = (0..m).map(|j1| 2 * j1 * columns);
        let firsts = (0..columns).map(|j2| 2 * j2 + 1);
        let pair = |v: Dd, scale: Dd| [v.to_f64(), (Dd::ONE / (v * scale)).to_f64()];
        // Half of 2^32/N more than rounding takes off: no two sums that differ are confused.
        let half = (1u64 << 31) / words;
        let fixed = |w: u64| (fraction(w) << 32) / words;
        Self {
            columns: of_columns,
            rows: of_rows,
            row_weights: starts.clone().map(|w| pair(weight(w), Dd::ONE)).collect(),
            column_weights: firsts.clone().map(|w| pair(weight(w) * base, scale)).collect(),
            fractions: starts
                .map(fixed)
                .chain(firsts.map(|w| fixed(w) + half))
                .map(|f| f as u32)
                .collect(),
        }
    }
}

impl Words {
    /// For a layout.
    pub(super) fn new(layout: &WordLayout) -> Self {
        let (p, n) = (u64::from(layout.exponent()), layout.len() as u64);
        let rest = p % n;
        let inverse_ratio = exp2_ratio(rest, n);
        let fixed = |f: u64| (f << 32) / n;
        Self {
            ratio: (Dd::ONE / inverse_ratio).to_f64(),
            inverse_ratio: inverse_ratio.to_f64(),
            bits: (p / n) as u32,
            // N for a rest of 0: no word is long.
            long_above: (fixed(n - rest) - 1) as u32,
            long_below: fixed(rest) as u32,
        }
    }
}
