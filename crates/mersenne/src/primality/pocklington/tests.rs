//! Tests of Pocklington's test against GMP, with errors, and through resumptions.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rug::Integer;
use rug::integer::{IsPrime, Order};
use warpint_arith::primes::{is_prime, pow_mod};

use super::*;
use crate::Sign;
use crate::engine::EngineFamily;
use crate::engine::plain::Plain;
use crate::engine::tampered::{Tampered, flipped, zero};
use crate::primality::Clock;
use crate::primality::registers::{LAST, POWER, V, X};

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

fn value(number: Number) -> Integer {
    Integer::from_digits(&number.value(), Order::Lsf)
}

/// Runs the test of a number from the first base on.
fn run_on(
    family: &'static dyn EngineFamily,
    number: Number,
    store: Option<&mut CheckpointStore>,
    events: &mut dyn FnMut(Event),
    stop: &StopToken,
    options: &RunOptions,
) -> Result<Finished, TestError> {
    let kind = TestKind::for_number(number);
    assert!(matches!(kind, TestKind::Pocklington { .. }), "{number}: {kind}");
    let plan = Plan::of_family(number, family, None, Some(1)).unwrap();
    super::super::run(&TestSpec::new(kind, number), plan, store, events, stop, options)
}

fn run_by(family: &'static dyn EngineFamily, number: Number) -> Result<Outcome, TestError> {
    let options = RunOptions::default();
    match run_on(family, number, None, &mut |_| {}, &StopToken::new(), &options)? {
        Finished::Done(outcome) => Ok(*outcome),
        Finished::Stopped { .. } => unreachable!("no stop was requested"),
    }
}

/// Runs the test, and compares its verdict and its residue with GMP.
fn check(number: Number) -> Outcome {
    let outcome = run_by(&Plain, number).unwrap_or_else(|e| panic!("{number}: {e}"));
    let n = value(number);
    let wanted = match n.is_probably_prime(30) {
        IsPrime::No => Verdict::Composite,
        _ => Verdict::Prime,
    };
    // A Carmichael number N with a^((N − 1)/q) ≡ 1 for all bases a.
    let is_open = outcome.verdict == Verdict::ProbablePrime && outcome.bases.len() == MOST_RUNS;
    let right = outcome.verdict == wanted || is_open && wanted == Verdict::Composite;
    assert!(right, "{number}: {outcome:?}");
    let base = *outcome.bases.last().unwrap();
    let residue = Integer::from_digits(outcome.residue.limbs(), Order::Lsf);
    let before = Integer::from(&n - 1u32);
    assert_eq!(residue, Integer::from(base).pow_mod(&before, &n).unwrap(), "{number}");
    let runs = outcome.bases.len() as u64;
    assert_eq!(outcome.iterations, runs * outcome.kind.iterations(number), "{number}");
    assert_eq!(outcome.errors, ErrorCounts::default());
    outcome
}

/// Returns the number k·b^n + 1 if Pocklington's test is the one for it.
fn suited(k: u64, b: u32, n: u32) -> Option<Number> {
    let number = Number::new(k, b, n, Sign::Plus).ok()?;
    let kind = TestKind::for_number(number);
    (matches!(kind, TestKind::Pocklington { .. }) && kind.suits(number)).then_some(number)
}

/// Returns primes whose test needs the given number of runs, of about `bits` bits.
fn primes_of(runs: usize, bits: u32) -> Vec<Number> {
    let numbers = [3u32, 6, 15, 30].into_iter().flat_map(|b| {
        let n = bits * 100 / (100.0 * f64::from(b).log2()) as u32;
        (1..2_000).filter_map(move |k| suited(k, b, n))
    });
    let primes = numbers.filter(|&number| value(number).is_probably_prime(30) != IsPrime::No);
    let runs_of = |number| run_by(&Plain, number).unwrap().bases.len();
    primes.filter(|&number| runs_of(number) == runs).take(3).collect()
}

#[test]
fn all_small_multipliers_agree_with_gmp() {
    let (mut primes, mut by_runs) = (0, [0; 6]);
    for b in [3u32, 5, 6, 7, 10, 11, 12, 15, 18, 21, 30, 35, 42, 105, 210, 1_155, 65_537, u32::MAX]
    {
        let most = 200.0 / f64::from(b).log2();
        for k in 1..41 {
            for n in 1..=most as u32 {
                let Some(number) = suited(k, b, n) else { continue };
                let outcome = check(number);
                if outcome.verdict == Verdict::Prime {
                    primes += 1;
                    by_runs[outcome.bases.len().min(5)] += 1;
                }
            }
        }
    }
    assert!(primes > 1_000, "{primes}");
    assert!(by_runs[1..5].iter().all(|&n| n > 5), "{by_runs:?}");
}

#[test]
fn longer_numbers_and_multipliers_just_below_the_power_agree_with_gmp() {
    let mut primes = 0;
    for b in [3u32, 6, 10, 15, 22, 30, 77, 1_000_003] {
        for bits in [210.0, 300.0, 450.0] {
            let n = (bits / f64::from(b).log2()) as u32;
            for k in (1..200).chain([(1 << 62) + 2, (1 << 63) - 26]) {
                let Some(number) = suited(k, b, n) else { continue };
                primes += usize::from(check(number).verdict == Verdict::Prime);
            }
        }
        // The hypothesis is k < b^n: k from b^n − 40 on.
        for n in 1..8 {
            let Some(power) = u64::from(b).checked_pow(n).filter(|&p| p < 1 << 60) else { break };
            for k in power.saturating_sub(40)..=power + 5 {
                let Some(number) = suited(k, b, n).filter(|_| k % u64::from(b) > 0) else {
                    continue;
                };
                assert!(k < power, "{number}");
                primes += usize::from(check(number).verdict == Verdict::Prime);
            }
        }
    }
    assert!(primes > 100, "{primes}");
}

#[test]
fn known_primes_and_their_neighbours() {
    for (text, verdict) in [
        // The least b for which b^512 + 1, b^1024 + 1 are prime: OEIS A056993.
        ("46^512+1", Verdict::Prime),
        ("824^1024+1", Verdict::Prime),
        ("826^1024+1", Verdict::Composite),
        // 1,003 digits, a probable prime by a search with Python.
        ("1792*10^999+1", Verdict::Prime),
        ("71*6^80+1", Verdict::Prime),
        // b is the largest prime below 2^32.
        ("4*4294967291^2+1", Verdict::Composite),
    ] {
        assert_eq!(check(number(text)).verdict, verdict, "{text}");
    }
}

/// Judges all numbers below 1,500 by all powers, with any choice of the open factors. This includes all
/// pseudoprimes to all bases.
#[test]
fn no_base_proves_a_composite_number_prime() {
    let (mut proven, mut liars) = (0, 0);
    for b in [3u32, 5, 6, 7, 10, 12, 15, 30] {
        for n in 1..7 {
            let Some(power) = u64::from(b).checked_pow(n).filter(|&p| p < 1_500) else { break };
            for k in 1..power.min(1_500 / power + 1) {
                let Ok(number) = Number::new(k, b, n, Sign::Plus) else { continue };
                let Some(value) = number.small().filter(|v| v % 2 == 1) else { continue };
                let open: u64 = primes::prime_factors(b.into()).iter().product();
                for a in 2..value - 1 {
                    let y = Residue::from_u64(number, pow_mod(a, (value - 1) / open, value));
                    let judgement = judge(number, a as u32, open as u32, &y).unwrap();
                    let whole = pow_mod(a, value - 1, value);
                    assert!(judgement.residue.is(whole), "{number}, base {a}");
                    match judgement.verdict {
                        Verdict::Prime => {
                            assert!(is_prime(value), "{number}, base {a}");
                            proven += 1;
                        }
                        Verdict::Composite => {
                            assert!(!is_prime(value), "{number}, base {a}");
                            liars += usize::from(whole == 1);
                        }
                        _ => assert!(whole == 1 && open.is_multiple_of(judgement.open.into())),
                    }
                }
            }
        }
    }
    assert!(proven > 10_000 && liars > 100, "{proven} and {liars}");
}

/// Tests all composites below 2^26 of some forms that pass Fermat's test to the first base.
#[test]
fn pseudoprimes_are_never_proven_prime() {
    let mut found = 0;
    for b in [3u32, 5, 6, 7, 10, 12, 14, 15, 30] {
        for n in 1..24 {
            let Some(power) = u64::from(b).checked_pow(n).filter(|&p| p < 1 << 26) else { break };
            for k in 1..power.min((1 << 26) / power) {
                let value = k * power + 1;
                if k % u64::from(b) == 0 || value % 2 == 0 || is_prime(value) {
                    continue;
                }
                let Some(number) = suited(k, b, n) else { continue };
                let TestKind::Pocklington { base, .. } = TestKind::for_number(number) else {
                    continue;
                };
                if pow_mod(base.into(), value - 1, value) == 1 {
                    check(number);
                    found += 1;
                }
            }
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn a_test_that_proves_nothing_is_refused() {
    for (base, open, text) in [
        // k is not below b^n.
        (5, 3, "82*3^4+1"),
        (5, 3, "81000*3^4-1"),
        // No factor, or another factor, of b.
        (5, 1, "2*3^40+1"),
        (5, 7, "2*3^40+1"),
        (5, 9, "2*3^40+1"),
        // Even, and b = 2.
        (5, 3, "3^40+1"),
        (5, 2, "3*2^40+1"),
        // The symbol of 7 is 1.
        (7, 6, "6^64+1"),
        (3, 6, "6^64+1"),
        (1, 3, "2*3^40+1"),
        (65_537, 3, "2*3^40+1"),
    ] {
        let (number, kind) = (number(text), TestKind::Pocklington { base, open });
        let plan = Plan::of_family(number, &Plain, None, Some(1)).unwrap();
        let (spec, options) = (TestSpec::new(kind, number), RunOptions::default());
        let stop = StopToken::new();
        let result = super::super::run(&spec, plan, None, &mut |_| {}, &stop, &options);
        assert!(matches!(result, Err(TestError::Unsuitable { .. })), "{kind} {text}: {result:?}");
    }
    assert!(!number("4*3^1+1").has_multiplier_below_power());
    assert!(number("2*3^1+1").has_multiplier_below_power());
}

#[test]
fn an_error_in_any_squaring_of_any_run_is_found() {
    for runs in [1, 2] {
        let number = *primes_of(runs, 70).first().unwrap();
        let right = run_by(&Plain, number).unwrap();
        let each = right.kind.iterations(number);
        for (register, squarings) in [(X, right.iterations), (POWER, 8 * runs as u64), (LAST, 1)] {
            for n in 1..=squarings {
                let family = Tampered::leaked(&Plain, register, move |k| k == n, flipped);
                let outcome = run_by(family, number).unwrap();
                let what = format!("{number}, squaring {n} of register {register}, of {each}");
                assert_eq!((outcome.verdict, &outcome.bases), (Verdict::Prime, &right.bases));
                assert_eq!(outcome.residue, right.residue, "{what}");
                assert_eq!(outcome.errors.gerbicz, 1, "{what}");
            }
        }
        let family = Tampered::leaked(&Plain, V, |k| k == 1, flipped);
        assert_eq!(run_by(family, number).unwrap().verdict, Verdict::Prime, "{number}");
    }
}

#[test]
fn lasting_errors_end_the_test_without_a_verdict() {
    for runs in [1, 2] {
        let number = *primes_of(runs, 70).first().unwrap();
        let total = run_by(&Plain, number).unwrap().iterations;
        for from in [1, 20, 50, total / 2 + 5, total - 1] {
            for change in [zero, flipped] {
                let family = Tampered::leaked(&Plain, X, move |k| k >= from, change);
                let result = run_by(family, number);
                assert!(result.is_err(), "{number} from {from}: {result:?}");
            }
            let result = run_by(Tampered::damaged(&Plain, from), number);
            assert!(matches!(result, Err(TestError::Constants { .. })), "{number}: {result:?}");
        }
    }
}

#[test]
fn no_error_makes_a_composite_number_prime() {
    // The first passes Fermat's test to its first base.
    for text in ["14*15^16+1", "6^64+1", "826^8+1"] {
        let number = number(text);
        let right = check(number);
        for n in 1..=right.iterations {
            let family = Tampered::leaked(&Plain, None, move |k| k == n, flipped);
            let outcome = run_by(family, number).unwrap();
            assert_eq!(outcome.verdict, right.verdict, "{number}, squaring {n}");
            assert_eq!(outcome.residue, right.residue, "{number}, squaring {n}");
        }
    }
}

/// A wrong y proves nothing, unless it is a root of unity.
#[test]
fn a_flipped_bit_of_the_checked_power_gives_no_proof() {
    let number = number("6^64+1");
    let (base, open) = (13, 6);
    let exponent = (value(number) - 1u32) / open;
    let y = Integer::from(base).pow_mod(&exponent, &value(number)).unwrap();
    for bit in 0..165 {
        let mut wrong = y.clone();
        wrong.toggle_bit(bit);
        let wrong = Residue::from_limbs(number, &wrong.to_digits(Order::Lsf));
        let judgement = judge(number, base, open, &wrong).unwrap();
        assert_eq!(judgement.verdict, Verdict::Composite, "bit {bit}");
    }
}

/// A clock on which each reading takes a minute, so that every stride is one squaring.
#[derive(Debug)]
struct Slow(Instant, AtomicU64);

impl Clock for Slow {
    fn now(&self) -> Instant {
        self.0 + Duration::from_secs(60 * self.1.fetch_add(1, Ordering::Relaxed))
    }
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Stops or kills a test after each of its checkpoints, in all its runs, and resumes it. A kill is a copy
/// of the directory at that moment.
#[test]
fn a_test_resumes_from_any_checkpoint_of_any_run() {
    let clock: &'static Slow = Box::leak(Box::new(Slow(Instant::now(), AtomicU64::new(0))));
    for runs in [2, 3] {
        let number = *primes_of(runs, 40).first().unwrap();
        let right = run_by(&Plain, number).unwrap();
        let same = |outcome: &Outcome, what: &str| {
            let of = |o: &Outcome| (o.verdict, o.residue.clone(), o.bases.clone(), o.iterations);
            assert_eq!(of(outcome), of(&right), "{number}, {what}");
        };
        let options =
            RunOptions { checkpoint_interval: Duration::ZERO, clock, ..RunOptions::default() };
        let root = tempfile::tempdir().unwrap();
        let resumed = |root: &Path| {
            let mut store = CheckpointStore::open(root, number, right.kind).unwrap();
            let stop = StopToken::new();
            let (store, options) = (Some(&mut store), RunOptions::default());
            match run_on(&Plain, number, store, &mut |_| {}, &stop, &options).unwrap() {
                Finished::Done(outcome) => *outcome,
                Finished::Stopped { .. } => unreachable!(),
            }
        };
        let mut saves = 0;
        let mut store =
            CheckpointStore::open(&root.path().join("all"), number, right.kind).unwrap();
        let dir = store.dir().to_owned();
        let name = dir.file_name().unwrap().to_owned();
        let mut note = |event| {
            if matches!(event, Event::Saved { .. }) {
                saves += 1;
                let to = root.path().join(format!("kill-{saves}")).join(&name);
                copied(&dir, &to);
                let _ = fs::remove_file(to.join("lock"));
            }
        };
        let stop = StopToken::new();
        let end = run_on(&Plain, number, Some(&mut store), &mut note, &stop, &options).unwrap();
        let Finished::Done(outcome) = end else { panic!("{end:?}") };
        same(&outcome, "uninterrupted");
        store.remove_all().unwrap();
        let left = fs::read_dir(&dir).unwrap().map(|f| f.unwrap().path());
        let left: Vec<_> = left.filter(|f| f.extension().is_some_and(|e| e != "lock")).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(saves > 30 * runs, "{number}: {saves}");
        for kill in (1..=saves).step_by(2) {
            let outcome = resumed(&root.path().join(format!("kill-{kill}")));
            same(&outcome, &format!("killed after checkpoint {kill} of {saves}"));
        }
        for after in (3..=saves).step_by(saves / 5) {
            let root = root.path().join(format!("stop-{after}"));
            let mut store = CheckpointStore::open(&root, number, right.kind).unwrap();
            let (stop, mut seen) = (StopToken::new(), 0);
            let mut note = |event| {
                seen += usize::from(matches!(event, Event::Saved { .. }));
                if seen == after {
                    stop.stop();
                }
            };
            let end = run_on(&Plain, number, Some(&mut store), &mut note, &stop, &options).unwrap();
            drop(store);
            match end {
                Finished::Stopped { saved, .. } => assert!(saved),
                Finished::Done(outcome) => same(&outcome, "not stopped"),
            }
            let outcome = resumed(&root);
            same(&outcome, &format!("stopped after checkpoint {after} of {saves}"));
        }
    }
}
