//! An engine that makes errors on purpose, and what the tests make of them.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::checkpoint::CheckpointStore;
use crate::engine::word::Word;
use crate::engine::{BuildOptions, Engine, EngineFamily, Health, Margin, Step};
use crate::{PlanRequest, Shift};

/// What goes wrong, and when: `at` counts products of all engines built.
#[derive(Clone, Copy)]
enum Fault {
    /// A bit of the result flips once.
    FlipOnce { at: u64, bit: u32 },
    /// Every product from this one on is wrong, each in another bit.
    Unreliable { at: u64 },
    /// Every result is zero from this product on.
    Dead { at: u64 },
    /// Round-off is too high from this product on at lengths below `enough`.
    RoundOff { at: u64, enough: usize },
    /// No fault, but somebody asks for a stop at this product.
    Interrupted { at: u64 },
}

/// `word` with a fault, offering lengths 1, 2 and 4 (which only have names).
struct Faulty {
    fault: Fault,
    products: Arc<AtomicU64>,
    stop: StopToken,
}

impl Faulty {
    fn plan(fault: Fault, p: u64) -> Plan {
        Self::plan_with_stop(fault, p, StopToken::new())
    }

    fn plan_with_stop(fault: Fault, p: u64, stop: StopToken) -> Plan {
        let family: &'static Self =
            Box::leak(Box::new(Self { fault, products: Arc::default(), stop }));
        Plan::of_family(Exponent::new(p).unwrap(), family, None, Some(1)).unwrap()
    }
}

impl EngineFamily for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        Word.exponent_range()
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        [1, 2, 4].into_iter().filter(|n| (from..=to).contains(n)).collect()
    }

    fn margin(&self, p: u32, _: usize) -> Result<Margin, EngineError> {
        Word.margin(p, 1)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(FaultyEngine {
            inner: Word.build(p, 1, options)?,
            length,
            fault: self.fault,
            products: Arc::clone(&self.products),
            stop: self.stop.clone(),
        }))
    }
}

struct FaultyEngine {
    inner: Box<dyn Engine>,
    length: usize,
    fault: Fault,
    products: Arc<AtomicU64>,
    stop: StopToken,
}

impl FaultyEngine {
    fn after_product(&mut self, reg: usize) -> Result<(), EngineError> {
        let now = self.products.fetch_add(1, Ordering::Relaxed);
        let flip = match self.fault {
            Fault::FlipOnce { at, bit } if now == at => Some(bit),
            Fault::Unreliable { at } if now >= at => Some((now % 59) as u32),
            Fault::Dead { at } if now >= at => return self.inner.set(reg, 0, Shift::ZERO),
            Fault::RoundOff { at, enough } if now >= at && self.length < enough => {
                return Err(EngineError::RoundOff {
                    measured: 0.45,
                    limit: 0.4,
                    length: self.length,
                });
            }
            Fault::Interrupted { at } => {
                if now == at {
                    self.stop.stop();
                }
                None
            }
            _ => None,
        };
        if let Some(bit) = flip {
            let p = self.exponent();
            let x = self.inner.read(reg, Shift::ZERO)?;
            let flipped = Residue::from_limbs(p, &[x.res64() ^ (1 << bit)]);
            self.inner.write(reg, &flipped, Shift::ZERO)?;
        }
        Ok(())
    }
}

impl Engine for FaultyEngine {
    fn name(&self) -> &'static str {
        "faulty"
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
        for i in 0..n {
            let p = self.exponent();
            self.inner.square(reg, 1, step, shift.after_squarings(i, p))?;
            self.after_product(reg)?;
        }
        Ok(())
    }
    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.mul(dst, a, b)?;
        self.after_product(dst)
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
        Health::default()
    }
}

struct Ended {
    result: Result<Finished, TestError>,
    events: Receiver<Event>,
}

fn run_with(plan: Plan, kind: TestKind, store: Option<&mut CheckpointStore>) -> Ended {
    let (sender, events) = channel();
    let spec = TestSpec { kind, exponent: plan.exponent(), iterations: None };
    let options = RunOptions::default();
    let result = run(&spec, plan, store, &sender, &StopToken::new(), &options);
    Ended { result, events }
}

fn done(ended: Ended) -> Outcome {
    match ended.result.unwrap() {
        Finished::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

fn sound_plan(p: u64) -> Plan {
    Plan::new(Exponent::new(p).unwrap(), &PlanRequest::default()).unwrap()
}

#[test]
fn a_single_flip_anywhere_in_a_prp_is_found_and_undone() {
    // M59 takes 59 squarings in blocks of 7: a check at 49 and one at the end,
    // with their own products, make fewer than 120 in all.
    let right = done(run_with(sound_plan(59), TestKind::Prp, None)).residue;
    let mut undetected_but_harmless = 0;
    for at in 0..100 {
        for bit in [0, 1, 29, 58] {
            let outcome =
                done(run_with(Faulty::plan(Fault::FlipOnce { at, bit }, 59), TestKind::Prp, None));
            assert_eq!(outcome.residue, right, "product {at}, bit {bit}");
            assert_eq!(outcome.verdict, Verdict::Composite);
            if outcome.errors.gerbicz == 0 {
                undetected_but_harmless += 1;
            } else {
                assert_eq!(outcome.errors.gerbicz, 1);
            }
        }
    }
    // Only flips after the last product (there are about 85) do nothing.
    assert!(undetected_but_harmless < 4 * 25, "{undetected_but_harmless}");
}

#[test]
fn three_failures_in_a_row_stop_the_run() {
    let fault = Fault::Unreliable { at: 20 };
    let ended = run_with(Faulty::plan(fault, 61), TestKind::Prp, None);
    assert!(matches!(ended.result, Err(TestError::Unreliable { verified: 0, .. })));
    let failures =
        ended.events.try_iter().filter(|e| matches!(e, Event::CheckFailed { .. })).count();
    assert_eq!(failures, 2);
}

#[test]
fn a_dead_machine_that_returns_zeros_passes_no_check() {
    for at in [0, 5, 30, 48] {
        let ended = run_with(Faulty::plan(Fault::Dead { at }, 61), TestKind::Prp, None);
        assert!(
            matches!(ended.result, Err(TestError::RepeatedError { .. })),
            "{at}: {:?}",
            ended.result
        );
    }
}

#[test]
fn too_much_round_off_leads_to_a_longer_transform_and_the_right_answer() {
    for (kind, right) in [(TestKind::Prp, 1), (TestKind::Ll(LlStart::Four), 0)] {
        for enough in [2, 4] {
            let plan = Faulty::plan(Fault::RoundOff { at: 13, enough }, 61);
            let ended = run_with(plan, kind, None);
            let lengths: Vec<(usize, usize)> = ended
                .events
                .try_iter()
                .filter_map(|e| match e {
                    Event::Lengthened { from, to, .. } => Some((from, to)),
                    _ => None,
                })
                .collect();
            let outcome = done(ended);
            assert!(outcome.residue.is(right));
            assert_eq!(outcome.length, enough);
            assert_eq!(outcome.errors.round_off as usize, lengths.len());
            assert_eq!(lengths.last().map(|l| l.1), Some(enough));
        }
        let plan = Faulty::plan(Fault::RoundOff { at: 13, enough: 8 }, 61);
        let ended = run_with(plan, kind, None);
        assert!(matches!(ended.result, Err(TestError::Plan(PlanError::NoLength { .. }))));
    }
}

#[test]
fn a_failed_check_discards_the_checkpoints_it_has_disproved() {
    let root = tempfile::tempdir().unwrap();
    let mut store = CheckpointStore::open(root.path(), 61, TestKind::Prp).unwrap();
    let plan = Faulty::plan(Fault::FlipOnce { at: 30, bit: 3 }, 61);
    let (sender, _) = channel();
    let spec = TestSpec { kind: TestKind::Prp, exponent: plan.exponent(), iterations: None };
    // Save after every stride, so that wrong states reach the disk.
    let options = RunOptions { checkpoint_interval: Duration::ZERO };
    let finished =
        run(&spec, plan, Some(&mut store), &sender, &StopToken::new(), &options).unwrap();
    let Finished::Done(outcome) = finished else { panic!("{finished:?}") };
    assert!(outcome.residue.is(1));
    assert_eq!(outcome.errors.gerbicz, 1);
}

#[test]
fn interrupted_at_any_product_and_resumed_the_answer_is_the_same() {
    let p = 59;
    // LL has no blocks: after its first squaring the rest fits in one stride.
    for (kind, least) in [(TestKind::Prp, 40), (TestKind::Ll(LlStart::TwoThirds), 1)] {
        let right = done(run_with(sound_plan(p), kind, None));
        let mut stops = 0;
        for at in 0..90 {
            let root = tempfile::tempdir().unwrap();
            let mut store = CheckpointStore::open(root.path(), p as u32, kind).unwrap();
            let stop = StopToken::new();
            let plan = Faulty::plan_with_stop(Fault::Interrupted { at }, p, stop.clone());
            let (sender, events) = channel();
            let spec = TestSpec { kind, exponent: plan.exponent(), iterations: None };
            let options = RunOptions::default();
            let first = run(&spec, plan, Some(&mut store), &sender, &stop, &options).unwrap();
            let Finished::Stopped { iteration, saved } = first else { continue };
            assert!(saved);
            stops += 1;

            let second = run_with(sound_plan(p), kind, Some(&mut store));
            let resumed = second.events.try_iter().find_map(|e| match e {
                Event::Started { iteration, resumed_from, .. } => resumed_from.map(|_| iteration),
                _ => None,
            });
            assert_eq!(resumed, Some(iteration));
            let outcome = done(second);
            assert_eq!(outcome.residue, right.residue, "{kind}, stopped at product {at}");
            assert_eq!(outcome.errors, ErrorCounts::default());
            drop(events);
        }
        assert!(stops >= least, "{kind} was stopped only {stops} times");
    }
}
