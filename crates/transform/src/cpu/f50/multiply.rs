//! Products of polynomials modulo several primes.

use warpint_arith::f50::F50;
use warpint_arith::simd::{F64s, Kernel, run};

use super::super::goldilocks::{Pool, Shared};
use super::bound::Bound;
use super::extended::{fold, unfold};
use super::forward::Forward;
use super::inverse::Inverse;
use super::memory::{load, store};
use super::roots::{Prime, Roots};
use super::shape::{Part, Shape};
use super::tiles::Tiles;
use super::vectors::FieldVectors;

/// The log2 of the number of points of a row, which then takes 32 KiB. Rows of a transform by tiles
/// may be longer.
pub(super) const ROW_LOG2: u32 = 12;

/// The largest number of points of a transform whose first levels are computed in place. Longer
/// transforms copy tiles of adjacent columns (`tiles`).
const IN_PLACE: usize = 1 << 16;

/// The smallest number of points for which a transform is distributed over several threads. With
/// shorter transforms, each prime has one thread.
const WITHIN_FROM: usize = 1 << 17;

/// A product of two polynomials.
pub struct Operands<'a> {
    /// The coefficients of the first factor modulo each of k primes: first the N for the first
    /// prime, then those for the second, and so on. A coefficient x modulo p is an integer with |x|
    /// ≤ p. [`multiply`] replaces them by the results.
    pub a: &'a mut [f64],
    /// The coefficients of the second factor in the same order, or `None` for the square of the
    /// first factor. They are overwritten.
    pub b: Option<&'a mut [f64]>,
    /// All coefficients of both factors with an index of `used` or more are zero.
    pub used: usize,
}

/// Computes, for each prime p of `primes`, 2^e times the coefficients of a·b mod p, where e is
/// [`Shape::scale`]. Results are up to 5.1p in absolute value. The product must have at most N =
/// [`Shape::points`] coefficients; otherwise the result is wrong. The result does not depend on the
/// number of threads of `pool`.
///
/// Cost: for each prime three transforms, or two for a square, of (N/2)·log2(N) products each.
///
/// # Panics
/// Panics if a factor does not have N coefficients for each prime.
pub fn multiply(pool: &Pool, primes: &[Prime], shape: Shape, operands: Operands) {
    let Operands { a, b, used } = operands;
    let n = shape.points();
    assert_eq!(a.len(), primes.len() * n, "one factor has the wrong length");
    assert!(b.as_ref().is_none_or(|b| b.len() == a.len()), "the factors differ in length");
    let is_short = used <= shape.power();
    let (a, b) = (Shared::new(a), b.map(Shared::new));
    let one = |k: usize, pool: Option<&Pool>| {
        // SAFETY: each k occurs in one call, and the ranges of different k do not overlap.
        let (a, b) = unsafe { (a.piece(k * n, n), b.as_ref().map(|b| b.piece(k * n, n))) };
        run(Product { prime: &primes[k], shape, is_short, a, b, pool });
    };
    if n >= WITHIN_FROM {
        (0..primes.len()).for_each(|k| one(k, Some(pool)));
    } else {
        pool.each(primes.len(), |k| one(k, None));
    }
}

/// A product modulo one prime. Without a pool, it is computed on one thread.
struct Product<'a> {
    prime: &'a Prime,
    shape: Shape,
    is_short: bool,
    a: &'a mut [f64],
    b: Option<&'a mut [f64]>,
    pool: Option<&'a Pool>,
}

impl Kernel for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, instructions: V::Instructions) {
        let Self { prime, shape, is_short, a, mut b, pool } = self;
        let roots = prime.roots(shape.nodes());
        let passes = Passes::<V>::new(instructions, prime.field(), roots);
        let f = passes.forward.f;
        // SAFETY: `Prime::roots` returns tables of at least `FIRST` = 32 nodes.
        let i = unsafe { roots.node(&f, 1) };
        if shape.rest() > 0 {
            for data in [Some(&mut *a), b.as_deref_mut()].into_iter().flatten() {
                fold(instructions, &f, i, thirds(data, shape), is_short);
            }
        }
        for part in shape.parts() {
            let Part { range, node } = part;
            let (a, b) = (&mut a[range.clone()], b.as_deref_mut().map(|b| &mut b[range]));
            let bound = Bound(if node == 0 { 1.0 } else { 1.6 });
            if a.len() <= IN_PLACE {
                passes.in_place(a, b, node, bound);
            } else {
                let tiles = Tiles::new(prime.field(), roots, a.len(), node);
                match pool {
                    Some(pool) => tiles.multiply(pool, a, b, bound),
                    None => tiles.multiply(&Pool::new(1), a, b, bound),
                }
            }
        }
        if shape.rest() > 0 {
            unfold(instructions, &f, i, thirds(a, shape));
        }
    }
}

/// Returns the coefficients of an extended shape in three slices of h entries.
#[inline(always)]
fn thirds(data: &mut [f64], shape: Shape) -> [&mut [f64]; 3] {
    let (low, rest) = data.split_at_mut(shape.rest());
    let (middle, high) = rest.split_at_mut(shape.rest());
    [low, middle, high]
}

/// The passes of a product modulo one prime.
#[derive(Clone, Copy)]
pub(super) struct Passes<'a, V: F64s> {
    pub(super) forward: Forward<'a, V>,
    pub(super) inverse: Inverse<'a, V>,
}

impl<'a, V: F64s> Passes<'a, V> {
    #[inline(always)]
    pub(super) fn new(i: V::Instructions, field: F50, roots: Roots<'a>) -> Self {
        let f = FieldVectors::new(i, field);
        Self { forward: Forward { i, f, roots }, inverse: Inverse { i, f, roots } }
    }

    /// Computes a ← n·a·b mod (x^n − w²), or n·a² if `b` is `None`, where n is the length of `a`
    /// and w the factor of `node`. Inputs are up to `bound`. The contents of `b` are overwritten.
    #[inline(always)]
    fn in_place(&self, a: &mut [f64], mut b: Option<&mut [f64]>, node: usize, bound: Bound) {
        let columns = a.len().min(1 << ROW_LOG2);
        let first = node * (a.len() / columns);
        let row_bound = self.forward.levels(a, columns, node, bound);
        if let Some(b) = b.as_deref_mut() {
            self.forward.levels(b, columns, node, bound);
        }
        let is_final = columns == a.len();
        for (j, row) in a.chunks_exact_mut(columns).enumerate() {
            let b = b.as_deref_mut().map(|b| &mut b[j * columns..][..columns]);
            self.row(row, b, first + j, row_bound, is_final);
        }
        self.inverse.levels(a, columns, node, true);
    }

    /// Transforms a row of each factor at `node`, multiplies both element by element, and
    /// transforms the products back. Inputs are up to `bound`. Results are those of
    /// [`Inverse::whole`].
    #[inline(always)]
    pub(super) fn row(
        &self,
        a: &mut [f64],
        b: Option<&mut [f64]>,
        node: usize,
        bound: Bound,
        is_final: bool,
    ) {
        let Forward { i, f, .. } = self.forward;
        self.forward.whole(a, node, bound);
        if let Some(b) = b {
            self.forward.whole(b, node, bound);
            for (a, b) in a.chunks_exact_mut(V::LANES).zip(b.chunks_exact(V::LANES)) {
                store(f.mul(f.reduce(load(i, a)), f.reduce(load(i, b))), a);
            }
        } else {
            for a in a.chunks_exact_mut(V::LANES) {
                let x = f.reduce(load(i, a));
                store(f.mul(x, x), a);
            }
        }
        self.inverse.whole(a, node, is_final);
    }
}
