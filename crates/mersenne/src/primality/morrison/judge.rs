//! The end of Morrison's test: what follows from the last two terms of a sequence.

use warpint_arith::primes;
use warpint_natural::euclid::gcd;
use warpint_natural::limbs::trimmed;
use warpint_natural::product::FastProducts;

use super::Parameters;
use crate::number::Modulus;
use crate::{Residue, Verdict};

/// The number of times that [`judge`] computes before it gives up.
const MOST_TRIES: usize = 4;

/// What follows from the last two terms of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    /// Prime, composite, or a probable prime if some prime factors of b are open.
    pub(super) verdict: Verdict,
    /// V_(N + 1) mod N.
    pub(super) residue: Residue,
    /// The product of the open prime factors of b; 1 if there are none.
    pub(super) open: u32,
    /// Whether the verdict follows from a common factor of N and the z_q − 2, whatever the terms are.
    pub(super) has_factor: bool,
}

/// Judges N by v = V_m and w = V_(m+1) mod N with m = (N + 1)/Q^s. Computes everything at least twice, from
/// N, v and w on, and returns a judgement if two successive ones agree. Returns `None` if the terms do not
/// satisfy the identity of neighbours, or if none of [`MOST_TRIES`] judgements agree, because this machine
/// computes unreliably.
///
/// Cost, each time: that of the check of the terms, at most 4·log2(Q) products modulo N for each prime factor
/// of Q, and a gcd of numbers of the length of N if V_(N + 1) is 2.
pub(super) fn judge(parameters: Parameters, v: &Residue, w: &Residue) -> Option<Judgement> {
    let mut tries = (0..MOST_TRIES).map(|_| judge_once(parameters, v, w));
    let mut last = tries.next()?;
    for next in tries {
        if last.is_some() && next == last {
            return next;
        }
        last = next;
    }
    None
}

/// Returns the judgement; `None` if the terms contradict each other.
fn judge_once(parameters: Parameters, v: &Residue, w: &Residue) -> Option<Judgement> {
    let Parameters { number, open, .. } = parameters;
    if !parameters.are_neighbours(v.limbs(), w.limbs()) {
        return None;
    }
    let by = &FastProducts;
    let modulus = Modulus::new(number, by);
    let two = Residue::from_u64(number, 2);
    let mut residue = None;
    let mut product = Residue::from_u64(number, 1).limbs().to_vec();
    let (mut left, mut violates) = (1, false);
    for q in primes::prime_factors(open.into()) {
        let z = term(&modulus, v.limbs(), parameters.cofactor() / q);
        // Each q gives the same V_(N + 1) by other products.
        let whole = term(&modulus, &z, q);
        if residue.get_or_insert_with(|| whole.clone()) != &whole {
            return None;
        }
        if z != two.limbs() {
            let mut less_two = z;
            modulus.sub_assign(&mut less_two, two.limbs());
            product = modulus.mul(by, &product, &less_two);
        } else if q == 2 {
            // If N is prime, z_2 = −2 for the t of an even Q.
            violates = true;
        } else {
            // q is at most b.
            left *= q as u32;
        }
    }
    let residue = Residue::from_canonical(number, residue?);
    let has_factor =
        residue.is(2) && *trimmed(&gcd(&product, &number.value(), by, &|| false)?) != [1];
    let verdict = match left {
        _ if has_factor || violates || !residue.is(2) => Verdict::Composite,
        1 => Verdict::Prime,
        _ => Verdict::ProbablePrime,
    };
    Some(Judgement { verdict, residue, open: left, has_factor })
}

/// Returns V_i(x) mod N for i ≥ 1, the term number i of the sequence with the parameter x. With x = V_m it is
/// V_(i·m). Cost: two products modulo N for each bit of i.
fn term(modulus: &Modulus, x: &[u64], i: u64) -> Vec<u64> {
    let by = &FastProducts;
    let two = Residue::from_u64(modulus.number(), 2);
    let less = |mut a: Vec<u64>, b: &[u64]| {
        modulus.sub_assign(&mut a, b);
        a
    };
    let square = |a: &[u64]| less(modulus.mul(by, a, a), two.limbs());
    let mut v = x.to_vec();
    let mut w = square(x);
    for bit in (0..i.ilog2()).rev() {
        let between = less(modulus.mul(by, &v, &w), x);
        if i >> bit & 1 == 1 {
            w = square(&w);
            v = between;
        } else {
            v = square(&v);
            w = between;
        }
    }
    v
}
