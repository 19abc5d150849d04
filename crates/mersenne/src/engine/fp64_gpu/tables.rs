//! The tables of the kernels: factors of the transforms, and weights.

use warpint_arith::dd::{Dd, cos_sin_2pi, exp2_ratio};

use super::line::exponents;
use super::shape::Shape;
use crate::engine::gpu::{Line, LineTables, Shape as _};
use crate::layout::WordLayout;

/// A complex number of the spectrum or of a table, as its real and its imaginary part.
pub(in crate::engine) type Point = [f64; 2];

/// The tables that the kernels of a shape read. The order of entries is defined in the source text
/// of the kernels.
pub(in crate::engine) struct Tables {
    /// The tables for `columns.cu`.
    pub(in crate::engine) columns: Vec<Point>,
    /// The tables for `rows.cu`.
    pub(in crate::engine) rows: Vec<Point>,
    /// The weights 2^u_w of the words w = 2·j1·C for 0 ≤ j1 < M, each with its inverse. Here C is
    /// the number of columns, and M = A·B for the radices A and B of a column. For the exponent p
    /// and N words, u_w = (−p·w mod N)/N.
    pub(super) row_weights: Vec<Point>,
    /// The factors V_w = 2^(p/N + u_w) of the words w = 2·j2 + 1 for every column j2, each with
    /// 1/(n·V_w). For the exponent p and N words, u_w = (−p·w mod N)/N, and n = N/2 is the number
    /// of points.
    pub(super) column_weights: Vec<Point>,
    /// The numbers 2^32·u_w, rounded down, first for the words w of `row_weights`, then for the
    /// words w of `column_weights`. For the exponent p and N words, u_w = (−p·w mod N)/N. Half of
    /// 2^32/N, rounded down, is added to every number of the second group.
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
    /// A bound for 2^32·u_(w+1), where u_w = (−p·w mod N)/N. Word w is long exactly if 2^32·u_(w+1)
    /// is above this bound.
    pub(super) long_above: u32,
    /// A bound for 2^32·u_w, where u_w = (−p·w mod N)/N. Word w is long exactly if 2^32·u_w is
    /// below this bound.
    pub(super) long_below: u32,
}

/// Returns e^(2πik/n) in double-double.
pub(super) fn root(k: u64, n: u64) -> (Dd, Dd) {
    cos_sin_2pi(k % n, n)
}

/// Returns e^(2πik/n), rounded to `f64`.
pub(in crate::engine) fn rounded(k: u64, n: u64) -> Point {
    let (re, im) = root(k, n);
    [re.to_f64(), im.to_f64()]
}

/// Returns e^(2πik/n) − 1, rounded to `f64`.
fn excess(k: u64, n: u64) -> Point {
    let (re, im) = root(k, n);
    [(re - Dd::ONE).to_f64(), im.to_f64()]
}

fn conjugate([re, im]: Point) -> Point {
    [re, -im]
}

/// Returns f(e·i) for every exponent e that [`exponents`] returns for `radix`, and for every
/// i < `count`. The values for the same e are adjacent, in ascending order of i.
fn by_exponent(radix: u32, count: u32, f: impl Fn(u64) -> Point) -> Vec<Point> {
    let f = &f;
    let of = |e: u32| (0..count).map(move |i| f(u64::from(e) * u64::from(i)));
    exponents(radix).into_iter().flat_map(of).collect()
}

/// The frequencies of a transform of n points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Frequencies {
    /// k, of cyclic products.
    Whole,
    /// k + ½, of negacyclic products.
    Halves,
}

impl Frequencies {
    /// Returns twice the frequency with the number k.
    fn doubled(self, k: u64) -> u64 {
        2 * k + u64::from(self == Self::Halves)
    }
}

/// Returns the table of the factors within a line, whose forward transform has the given frequencies. The
/// order of entries is defined in the source text of the kernels.
fn line_table(line: Line, frequencies: Frequencies) -> Vec<Point> {
    let [q, a, b] = [line.q, line.a, line.b].map(u64::from);
    let len = q * a * b;
    let of = |e: u64, k: u64, len: u64| conjugate(rounded(e * frequencies.doubled(k), 2 * len));
    let mut table = vec![];
    for e in exponents(line.a).into_iter().map(u64::from) {
        table.extend((0..q).map(|kq| of(e, kq, q * a)));
    }
    for e in exponents(line.b).into_iter().map(u64::from) {
        let ka_of = |kq: u64| (0..a).map(move |ka| of(e, kq + q * ka, len));
        table.extend((0..q).flat_map(ka_of));
    }
    table.extend(by_exponent(line.a, line.b, |e| rounded(e, a * b)));
    table.extend(by_exponent(line.q, line.a * line.b, |e| rounded(e, len)));
    table
}

/// Returns the number of entries of [`line_table`].
fn line_points(line: Line) -> usize {
    let [q, a, b] = [line.q, line.a, line.b].map(|radix| exponents(radix).len());
    let Line { q: lq, a: la, b: lb } = line;
    a * lq as usize + b * (lq * la) as usize + a * lb as usize + q * (la * lb) as usize
}

/// Returns the number of table entries for one line. If `line` has the radices of a column, these
/// are the factors for each column in the table for `columns.cu`. If it has the radices of a row,
/// they are the factors for each row in the table for `rows.cu`.
fn record_points(line: Line) -> usize {
    [line.q, line.a, line.b].map(|radix| exponents(radix).len()).iter().sum()
}

/// Returns the size in bytes of the tables of a shape in device memory.
pub(in crate::engine) fn bytes(shape: &Shape) -> u64 {
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

/// Returns the tables of the factors of a transform, for `columns.cu` and for `rows.cu`. The order of
/// entries is defined in the source text of the kernels.
pub(in crate::engine) fn of_lines(shape: &Shape, frequencies: Frequencies) -> LineTables<Point> {
    let [rows, columns] = [shape.rows(), shape.columns()].map(u64::from);
    let n = rows * columns;

    let Line { q, a, b } = shape.column;
    let [qa, qb, qq] = [a, b, q].map(exponents);
    let mut of_columns = line_table(shape.column, frequencies);
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
    let mut of_rows = line_table(shape.row, Frequencies::Whole);
    for k1 in 0..rows {
        // Twice the exponents, so that roots have twice the order.
        let list = |exponents: &[u32], f: &dyn Fn(u64) -> Point| -> Vec<Point> {
            let doubled = |&e: &u32| conjugate(f(u64::from(e) * frequencies.doubled(k1)));
            exponents.iter().map(doubled).collect()
        };
        let [q, a] = [q, a].map(u64::from);
        of_rows.extend(list(&eq, &|e| rounded(e, 2 * q * rows)));
        of_rows.extend(list(&ea, &|e| excess(e, 2 * q * a * rows)));
        of_rows.extend(list(&eb, &|e| excess(e, 2 * n)));
    }
    LineTables { columns: of_columns, rows: of_rows }
}

impl Tables {
    /// Computes the tables for a layout of N words. The shape must have N/2 points.
    pub(in crate::engine) fn new(layout: &WordLayout, shape: &Shape) -> Self {
        let columns = u64::from(shape.columns());
        let n = shape.points() as u64;
        let LineTables { columns: of_columns, rows: of_rows } = of_lines(shape, Frequencies::Whole);

        let words = layout.len() as u64;
        let fraction = |w: u64| layout.weight_numerator(w as usize);
        let weight = |w: u64| exp2_ratio(fraction(w), words);
        // 2^(p/N), divided by a power of 2, in double-double.
        let p = u64::from(layout.exponent());
        let base = exp2_ratio(p % words, words).scaled(2f64.powi((p / words) as i32));
        let scale = Dd::from_u64(n);
        let m = u64::from(shape.column.a * shape.column.b);
        let starts = (0..m).map(|j1| 2 * j1 * columns);
        let firsts = (0..columns).map(|j2| 2 * j2 + 1);
        let pair = |v: Dd, scale: Dd| [v.to_f64(), (Dd::ONE / (v * scale)).to_f64()];
        // Half of 2^32/N is added, which is more than the error of rounding, so that different sums
        // stay different.
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
    /// Computes the constants of the words of a layout.
    pub(super) fn new(layout: &WordLayout) -> Self {
        let (p, n) = (u64::from(layout.exponent()), layout.len() as u64);
        let rest = p % n;
        let inverse_ratio = exp2_ratio(rest, n);
        let fixed = |f: u64| (f << 32) / n;
        Self {
            ratio: (Dd::ONE / inverse_ratio).to_f64(),
            inverse_ratio: inverse_ratio.to_f64(),
            bits: (p / n) as u32,
            // 2^32 − 1 for a remainder of 0: no word is long.
            long_above: (fixed(n - rest) - 1) as u32,
            long_below: fixed(rest) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exponents p, each with a transform length. Two of the exponents are multiples of their
    /// length.
    const LAYOUTS: [(u32, usize); 8] = [
        (4_423, 256),
        (4_096, 256),
        (6_003, 384),
        (13_313, 640),
        (21_701, 1_344),
        (44_497, 2_304),
        (86_243, 7_168),
        (81_920, 4_096),
    ];

    /// Returns every 61st shape of a transform length.
    fn shapes(n: usize) -> Vec<Shape> {
        let all = Shape::all(n, 227 << 10);
        assert!(!all.is_empty(), "{n}");
        all.into_iter().step_by(61).collect()
    }

    #[test]
    fn the_bytes_told_are_those_of_the_tables() {
        for (p, n) in LAYOUTS {
            let layout = WordLayout::new(p, n);
            for shape in shapes(n) {
                let Tables { columns, rows, row_weights, column_weights, fractions } =
                    Tables::new(&layout, &shape);
                let points: usize =
                    [columns, rows, row_weights, column_weights].iter().map(Vec::len).sum();
                let all = size_of::<Point>() * points + size_of::<u32>() * fractions.len();
                assert_eq!(bytes(&shape), all as u64, "{shape}");
            }
        }
    }

    /// The weights and lengths of the two words of a point j, as `Weights` in `columns.cu` computes
    /// them from the tables.
    struct Weighed {
        /// The factors V_w = 2^(p/N + u_w) for w = 2j + 1 and w = 2j + 2, where u_w = (−p·w mod
        /// N)/N for the exponent p and N words.
        forward: [f64; 2],
        /// Whether the words 2j and 2j + 1 have one bit more than the short words.
        long: [bool; 2],
    }

    /// Computes the weights and lengths for the point in row i·M + m and column `column`, as
    /// `columns.cu` does. M = A·B for the radices A and B of a column.
    fn weighed(
        p: u32,
        shape: &Shape,
        tables: &Tables,
        words: &Words,
        [i, m, column]: [usize; 3],
    ) -> Weighed {
        let (q, of_rows) = (u64::from(shape.column.q), tables.row_weights.len());
        let halved_if = |v: f64, so: bool| if so { 0.5 * v } else { v };
        let start = tables.fractions[m];
        let fraction = start.wrapping_add(tables.fractions[of_rows + column]);
        let product = tables.row_weights[m][0] * tables.column_weights[column][0];
        let first = halved_if(product, fraction < start);
        let numerator = (q - u64::from(p) % q * i as u64 % q) % q;
        let f = fraction.wrapping_add(((numerator << 32) / q) as u32);
        let v = first * exp2_ratio(numerator, q).to_f64();
        let v = halved_if(v, numerator > 0 && f < fraction);
        let long = [f > words.long_above, f < words.long_below];
        let next = v * words.ratio * if long[1] { 2.0 } else { 1.0 };
        Weighed { forward: [v, next], long }
    }

    /// Checks, for every point j of `points`, that the computed weights and lengths of the words 2j
    /// and 2j + 1 are those of the layout.
    fn check_words(layout: &WordLayout, shape: &Shape, points: impl Iterator<Item = usize>) {
        let (p, n) = (layout.exponent(), layout.len());
        let (words, tables) = (Words::new(layout), Tables::new(layout, shape));
        assert_eq!(u64::from(words.bits), u64::from(p) / n as u64);
        // V_w = 2^(p/N + u_w).
        let weight = |w: usize| {
            let numerator = layout.weight_numerator(w % n);
            ((f64::from(p) + numerator as f64) / n as f64).exp2()
        };
        let (columns, m_count) = (shape.columns() as usize, tables.row_weights.len());
        for j in points {
            let (row, column) = (j / columns, j % columns);
            let at = [row / m_count, row % m_count, column];
            let found = weighed(p, shape, &tables, &words, at);
            for half in [0, 1] {
                let w = 2 * j + half;
                let is_long = layout.bits(w) > words.bits;
                assert_eq!(found.long[half], is_long, "M{p}, {shape}, word {w}");
                let ratio = found.forward[half] / weight(w + 1);
                assert!((ratio - 1.0).abs() < 1e-14, "M{p}, {shape}, word {w}: {ratio}");
            }
        }
    }

    #[test]
    fn fractions_tell_long_words_and_wrapped_weights() {
        for (p, n) in LAYOUTS {
            for shape in shapes(n) {
                check_words(&WordLayout::new(p, n), &shape, 0..n / 2);
            }
        }
    }

    #[test]
    fn fractions_of_the_most_words_are_told_apart() {
        let (p, n) = (641_234_567, 36 << 20);
        let layout = WordLayout::new(p, n);
        let rest = u64::from(p) % n as u64;
        // Where a word becomes long, or a weight wraps around.
        let at_a_border = |w: usize| {
            let u = layout.weight_numerator(w % n);
            [0, rest, n as u64 - rest, n as u64].into_iter().any(|border| u.abs_diff(border) <= 2)
        };
        let points = (0..n / 2).filter(|&j| j % 4_099 == 0 || (2 * j..2 * j + 3).any(at_a_border));
        let shape = Shape::all(n, 227 << 10)[0];
        check_words(&layout, &shape, points);
    }
}
