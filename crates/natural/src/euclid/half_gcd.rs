//! Half-gcd: half of Euclid's algorithm in the time of some products.
//!
//! For a, b of at most n limbs and s = ⌊n/2⌋ + 1, the *half-gcd* is what is left
//! of a, b after subtractions of the smaller from the larger, as long as both
//! stay at or above 2^(64s); at the end |a' − b'| < 2^(64s). With
//! (a; b) = M·(a'; b'), M is a product of matrices (1 q; 0 1) and (1 0; q 1). The
//! path is unique, so the quotients are those that a Jacobi symbol needs.
//!
//! *No step is taken back* (Möller 2008, §3 and §5). Let M be the half-gcd's
//! matrix of the top N limbs A, B of a = 2^(64p)·A + a0, b = 2^(64p)·B + b0, and
//! S = ⌊N/2⌋ + 1. An entry m of M has m·2^(64S) ≤ max(A, B) < 2^(64N), that is
//! m < 2^(64(N−S)), and N − S ≤ S − 1. So M^(−1)·(a; b), which differs from
//! 2^(64p)·(A'; B') by less than 2^(64p)·m, stays above 2^(64(p+S−1)): the same
//! subtractions are right for a and b as long as p + S − 1 ≥ s.
//!
//! The recursion (ibid., §5): a quarter of the limbs by the top half, with
//! p = ⌊n/2⌋; a step or more, until ⌊3n/4⌋ + 1 limbs are left; another
//! quarter by the top n' − p limbs of n', p = 2s − n' + 1, where
//! S = n' − s, so that p + S − 1 = s; and single steps, a few.

use super::matrix::Matrix;
use super::pair::Pair;
use super::symbol::Symbol;
use crate::limbs::trim;
use crate::product::Multiplier;

/// Limbs below which Lehmer's steps alone are faster.
const RECURSIVE_FROM: usize = 300;

/// The caller wants no result any more.
pub(super) struct Cancelled;

/// What every call shares.
pub(super) struct Context<'a> {
    pub(super) multiplier: &'a dyn Multiplier,
    pub(super) cancel: &'a dyn Fn() -> bool,
}

/// Replaces the pair by its half-gcd; returns M, or `None` if nothing is to do.
///
/// Cost O(M(n)·log n) for M(n), a product of n limbs.
pub(super) fn half_gcd(
    pair: &mut Pair,
    symbol: &mut Symbol,
    context: &Context,
) -> Result<Option<Matrix>, Cancelled> {
    let n = pair.longest();
    let s = n / 2 + 1;
    if pair.shortest() <= s {
        return Ok(None);
    }
    if (context.cancel)() {
        return Err(Cancelled);
    }
    let mut m = Matrix::identity();
    if n >= RECURSIVE_FROM {
        if let Some(first) = reduce_by_top(pair, n / 2, symbol, context)? {
            m = first;
        }
        while pair.longest() > 3 * n / 4 + 1 {
            if !pair.step(s, symbol, Some(&mut m), context.multiplier) {
                return Ok(some_unless_identity(m));
            }
        }
        let left = pair.longest();
        if left > s + 2
            && let Some(second) = reduce_by_top(pair, 2 * s - left + 1, symbol, context)?
        {
            m.times(&second, context.multiplier);
        }
    }
    while pair.step(s, symbol, Some(&mut m), context.multiplier) {}
    Ok(some_unless_identity(m))
}

/// Reduces the pair by the half-gcd of what is above limb p; returns the matrix.
pub(super) fn reduce_by_top(
    pair: &mut Pair,
    p: usize,
    symbol: &mut Symbol,
    context: &Context,
) -> Result<Option<Matrix>, Cancelled> {
    if pair.shortest() <= p {
        return Ok(None);
    }
    let mut high = pair.high(p);
    let m = half_gcd(&mut high, symbol, context)?;
    if let Some(m) = &m {
        pair.lift(p, &high, m, context.multiplier);
    }
    Ok(m)
}

fn some_unless_identity(m: Matrix) -> Option<Matrix> {
    if m.is_identity() { None } else { Some(m) }
}

/// A piece of Euclid's algorithm by a half-gcd of what a and b have above limb p: a and b, both
/// positive, become a' and b', both positive, with (a; b) = M·(a'; b'), and M is returned, by rows.
/// Its entries are natural and its determinant is 1. `None`, and a and b without leading zero
/// limbs but otherwise as they were, if there is nothing to be done above limb p.
///
/// With n limbs of the longer one, a' and b' have some n − (n − p)/2 limbs. Cost
/// O(M(n − p)·log n) and products of n limbs by n − p.
// Its callers are short loops for short numbers.
#[inline(never)]
pub(super) fn reduce_top(
    a: &mut Vec<u64>,
    b: &mut Vec<u64>,
    p: usize,
    context: &Context,
) -> Result<Option<[[Vec<u64>; 2]; 2]>, Cancelled> {
    trim(a);
    trim(b);
    // Its sign means nothing here, and costs next to nothing.
    let mut symbol = Symbol::new(a, b);
    let mut pair = Pair { a: core::mem::take(a), b: core::mem::take(b) };
    let reduced = reduce_by_top(&mut pair, p, &mut symbol, context);
    (*a, *b) = (pair.a, pair.b);
    Ok(reduced?.map(Matrix::into_entries))
}
