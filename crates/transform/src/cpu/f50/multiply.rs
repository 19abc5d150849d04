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

/// The second factor of a product.
pub enum Second<'a> {
    /// The first factor itself: the product is its square.
    Same,
    /// The coefficients of the factor in the order of [`Operands::a`]. They are overwritten.
    Polynomial(&'a mut [f64]),
    /// The result of [`transform`] for this factor, with the same primes and the same shape.
    Transformed(&'a [f64]),
}

/// A product of two polynomials.
pub struct Operands<'a> {
    /// The coefficients of the first factor modulo each of k primes: first the N for the first
    /// prime, then those for the second, and so on. A coefficient x modulo p is an integer with |x|
    /// ≤ p. [`multiply`] replaces them by the results.
    pub a: &'a mut [f64],
    /// The second factor.
    pub b: Second<'a>,
    /// All coefficients of both factors with an index of `used` or more are zero. A factor that is
    /// transformed does not count.
    pub used: usize,
}

/// Computes, for each prime p of `primes`, 2^e times the coefficients of a·b mod p, where e is
/// [`Shape::scale`]. Results are up to 5.1p in absolute value. The result does not depend on the
/// number of threads of `pool`.
///
/// Let N = [`Shape::points`]. The product must have at most N coefficients; otherwise the result is
/// wrong, with one exception: if N is a power of two, the product is computed modulo x^N − 1.
///
/// Cost: for each prime three transforms of (N/2)·log2(N) products each; two for a square, or if the
/// second factor is transformed.
///
/// # Panics
/// Panics if a factor does not have N coefficients for each prime.
pub fn multiply(pool: &Pool, primes: &[Prime], shape: Shape, operands: Operands) {
    let Operands { a, b, used } = operands;
    let n = shape.points();
    let len = match &b {
        Second::Same => a.len(),
        Second::Polynomial(b) => b.len(),
        Second::Transformed(b) => b.len(),
    };
    assert_eq!(a.len(), primes.len() * n, "one factor has the wrong length");
    assert_eq!(a.len(), len, "the factors differ in length");
    let is_short = used <= shape.power();
    let (a, b) = (Shared::new(a), AllOf::new(b));
    each_prime(pool, primes.len(), n, |k, pool| {
        // SAFETY: each k occurs in one call, and the ranges of different k do not overlap.
        let (a, b) = unsafe { (a.piece(k * n, n), b.piece(k * n, n)) };
        run(Product { prime: &primes[k], shape, is_short, a, b, pool });
    });
}

/// Replaces the coefficients of a factor, in the order of [`Operands::a`], by its transform for
/// [`Second::Transformed`]. All coefficients with an index of `used` or more are zero.
///
/// Cost: for each prime one transform of (N/2)·log2(N) products.
///
/// # Panics
/// Panics if the factor does not have N coefficients for each prime.
pub fn transform(pool: &Pool, primes: &[Prime], shape: Shape, factor: &mut [f64], used: usize) {
    let n = shape.points();
    assert_eq!(factor.len(), primes.len() * n, "the factor has the wrong length");
    let is_short = used <= shape.power();
    let factor = Shared::new(factor);
    each_prime(pool, primes.len(), n, |k, pool| {
        // SAFETY: as in `multiply`.
        let data = unsafe { factor.piece(k * n, n) };
        run(Transform { prime: &primes[k], shape, is_short, data, pool });
    });
}

/// Calls `one` for each of `count` primes, with a pool if the transforms of n points are distributed
/// over its threads.
fn each_prime(
    pool: &Pool,
    count: usize,
    n: usize,
    one: impl Fn(usize, Option<&Pool>) + Sync + Send,
) {
    if n >= WITHIN_FROM {
        (0..count).for_each(|k| one(k, Some(pool)));
    } else {
        pool.each(count, |k| one(k, None));
    }
}

/// The second factor for all primes, or all rows, of which several threads use parts.
pub(super) enum AllOf<'a> {
    Same,
    Polynomial(Shared<'a, f64>),
    Transformed(&'a [f64]),
}

impl<'a> AllOf<'a> {
    pub(super) fn new(b: Second<'a>) -> Self {
        match b {
            Second::Same => Self::Same,
            Second::Polynomial(b) => Self::Polynomial(Shared::new(b)),
            Second::Transformed(b) => Self::Transformed(b),
        }
    }

    /// Returns a part of the factor.
    ///
    /// # Safety
    /// As for [`Shared::piece`].
    #[inline(always)]
    pub(super) unsafe fn piece(&self, at: usize, len: usize) -> Second<'_> {
        match self {
            Self::Same => Second::Same,
            // SAFETY: the caller's promise.
            Self::Polynomial(b) => Second::Polynomial(unsafe { b.piece(at, len) }),
            Self::Transformed(b) => Second::Transformed(&b[at..at + len]),
        }
    }
}

impl Second<'_> {
    /// Returns the part of the factor with the given range of indices.
    #[inline(always)]
    fn part(&mut self, range: std::ops::Range<usize>) -> Second<'_> {
        match self {
            Second::Same => Second::Same,
            Second::Polynomial(b) => Second::Polynomial(&mut b[range]),
            Second::Transformed(b) => Second::Transformed(&b[range]),
        }
    }

    /// Returns the coefficients if they are not transformed.
    #[inline(always)]
    fn polynomial(&mut self) -> Option<&mut [f64]> {
        match self {
            Second::Polynomial(b) => Some(b),
            Second::Same | Second::Transformed(_) => None,
        }
    }
}

/// A product modulo one prime. Without a pool, it is computed on one thread.
struct Product<'a> {
    prime: &'a Prime,
    shape: Shape,
    is_short: bool,
    a: &'a mut [f64],
    b: Second<'a>,
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
            for data in [Some(&mut *a), b.polynomial()].into_iter().flatten() {
                fold(instructions, &f, i, thirds(data, shape), is_short);
            }
        }
        for part in shape.parts() {
            let Part { range, node } = part;
            let (a, b) = (&mut a[range.clone()], b.part(range));
            let bound = Bound::of_input(node);
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

/// A transform modulo one prime. Without a pool, it is computed on one thread.
struct Transform<'a> {
    prime: &'a Prime,
    shape: Shape,
    is_short: bool,
    data: &'a mut [f64],
    pool: Option<&'a Pool>,
}

impl Kernel for Transform<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, instructions: V::Instructions) {
        let Self { prime, shape, is_short, data, pool } = self;
        let roots = prime.roots(shape.nodes());
        let passes = Passes::<V>::new(instructions, prime.field(), roots);
        let f = passes.forward.f;
        if shape.rest() > 0 {
            // SAFETY: as for products.
            let i = unsafe { roots.node(&f, 1) };
            fold(instructions, &f, i, thirds(data, shape), is_short);
        }
        for Part { range, node } in shape.parts() {
            let (data, bound) = (&mut data[range], Bound::of_input(node));
            if data.len() <= IN_PLACE {
                passes.in_place_forward(data, node, bound);
            } else {
                let tiles = Tiles::new(prime.field(), roots, data.len(), node);
                match pool {
                    Some(pool) => tiles.forward(pool, data, bound),
                    None => tiles.forward(&Pool::new(1), data, bound),
                }
            }
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

    /// Computes a ← n·a·b mod (x^n − w²), where n is the length of `a` and w the factor of `node`.
    /// Inputs are up to `bound`.
    #[inline(always)]
    fn in_place(&self, a: &mut [f64], mut b: Second<'_>, node: usize, bound: Bound) {
        let columns = a.len().min(1 << ROW_LOG2);
        let first = node * (a.len() / columns);
        let row_bound = self.forward.levels(a, columns, node, bound);
        if let Some(b) = b.polynomial() {
            self.forward.levels(b, columns, node, bound);
        }
        let is_final = columns == a.len();
        for (j, row) in a.chunks_exact_mut(columns).enumerate() {
            let b = b.part(j * columns..(j + 1) * columns);
            self.row(row, b, first + j, row_bound, is_final);
        }
        self.inverse.levels(a, columns, node, true);
    }

    /// Transforms a factor as [`Self::in_place`] does.
    #[inline(always)]
    fn in_place_forward(&self, data: &mut [f64], node: usize, bound: Bound) {
        let columns = data.len().min(1 << ROW_LOG2);
        let first = node * (data.len() / columns);
        let row_bound = self.forward.levels(data, columns, node, bound);
        for (j, row) in data.chunks_exact_mut(columns).enumerate() {
            self.forward.whole(row, first + j, row_bound);
        }
    }

    /// Transforms a row of each factor at `node`, multiplies both element by element, and
    /// transforms the products back. Inputs are up to `bound`. Results are those of
    /// [`Inverse::whole`].
    #[inline(always)]
    pub(super) fn row(
        &self,
        a: &mut [f64],
        b: Second<'_>,
        node: usize,
        bound: Bound,
        is_final: bool,
    ) {
        let Forward { i, f, .. } = self.forward;
        self.forward.whole(a, node, bound);
        let b: Option<&[f64]> = match b {
            Second::Same => None,
            Second::Polynomial(b) => {
                self.forward.whole(b, node, bound);
                Some(b)
            }
            Second::Transformed(b) => Some(b),
        };
        if let Some(b) = b {
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
