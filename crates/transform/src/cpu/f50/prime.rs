//! Polynomial products modulo one prime p. As in the parent module, M = 2^log2, h = M/2 and
//! i² = −1.

use multiversion::multiversion;
use warpint_arith::f50::{F50, Factor};

use super::lanes::{Factors, Lane, WIDTH};
use super::transform;

/// The length of a product, in coefficients: M = 2^log2, or 3/2·M if `extended` is true. The
/// transforms have this number of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    log2: u32,
    extended: bool,
}

impl Shape {
    /// Returns the shortest shape with at least `coefficients` points. A shape has at least 32
    /// points.
    #[must_use]
    pub fn of(coefficients: usize) -> Self {
        let log2 = coefficients.max(32).next_power_of_two().ilog2();
        let extended = log2 > 5 && coefficients <= 3 << (log2 - 2);
        Self { log2: log2 - u32::from(extended), extended }
    }

    /// Returns log2(M). Products of this shape need the tables of [`Prime::new`] for this value of
    /// `log2`.
    #[must_use]
    pub fn log2(self) -> u32 {
        self.log2
    }

    /// Returns N, the number of points: M, or 3/2·M if the shape is extended.
    #[must_use]
    pub fn points(self) -> usize {
        (1 << self.log2) + self.rest()
    }

    /// Returns the number of points by which the shape exceeds M = 2^log2: h = M/2 if the shape is
    /// extended, and 0 otherwise.
    fn rest(self) -> usize {
        if self.extended { 1 << (self.log2 - 1) } else { 0 }
    }
}

/// The tables of a transform that starts at one node of the tree of polynomials. This node is
/// called the root. The module `transform` describes the tree; the factor of node j is the number
/// w_j.
struct Piece {
    /// The factors of the root and of its two children.
    first: [Factors; 3],
    /// The factors of all further levels. Entry 2^s + j contains the factors of the four nodes
    /// (4·root + c)·2^s + j, c < 4, where s ≥ 0 and j < 2^s.
    factors: Vec<Factors>,
    /// The inverses of the factors in `first`.
    last: [Factors; 3],
    inverses: Vec<Factors>,
    /// The factor 1/n, where n is the number of points of this transform.
    scale: Factor,
}

/// Working memory of [`Prime::product`], which can be reused for further products.
#[derive(Debug, Default)]
pub struct Scratch {
    a: Vec<Lane>,
    b: Vec<Lane>,
}

/// A prime p, with the tables for transforms modulo p of M = 2^log2 points or of 3/2·M points. The
/// tables take 48·M bytes.
pub struct Prime {
    field: F50,
    log2: u32,
    /// The tables of the transforms modulo x^M − 1 and modulo x^h − i, where M = 2^log2, h = M/2
    /// and i² = −1.
    pieces: [Piece; 2],
    i: Factor,
    half: Factor,
    /// The factor 2^32, by which the upper halves of words are multiplied.
    shift: Factor,
}

impl Prime {
    /// Computes the tables for shapes whose [`Shape::log2`] is `log2`. Requires log2 ≥ 5. Returns
    /// `None` if the field has no root of unity of order 2^(log2 + 1).
    #[must_use]
    pub fn new(field: F50, log2: u32) -> Option<Self> {
        let (there, back) = (nodes(field, log2, false)?, nodes(field, log2, true)?);
        let piece = |root, log2: u32| Piece {
            first: first(field, &there, root),
            factors: below(field, &there, root, log2),
            last: first(field, &back, root),
            inverses: below(field, &back, root, log2),
            scale: field.factor(field.inverse(f64::from(1u32 << log2))),
        };
        Some(Self {
            log2,
            pieces: [piece(0, log2), piece(2, log2 - 1)],
            i: field.factor(there[1]),
            half: field.factor(field.inverse(2.0)),
            shift: field.factor(4_294_967_296.0),
            field,
        })
    }

    /// Returns the field of integers modulo the prime.
    #[must_use]
    pub fn field(&self) -> F50 {
        self.field
    }

    /// Computes the coefficients of a·b modulo the prime p, or of a² if b is `None`, and writes
    /// them to `out`. The coefficients of a and b are arbitrary 64-bit words. The coefficients of
    /// the product are integers from 0 to p − 1, one for each point of the shape. All coefficients
    /// are in ascending order of their degrees.
    ///
    /// If the product has more coefficients than the shape has points, the result is wrong.
    ///
    /// # Panics
    /// If the length of `out` is not the number of points of the shape, a factor is longer than
    /// `out`, or the tables are not for the shape's [`Shape::log2`].
    pub fn product(
        &self,
        shape: Shape,
        a: &[u64],
        b: Option<&[u64]>,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) {
        assert_eq!(shape.log2, self.log2, "the tables are for another length");
        assert_eq!(out.len(), shape.points(), "the product has the wrong length");
        let vectors = shape.points() / WIDTH;
        let Scratch { a: x, b: y } = scratch;
        x.resize(vectors, Lane::default());
        y.resize(vectors, Lane::default());
        self.there(shape, a, out, x);
        if let Some(b) = b {
            self.there(shape, b, out, y);
            transform::multiply(self.field, x, y);
        } else {
            transform::square(self.field, x);
        }
        self.back(shape, x, out);
    }

    /// Reduces the polynomial with the coefficients `digits` modulo x^M − 1 and, for an extended
    /// shape, modulo x^h − i. Writes the transforms of the remainders to `to`. `row` is working
    /// memory.
    fn there(&self, shape: Shape, digits: &[u64], row: &mut [f64], to: &mut [Lane]) {
        let (used, unused) = row.split_at_mut(digits.len());
        residues(self.field, self.shift, digits, used);
        unused.fill(0.0);
        let m = 1 << shape.log2;
        let (low, rest) = row.split_at_mut(m);
        fold(self.field, self.i, low, rest);
        let (to_low, to_rest) = to.split_at_mut(m / WIDTH);
        for (piece, row, to) in [(&self.pieces[0], low, to_low), (&self.pieces[1], rest, to_rest)] {
            if !to.is_empty() {
                transform::enter(self.field, row, to, piece.first.each_ref());
                transform::forward(self.field, to, &piece.factors);
            }
        }
    }

    fn back(&self, shape: Shape, from: &mut [Lane], row: &mut [f64]) {
        let m = 1 << shape.log2;
        let (low, rest) = row.split_at_mut(m);
        let (from_low, from_rest) = from.split_at_mut(m / WIDTH);
        let pieces = [(&self.pieces[0], from_low, &mut *low), (&self.pieces[1], from_rest, rest)];
        for (piece, from, row) in pieces {
            if !from.is_empty() {
                transform::backward(self.field, from, &piece.inverses);
                transform::leave(self.field, from, row, piece.last.each_ref());
                scale(self.field, piece.scale, row);
            }
        }
        let (low, rest) = row.split_at_mut(m);
        unfold(self.field, [self.i, self.half], low, rest);
        canonical(self.field, row);
    }
}

/// Returns the number w_j of each node j < 2^log2 of the tree that the module `transform`
/// describes, or 1/w_j if `inverse` is true. The absolute values of the numbers are at most p.
/// Returns `None` if the field has no root of unity of order 2^(log2 + 1).
fn nodes(field: F50, log2: u32, inverse: bool) -> Option<Vec<f64>> {
    let mut w = vec![1.0];
    for t in 0..log2 {
        let root = field.root_of_unity(t + 2)?;
        let root = if inverse { field.inverse(root) } else { root };
        let others: Vec<f64> = w.iter().map(|&x| field.mul(x, root)).collect();
        w.extend(others);
    }
    Some(w)
}

fn first(field: F50, w: &[f64], root: usize) -> [Factors; 3] {
    [root, 2 * root, 2 * root + 1].map(|node| Factors::new([field.factor(w[node]); WIDTH]))
}

/// Returns the factors of a [`Piece`] of 2^log2 points with the given root, for all levels except
/// the first two. `w` is the result of [`nodes`]. The order is that of [`Piece::factors`]; entry 0
/// repeats entry 1 and is not used.
fn below(field: F50, w: &[f64], root: usize, log2: u32) -> Vec<Factors> {
    let vectors = (1usize << log2) / WIDTH;
    let entry = |e: usize| {
        let blocks = 1 << e.ilog2();
        Factors::new([0, 1, 2, 3].map(|c| field.factor(w[(4 * root + c) * blocks + e - blocks])))
    };
    (0..vectors).map(|e| entry(e.max(1))).collect()
}

/// Writes the residues of `digits` modulo p to `out`, with absolute values below 0.57p. Each digit
/// high·2^32 + low costs one product of high by a factor, and one sum with low.
#[multiversion(targets("x86_64+avx2+fma"))]
fn residues(field: F50, shift: Factor, digits: &[u64], out: &mut [f64]) {
    for (out, &digit) in out.iter_mut().zip(digits) {
        // Both halves are below 2^32: exact.
        let (high, low) = ((digit >> 32) as u32, digit as u32);
        *out = field.mul_by(f64::from(high), shift) + f64::from(low);
    }
}

/// Reduces a polynomial c of M + h coefficients, h = M/2, modulo x^M − 1 and modulo x^h − i, where
/// i² = −1. `low` contains the lowest M coefficients of c, and becomes c mod (x^M − 1). `rest`
/// contains the other h coefficients, and becomes c mod (x^h − i). If `rest` is empty, nothing
/// changes. Inputs are up to 0.57p in absolute value, results below 2p.
#[multiversion(targets("x86_64+avx2+fma"))]
fn fold(field: F50, i: Factor, low: &mut [f64], rest: &mut [f64]) {
    let (low, middle) = low.split_at_mut(rest.len());
    for ((x, y), z) in low.iter_mut().zip(middle).zip(rest) {
        let s = *x + field.mul_by(*y, i) - *z;
        *x += *z;
        *z = s;
    }
}

/// Computes the inverse of `fold`. The factors are i, with i² = −1, and ½. Inputs are up to 0.57p
/// in absolute value, results up to 0.61p.
#[multiversion(targets("x86_64+avx2+fma"))]
fn unfold(field: F50, [i, half]: [Factor; 2], low: &mut [f64], rest: &mut [f64]) {
    let (low, middle) = low.split_at_mut(rest.len());
    for ((r, y), s) in low.iter_mut().zip(middle).zip(rest) {
        let d = *s - field.mul_by(*y, i);
        (*r, *s) = (field.mul_by(*r + d, half), field.mul_by(*r - d, half));
    }
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn scale(field: F50, factor: Factor, row: &mut [f64]) {
    for x in row {
        *x = field.mul_by(*x, factor);
    }
}

/// Replaces each number of `row` by its residue x modulo p with 0 ≤ x < p.
#[multiversion(targets("x86_64+avx2+fma"))]
fn canonical(field: F50, row: &mut [f64]) {
    let [p, _] = field.constants();
    for x in row {
        let r = field.reduce(*x);
        *x = if r < 0.0 { r + p } else { r };
    }
}
