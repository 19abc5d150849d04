//! Tests of proofs of small numbers on the word engine, and of the reasons to refuse proofs.

use warpint_arith::primes::{is_prime, mul_mod, pow_mod, primes_between};

use super::*;
use crate::engine::tampered::{Tampered, flipped, zero};
use crate::engine::word::Word;
use crate::{EngineFamily, Plan, StopToken, Verdict};

fn verified_by(family: &'static dyn EngineFamily, proof: &Proof) -> Verification {
    let plan = Plan::of_family(proof.number(), family, None, Some(1)).unwrap();
    verify(plan, proof, &mut |_| {}, &StopToken::new()).unwrap().unwrap()
}

fn found(proof: &Proof) -> Result<Verdict, Refusal> {
    verified_by(&Word, proof).finding
}

/// Returns M_p = 2^p − 1.
fn modulus(p: u32) -> u64 {
    (1 << p) - 1
}

/// Returns a proof with the given last residue and one middle.
fn proof(p: u32, last: u64, middle: u64) -> Proof {
    let exponent = Exponent::new(u64::from(p)).unwrap();
    Proof::new(exponent, Residue::from_u64(p, last), vec![Residue::from_u64(p, middle)]).unwrap()
}

/// Returns the two residues x_p and x_⌈p/2⌉ that make a right proof of power 1, where x_k = 3^(2^k)
/// mod M_p.
fn right(p: u32) -> [u64; 2] {
    [p, p.div_ceil(2)].map(|k| pow_mod(3, 1 << k, modulus(p)))
}

#[test]
fn right_proofs_of_all_small_exponents_are_accepted() {
    for p in primes_between(3, 61) {
        let [last, middle] = right(p as u32);
        let verdict =
            if is_prime((1 << p) - 1) { Verdict::ProbablePrime } else { Verdict::Composite };
        assert_eq!(found(&proof(p as u32, last, middle)), Ok(verdict), "M{p}");
    }
}

#[test]
fn minus_nine_is_refused_for_its_symbol() {
    for p in [5, 7, 13, 17, 19, 31, 61] {
        let [_, middle] = right(p);
        assert_eq!(found(&proof(p, modulus(p) - 9 % modulus(p), middle)), Err(Refusal::NotASquare));
    }
    // The sign of a composite's residue.
    for p in [11, 23, 29, 59] {
        let [last, middle] = right(p);
        assert_eq!(found(&proof(p, modulus(p) - last, middle)), Err(Refusal::NotASquare));
    }
}

#[test]
fn primes_times_elements_of_small_order_are_refused() {
    let mut forged = 0;
    for p in [13, 17, 19, 31, 61] {
        let m = modulus(p);
        let [last, middle] = right(p);
        for q in [3u64, 5, 7, 11].into_iter().filter(|&q| (m - 1).is_multiple_of(q)) {
            let root = (3..).map(|g| pow_mod(g, (m - 1) / q, m)).find(|&root| root != 1).unwrap();
            for (c, k) in (1..q).flat_map(|c| (0..q).map(move |k| (c, k))) {
                let times = |x, e| mul_mod(x, pow_mod(root, e, m), m);
                match found(&proof(p, times(last, c), times(middle, k))) {
                    Err(Refusal::Equation) => {}
                    other => {
                        assert_eq!(other, Err(Refusal::SmallOrder), "M{p}, order {q}");
                        forged += 1;
                    }
                }
            }
        }
    }
    assert!(forged > 10, "{forged}");
}

#[test]
fn powers_of_two_are_refused_at_sight() {
    for a in 1..61 {
        let last = mul_mod(9, 1 << a, modulus(61));
        let expected = |negative| Err(Refusal::PowerOfTwo { a, negative });
        assert_eq!(found(&proof(61, last, 1)), expected(false));
        assert_eq!(found(&proof(61, modulus(61) - last, 1)), expected(true));
    }
}

#[test]
fn residues_that_are_no_units_are_refused() {
    let not_a_unit = |number| Err(Refusal::NotAUnit { number });
    assert_eq!(found(&proof(61, 0, 1)), not_a_unit(1));
    assert_eq!(found(&proof(61, 9, 0)), not_a_unit(2));
    // M11 = 23·89: both sides of the equation are 0 for every last residue.
    let residue = |x| Residue::from_u64(11u32, x);
    let middles = vec![residue(23), residue(89)];
    let with = |last| Proof::new(Exponent::new(11).unwrap(), residue(last), middles.clone());
    assert_eq!(found(&with(9).unwrap()), not_a_unit(2));
    assert_eq!(found(&with(46).unwrap()), not_a_unit(1));
}

#[test]
fn what_an_engine_finds_is_believed_after_a_second_run() {
    let [last, middle] = right(59);
    let right = proof(59, last, middle);
    let wrong = proof(59, last, middle + 1);
    for register in 0..4 {
        // One error in the first run, at any position.
        for n in [1, 7, 20] {
            let family = Tampered::leaked(&Word, register, move |k| k == n, flipped);
            assert_eq!(verified_by(family, &right).finding, Ok(Verdict::Composite));
            let family = Tampered::leaked(&Word, register, move |k| k == n, flipped);
            let plan = Plan::of_family(wrong.number(), family, None, Some(1)).unwrap();
            match verify(plan, &wrong, &mut |_| {}, &StopToken::new()) {
                Ok(Some(verification)) => {
                    assert_eq!(verification.finding, Err(Refusal::Equation));
                }
                other => assert!(matches!(other, Err(ProofError::Unreliable { .. })), "{other:?}"),
            }
        }
    }
    let once = Tampered::leaked(&Word, 0, |k| k == 1, flipped);
    assert!(verified_by(once, &right).erred && !verified_by(&Word, &right).erred);
    // Zeros on both sides satisfy the equation.
    let dead = Tampered::leaked(&Word, None, |_| true, zero);
    let plan = Plan::of_family(right.number(), dead, None, Some(1)).unwrap();
    let result = verify(plan, &right, &mut |_| {}, &StopToken::new());
    assert!(matches!(result, Err(ProofError::Unreliable { .. })), "{result:?}");
}
