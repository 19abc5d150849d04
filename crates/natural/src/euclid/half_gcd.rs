//! Half-gcd: half of Euclid's algorithm for the cost of a few products.
//!
//! For a, b of at most n limbs and s = ⌊n/2⌋ + 1, the *half-gcd* is the pair a', b' that remains after
//! subtractions of the smaller from the larger number, as long as both stay at or above 2^(64s); at the
//! end |a' − b'| < 2^(64s). With (a; b) = M·(a'; b'), M is a product of matrices (1 q; 0 1) and (1 0; q
//! 1). This path is unique, so its quotients are those that the Jacobi symbol requires.
//!
//! *No step has to be undone* (Möller 2008, §3 and §5). Let M be the matrix of the half-gcd of the top
//! N limbs A, B of a = 2^(64p)·A + a0, b = 2^(64p)·B + b0, and S = ⌊N/2⌋ + 1. An entry m of M satisfies
//! m·2^(64S) ≤ max(A, B) < 2^(64N), hence m < 2^(64(N−S)), and N − S ≤ S − 1. So M^(−1)·(a; b), which
//! differs from 2^(64p)·(A'; B') by less than 2^(64p)·m, stays above 2^(64(p+S−1)). The same
//! subtractions are therefore correct for a and b if p + S − 1 ≥ s.
//!
//! The recursion (ibid., §5):
//! 1. Remove a quarter of the limbs by the half-gcd of the top half, p = ⌊n/2⌋.
//! 2. Execute single steps, at least one, until ⌊3n/4⌋ + 1 limbs are left.
//! 3. Remove another quarter by the half-gcd of the top n' − p of the remaining n' limbs, p = 2s − n' +
//!    1. There S = n' − s, so that p + S − 1 = s.
//! 4. Execute a few single steps.

use super::matrix::Matrix;
use super::pair::Pair;
use super::symbol::Symbol;
use crate::limbs::trim;
use crate::product::Multiplier;

/// The number of limbs below which Lehmer's steps alone are faster.
const RECURSIVE_FROM: usize = 300;

/// The computation was cancelled by the caller.
pub(super) struct Cancelled;

/// The parameters common to all calls.
pub(super) struct Context<'a> {
    pub(super) multiplier: &'a dyn Multiplier,
    pub(super) cancel: &'a dyn Fn() -> bool,
}

/// Replaces the pair by its half-gcd; returns the matrix M, or `None` if no step is possible.
///
/// Cost O(M(n)·log n), where M(n) is the cost of a product of n limbs.
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

/// Reduces the pair by the half-gcd of its parts above limb p; returns the matrix, or `None` if no
/// step is possible.
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

/// Reduces a and b by a half-gcd of their parts above limb p. Positive a and b become positive a'
/// and b' with (a; b) = M·(a'; b'). Returns the rows of the matrix M; its entries are non-negative
/// integers and its determinant is 1. Returns `None` if no step is possible above limb p; a and b
/// then only lose their leading zero limbs.
///
/// With n limbs of the longer number, a' and b' have about n − (n − p)/2 limbs. Cost O(M(n − p)·log n)
/// and products of n limbs by n − p.
// Called in short loops for short numbers.
#[inline(never)]
pub(super) fn reduce_top(
    a: &mut Vec<u64>,
    b: &mut Vec<u64>,
    p: usize,
    context: &Context,
) -> Result<Option<[[Vec<u64>; 2]; 2]>, Cancelled> {
    trim(a);
    trim(b);
    // The sign is not used here; its cost is negligible.
    let mut symbol = Symbol::new(a, b);
    let mut pair = Pair { a: core::mem::take(a), b: core::mem::take(b) };
    let reduced = reduce_by_top(&mut pair, p, &mut symbol, context);
    (*a, *b) = (pair.a, pair.b);
    Ok(reduced?.map(Matrix::into_entries))
}
