//! Tests of the recovery from squarings that are wrong by their check: on the word engine, and on
//! `fp64` on the CPU with flipped bits.

use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::engine::fp64::Fp64;
use crate::engine::fp64::flip::{Flip, Place};
use crate::engine::word::Word;
use crate::engine::{
    BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Profiled, Step,
};
use crate::{Check, Shift};

/// A family whose engines report a wrong squaring in the first `failures` calls of
/// [`Engine::square`], if squarings are checked.
struct Refusing {
    failures: AtomicU64,
    /// The lengths of the family. All of them compute like the word engine.
    lengths: &'static [usize],
    /// The only one of two variants whose engines check squarings at lengths above 1. With `None`, no
    /// engine does so at these lengths. At length 1, both variants do.
    checking_variant: Option<usize>,
}

struct RefusingEngine {
    inner: Box<dyn Engine>,
    family: &'static Refusing,
    length: usize,
    checked: Option<u64>,
}

impl Refusing {
    fn leaked(
        failures: u64,
        lengths: &'static [usize],
        checking_variant: Option<usize>,
    ) -> &'static Self {
        Box::leak(Box::new(Self { failures: failures.into(), lengths, checking_variant }))
    }
}

impl EngineFamily for &'static Refusing {
    fn name(&self) -> &'static str {
        "refusing"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        Word.exponent_range()
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        self.lengths.iter().copied().filter(|n| (from..=to).contains(n)).collect()
    }

    fn margin(&self, p: u32, _length: usize) -> Result<Margin, EngineError> {
        Word.margin(p, 1)
    }

    fn checks_squarings(&self, _p: u32, length: usize, variant: usize) -> bool {
        length == 1 || self.checking_variant == Some(variant)
    }

    fn profiled(&self) -> Option<&dyn Profiled> {
        Some(self)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let inner = Word.build(p, 1, BuildOptions { check_squarings: false, ..options })?;
        let checked = options.check_squarings.then_some(0);
        Ok(Box::new(RefusingEngine { inner, family: self, length, checked }))
    }
}

impl Profiled for &'static Refusing {
    fn variants(&self, _length: usize) -> Vec<String> {
        ["first", "second"].map(String::from).to_vec()
    }
}

impl Engine for RefusingEngine {
    fn name(&self) -> &'static str {
        "refusing"
    }

    fn exponent(&self) -> u32 {
        self.inner.exponent()
    }

    fn length(&self) -> usize {
        self.length
    }

    fn registers(&self) -> usize {
        self.inner.registers()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        self.inner.copy(dst, src)
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        self.inner.square(reg, n, step, shift)?;
        let Some(checked) = &mut self.checked else { return Ok(()) };
        let left = self.family.failures.load(Ordering::Relaxed);
        if left > 0 {
            self.family.failures.store(left - 1, Ordering::Relaxed);
            return Err(EngineError::WrongSquaring { length: self.length });
        }
        *checked += n;
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.mul(dst, a, b)
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.add(dst, a, b)
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.sub(dst, a, b)
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        self.inner.read(reg, shift)
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        self.inner.write(reg, x, shift)
    }

    fn health(&self) -> Health {
        Health { round_off: None, checked_squarings: self.checked.unwrap_or(0) }
    }
}

/// Runs a test of M_59. Returns the result, and the length to which each wrong squaring led.
fn run_with(
    failures: u64,
    lengths: &'static [usize],
    kind: TestKind,
    check_squarings: bool,
) -> (Result<Finished, TestError>, Vec<usize>) {
    let options = RunOptions { check_squarings: Some(check_squarings), ..RunOptions::default() };
    run_of(Refusing::leaked(failures, lengths, Some(0)), kind, &options)
}

/// Runs a test of M_59 with a family. Returns the result, and the length to which each wrong squaring
/// led.
fn run_of(
    family: &'static Refusing,
    kind: TestKind,
    options: &RunOptions,
) -> (Result<Finished, TestError>, Vec<usize>) {
    let exponent = Exponent::new(59).unwrap();
    let family: &'static &'static Refusing = Box::leak(Box::new(family));
    let plan = Plan::of_family(exponent, family, Some(1), Some(1)).unwrap();
    let mut lengthened = vec![];
    let mut events = |event| {
        if let Event::WrongSquaring { to, back_to, .. } = event {
            assert_eq!(back_to, 0);
            lengthened.push(to);
        }
    };
    let spec = TestSpec::new(kind, exponent);
    let result = run(&spec, plan, None, &mut events, &StopToken::new(), options);
    (result, lengthened)
}

fn outcome(result: Result<Finished, TestError>) -> Outcome {
    match result.unwrap() {
        Finished::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

const LL: TestKind = TestKind::Ll(LlStart::Four);

#[test]
fn a_wrong_squaring_is_repeated_and_counted() {
    let right = outcome(run_with(0, &[1], LL, false).0);
    assert_eq!((right.checked_squarings, right.errors), (0, ErrorCounts::default()));
    for (failures, lengths, led_to) in [
        (0, &[1][..], &[][..]),
        (1, &[1], &[1]),
        // The same stretch again: at a longer length, if there is one.
        (2, &[1, 4], &[1, 4]),
        (2, &[1], &[1, 1]),
    ] {
        let (result, lengthened) = run_with(failures, lengths, LL, true);
        let outcome = outcome(result);
        assert_eq!(lengthened, led_to);
        assert_eq!(outcome.residue, right.residue);
        assert_eq!(outcome.checked_squarings, 57);
        let errors = ErrorCounts { squarings: failures as u32, ..ErrorCounts::default() };
        assert_eq!(outcome.errors, errors);
    }
}

#[test]
fn three_wrong_squarings_in_a_row_end_the_test() {
    let (result, lengthened) = run_with(3, &[1], LL, true);
    let unreliable =
        matches!(result, Err(TestError::Unreliable { check: Check::Squarings, verified: 0, .. }));
    assert!(unreliable, "{result:?}");
    assert_eq!(lengthened, [1, 1]);
}

#[test]
fn only_lucas_lehmer_tests_check_squarings() {
    let outcome = outcome(run_with(1, &[1], TestKind::Prp, true).0);
    assert_eq!((outcome.checked_squarings, outcome.errors), (0, ErrorCounts::default()));
}

/// A family of `fp64` on the CPU in whose engines bits flip: one flip for each engine that is built,
/// as long as there are flips.
struct Flipping(Mutex<Vec<Flip>>);

impl EngineFamily for Flipping {
    fn name(&self) -> &'static str {
        "flipping"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        Fp64.exponent_range()
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        Fp64.lengths(from, to)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        Fp64.margin(p, length)
    }

    fn checks_squarings(&self, p: u32, length: usize, variant: usize) -> bool {
        Fp64.checks_squarings(p, length, variant)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        match self.0.lock().unwrap().pop() {
            Some(flip) => Fp64.build_with_flip(p, length, options, flip),
            None => Fp64.build(p, length, options),
        }
    }
}

/// Runs a test of M_4441 on the CPU with these flips. Returns the outcome, and the iterations and
/// lengths from which it continued after wrong squarings.
fn run_flipping(flips: Vec<Flip>) -> (Outcome, Vec<(u64, usize)>) {
    let exponent = Exponent::new(4_441).unwrap();
    let family: &'static Flipping = Box::leak(Box::new(Flipping(Mutex::new(flips))));
    let plan = Plan::of_family(exponent, family, None, Some(1)).unwrap();
    let mut continued = vec![];
    let mut events = |event| {
        if let Event::WrongSquaring { to, back_to, .. } = event {
            continued.push((back_to, to));
        }
    };
    let options = RunOptions {
        check_squarings: Some(true),
        checkpoint_interval: Duration::ZERO,
        ..RunOptions::default()
    };
    let spec = TestSpec::new(LL, exponent);
    let result = run(&spec, plan, None, &mut events, &StopToken::new(), &options);
    (outcome(result), continued)
}

#[test]
fn a_flipped_bit_on_the_cpu_leads_back_to_the_last_good_state() {
    let (right, continued) = run_flipping(vec![]);
    assert_eq!((right.checked_squarings, right.errors.squarings), (4_439, 0));
    assert!(continued.is_empty());
    for place in [Place::Digits, Place::Carries, Place::Register] {
        // Bit 20 of the fraction of a number, and bit 2 of a digit, are large enough to matter.
        let flip = Flip { place, squaring: 1_500, bit: 2 << 16 };
        let (found, continued) = run_flipping(vec![flip]);
        assert_eq!(found.residue, right.residue, "{place:?}");
        assert_eq!(found.errors.squarings as usize, continued.len(), "{place:?}");
        // States are saved after each stride, so the test need not begin anew.
        assert!(continued.iter().all(|(from, length)| *from > 0 && *length == right.length));
        assert!(place != Place::Register || continued.len() == 1);
    }
}

#[test]
fn a_test_whose_squarings_must_be_checked_does_not_go_on_without() {
    for (only_checked, checking_variant, checked) in [
        // The second failure leads to length 4, at which the first variant does not check.
        (true, Some(1), Some(57)),
        (true, Some(0), Some(57)),
        (true, None, None),
        (false, None, Some(0)),
    ] {
        let options =
            RunOptions { check_squarings: Some(true), only_checked, ..RunOptions::default() };
        let family = Refusing::leaked(2, &[1, 4], checking_variant);
        let (result, lengthened) = run_of(family, LL, &options);
        assert_eq!(lengthened, [1, 4]);
        match (result, checked) {
            (Err(error), None) => {
                assert!(matches!(error, TestError::Unchecked { length: 4, .. }), "{error}");
                assert_eq!(error.to_string().lines().count(), 1);
            }
            (result, checked) => {
                assert_eq!(Some(outcome(result).checked_squarings), checked);
            }
        }
    }
}
