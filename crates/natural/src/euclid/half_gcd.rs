//! Half-gcd: half of Euclid's algorithm for the cost of a few products.
//!
//! For a, b of at most n limbs and s = ⌊n/2⌋ + 1, the *half-gcd* is the pair a', b' that remains
//! after subtractions of the smaller from the larger number, as long as both stay at or above
//! 2^(64s); at the end |a' − b'| < 2^(64s). With (a; b) = M·(a'; b'), M is a product of matrices (1
//! q; 0 1) and (1 0; q 1). This path is unique, so its quotients are those that the Jacobi symbol
//! requires.
//!
//! *No step has to be undone* (Möller 2008, §3 and §5). Let M be the matrix of the half-gcd of the
//! top N limbs A, B of a = 2^(64p)·A + a0, b = 2^(64p)·B + b0, and S = ⌊N/2⌋ + 1. An entry m of M
//! satisfies m·2^(64S) ≤ max(A, B) < 2^(64N), hence m < 2^(64(N−S)), and N − S ≤ S − 1. So
//! M^(−1)·(a; b), which differs from 2^(64p)·(A'; B') by less than 2^(64p)·m, stays above
//! 2^(64(p+S−1)). The same subtractions are therefore correct for a and b if p + S − 1 ≥ s.
//!
//! The recursion (ibid., §5):
//! 1. Remove a quarter of the limbs by the half-gcd of the top half, p = ⌊n/2⌋.
//! 2. Execute single steps, at least one, until ⌊3n/4⌋ + 1 limbs are left.
//! 3. Remove another quarter by the half-gcd of the top n' − p of the remaining n' limbs, where
//!    p = 2s − n' + 1. In this half-gcd S = n' − s, so that p + S − 1 = s.
//! 4. Execute a few single steps.

use super::matrix::Matrix;
use super::pair::Pair;
use super::symbol::Symbol;
use crate::limbs::trim;
use crate::product::Multiplier;

/// The smallest number of limbs of the longer number for which the recursion is faster than
/// Lehmer's steps alone.
const RECURSIVE_FROM: usize = 300;

/// The error that the caller cancelled the computation.
pub(super) struct Cancelled;

/// The parameters that all half-gcds of one computation share: the method of multiplication, and
/// the function that returns true to cancel the computation.
pub(super) struct Context<'a> {
    pub(super) multiplier: &'a dyn Multiplier,
    pub(super) cancel: &'a dyn Fn() -> bool,
}

/// Replaces the pair (a; b) by its half-gcd (a'; b'), the pair after the first half of the steps of
/// Euclid's algorithm. Returns the matrix M with (a; b) = M·(a'; b'), or `None` if no step is
/// possible. Updates `symbol` by every quotient.
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

/// Replaces the pair (a; b) by (a'; b') = M^(−1)·(a; b), where M is the matrix of the half-gcd of
/// ⌊a/2^(64p)⌋ and ⌊b/2^(64p)⌋. Returns M, or `None` if no step is possible. Updates `symbol` by
/// every quotient.
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

/// Reduces a and b by a half-gcd of ⌊a/2^(64p)⌋ and ⌊b/2^(64p)⌋. Positive a and b become positive
/// a' and b' with (a; b) = M·(a'; b'). Returns the rows of the matrix M; its entries are
/// non-negative integers and its determinant is 1. Returns `None` if no step is possible. In this
/// case, a and b lose their leading zero limbs, but do not change in value.
///
/// If the longer number has n limbs, a' and b' have about n − (n − p)/2 limbs. The cost is O(M(n −
/// p)·log n), where M(n) is the cost of a product of n limbs, and some products of n by n − p
/// limbs.
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
