//! The primes, and the factors w_j of the nodes of the tree that the parent module describes.

use std::sync::OnceLock;

use warpint_arith::f50::{F50, Factor, MEDIUM};
use warpint_arith::simd::F64s;

use super::memory::load;
use super::vectors::{Factors, FieldVectors};

/// A prime with the tables for its transforms. The tables are computed when they are first needed,
/// and are kept until the program ends.
#[derive(Debug)]
pub struct Prime {
    field: F50,
    /// For each k, the table of nodes 0 to 2^k − 1.
    tables: [OnceLock<Option<Table>>; MAX_LOG2 + 1],
}

/// The largest log2 of the number of nodes of a table.
pub(super) const MAX_LOG2: usize = 30;

/// The numbers w_j of the nodes j, with |w_j| ≤ p/2, and the rounded quotients w_j/p.
#[derive(Debug)]
struct Table {
    w: Vec<f64>,
    ratio: Vec<f64>,
    /// The numbers −1/w_j mod p for the nodes j < [`FIRST`], and their rounded quotients by p.
    negated_inverses: [[f64; FIRST]; 2],
}

/// The number of nodes for which inverses are stored. These are all descendants of node 0 whose
/// inverses [`Roots::strided_first_inverses`] returns: 4·L nodes for L = 8 lanes.
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

    /// Returns the factors of at least `nodes` nodes, from node 0 on. The number of nodes is a
    /// power of two, at least [`FIRST`].
    ///
    /// # Panics
    /// Panics if `nodes` exceeds 2^30.
    pub(super) fn roots(&self, nodes: usize) -> Roots<'_> {
        let log2 = nodes.max(FIRST).next_power_of_two().ilog2() as usize;
        assert!(log2 <= MAX_LOG2, "a table of more than 2^30 nodes");
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
///
/// For b < 2^s, the result for node 2^s·j + b is node 2^s·j' + 2^s − 1 − b.
#[inline(always)]
pub(super) fn mirrored(j: usize) -> usize {
    (3 << j.ilog2()) - 1 - j
}

impl Roots<'_> {
    /// Checks that the table has the factors of `node`, with a block of n points, and of all its
    /// descendants down to blocks of two points. These are nodes below (`node` + 1)·n/2. As the
    /// number of nodes of a table is a power of two, the table then also has all nodes up to the
    /// next power of two.
    ///
    /// # Panics
    /// Panics if a factor is missing.
    #[inline(always)]
    pub(super) fn check(self, node: usize, n: usize) {
        assert!(
            (node + 1) * (n / 2) <= self.0.w.len().min(self.0.ratio.len()),
            "the table lacks factors"
        );
    }

    /// Returns the factor of node j in all lanes.
    ///
    /// # Safety
    /// The table must have the factor of node j.
    #[inline(always)]
    pub(super) unsafe fn node<V: F64s>(self, f: &FieldVectors<V>, j: usize) -> Factors<V> {
        debug_assert!(j < self.0.w.len());
        // SAFETY: the caller guarantees that j is below the common length of `w` and `ratio`.
        let constants = unsafe { [*self.0.w.get_unchecked(j), *self.0.ratio.get_unchecked(j)] };
        f.factors(Factor::from_constants(constants))
    }

    /// Returns −1 in all lanes: −1/w_0.
    #[inline(always)]
    pub(super) fn minus_one<V: F64s>(self, f: &FieldVectors<V>) -> Factors<V> {
        let [w, ratio] = &self.0.negated_inverses;
        f.factors(Factor::from_constants([w[0], ratio[0]]))
    }

    /// Returns the factors of the L nodes from j on, one in each lane.
    ///
    /// # Safety
    /// The table must have these factors.
    #[inline(always)]
    unsafe fn nodes<V: F64s>(self, i: V::Instructions, j: usize) -> Factors<V> {
        debug_assert!(j + V::LANES <= self.0.w.len());
        // SAFETY: the caller guarantees that j + L is at most the common length of `w` and
        // `ratio`.
        unsafe {
            let (w, ratio) = (self.0.w.as_ptr().add(j), self.0.ratio.as_ptr().add(j));
            Factors { w: V::load(i, w), ratio: V::load(i, ratio) }
        }
    }

    /// Returns −1/w for the L nodes from j < [`FIRST`] on, one in each lane.
    #[inline(always)]
    fn first_inverses<V: F64s>(self, i: V::Instructions, j: usize) -> Factors<V> {
        let [w, ratio] = &self.0.negated_inverses;
        Factors { w: load(i, &w[j..]), ratio: load(i, &ratio[j..]) }
    }

    /// Returns 2^s vectors of factors, s ≤ 2: lane l of vector b is the factor of node
    /// `first` + l·2^s + b. Entries of the result from 2^s on have no meaning.
    ///
    /// # Safety
    /// The table must have the factors of the L·2^s nodes from `first` on.
    #[inline(always)]
    pub(super) unsafe fn strided<V: F64s>(
        self,
        i: V::Instructions,
        s: u32,
        first: usize,
    ) -> [Factors<V>; 4] {
        // SAFETY: the caller guarantees the factors of the L·2^s nodes from `first` on. Each call
        // returns L of them.
        unsafe {
            let a = self.nodes(i, first);
            if s == 0 {
                return [a; 4];
            }
            let b = self.nodes(i, first + V::LANES);
            if s == 1 {
                return split2(a, b);
            }
            let (c, d) = (first + 2 * V::LANES, first + 3 * V::LANES);
            split4([a, b, self.nodes(i, c), self.nodes(i, d)])
        }
    }

    /// Returns the numbers −1/w of the L·2^s nodes from node 0 on, in the order of
    /// [`Self::strided`].
    #[inline(always)]
    pub(super) fn strided_first_inverses<V: F64s>(
        self,
        i: V::Instructions,
        s: u32,
    ) -> [Factors<V>; 4] {
        let a = self.first_inverses(i, 0);
        match s {
            0 => [a; 4],
            1 => split2(a, self.first_inverses(i, V::LANES)),
            _ => {
                let l = V::LANES;
                let [b, c] = [self.first_inverses(i, l), self.first_inverses(i, 2 * l)];
                split4([a, b, c, self.first_inverses(i, 3 * l)])
            }
        }
    }
}

/// Returns the factors at even positions, and those at odd positions, of the 2·L factors in `a` and
/// `b`. The last two entries of the result repeat the first two.
#[inline(always)]
fn split2<V: F64s>(a: Factors<V>, b: Factors<V>) -> [Factors<V>; 4] {
    let ([w0, w1], [r0, r1]) = (a.w.deinterleave(b.w), a.ratio.deinterleave(b.ratio));
    let (even, odd) = (Factors { w: w0, ratio: r0 }, Factors { w: w1, ratio: r1 });
    [even, odd, even, odd]
}

/// Returns four vectors of L factors. Vector b has those of the 4·L given factors whose positions
/// are congruent to b modulo 4.
#[inline(always)]
fn split4<V: F64s>([a, b, c, d]: [Factors<V>; 4]) -> [Factors<V>; 4] {
    let ([even0, odd0, ..], [even1, odd1, ..]) = (split2(a, b), split2(c, d));
    let ([w0, w2, ..], [w1, w3, ..]) = (split2(even0, even1), split2(odd0, odd1));
    [w0, w1, w2, w3]
}

impl<V: F64s> Factors<V> {
    /// Returns the factors in reverse order of the lanes.
    #[inline(always)]
    pub(super) fn reverse(self) -> Self {
        Self { w: self.w.reverse(), ratio: self.ratio.reverse() }
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
