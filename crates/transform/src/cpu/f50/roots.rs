//! The factors of the nodes of the tree that the parent module describes.

use std::sync::OnceLock;

use warpint_arith::f50::{F50, Factor, MEDIUM};
use warpint_arith::simd::F64s;

use super::vectors::{Factors, FieldVectors};

/// A prime with the tables for its transforms. The tables are computed when they are first needed,
/// and are kept until the program ends.
#[derive(Debug)]
pub struct Prime {
    field: F50,
    /// For each k, the table of nodes 0 to 2^k − 1.
    tables: [OnceLock<Option<Table>>; MAX_LOG2 + 1],
}

/// The largest log2 of the number of points of a transform.
pub(super) const MAX_LOG2: usize = 30;

/// The numbers w_j of the nodes j, with |w_j| ≤ p/2, and the rounded quotients w_j/p.
#[derive(Debug)]
struct Table {
    w: Vec<f64>,
    ratio: Vec<f64>,
    /// The numbers −1/w_j for the nodes j < [`FIRST`], and their rounded quotients by p.
    negated_inverses: [[f64; FIRST]; 2],
}

/// The number of nodes for which inverses are stored: enough for the nodes below node 0 in the
/// vectors of the last block of a transform.
const FIRST: usize = 32;

/// The factors of the nodes of one prime's transforms.
#[derive(Clone, Copy)]
pub(super) struct Roots<'a>(&'a Table);

impl Prime {
    /// Returns the eight primes of [`MEDIUM`].
    #[must_use]
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Prime>> = OnceLock::new();
        ALL.get_or_init(|| {
            let fields = MEDIUM.iter().filter_map(|&(p, ..)| F50::new(p).ok());
            fields.map(|field| Self { field, tables: [const { OnceLock::new() }; _] }).collect()
        })
    }

    /// Returns the field of integers modulo the prime.
    #[must_use]
    pub fn field(&self) -> F50 {
        self.field
    }

    /// Returns the factors of at least `nodes` nodes. Any table that is long enough serves.
    ///
    /// # Panics
    /// If `nodes` exceeds 2^30: the field lacks the roots of unity.
    pub(super) fn roots(&self, nodes: usize) -> Roots<'_> {
        let log2 = nodes.max(FIRST).next_power_of_two().ilog2() as usize;
        assert!(log2 <= MAX_LOG2, "no roots of unity for a transform of this length");
        let known = self.tables[log2..].iter().find_map(|table| table.get()?.as_ref());
        let table = known.or_else(|| {
            self.tables[log2].get_or_init(|| Table::new(self.field, log2 as u32)).as_ref()
        });
        match table {
            Some(table) => Roots(table),
            None => unreachable!("the primes have roots of unity of order 2^34"),
        }
    }
}

impl Table {
    /// Computes the factors of 2^log2 nodes. Returns `None` if the field has no root of unity of
    /// order 2^(log2 + 1).
    fn new(field: F50, log2: u32) -> Option<Self> {
        let mut w = Vec::with_capacity(1 << log2);
        let mut ratio = Vec::with_capacity(1 << log2);
        let mut push = |x: f64, w: &mut Vec<f64>| {
            let [x, quotient] = field.factor(x).constants();
            w.push(x);
            ratio.push(quotient);
        };
        push(1.0, &mut w);
        for s in 0..log2 {
            let root = field.factor(field.root_of_unity(s + 2)?);
            for j in 0..1 << s {
                push(field.mul_by(w[j], root), &mut w);
            }
        }
        let negated_inverse = |j: usize| {
            let x = if j == 0 { -1.0 } else { w[mirrored(j)] };
            field.factor(x).constants()
        };
        let inverses: [[f64; 2]; FIRST] = std::array::from_fn(negated_inverse);
        let negated_inverses = [0, 1].map(|part| inverses.map(|pair| pair[part]));
        Some(Self { w, ratio, negated_inverses })
    }
}

/// Returns the node whose factor is −1/w_j, for j ≥ 1.
///
/// Let 2^k ≤ j < 2^(k+1). The result is j' = 3·2^k − 1 − j: the complement of all bits of j below
/// the highest. So t_j + t_j' = 2·2^(−k−2) + Σ_(s<k) 2^(−s−2) = ½, and w_j·w_j' = e(½) = −1.
#[inline(always)]
fn mirrored(j: usize) -> usize {
    (3 << j.ilog2()) - 1 - j
}

impl Roots<'_> {
    /// Returns the factor of node j in all lanes.
    #[inline(always)]
    pub(super) fn node<V: F64s>(self, f: &FieldVectors<V>, j: usize) -> Factors<V> {
        f.factors(Factor::from_constants([self.0.w[j], self.0.ratio[j]]))
    }

    /// Returns −1/w_j for node j, in all lanes.
    #[inline(always)]
    pub(super) fn negated_inverse<V: F64s>(self, f: &FieldVectors<V>, j: usize) -> Factors<V> {
        if j == 0 {
            let [w, ratio] = &self.0.negated_inverses;
            return f.factors(Factor::from_constants([w[0], ratio[0]]));
        }
        self.node(f, mirrored(j))
    }

    /// Returns the factors of the L nodes from j on, one in each lane.
    #[inline(always)]
    pub(super) fn nodes<V: F64s>(self, i: V::Instructions, j: usize) -> Factors<V> {
        let (w, ratio) = (&self.0.w[j..][..V::LANES], &self.0.ratio[j..][..V::LANES]);
        // SAFETY: both slices have L entries.
        unsafe { Factors { w: V::load(i, w.as_ptr()), ratio: V::load(i, ratio.as_ptr()) } }
    }

    /// Returns the numbers −1/w of the L nodes from j on, one in each lane. j must be a multiple of
    /// L.
    #[inline(always)]
    pub(super) fn negated_inverses<V: F64s>(self, i: V::Instructions, j: usize) -> Factors<V> {
        if j + V::LANES <= FIRST {
            let [w, ratio] = &self.0.negated_inverses;
            let (w, ratio) = (&w[j..][..V::LANES], &ratio[j..][..V::LANES]);
            // SAFETY: both slices have L entries.
            return unsafe {
                Factors { w: V::load(i, w.as_ptr()), ratio: V::load(i, ratio.as_ptr()) }
            };
        }
        // The nodes lie between two powers of 2, so that their mirrored nodes descend.
        let last = mirrored(j + V::LANES - 1);
        let factors = self.nodes::<V>(i, last);
        Factors { w: factors.w.reverse(), ratio: factors.ratio.reverse() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_nodes_are_square_roots_of_their_parents() {
        for prime in Prime::all() {
            let field = prime.field();
            let Roots(table) = prime.roots(1 << 10);
            let mul = |a: f64, b: f64| field.to_u64(field.mul(a, b));
            let w = &table.w;
            assert_eq!((w.len(), field.to_u64(w[0])), (1 << 10, 1));
            for j in 0..1 << 9 {
                assert_eq!(mul(w[2 * j], w[2 * j]), field.to_u64(w[j]), "node {j}");
                assert_eq!(mul(w[2 * j + 1], w[2 * j + 1]), field.to_u64(-w[j]), "node {j}");
                if j > 0 {
                    assert_eq!(mul(w[j], w[mirrored(j)]), field.modulus() - 1, "node {j}");
                }
            }
            for (j, &inverse) in table.negated_inverses[0].iter().enumerate() {
                assert_eq!(mul(w[j], inverse), field.modulus() - 1, "node {j}");
            }
        }
    }
}
