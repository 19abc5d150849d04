//! Half-gcd: half of Euclid's algorithm for the cost of a few products.
//!
//! Let a and b have at most n limbs, and let s = ⌊n/2⌋ + 1. The smaller number is subtracted from
//! the larger one repeatedly, as long as both stay at or above 2^(64s). The resulting pair a', b'
//! is the *half-gcd* of a and b. It satisfies |a' − b'| < 2^(64s). Let (a; b) = M·(a'; b'), where
//! (a; b) is a column vector. M is a product of matrices (1 q; 0 1) and (1 0; q 1), whose rows are
//! separated by semicolons. The numbers a and b determine the sequence of subtractions, so the
//! quotients q are the partial quotients of Euclid's algorithm, from which `symbol` computes the
//! sign of the Jacobi symbol.
//!
//! *No step has to be undone* (Möller 2008, *On Schönhage's algorithm and subquadratic integer gcd
//! computation*, Mathematics of Computation 77, 589–607, §3 and §5). Let a = 2^(64p)·A + a0 and b =
//! 2^(64p)·B + b0 with a0, b0 < 2^(64p). A and B have at most N limbs. Let S = ⌊N/2⌋ + 1, let A',
//! B' be the half-gcd of A and B, and let M be its matrix. Each entry m of M satisfies m·2^(64S) ≤
//! max(A, B) < 2^(64N). So m < 2^(64(N−S)), and N − S ≤ S − 1. Both components of M^(−1)·(a; b)
//! differ from those of 2^(64p)·(A'; B') by less than 2^(64p)·m. As A' and B' are at least 2^(64S),
//! both components stay above 2^(64(p+S−1)). The same subtractions are therefore correct for a and
//! b if p + S − 1 ≥ s.
//!
//! The recursion (ibid., §5):
//! 1. Remove a quarter of the limbs by the half-gcd of the top half, p = ⌊n/2⌋.
//! 2. Execute steps by leading parts (`pair`) until at most ⌊3n/4⌋ + 1 limbs remain.
//! 3. Let n' be the number of remaining limbs. Remove another quarter by the half-gcd of the top
//!    n' − p limbs, where p = 2s − n' + 1. In this half-gcd S = n' − s, so p + S − 1 = s.
//! 4. Execute steps by leading parts until no step is possible.

use super::matrix::Matrix;
use super::pair::Pair;
use super::symbol::Symbol;
use crate::limbs::trim;
use crate::product::Multiplier;

/// The smallest number of limbs of the longer number for which the recursion is faster than steps
/// by leading parts alone (`lehmer`).
const RECURSIVE_FROM: usize = 300;

/// The error for a computation that the caller has cancelled.
pub(super) struct Cancelled;

/// The parameters that all half-gcds of one computation share: the method of multiplication, and
/// the function that returns true to cancel the computation.
pub(super) struct Context<'a> {
    pub(super) multiplier: &'a dyn Multiplier,
    pub(super) cancel: &'a dyn Fn() -> bool,
}

/// Replaces the pair (a; b) by its half-gcd (a'; b'), the pair after the first half of the steps of
/// Euclid's algorithm. Returns the matrix M with (a; b) = M·(a'; b'), or `None` if no step is
/// possible. Updates `symbol` with every quotient.
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
/// ⌊a/2^(64p)⌋ and ⌊b/2^(64p)⌋. Returns M, or `None` if no step is possible. Updates `symbol` with
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
/// If the longer number has n limbs, a' and b' have about n − (n − p)/2 limbs. The half-gcd costs
/// O(M(n − p)·log n), where M(k) is the cost of a product of k limbs. To apply its matrix to the
/// lowest p limbs of a and b costs four more products, of p limbs by about (n − p)/2 limbs.
// Not inlined, so that the loops of its callers stay small.
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
