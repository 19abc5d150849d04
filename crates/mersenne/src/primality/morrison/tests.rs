//! Tests of Morrison's test against GMP, with errors, and through resumptions.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rug::Integer;
use rug::integer::{IsPrime, Order};
use warpint_arith::primes::{is_prime, mul_mod, pow_mod};

use super::judge::judge;
use super::*;
use crate::checkpoint::{LucasState, State};
use crate::engine::plain::Plain;
use crate::engine::tampered::{Tampered, flipped, zero};
use crate::engine::{BuildOptions, EngineFamily};
use crate::primality::registers::{SECOND, X};
use crate::primality::sequence::Sequence;
use crate::primality::{Clock, Memory};
use crate::{Shift, Sign};

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

fn value(number: Number) -> Integer {
    Integer::from_digits(&number.value(), Order::Lsf)
}

fn integer(x: &Residue) -> Integer {
    Integer::from_digits(x.limbs(), Order::Lsf)
}

fn residue(number: Number, x: &Integer) -> Residue {
    let mut limbs = x.to_digits(Order::Lsf);
    limbs.resize(number.limbs(), 0);
    Residue::from_canonical(number, limbs)
}

fn run_on(
    family: &'static dyn EngineFamily,
    number: Number,
    store: Option<&mut CheckpointStore>,
    events: &mut dyn FnMut(Event),
    stop: &StopToken,
    options: &RunOptions,
) -> Result<Finished, TestError> {
    let kind = TestKind::for_number(number);
    assert!(matches!(kind, TestKind::Morrison { .. }), "{number}: {kind}");
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

/// Returns V_m mod N by powers of (t + √d)/(t − √d) = (t + √d)²/(t² − d) in Z_N[√d], with GMP.
fn term(number: Number, d: u32, t: u32, m: &Integer) -> Integer {
    let n = value(number);
    let mul = |a: &(Integer, Integer), b: &(Integer, Integer)| {
        let x = Integer::from(&a.0 * &b.0) + Integer::from(&a.1 * &b.1) * d;
        let y = Integer::from(&a.0 * &b.1) + Integer::from(&a.1 * &b.0);
        (x.modulo(&n), y.modulo(&n))
    };
    let norm = Integer::from(i64::from(t).pow(2) - i64::from(d)).modulo(&n);
    let inverse = norm.invert(&n).unwrap();
    let beta = (Integer::from(t), Integer::from(1));
    let square = mul(&beta, &beta);
    let alpha = (square.0 * &inverse, square.1 * &inverse);
    let mut power = (Integer::from(1), Integer::new());
    for bit in (0..m.significant_bits()).rev() {
        power = mul(&power, &power);
        if m.get_bit(bit) {
            power = mul(&power, &alpha);
        }
    }
    (power.0 * 2u32).modulo(&n)
}

/// Runs the test, and compares its verdict and its residue with GMP.
fn check(number: Number) -> Outcome {
    let outcome = run_by(&Plain, number).unwrap_or_else(|e| panic!("{number}: {e}"));
    let n = value(number);
    let is_composite = n.is_probably_prime(30) == IsPrime::No;
    let wanted = if is_composite { Verdict::Composite } else { Verdict::Prime };
    let is_open = outcome.verdict == Verdict::ProbablePrime && outcome.bases.len() == MOST_RUNS;
    assert!(outcome.verdict == wanted || is_open && is_composite, "{number}: {outcome:?}");
    assert_eq!(outcome.errors, ErrorCounts::default(), "{number}");
    let fermat = TestKind::fermat(number);
    let (bits, runs) = (fermat.iterations(number), outcome.bases.len() as u64);
    match (outcome.kind, fermat) {
        (TestKind::Fermat { .. }, TestKind::Fermat { base }) => {
            let before = Integer::from(&n - 1u32);
            let power = Integer::from(base).pow_mod(&before, &n).unwrap();
            assert_eq!((outcome.kind, integer(&outcome.residue)), (fermat, power), "{number}");
            assert_eq!((runs, outcome.iterations), (0, bits), "{number}");
        }
        (TestKind::Morrison { d, .. }, _) => {
            let t = *outcome.bases.last().unwrap();
            let right = term(number, d, t, &Integer::from(&n + 1u32));
            assert_eq!(integer(&outcome.residue), right, "{number}");
            assert_eq!(outcome.iterations, bits + runs * outcome.kind.iterations(number));
        }
        other => panic!("{number}: {other:?}"),
    }
    outcome
}

/// Returns the number k·b^n − 1 if Morrison's test is the one for it.
fn suited(k: u64, b: u32, n: u32) -> Option<Number> {
    let number = Number::new(k, b, n, Sign::Minus).ok()?;
    matches!(TestKind::for_number(number), TestKind::Morrison { .. }).then_some(number)
}

/// Returns primes whose test needs the given number of sequences, of about `bits` bits.
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
                let Some(number) = suited(k, b, n) else {
                    // A number that is a prime above a few small ones has a test.
                    if let Ok(number) = Number::new(k, b, n, Sign::Minus)
                        && number.has_multiplier_below_power()
                    {
                        let n = value(number);
                        let is_prime = n.is_probably_prime(30) != IsPrime::No;
                        assert!(!is_prime || n < 1_000u32, "{number}");
                    }
                    continue;
                };
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
fn the_first_bits_of_long_numbers_are_right() {
    for text in ["9*10^3100-1", "2*7^3700-1", "4*15^2600-1"] {
        let number = number(text);
        let kind = TestKind::for_number(number);
        let TestKind::Morrison { d, t, open } = kind else { panic!("{kind}") };
        let parameters = Parameters { number, d, t, open };
        let total = kind.iterations(number);
        for bits in [1, 5, 8, 9, 14] {
            let mut chain = Chain::new(parameters, total);
            let mut engine = Plain.build_for(number, 1, BuildOptions::new(6, 1)).unwrap();
            chain.load(engine.as_mut(), &chain.first()).unwrap();
            chain.advance(engine.as_mut(), bits).unwrap();
            let index =
                Integer::from_digits(&parameters.index(), Order::Lsf) >> (total - bits) as u32;
            for (register, more) in [(X, 0), (SECOND, 1)] {
                let found = integer(&engine.read(register, Shift::ZERO).unwrap());
                let expected = term(number, d, t, &Integer::from(&index + more));
                assert_eq!(found, expected, "{text}, {bits} bits");
            }
        }
    }
}

#[test]
fn known_primes_and_their_neighbours() {
    for (text, verdict) in [
        // Probable primes by GMP.
        ("27*10^100-1", Verdict::Prime),
        // The exponents n of the primes 2·3^n − 1: OEIS A003307.
        ("2*3^222-1", Verdict::Prime),
        ("2*3^223-1", Verdict::Composite),
        ("2*3^644-1", Verdict::Prime),
        ("2*3^645-1", Verdict::Composite),
    ] {
        assert_eq!(check(number(text)).verdict, verdict, "{text}");
    }
}

/// Judges all numbers below 1,500 by all sequences, with any choice of the open factors. This includes all
/// pseudoprimes to all sequences.
#[test]
fn no_sequence_proves_a_composite_number_prime() {
    let (mut proven, mut liars) = (0, 0);
    for b in [3u32, 5, 6, 7, 10, 12, 15, 30] {
        for n in 1..7 {
            let Some(power) = u64::from(b).checked_pow(n).filter(|&p| p < 1_500) else { break };
            for k in 1..power.min(1_500 / power + 1) {
                let Ok(number) = Number::new(k, b, n, Sign::Minus) else { continue };
                let Some(value) = number.small().filter(|v| v % 2 == 1) else { continue };
                let open: u64 = primes::prime_factors(b.into()).iter().product();
                for d in 2..12u32 {
                    for t in 1..value.min(60) as u32 {
                        let kind = TestKind::Morrison { d, t, open: open as u32 };
                        if !kind.suits(number) {
                            continue;
                        }
                        let parameters = Parameters::of(kind, number).unwrap();
                        let m = Integer::from((value + 1) / parameters.cofactor());
                        let v = residue(number, &term(number, d, t, &m));
                        let w = residue(number, &term(number, d, t, &(m + 1u32)));
                        let judgement = judge(parameters, &v, &w).unwrap();
                        let whole = term(number, d, t, &Integer::from(value + 1));
                        assert_eq!(integer(&judgement.residue), whole, "{number}, {kind:?}");
                        match judgement.verdict {
                            Verdict::Prime => {
                                assert!(is_prime(value), "{number}, {kind:?}");
                                proven += 1;
                            }
                            Verdict::Composite => {
                                assert!(!is_prime(value), "{number}, {kind:?}");
                                assert!(!judgement.has_factor || whole == 2);
                                liars += usize::from(whole == 2);
                            }
                            _ => assert!(whole == 2 && open.is_multiple_of(judgement.open.into())),
                        }
                    }
                }
            }
        }
    }
    assert!(proven > 1_000 && liars > 10, "{proven} and {liars}");
}

/// Tests all composites below 2^26 of some forms that pass Fermat's test.
#[test]
fn pseudoprimes_are_never_proven_prime() {
    let mut found = 0;
    for b in 3u32..=100 {
        for n in 1..24 {
            let Some(power) = u64::from(b).checked_pow(n).filter(|&p| p < 1 << 26) else { break };
            for k in 1..power.min((1 << 26) / power) {
                let value = k * power - 1;
                if k % u64::from(b) == 0 || value % 2 == 0 || is_prime(value) {
                    continue;
                }
                let Ok(number) = Number::new(k, b, n, Sign::Minus) else { continue };
                let TestKind::Fermat { base } = TestKind::fermat(number) else { continue };
                if pow_mod(base.into(), value - 1, value) == 1 && suited(k, b, n).is_some() {
                    let outcome = check(number);
                    assert!(matches!(outcome.kind, TestKind::Morrison { .. }), "{number}");
                    found += 1;
                }
            }
        }
    }
    assert!(found > 15, "{found}");
}

#[test]
fn a_test_that_proves_nothing_is_refused() {
    for (d, t, open, text) in [
        // k is not below b^n.
        (7, 1, 3, "82*3^4-1"),
        (7, 1, 3, "8100*3^4+1"),
        // No factor, or another factor, of b.
        (5, 1, 1, "2*3^222-1"),
        (5, 1, 7, "2*3^222-1"),
        (5, 1, 9, "2*3^222-1"),
        // Even, and b = 2.
        (5, 1, 3, "3^40-1"),
        (11, 1, 2, "3*2^94-1"),
        // t² = d, t = 0, and numbers above 2^16.
        (4, 2, 3, "2*3^222-1"),
        (5, 0, 3, "2*3^222-1"),
        (0, 1, 3, "2*3^222-1"),
        (65_537, 1, 3, "2*3^222-1"),
        (5, 65_537, 3, "2*3^222-1"),
    ] {
        let (number, kind) = (number(text), TestKind::Morrison { d, t, open });
        let plan = Plan::of_family(number, &Plain, None, Some(1)).unwrap();
        let (spec, options) = (TestSpec::new(kind, number), RunOptions::default());
        let stop = StopToken::new();
        let result = super::super::run(&spec, plan, None, &mut |_| {}, &stop, &options);
        assert!(matches!(result, Err(TestError::Unsuitable { .. })), "{kind:?} {text}: {result:?}");
    }
    assert!(TestKind::Morrison { d: 5, t: 1, open: 3 }.suits(number("2*3^222-1")));
    // Of all d and t, those with the right symbols suit.
    let number = number("27*10^100-1");
    let symbol = |a: i64| Integer::from(a).jacobi(&value(number));
    for d in 1..30u32 {
        for t in 1..30u32 {
            let norm = i64::from(t).pow(2) - i64::from(d);
            let right = symbol(d.into()) == -1 && norm != 0;
            let of = |open| TestKind::Morrison { d, t, open }.suits(number);
            assert_eq!(of(5), right, "{d}, {t}");
            assert_eq!(of(10), right && symbol(norm) == -1, "{d}, {t}");
        }
    }
}

/// Changes of one squaring are found by the Gerbicz–Li check or by that of the sequence, in every part.
#[test]
fn an_error_in_any_squaring_of_any_part_is_found() {
    for runs in [1, 2] {
        let number = *primes_of(runs, 70).first().unwrap();
        let right = run_by(&Plain, number).unwrap();
        let fermat = TestKind::fermat(number).iterations(number);
        let mut found = [0; 2];
        for register in [X, SECOND] {
            for n in 1.. {
                static REACHED: AtomicBool = AtomicBool::new(false);
                REACHED.store(false, Ordering::Relaxed);
                let at = move |k| {
                    REACHED.fetch_or(k == n, Ordering::Relaxed);
                    k == n
                };
                let family = Tampered::leaked(&Plain, register, at, flipped);
                let outcome = run_by(family, number).unwrap();
                if !REACHED.load(Ordering::Relaxed) {
                    break;
                }
                let what = format!("{number}, squaring {n} of register {register}");
                assert_eq!((outcome.verdict, &outcome.bases), (Verdict::Prime, &right.bases));
                assert_eq!(outcome.residue, right.residue, "{what}");
                assert_eq!(outcome.iterations, right.iterations, "{what}");
                let ErrorCounts { gerbicz, lucas, .. } = outcome.errors;
                assert_eq!(gerbicz + lucas, 1, "{what}");
                found[0] += gerbicz;
                found[1] += lucas;
            }
        }
        assert!(u64::from(found[0]) >= fermat && found[1] > 60 * runs as u32, "{found:?}");
    }
}

#[test]
fn lasting_errors_end_the_test_without_a_verdict() {
    for runs in [1, 2] {
        let number = *primes_of(runs, 70).first().unwrap();
        let fermat = TestKind::fermat(number).iterations(number);
        for from in [1, 20, 50, fermat + 20, fermat + 30] {
            for change in [zero, flipped] {
                let family = Tampered::leaked(&Plain, None, move |k| k >= from, change);
                let result = run_by(family, number);
                assert!(result.is_err(), "{number} from {from}: {result:?}");
            }
            let result = run_by(Tampered::damaged(&Plain, from), number);
            assert!(matches!(result, Err(TestError::Constants { .. })), "{number}: {result:?}");
        }
    }
}

/// A term that becomes 0 and is squared is not detected by the check. The sequence then seems to show that
/// the number is composite, and a further one shows that it is prime.
#[test]
fn a_single_zero_changes_no_verdict() {
    for text in ["27*10^100-1", "2*3^222-1", "14*15^16-1"] {
        let number = number(text);
        let right = check(number);
        let (mut found, mut contradicted) = (0, 0);
        let fermat = TestKind::fermat(number).iterations(number);
        for n in fermat..fermat + 350 {
            let family = Tampered::leaked(&Plain, None, move |k| k == n, zero);
            let (stop, options) = (StopToken::new(), RunOptions::default());
            let mut note = |event| {
                contradicted += usize::from(matches!(event, Event::SequenceDiffers { .. }));
            };
            let outcome = match run_on(family, number, None, &mut note, &stop, &options) {
                Ok(Finished::Done(outcome)) => outcome,
                Ok(Finished::Stopped { .. }) => unreachable!("no stop was requested"),
                // Zeros in a power of Fermat's test.
                Err(TestError::Impossible { .. }) => continue,
                Err(e) => panic!("{number}, squaring {n}: {e}"),
            };
            assert_eq!(outcome.verdict, right.verdict, "{number}, squaring {n}");
            found += outcome.errors.lucas;
        }
        if right.verdict == Verdict::Prime {
            assert!(found > 100 && contradicted > 10, "{number}: {found}, {contradicted}");
        }
    }
}

#[test]
fn no_error_makes_a_composite_number_prime() {
    // The first three pass Fermat's test.
    for text in ["47*10^3-1", "5782*3^8-1", "3184*17^3-1", "14*15^16-1"] {
        let number = number(text);
        let right = check(number);
        assert_eq!(right.verdict, Verdict::Composite, "{text}");
        for change in [zero, flipped] {
            for n in 1..=right.iterations + 10 {
                let family = Tampered::leaked(&Plain, None, move |k| k == n, change);
                // Errors of so short a test may also end it.
                if let Ok(outcome) = run_by(family, number) {
                    assert_ne!(outcome.verdict, Verdict::Prime, "{text}, squaring {n}");
                }
            }
        }
    }
}

/// A wrong pair is no pair of neighbours.
#[test]
fn a_flipped_bit_of_the_last_terms_is_refused() {
    let number = number("27*10^100-1");
    let parameters = Parameters::of(TestKind::for_number(number), number).unwrap();
    let Parameters { d, t, .. } = parameters;
    let m = (value(number) + 1u32) / parameters.cofactor();
    let terms = [term(number, d, t, &m), term(number, d, t, &Integer::from(&m + 1u32))];
    let [v, w] = [&terms[0], &terms[1]].map(|x| residue(number, x));
    assert_eq!(judge(parameters, &v, &w).unwrap().verdict, Verdict::Prime);
    for which in 0..2 {
        for bit in 0..number.bits() {
            let mut wrong = terms.clone();
            wrong[which].toggle_bit(bit);
            if wrong[which] >= value(number) {
                continue;
            }
            let [v, w] = [&wrong[0], &wrong[1]].map(|x| residue(number, x));
            assert_eq!(judge(parameters, &v, &w), None, "term {which}, bit {bit}");
        }
    }
}

/// The residual r of the module `chain` is multiplied by the square of the term that is squared.
#[test]
fn the_residual_of_an_error_stays() {
    let p = 1_000_003u64;
    let sub = |a: u64, b: u64| (a + p - b % p) % p;
    let square = |a: u64| mul_mod(a, a, p);
    for parameter in [5u64, 1_234, 777_777] {
        let r = |v: u64, w: u64| {
            let sum = (square(v) + square(w) + square(parameter)) % p;
            sub(sub(sum, mul_mod(parameter, mul_mod(v, w, p), p)), 4)
        };
        for i in 0..1_000u64 {
            let (v, w) = (pow_mod(5, i, p), pow_mod(7, 3 * i + 1, p));
            let product = sub(mul_mod(v, w, p), parameter);
            let before = r(v, w);
            assert_eq!(r(sub(square(v), 2), product), mul_mod(square(v), before, p));
            assert_eq!(r(product, sub(square(w), 2)), mul_mod(square(w), before, p));
        }
        assert_eq!(r(2, parameter), 0);
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

fn slow() -> &'static Slow {
    Box::leak(Box::new(Slow(Instant::now(), AtomicU64::new(0))))
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Stops or kills a test after each of its checkpoints, in all its parts, and resumes it. A kill is a copy
/// of the directory at that moment.
#[test]
fn a_test_resumes_from_any_checkpoint_of_any_part() {
    for runs in [1, 3] {
        let number = *primes_of(runs, 40).first().unwrap();
        let right = run_by(&Plain, number).unwrap();
        let same = |outcome: &Outcome, what: &str| {
            let of = |o: &Outcome| (o.verdict, o.residue.clone(), o.bases.clone(), o.iterations);
            assert_eq!(of(outcome), of(&right), "{number}, {what}");
        };
        let options = RunOptions {
            checkpoint_interval: Duration::ZERO,
            clock: slow(),
            ..RunOptions::default()
        };
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
        assert!(saves > 30 * (runs + 1), "{number}: {saves}");
        for kill in (1..=saves).step_by(2) {
            let outcome = resumed(&root.path().join(format!("kill-{kill}")));
            same(&outcome, &format!("killed after checkpoint {kill} of {saves}"));
        }
        for after in (3..=saves).step_by(saves / 7) {
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

/// A test that ends at any iteration goes on from there.
#[test]
fn a_test_of_some_iterations_goes_on() {
    let number = *primes_of(2, 60).first().unwrap();
    let right = run_by(&Plain, number).unwrap();
    let root = tempfile::tempdir().unwrap();
    let plan = Plan::of_family(number, &Plain, None, Some(1)).unwrap();
    let fermat = TestKind::fermat(number).iterations(number);
    let each = right.kind.iterations(number);
    for k in [5, fermat - 1, fermat + 3, fermat + each - 1, fermat + each + 9, right.iterations] {
        let mut store = CheckpointStore::open(root.path(), number, right.kind).unwrap();
        let spec = TestSpec { iterations: Some(k), ..TestSpec::new(right.kind, number) };
        let (stop, options) = (StopToken::new(), RunOptions::default());
        let end = super::super::run(&spec, plan, Some(&mut store), &mut |_| {}, &stop, &options);
        let Ok(Finished::Done(outcome)) = end else { panic!("{end:?}") };
        assert_eq!(outcome.iterations, k);
        if k == right.iterations {
            assert_eq!((outcome.verdict, &outcome.residue), (Verdict::Prime, &right.residue));
        } else {
            assert_eq!(outcome.verdict, Verdict::Interim, "{k}");
        }
    }
}

/// A memory that changes one state of a Lucas sequence.
#[derive(Debug)]
struct Flipping {
    at: u64,
    of_next: bool,
    states: AtomicU64,
}

impl Memory for Flipping {
    fn recalled(&self, state: State) -> State {
        let Some(lucas) = &state.lucas else { return state };
        if self.states.fetch_add(1, Ordering::Relaxed) != self.at {
            return state;
        }
        if self.of_next {
            let changed = lucas.clone().changed_to(flipped(lucas.next()));
            return State { lucas: Some(changed), ..state };
        }
        State { residue: flipped(&state.residue), ..state }
    }
}

#[test]
fn a_state_that_changes_in_memory_is_neither_used_nor_saved() {
    let number = *primes_of(1, 60).first().unwrap();
    for of_next in [false, true] {
        for at in 0..20 {
            let flipping = Flipping { at, of_next, states: AtomicU64::new(0) };
            let memory: &'static Flipping = Box::leak(Box::new(flipping));
            let root = tempfile::tempdir().unwrap();
            let kind = TestKind::for_number(number);
            let options = RunOptions {
                checkpoint_interval: Duration::ZERO,
                clock: slow(),
                memory,
                ..RunOptions::default()
            };
            let run = |options: &RunOptions| {
                let mut store = CheckpointStore::open(root.path(), number, kind).unwrap();
                let stop = StopToken::new();
                run_on(&Plain, number, Some(&mut store), &mut |_| {}, &stop, options)
            };
            let result = run(&options);
            assert!(matches!(result, Err(TestError::Memory { .. })), "{at}: {result:?}");
            let again = run(&RunOptions::default()).unwrap();
            let Finished::Done(outcome) = again else { panic!("{again:?}") };
            assert_eq!((outcome.verdict, outcome.errors), (Verdict::Prime, ErrorCounts::default()));
        }
    }
}

/// No flipped bit and no truncation of a checkpoint is read.
#[test]
fn a_changed_checkpoint_is_refused() {
    let number = *primes_of(1, 60).first().unwrap();
    let kind = TestKind::for_number(number);
    let small = |v| Residue::from_u64(number, v);
    let state = State {
        residue: small(12_345),
        lucas: Some(LucasState::new(&small(12_345), small(678))),
        iteration: 7,
        ..Chain::new(Parameters::of(kind, number).unwrap(), 10).first()
    };
    let good = state.to_bytes();
    assert!(good.len() as u64 <= State::max_file_size(number));
    let read = State::from_bytes(&good, kind, number).unwrap();
    assert_eq!(read, state);
    assert!(read.is_verified() && read.is_intact());
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(State::from_bytes(&bad, kind, number).is_err(), "bit {bit}");
    }
    for len in 0..good.len() {
        assert!(State::from_bytes(&good[..len], kind, number).is_err(), "{len} bytes");
    }
}
