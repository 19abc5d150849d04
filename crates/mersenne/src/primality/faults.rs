//! Tests, on the word engine, that the checks of a test detect errors in single squarings.

use warpint_arith::primes::{mul_mod, pow_mod};
use warpint_natural::euclid::jacobi_binary;

use super::registers::{D, LAST, NEXT, POWER, V, X};
use super::*;
use crate::engine::tampered::{Tampered, flipped, zero};
use crate::engine::word::Word;
use crate::engine::{BuildOptions, EngineFamily};
use crate::primality::prp::Prp;
use crate::primality::sequence::{Advance, Sequence};
use crate::{Engine, Shift};

fn run_by(family: &'static dyn EngineFamily, kind: TestKind, p: u32) -> Result<Outcome, TestError> {
    let exponent = Exponent::new(u64::from(p)).unwrap();
    let plan = Plan::of_family(exponent, family, None, Some(1)).unwrap();
    let spec = TestSpec::new(kind, exponent);
    match run(&spec, plan, None, &mut |_| {}, &StopToken::new(), &RunOptions::default())? {
        Finished::Done(outcome) => Ok(*outcome),
        Finished::Stopped { .. } => unreachable!("no stop was requested"),
    }
}

#[test]
fn an_error_in_any_squaring_of_a_prp_test_is_found() {
    for p in [59u32, 61] {
        let m = (1u64 << p) - 1;
        let right = pow_mod(3, m - 1, m);
        // One check of one block covers the test, up to iteration 70.
        for (register, squarings) in [(X, 70), (POWER, 14), (LAST, 11)] {
            for n in 1..=squarings {
                let family = Tampered::leaked(&Word, register, move |k| k == n, flipped);
                let outcome = run_by(family, TestKind::Prp, p).unwrap();
                let what = format!("M{p}, squaring {n} of register {register}");
                assert!(outcome.residue.is(right), "{what}");
                assert_eq!(outcome.errors.gerbicz, 1, "{what}");
            }
        }
    }
}

#[test]
fn zeros_are_no_residues_of_a_prp_test() {
    for from in [1, 30, 61, 65] {
        let family = Tampered::leaked(&Word, X, move |k| k >= from, zero);
        let result = run_by(family, TestKind::Prp, 61);
        assert!(result.is_err(), "{from}: {result:?}");
    }
    let (mut prp, mut engine) = at_the_end_of_m59();
    let zero = Residue::from_u64(59u32, 0);
    assert!(prp.impossible(1, &zero) && !prp.impossible(1, &Residue::from_u64(59u32, 1)));
    // Zero everywhere satisfies the equation.
    for register in [X, D, V, NEXT, LAST] {
        engine.write(register, &zero, Shift::ZERO).unwrap();
    }
    prp.forget_last(zero.clone(), &zero);
    assert!(matches!(end_of(&mut prp, engine.as_mut()), Advance::CheckFailed { .. }));
}

/// Returns a PRP test of M59 that has reached x_59, and its engine. The test is in its last block,
/// which ends at iteration 70.
fn at_the_end_of_m59() -> (Prp, Box<dyn Engine>) {
    let mut engine = Word.build(59, 1, BuildOptions::new(registers::COUNT, 1)).unwrap();
    let mut prp = Prp::new(TestKind::Prp, Residue::from_u64(59u32, 3), 59);
    let first = prp.first();
    prp.load(engine.as_mut(), &first).unwrap();
    while !prp.has_reached_its_end() {
        prp.advance(engine.as_mut(), 1).unwrap();
    }
    (prp, engine)
}

fn end_of(prp: &mut Prp, engine: &mut dyn Engine) -> Advance {
    loop {
        match prp.advance(engine, 5).unwrap() {
            Advance::Going => {}
            end => return end,
        }
    }
}

#[test]
fn the_last_residue_must_lead_to_the_end_of_its_block() {
    let p = 59;
    let (mut prp, mut engine) = at_the_end_of_m59();
    assert!(matches!(end_of(&mut prp, engine.as_mut()), Advance::Finished(_)));
    // Replaces the last two residues by another number and its square. The registers from which the
    // sequence continues are right, so that the Gerbicz–Li equation holds.
    let (mut prp, mut engine) = at_the_end_of_m59();
    prp.forget_last(Residue::from_u64(p, 5), &Residue::from_u64(p, 25));
    let end = end_of(&mut prp, engine.as_mut());
    assert!(matches!(end, Advance::CheckFailed { iteration: 70, .. }), "{end:?}");
}

#[test]
fn an_error_of_a_lucas_lehmer_test_is_found_where_its_symbol_is_wrong() {
    let p = 61u32;
    let m = (1u64 << p) - 1;
    let (mut found, mut missed) = (0, 0);
    for n in 1..u64::from(p) - 2 {
        let family = Tampered::leaked(&Word, X, move |k| k == n, flipped);
        let mut s = 4;
        for k in 1..=u64::from(p) - 2 {
            s = (mul_mod(s, s, m) + m - 2) % m;
            s ^= if k == n { 8 } else { 0 };
        }
        let symbol = jacobi_binary(&[(s + m - 2) % m], &[m]);
        let result = run_by(family, TestKind::Ll(LlStart::Four), p);
        if symbol == 1 {
            let outcome = result.unwrap();
            assert_eq!((outcome.verdict, outcome.errors.jacobi), (Verdict::Prime, 1), "{n}");
            found += 1;
        } else {
            let outcome = result.unwrap();
            assert_eq!((outcome.verdict, outcome.errors.jacobi), (Verdict::Composite, 0), "{n}");
            missed += 1;
        }
    }
    assert!(found > 15 && missed > 15, "{found} and {missed}");
}
