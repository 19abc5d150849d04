//! Tests of `hybrid-fast`: its margins, and a run whose errors exceed the limit.

use rand::{RngExt, SeedableRng};

use super::super::{Hybrid, HybridFast, LONGEST, margin, statistical};
use crate::engine::fp64::margin::coefficient_of_mean;
use crate::engine::tampered::Tampered;
use crate::layout::WordLayout;
use crate::{
    BuildOptions, EngineError, EngineFamily, Event, Exponent, Finished, LlStart, Plan, PlanRequest,
    Residue, RunOptions, Shift, Step, StopToken, TestKind, TestSpec,
};

/// Returns the largest odd exponent with words of at most 31 bits.
fn longest_exponent(length: usize) -> u32 {
    (31 * length as u64 - 1).min((1 << 31) - 1) as u32
}

#[test]
fn the_digits_limit_the_words_and_not_the_errors() {
    for length in HybridFast.lengths(0, LONGEST) {
        let p = longest_exponent(length).max(1_001);
        let Ok(margin) = HybridFast.margin(p, length) else {
            assert!(p as usize / length < margin::LEAST_BITS || p as usize > 31 * length);
            continue;
        };
        assert!(margin.bits > 1.5 && !margin.proven, "{length}: {margin:?}");
        if length <= 1 << 13 && p > 1_001 {
            assert!(margin::spare_bits(p, length) > 0.0, "{length}");
        }
    }
}

#[test]
fn plans_have_shorter_transforms_than_those_of_hybrid() {
    let plan = |p: u64, engine| {
        let request = PlanRequest { engine: Some(engine), threads: Some(1), ..Default::default() };
        Plan::new(Exponent::new(p).unwrap(), &request).unwrap()
    };
    for (p, fast, proven) in [
        (6_972_593, 7 << 15, 1 << 18),
        (57_885_161, 1 << 21, 33 << 16),
        (82_589_933, 21 << 17, 3 << 20),
        (136_279_841, 9 << 19, 21 << 18),
        (332_192_831, 21 << 19, 7 << 21),
    ] {
        let plans = ["hybrid-fast", "hybrid"].map(|engine| plan(p, engine));
        assert_eq!(plans.map(|plan| plan.length()), [fast, proven], "{p}");
        assert_eq!(plans.map(|plan| plan.margin().proven), [false, true]);
        assert!(plans[0].bits_per_word() < 31.0 && plans[0].margin().bits > 0.0);
    }
}

#[test]
fn says_why_a_length_is_unusable() {
    for (p, length, reason) in [
        (997, 64, "exponents are from 1000"),
        (44_497, 5 << 9, "lengths are"),
        (44_497, 1 << 13, "words have 8 to 31 bits"),
        (44_497, 21 << 6, "words have 8 to 31 bits"),
    ] {
        for error in [
            HybridFast.margin(p, length).unwrap_err(),
            HybridFast.build(p, length, BuildOptions::new(1, 1)).err().unwrap(),
        ] {
            let error = error.to_string();
            assert!(error.contains(reason) && error.starts_with("hybrid-fast"), "{error}");
        }
    }
    // Words of 31 bits, which `hybrid` does not have.
    assert!(
        HybridFast.margin(31 * 448 - 1, 448).is_ok() && Hybrid.margin(31 * 448 - 1, 448).is_err()
    );
}

/// A length and an exponent at which digits of the largest magnitude have errors above the limit.
const LONG: (u32, usize) = (31 * (1 << 18) - 1, 1 << 18);

/// Returns the residue whose digits in the words of [`LONG`] have the largest magnitude, all with the
/// same sign.
fn largest_digits(x: &Residue) -> Residue {
    let layout = WordLayout::new(x.exponent(), LONG.1);
    let digits: Vec<i32> = (0..LONG.1).map(|j| -(1 << (layout.bits(j) - 1))).collect();
    layout.residue(&digits)
}

#[test]
fn an_error_above_the_limit_is_reported() {
    let (p, length) = LONG;
    let mut engine = HybridFast.build(p, length, BuildOptions::new(1, 2)).unwrap();
    let largest = largest_digits(&Residue::from_u64(p, 0));
    engine.write(0, &largest, Shift::ZERO).unwrap();
    let error = engine.square(0, 1, Step::Square, Shift::ZERO).unwrap_err();
    let EngineError::RoundOff { measured, limit, length: of } = error else { panic!("{error}") };
    assert!(measured > limit && limit == statistical::LIMIT && of == length, "{error:?}");
    let health = engine.health().round_off.unwrap();
    assert!((health.max, health.products) == (measured, 1), "{health:?}");
}

/// The largest prime below 31·2^18, and the number of iterations that are computed.
const INTERIM: (u64, u64) = (8_126_453, 30);

/// Computes terms of the Lucas–Lehmer sequence with a family, and returns the last one with the
/// lengths to which the run changed.
fn terms(family: &'static dyn EngineFamily, length: Option<usize>) -> (Residue, Vec<usize>) {
    let p = Exponent::new(INTERIM.0).unwrap();
    let spec =
        TestSpec { iterations: Some(INTERIM.1), ..TestSpec::new(TestKind::Ll(LlStart::Four), p) };
    let plan = Plan::of_family(p, family, length, Some(2)).unwrap();
    let mut lengths = vec![];
    let mut note = |event| {
        if let Event::Lengthened { from, to, round_off, .. } = event {
            assert!(round_off > statistical::LIMIT);
            lengths.extend([from, to]);
        }
    };
    let finished = crate::primality::run(
        &spec,
        plan,
        None,
        &mut note,
        &StopToken::default(),
        &RunOptions::default(),
    );
    let Finished::Done(outcome) = finished.unwrap() else { panic!() };
    (outcome.residue, lengths)
}

#[test]
fn a_run_with_errors_above_the_limit_goes_on_at_a_longer_length() {
    // After the fifth squaring, the digits are those with the largest errors.
    let tampered = Tampered::leaked(&HybridFast, 0, |squaring| squaring == 5, largest_digits);
    let (found, lengths) = terms(tampered, Some(LONG.1));
    assert_eq!(lengths, [LONG.1, 33 << 13]);
    let (expected, unchanged) = terms(&Hybrid, None);
    assert!(found == expected && unchanged.is_empty());
}

/// Squares random residues and returns the coefficient c of σ that follows from their errors, and the
/// largest error.
fn measured_coefficient(p: u32, length: usize, squarings: u64) -> (f64, f64) {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(u64::from(p));
    let x: Vec<u64> = (0..p.div_ceil(64)).map(|_| rng.random()).collect();
    let mut engine = HybridFast.build(p, length, BuildOptions::new(1, 2)).unwrap();
    engine.write(0, &Residue::from_limbs(p, &x), Shift::ZERO).unwrap();
    engine.square(0, squarings, Step::Square, Shift::ZERO).unwrap();
    let measured = engine.health().round_off.unwrap();
    let q = f64::from(warpint_arith::m31::Q);
    (coefficient_of_mean(p, length, measured.mean * q), measured.max)
}

#[test]
fn the_coefficient_is_above_the_measured_ones() {
    for length in [1 << 14, 3 << 13, 7 << 12, 9 << 11, 21 << 10, 77 << 8] {
        let (c, _) = measured_coefficient(longest_exponent(length), length, 30);
        assert!((0.1..statistical::COEFFICIENT).contains(&c), "{length}: {c}");
    }
}

#[test]
#[ignore = "a measurement"]
fn calibration() {
    println!("words, bits, c, largest error, its limit by margin");
    for length in [
        1 << 10,
        1 << 12,
        1 << 14,
        3 << 13,
        1 << 16,
        21 << 12,
        1 << 18,
        9 << 15,
        7 << 16,
        1 << 20,
        3 << 20,
        1 << 22,
    ] {
        for p in [longest_exponent(length), 28 * length as u32 - 1] {
            let (c, max) = measured_coefficient(p, length, (1 << 24) / length as u64 + 20);
            let allowed = statistical::LIMIT * (-statistical::spare_bits(p, length)).exp2();
            println!("{length} {:.2} {c:.3} {max:.6} {allowed:.6}", f64::from(p) / length as f64);
        }
    }
}
