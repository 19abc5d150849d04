//! The tables of the kernels: twiddles and weights. They are stored as short lists. The kernels
//! obtain all other factors as products of entries of two lists.

use super::shape::Shape;
use crate::engine::gpu::{Line, Shape as _};
use crate::layout::WordLayout;
use warpint_arith::goldilocks::{
    NoRoot, halve, inverse, mul, mul_pow2, neg, nth_root_of_two, pow, root_of_unity,
};

/// The tables that the kernels of a shape read. The order of entries is defined in the source text
/// of the kernels.
pub(super) struct Tables {
    /// The tables for `columns.cu`.
    pub(super) columns: Vec<u64>,
    /// The tables for `rows.cu`.
    pub(super) rows: Vec<u64>,
    /// The numerators u_j = −p·j mod N of the exponents of the weights 2^(u_j/N), for N words and
    /// the exponent p. The first entries are for the first word j of every row. The other entries
    /// are for the words j of row 0 in the first column of every tile.
    pub(super) fractions: Vec<u32>,
}

/// The length of the first of two lists of powers of a number ω. The first list contains ω^i for
/// i < FINE, and the second contains powers of ω^FINE. Every power of ω that the kernels need is
/// the product of one entry of each list.
const FINE: u64 = 8;

/// Returns the size in bytes of the tables of a shape in device memory.
pub(super) fn bytes(shape: &Shape) -> u64 {
    let [rows, columns] = [shape.rows(), shape.columns()].map(u64::from);
    let line = |line: Line| u64::from(2 * line.a * line.b + 2 * line.len());
    let steps = u64::from(shape.column.q * shape.column.a);
    let twists = 2 * columns * (FINE + steps.div_ceil(FINE) + 2);
    let words = line(shape.column) + line(shape.row) + 4 * rows + twists;
    8 * words + 4 * (rows + u64::from(shape.tiles()))
}

/// Iterates over a list from which kernels compute the factors between columns and rows. The list
/// is for one column and one direction of the transform. With ω = `omega`, it contains ω^i for
/// i < 8; then `constant`·ω^(8·i) for 8·i < `steps`; then ω^`steps`; and then ω^(`steps`·`power`).
fn twist(omega: u64, constant: u64, steps: u64, power: u64) -> impl Iterator<Item = u64> {
    let coarse = powers(pow(omega, FINE)).map(move |x| mul(constant, x));
    let root = pow(omega, steps);
    powers(omega)
        .take(FINE as usize)
        .chain(coarse.take(steps.div_ceil(FINE) as usize))
        .chain([root, pow(root, power)])
}

impl Tables {
    /// Computes the tables for a layout. The shape must be for as many words as the layout has.
    ///
    /// # Errors
    /// Returns an error if 2 has no N-th root, or the field has no N-th root of unity, where N is
    /// the number of words.
    pub(super) fn new(layout: &WordLayout, shape: &Shape) -> Result<Self, NoRoot> {
        let two = nth_root_of_two(layout.len() as u64)?;
        // 2^(u/N) for u = −p·j mod N.
        let weight = |j: usize| pow(two, layout.weight_numerator(j));
        let (rows, columns) = (shape.rows() as usize, shape.columns() as usize);
        let fractions = (0..rows)
            .map(|j1| j1 * columns)
            .chain((0..columns).step_by(shape.width as usize))
            .map(|j| layout.weight_numerator(j) as u32)
            .collect();
        Self::with_weights(shape, weight, fractions)
    }

    /// Computes the tables of negacyclic products. The weight of word j is ψ^j for a root ψ of −1 of the
    /// order N, where N is the number of words. There are no fractions.
    ///
    /// # Errors
    /// Returns an error if the field has no root of unity of the order 2N.
    pub(super) fn negacyclic(shape: &Shape) -> Result<Self, NoRoot> {
        let root = Roots::of(2 * shape.points() as u64)?;
        Self::with_weights(shape, |j| root.power(j as u64), vec![])
    }

    /// Computes the tables with the given weights of the words j1·C of the first column and j2 of the first
    /// row, where C is the number of columns. A kernel multiplies the two weights, and halves the product if
    /// the sum of the fractions of the two words exceeds N.
    fn with_weights(
        shape: &Shape,
        weight: impl Fn(usize) -> u64,
        fractions: Vec<u32>,
    ) -> Result<Self, NoRoot> {
        let n = shape.points() as u64;
        let root = Roots::of(n)?;
        let (rows, columns) = (shape.rows() as usize, shape.columns() as usize);
        let reciprocal = |x: u64| pow(x, u64::MAX - u64::from(u32::MAX) - 1);

        let mut list = line_twiddles(shape.column)?;
        for half_of_row in (0..rows).map(|j1| halve(weight(j1 * columns))) {
            list.extend([half_of_row, neg(mul_pow2(half_of_row, 31))]);
        }
        for j1 in 0..rows {
            let of_row = reciprocal(weight(j1 * columns));
            list.extend([of_row, mul(of_row, 2)]);
        }
        let steps = u64::from(shape.column.q * shape.column.a);
        let group = u64::from(shape.column.b / 4);
        let scale = reciprocal(n);
        for j2 in 0..columns {
            let of_column = weight(j2);
            let forward = root.power(j2 as u64);
            list.extend(twist(forward, of_column, steps, group));
            let inverse = root.power_of_inverse(j2 as u64);
            list.extend(twist(inverse, mul(scale, reciprocal(of_column)), steps, 4));
        }
        Ok(Self { columns: list, rows: line_twiddles(shape.row)?, fractions })
    }
}

/// Returns (ω + ω^4)/2, (ω^2 + ω^3)/2, (ω − ω^4)/2 and (ω^2 − ω^3)/2, where ω is a fifth root of
/// unity of the field. Returns `None` if the field has no such root.
pub(super) fn fifth_root_constants() -> Option<[u64; 4]> {
    use warpint_arith::goldilocks::{add, sub};
    let omega = root_of_unity(5)?;
    let half = inverse(2)?;
    let [w1, w2, w3, w4] = [1, 2, 3, 4].map(|e| pow(omega, e));
    Some([add(w1, w4), add(w2, w3), sub(w1, w4), sub(w2, w3)].map(|x| mul(x, half)))
}

/// The powers of an n-th root of unity ω of the field, and of its inverse.
struct Roots {
    n: u64,
    omega: u64,
}

impl Roots {
    fn of(n: u64) -> Result<Self, NoRoot> {
        // n divides q − 1 for the lengths used here.
        let omega = root_of_unity(n).ok_or(NoRoot::NotAPower { n, gcd: 0 })?;
        Ok(Self { n, omega })
    }

    fn power(&self, e: u64) -> u64 {
        pow(self.omega, e % self.n)
    }

    fn power_of_inverse(&self, e: u64) -> u64 {
        self.power(self.n - e % self.n)
    }
}

/// Iterates over the powers 1, x, x², …
fn powers(x: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1), move |&y| Some(mul(y, x)))
}

/// Returns the twiddles within a line of radices Q, A and B. They are four lists: ω_M^(b·ka) at
/// `[b][ka]`, ω_M^(−b·ka) at `[ka][b]`, ω_L^(kq·m) at `[m][kq]`, and ω_L^(−kq·m) at `[kq][m]`. The
/// last index varies fastest. ω_M and ω_L are roots of unity of order M = A·B and L = Q·M.
fn line_twiddles(line: Line) -> Result<Vec<u64>, NoRoot> {
    let (a, b, m) = (u64::from(line.a), u64::from(line.b), u64::from(line.a * line.b));
    let (inner, whole) = (Roots::of(m)?, Roots::of(u64::from(line.len()))?);
    let outer = u64::from(line.q);
    let grid = |n: u64, k: u64| (0..n).flat_map(move |i| (0..k).map(move |j| i * j));
    let mut list: Vec<u64> = grid(b, a).map(|e| inner.power(e)).collect();
    list.extend(grid(a, b).map(|e| inner.power_of_inverse(e)));
    list.extend(grid(m, outer).map(|e| whole.power(e)));
    list.extend(grid(outer, m).map(|e| whole.power_of_inverse(e)));
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_told_are_those_of_the_tables() {
        for (p, n) in [(1279, 64), (9689, 320), (21701, 1024), (216_091, 10_240)] {
            let layout = WordLayout::new(p, n);
            for shape in Shape::all(n, 227 << 10).iter().step_by(11) {
                let tables = Tables::new(&layout, shape).unwrap();
                let words = tables.columns.len() + tables.rows.len();
                let told = bytes(shape);
                assert_eq!(told, 8 * words as u64 + 4 * tables.fractions.len() as u64, "{shape}");
            }
        }
    }
}
