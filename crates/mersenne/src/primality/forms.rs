//! Tests of numbers k·b^n ± 1 against GMP and known primes, with errors, and through resumptions.

use rug::Integer;
use rug::integer::{IsPrime, Order};

use super::*;
use crate::engine::EngineFamily;
use crate::engine::fp64::Fp64;
use crate::engine::plain::Plain;
use crate::engine::tampered::{Tampered, flipped, zero};
use crate::primality::registers::{LAST, POWER, V, X};
use crate::{Number, Sign};

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

fn value(number: Number) -> Integer {
    Integer::from_digits(&number.value(), Order::Lsf)
}

fn run_by(
    family: &'static dyn EngineFamily,
    kind: TestKind,
    number: Number,
) -> Result<Outcome, TestError> {
    let plan = Plan::of_family(number, family, None, Some(1)).unwrap();
    let spec = TestSpec::new(kind, number);
    match run(&spec, plan, None, &mut |_| {}, &StopToken::new(), &RunOptions::default())? {
        Finished::Done(outcome) => Ok(*outcome),
        Finished::Stopped { .. } => unreachable!("no stop was requested"),
    }
}

/// Runs a test, and compares its verdict and its residue with GMP.
fn check(kind: TestKind, number: Number) -> Verdict {
    check_by(&Plain, kind, number)
}

fn check_by(family: &'static dyn EngineFamily, kind: TestKind, number: Number) -> Verdict {
    let outcome = run_by(family, kind, number).unwrap_or_else(|e| panic!("{number}: {e}"));
    assert_eq!(outcome.engine, family.name());
    let n = value(number);
    let is_prime = n.is_probably_prime(30) != IsPrime::No;
    let verdict = outcome.verdict;
    let power = |base: u32, e: &Integer| Integer::from(base).pow_mod(e, &n).unwrap();
    let before = Integer::from(&n - 1u32);
    let residue = Integer::from_digits(outcome.residue.limbs(), Order::Lsf);
    match kind {
        TestKind::Fermat { base } => {
            assert_eq!(residue, power(base, &before), "{number}, {kind}");
            let passes = residue == 1;
            assert_eq!(verdict == Verdict::ProbablePrime, passes, "{number}, {kind}");
            assert!(passes || !is_prime && verdict == Verdict::Composite, "{number}, {kind}");
        }
        TestKind::Proth { base } => {
            assert_eq!(residue, power(base, &Integer::from(&before / 2u32)), "{number}, {kind}");
            assert_eq!(verdict == Verdict::Prime, is_prime, "{number}, {kind}");
        }
        _ => assert_eq!(verdict == Verdict::Prime, is_prime, "{number}, {kind}"),
    }
    assert!(matches!(verdict, Verdict::Prime | Verdict::ProbablePrime | Verdict::Composite));
    assert_eq!(outcome.errors, ErrorCounts::default());
    verdict
}

/// Tests k·2^n ± 1 for odd k < 100 and the given n, by every test that suits the number.
fn check_all(exponents: impl Iterator<Item = u32> + Clone) -> usize {
    let mut primes = 0;
    for k in (1..100).step_by(2) {
        for n in exponents.clone() {
            for sign in [Sign::Minus, Sign::Plus] {
                let Ok(number) = Number::new(k, 2, n, sign) else { continue };
                // Tests of Mersenne numbers have tests of their own.
                let best = TestKind::for_number(number);
                if number.is_mersenne() || !best.suits(number) {
                    continue;
                }
                let proves = best.theorem(number).is_some();
                // Squares have no base, and numbers with small factors may have no parameter.
                let n_value = value(number);
                let has_factor = (2..1000).any(|q| n_value > q && n_value.is_divisible_u(q));
                let short = number.has_short_multiplier();
                assert!(proves || !short || has_factor || n < 3, "{number}");
                primes += usize::from(check(best, number) != Verdict::Composite);
                if n < 70 && TestKind::fermat(number).suits(number) {
                    check(TestKind::fermat(number), number);
                    let other = TestKind::Fermat { base: 6 };
                    if other.suits(number) {
                        check(other, number);
                    }
                }
            }
        }
    }
    primes
}

/// Every k·2^n ± 1 with odd k < 100 and n < 500, also those with small factors.
#[test]
fn all_numbers_of_base_2_agree_with_gmp() {
    let primes = check_all(1..500);
    assert!(primes > 1_000, "{primes}");
}

#[test]
fn numbers_of_other_bases_and_long_multipliers_agree_with_gmp() {
    for b in [2u32, 3, 5, 6, 7, 10, 12, 65_537, u32::MAX] {
        for k in [1u64, 2, 4, 11, 100, (1 << 40) + 15, (1 << 63) - 25] {
            for n in [1u32, 2, 3, 8, 17, 40, 64] {
                for sign in [Sign::Minus, Sign::Plus] {
                    let Ok(number) = Number::new(k, b, n, sign) else { continue };
                    for kind in [TestKind::for_number(number), TestKind::Fermat { base: 65_536 }] {
                        if kind.suits(number) && !number.is_mersenne() {
                            check(kind, number);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn known_primes_and_fermat_numbers() {
    for (text, kind, verdict) in [
        // Ballinger and Keller's list of Proth primes.
        ("3*2^3189+1", "Proth", Verdict::Prime),
        ("5*2^3313+1", "Proth", Verdict::Prime),
        ("7*2^2256+1", "Proth", Verdict::Prime),
        ("3*2^3190+1", "Proth", Verdict::Composite),
        // Riesel 1969; Keller's list of Riesel primes.
        ("3*2^3276-1", "LLR", Verdict::Prime),
        ("5*2^1998-1", "LLR", Verdict::Composite),
        // The least b for which b^512 + 1, b^1024 + 1 are prime: OEIS A056993.
        ("46^512+1", "Pocklington", Verdict::Prime),
        ("824^1024+1", "Pocklington", Verdict::Prime),
        ("826^1024+1", "Pocklington", Verdict::Composite),
        // Fermat numbers F_4 to F_12.
        ("2^16+1", "Proth", Verdict::Prime),
        ("2^32+1", "Proth", Verdict::Composite),
        ("2^64+1", "Proth", Verdict::Composite),
        ("2^128+1", "Proth", Verdict::Composite),
        ("2^256+1", "Proth", Verdict::Composite),
        ("2^512+1", "Proth", Verdict::Composite),
        ("2^1024+1", "Proth", Verdict::Composite),
        ("2^2048+1", "Proth", Verdict::Composite),
        ("2^4096+1", "Proth", Verdict::Composite),
    ] {
        let number = number(text);
        let best = TestKind::for_number(number);
        assert!(best.work_type().starts_with(kind), "{text}: {best}");
        assert_eq!(check(best, number), verdict, "{text}");
    }
    let fermat = number("2^4096+1");
    assert_eq!(TestKind::for_number(fermat), TestKind::Proth { base: 3 });
    assert_eq!(TestKind::for_number(fermat).theorem(fermat), Some("Pépin"));
}

/// The same by floating-point transforms, which take longer numbers only.
#[test]
fn transforms_agree_with_gmp() {
    for (text, kind, verdict) in [
        // Lists of Proth primes (Ballinger and Keller) and of Riesel primes (Keller).
        ("3*2^20909+1", "Proth", Verdict::Prime),
        ("5*2^13165+1", "Proth", Verdict::Prime),
        ("3*2^12676-1", "LLR", Verdict::Prime),
        ("3*2^14898-1", "LLR", Verdict::Prime),
        // Composite numbers.
        ("2^16384+1", "Proth", Verdict::Composite),
        ("10223*2^10001+1", "Proth", Verdict::Composite),
        ("1048575*2^10003+1", "Proth", Verdict::Composite),
        ("65535*2^12345-1", "LLR", Verdict::Composite),
    ] {
        let number = number(text);
        let best = TestKind::for_number(number);
        assert!(best.work_type().starts_with(kind), "{text}: {best}");
        assert_eq!(check_by(&Fp64, best, number), verdict, "{text}");
        let fermat = TestKind::fermat(number);
        let expected =
            if verdict == Verdict::Prime { Verdict::ProbablePrime } else { Verdict::Composite };
        assert_eq!(check_by(&Fp64, fermat, number), expected, "{text}");
    }
}

#[test]
fn an_error_in_a_squaring_by_transforms_is_found() {
    for text in ["3*2^10001+1", "10223*2^10001+1"] {
        let number = number(text);
        for kind in [TestKind::for_number(number), TestKind::fermat(number)] {
            let right = run_by(&Fp64, kind, number).unwrap().residue;
            for (register, squaring) in [(X, 1), (X, 5_000), (X, 10_001), (POWER, 7), (LAST, 1)] {
                let family = Tampered::leaked(&Fp64, register, move |k| k == squaring, flipped);
                let outcome = run_by(family, kind, number).unwrap();
                let what = format!("{number}, {kind}, squaring {squaring} of register {register}");
                assert_eq!(outcome.residue, right, "{what}");
                assert_eq!(outcome.errors.gerbicz, 1, "{what}");
            }
        }
    }
}

/// Without a longer transform, a test tries once more from each good state before `plain` goes on.
#[test]
fn a_round_off_error_at_the_longest_transform_is_tried_again() {
    let number = number("27*2^57+1");
    let kind = TestKind::for_number(number);
    let right = run_by(&Plain, kind, number).unwrap();
    for (errors, engine) in [(1, "tampered"), (2, "plain"), (3, "plain")] {
        let family = Tampered::imprecise(&Plain, move |n| (20..20 + errors).contains(&n));
        let plan = Plan::of_family(number, family, None, Some(1)).unwrap();
        let length = plan.length();
        let mut lengths = vec![];
        let mut events = |event| {
            if let Event::Lengthened { from, to, back_to, .. } = event {
                assert_eq!((from, back_to), (length, 0));
                lengths.push(to);
            }
        };
        let (spec, options) = (TestSpec::new(kind, number), RunOptions::default());
        let result = run(&spec, plan, None, &mut events, &StopToken::new(), &options).unwrap();
        let Finished::Done(outcome) = result else { unreachable!("no stop was requested") };
        assert_eq!((outcome.residue, outcome.verdict), (right.residue.clone(), right.verdict));
        let count = errors.min(2) as usize;
        assert_eq!((outcome.errors.round_off as usize, lengths.len()), (count, count));
        assert_eq!((lengths[0], outcome.engine), (length, engine));
    }
}

#[test]
fn a_test_that_proves_nothing_is_refused() {
    for (kind, text) in [
        // k > 2^n.
        (TestKind::Proth { base: 3 }, "1000001*2^19+1"),
        (TestKind::Riesel, "1000001*2^19-1"),
        // The symbol of 2 is 1.
        (TestKind::Proth { base: 2 }, "13*2^60+1"),
        (TestKind::Proth { base: 65_537 }, "13*2^60+1"),
        (TestKind::Riesel, "13*2^60+1"),
        (TestKind::Proth { base: 3 }, "13*2^60-1"),
        (TestKind::Riesel, "M61"),
        (TestKind::Prp, "13*2^60-1"),
        (TestKind::Ll(LlStart::Four), "13*2^60-1"),
        (TestKind::Fermat { base: 3 }, "7*3^40+1"),
        (TestKind::Fermat { base: 1 }, "13*2^60+1"),
    ] {
        let result = run_by(&Plain, kind, number(text));
        assert!(matches!(result, Err(TestError::Unsuitable { .. })), "{kind} {text}: {result:?}");
    }
}

/// Returns small numbers with tests with Gerbicz–Li checks. Factors follow the squarings of the
/// multiplier only (Proth), of nearly all bits, and of some bits (Fermat).
fn checked() -> [(Number, TestKind); 4] {
    let proth = |text| (number(text), TestKind::for_number(number(text)));
    let fermat = |text| (number(text), TestKind::fermat(number(text)));
    let all = [proth("27*2^57+1"), proth("2^64+1"), fermat("27*2^57-1"), fermat("10*7^25+1")];
    assert!(all[..2].iter().all(|(_, kind)| matches!(kind, TestKind::Proth { .. })));
    all
}

#[test]
fn an_error_in_any_squaring_is_found() {
    for (number, kind) in checked() {
        let right = run_by(&Plain, kind, number).unwrap().residue;
        let total = kind.iterations(number);
        for (register, squarings) in [(X, total), (POWER, 14), (LAST, 1)] {
            for n in 1..=squarings {
                let family = Tampered::leaked(&Plain, register, move |k| k == n, flipped);
                let outcome = run_by(family, kind, number).unwrap();
                let what = format!("{number}, squaring {n} of register {register}");
                assert_eq!(outcome.residue, right, "{what}");
                assert_eq!(outcome.errors.gerbicz, 1, "{what}");
            }
        }
        // An error in the power a^h.
        let family = Tampered::leaked(&Plain, V, |k| k == 1, flipped);
        let outcome = run_by(family, kind, number).unwrap();
        assert_eq!(outcome.residue, right, "{number}, register V");
    }
}

#[test]
fn a_changed_modulus_ends_the_test() {
    let riesel = (number("27*2^57-1"), TestKind::Riesel);
    for (number, kind) in checked().into_iter().chain([riesel]) {
        for from in [1, 20, kind.iterations(number)] {
            let result = run_by(Tampered::damaged(&Plain, from), kind, number);
            assert!(
                matches!(result, Err(TestError::Constants { .. })),
                "{number}, {kind}: {result:?}"
            );
        }
    }
}

/// The composite 2^128 + 1 passes Fermat's test to the bases 2, 4 and 16, and 10^64 + 1 to base 10.
#[test]
fn bases_that_tell_nothing_are_refused() {
    for (text, base) in
        [("2^128+1", 2), ("2^128+1", 16), ("10^64+1", 10), ("6^64+1", 6), ("12^256+1", 18)]
    {
        let kind = TestKind::Fermat { base };
        let result = run_by(&Plain, kind, number(text));
        assert!(matches!(result, Err(TestError::Unsuitable { .. })), "{text}: {result:?}");
    }
    for (text, base) in [("2^128+1", 6), ("10^64+1", 3), ("3*2^94-1", 2)] {
        assert!(TestKind::Fermat { base }.suits(number(text)), "{text}, {base}");
    }
}

#[test]
fn zeros_are_never_taken_for_a_result() {
    let riesel = (number("27*2^57-1"), TestKind::Riesel);
    for (number, kind) in checked().into_iter().chain([riesel]) {
        for from in [1, 20, 50, 55] {
            let family = Tampered::leaked(&Plain, X, move |k| k >= from, zero);
            let result = run_by(family, kind, number);
            assert!(result.is_err(), "{number}, {kind} from {from}: {result:?}");
        }
    }
}

#[test]
fn an_error_of_a_riesel_test_is_found_or_changes_a_composite_verdict_only() {
    // 3·2^94 − 1 is prime.
    let number = number("3*2^94-1");
    let (mut found, mut missed) = (0, 0);
    for n in 1..92 {
        let family = Tampered::leaked(&Plain, X, move |k| k == n, flipped);
        match run_by(family, TestKind::Riesel, number) {
            Ok(outcome) if outcome.errors.jacobi > 0 => {
                assert_eq!(outcome.verdict, Verdict::Prime, "{n}");
                found += 1;
            }
            Ok(outcome) => {
                assert_eq!(outcome.verdict, Verdict::Composite, "{n}");
                missed += 1;
            }
            Err(e) => panic!("{n}: {e}"),
        }
    }
    assert!(found > 25 && missed > 25, "{found} and {missed}");
}

#[test]
fn a_stopped_test_goes_on_from_its_checkpoint() {
    for (text, name) in [
        ("3*2^2208+1", "Proth"),
        ("10*7^700-1", "PRP"),
        ("826^256+1", "Pocklington"),
        ("3*2^1274-1", "LLR"),
    ] {
        let number = number(text);
        let kind = match name {
            "PRP" => TestKind::fermat(number),
            _ => TestKind::for_number(number),
        };
        assert!(kind.work_type().starts_with(name), "{kind}");
        let plan = Plan::of_family(number, &Plain, None, Some(1)).unwrap();
        let right = run_by(&Plain, kind, number).unwrap();
        let root = tempfile::tempdir().unwrap();
        let options = RunOptions { checkpoint_interval: Duration::ZERO, ..RunOptions::default() };
        let total = kind.iterations(number);
        let mut at = 0;
        for iterations in [total / 5, total / 2, total - 1, total] {
            let mut store = CheckpointStore::open(root.path(), number, kind).unwrap();
            assert_eq!(store.dir(), root.path().join(number.file_name()));
            let spec = TestSpec { iterations: Some(iterations), ..TestSpec::new(kind, number) };
            let mut resumed = None;
            let mut note = |event| {
                if let Event::Started { iteration, .. } = event {
                    resumed = Some(iteration);
                }
            };
            let end = run(&spec, plan, Some(&mut store), &mut note, &StopToken::new(), &options);
            let Ok(Finished::Done(outcome)) = end else { panic!("{text}: {end:?}") };
            assert_eq!(resumed, Some(at), "{text}");
            at = iterations;
            if iterations == total {
                assert_eq!(
                    (outcome.verdict, outcome.residue),
                    (right.verdict, right.residue.clone())
                );
            } else {
                assert_eq!(outcome.verdict, Verdict::Interim);
            }
        }
        // Another number's checkpoints are in another directory, and are not of this test.
        let other = Number::new(5, 2, 2_208, Sign::Plus).unwrap();
        let mut store = CheckpointStore::open(root.path(), other, kind).unwrap();
        assert!(store.load_newest().unwrap().is_none());
    }
}
