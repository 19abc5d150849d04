//! Flips single bits at random moments of a test. Each flip must be found or have no
//! effect.
//!
//! A flip is drawn from the seed and the number of the flip, so that any flip can be repeated
//! alone. The test of a flip starts from a random verified state before the flip. The part of the
//! test before this state is not repeated, because no check depends on this part.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use warpint_mersenne::primality::registers;
use warpint_mersenne::{EngineFamily, Event, Number, TestKind};

use super::binomial;
use super::saved;
use super::sitting::{Folder, Run, store};
use super::starts::{Prepared, Start, prepare};
use super::wrappers::{Fault, Faulty};
use crate::sample::{self, Random};

/// The largest number of verified states from which tests are started.
const STARTS: u64 = 8;

/// An upper bound on the probability that [`Campaign::judge`] rejects a sound program because too
/// few flips were found. It is also an upper bound on the probability of a rejection because too
/// many were found.
const TAIL: f64 = 0.000_5;

/// The number of flips from which on at least one must be found, in tests with Gerbicz–Li checks.
const LEAST_FOUND: u64 = 5;

/// The part of a test's state in which the bits of a campaign flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The residue x of the test, after a random squaring.
    Residue,
    /// The Gerbicz product D.
    Product,
    /// A register that only the checks of a test use.
    Check,
    /// A saved state: the checkpoint from which a test resumes, or the state in memory to which it
    /// returns after an error.
    Saved,
}

/// A series of tests, in each of which one bit flips.
#[derive(Clone, Copy)]
pub struct Campaign {
    /// The engine family of the tests. Each test uses one thread.
    pub family: &'static dyn EngineFamily,
    /// The kind of the tests. For Lucas–Lehmer tests, the target must be [`Target::Residue`].
    pub kind: TestKind,
    /// The number that is tested.
    pub number: Number,
    /// The part of a test's state in which the bits of a campaign flip.
    pub target: Target,
    /// The number of flips, each in a test of its own.
    pub count: u64,
    /// The seed from which the flips are drawn.
    pub seed: u64,
    /// The number of tests that run at the same time.
    pub threads: usize,
}

/// The effect of a flip on its test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// A check found the flip, and the final residue is right.
    Found,
    /// No check failed, because the bit was not used afterwards; the final residue is right.
    Harmless,
    /// The Jacobi check of a Lucas–Lehmer test did not find the flip, and the final residue is
    /// wrong.
    Missed,
    /// The test failed: an error was not noticed, the test did not end, or the residue is wrong.
    /// The text says which.
    Failed(String),
}

/// One flip of a campaign, and its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flip {
    /// The number of the flip in the campaign, counted from 0.
    pub number: u64,
    /// The place and the moment of the flip.
    pub place: Place,
    /// The effect of the flip.
    pub fate: Fate,
    /// The duration of the test in which the bit flipped.
    pub elapsed: Duration,
}

/// The place and the moment of a flip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of the flip, such as `the residue` or `a checkpoint, cut short`. [`Tally::sorts`]
    /// counts flips by their kinds.
    pub sort: &'static str,
    /// The iteration, the word and the bit of the flip, as text.
    pub moment: String,
}

/// The effects of all flips of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The numbers of found, harmless and missed flips, for each kind of flip ([`Place::sort`]).
    pub sorts: BTreeMap<&'static str, [u64; 3]>,
    /// The descriptions of failed tests, one line each.
    pub failed: Vec<String>,
    /// The number of tests without a flip that were run first. No check failed in them.
    pub sound: u64,
}

impl Tally {
    /// Returns the number of flips that checks found.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.sorts.values().map(|n| n[0]).sum()
    }

    /// Returns the number of flips that had no effect.
    #[must_use]
    pub fn harmless(&self) -> u64 {
        self.sorts.values().map(|n| n[1]).sum()
    }

    /// Returns the number of flips that a Jacobi check missed.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.sorts.values().map(|n| n[2]).sum()
    }

    fn add(&mut self, flip: &Flip) {
        let of_sort = self.sorts.entry(flip.place.sort).or_default();
        match &flip.fate {
            Fate::Found => of_sort[0] += 1,
            Fate::Harmless => of_sort[1] += 1,
            Fate::Missed => of_sort[2] += 1,
            Fate::Failed(reason) => {
                let Place { sort, moment } = &flip.place;
                self.failed.push(format!("flip {}, {sort}, {moment}: {reason}", flip.number));
            }
        }
    }
}

impl Campaign {
    /// Runs a test for each flip, and returns the effects. Passes each flip to `each` as soon as
    /// its test has ended, so the order of the flips varies.
    ///
    /// First runs a test without a flip from each of up to 8 verified states; [`Tally::sound`]
    /// counts these tests. This preparation takes about as long as six complete tests. After that,
    /// each flip of a residue takes about as long as one and a half complete tests.
    ///
    /// # Errors
    /// A test without a flip failed, or the campaign is impossible. A test with a flip that fails
    /// is not an error, but is listed in [`Tally::failed`].
    pub fn run(&self, each: &mut dyn FnMut(&Flip)) -> Result<Tally, String> {
        self.run_on(&vec![self.family; self.threads.max(1)], each)
    }

    /// Does the same as [`Campaign::run`], but distributes the tests among several equivalent
    /// families, one thread per family. Families on one device work in parallel only if each has
    /// opened the device for itself.
    ///
    /// # Errors
    /// A test without a flip failed, or the campaign is impossible.
    pub fn run_on(
        &self,
        families: &[&'static dyn EngineFamily],
        each: &mut dyn FnMut(&Flip),
    ) -> Result<Tally, String> {
        if !self.kind.is_checked() && self.target != Target::Residue {
            return Err("a Lucas–Lehmer test has a residue only".into());
        }
        let prepared = prepare(self.family, self.kind, self.number, STARTS.min(self.count))?;
        let next = AtomicU64::new(0);
        let mut tally = Tally { sound: prepared.starts.len() as u64, ..Tally::default() };
        thread::scope(|scope| {
            let (sender, flips) = mpsc::channel();
            for &family in families {
                let (sender, next, prepared) = (sender.clone(), &next, &prepared);
                let campaign = Self { family, ..*self };
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= campaign.count
                            || sender.send(campaign.flip(number, prepared)).is_err()
                        {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for flip in flips {
                tally.add(&flip);
                each(&flip);
            }
        });
        Ok(tally)
    }

    /// Judges whether enough flips were found, and returns the judgement in words. In tests with
    /// Gerbicz–Li checks all flips except the harmless ones must be found. In Lucas–Lehmer tests and in
    /// those of Riesel about half of the flips
    /// must be found: their number must lie in the interval [`Campaign::by_chance`], which a sound
    /// program misses with a probability of at most 0.1 %.
    ///
    /// # Errors
    /// A test failed, or too few or too many flips were found. The text says which.
    pub fn judge(&self, tally: &Tally) -> Result<String, String> {
        let (found, all) = (tally.found(), self.count);
        if let Some(first) = tally.failed.first() {
            return Err(format!("{} of {all} flips went wrong; {first}", tally.failed.len()));
        }
        if self.kind.is_checked() {
            if found == 0 && all >= LEAST_FOUND {
                return Err(format!("none of {all} flips was found"));
            }
            let harmless = match tally.harmless() {
                0 => String::new(),
                n => format!(", {n} harmless"),
            };
            return Ok(format!("{found} of {all} flips found{harmless}, every residue right"));
        }
        let expected = self.by_chance();
        let said = format!(
            "{found} of {all} flips found, {} to {} are chance's",
            expected.start(),
            expected.end()
        );
        if expected.contains(&found) { Ok(said) } else { Err(said) }
    }

    /// Returns the interval in which the number of flips that Jacobi checks find must lie. A Jacobi
    /// check finds a flip with probability 1/2. With a sound program, the number of found flips
    /// lies outside the interval with a probability of at most 0.1 %.
    #[must_use]
    pub fn by_chance(&self) -> RangeInclusive<u64> {
        binomial::interval(self.count, TAIL)
    }

    fn flip(&self, number: u64, prepared: &Prepared) -> Flip {
        let begun = Instant::now();
        let mut rng = sample::random(self.seed);
        rng.set_stream(number);
        let done = match self.target {
            Target::Residue => self.of_residue(&mut rng, prepared),
            Target::Product => self.of_register(&mut rng, registers::D, prepared),
            Target::Check => {
                let of_checks = [
                    registers::V,
                    registers::NEXT,
                    registers::POWER,
                    registers::LAST,
                    registers::READ,
                ];
                let register = of_checks[rng.random_range(0..of_checks.len())];
                self.of_register(&mut rng, register, prepared)
            }
            Target::Saved => saved::flip(self, &mut rng, prepared),
        };
        let (place, fate) = done;
        Flip { number, place, fate, elapsed: begun.elapsed() }
    }

    /// Runs a test with a flip of one bit of the residue. Every squaring and every bit is equally
    /// likely.
    fn of_residue(&self, rng: &mut Random, prepared: &Prepared) -> (Place, Fate) {
        let total = self.kind.iterations(self.number);
        let k = rng.random_range(1..=total);
        let before = prepared.starts.iter().take_while(|start| start.iteration() < k).count();
        let start = &prepared.starts[rng.random_range(0..before)];
        let sort = "the residue";
        let bit = rng.random_range(0..self.number.bits());
        let moment = format!("bit {bit} after squaring {k}, from iteration {}", start.iteration());
        // The first change is the write that loads the residue.
        let after = 1 + k - start.iteration();
        let fault = Fault::FlippedRegister { register: registers::X, after, bit };
        let fate = match self.with_fault(fault, start, prepared) {
            // The residue itself is always used.
            Fate::Harmless => Fate::Failed("nothing was noticed".into()),
            fate => fate,
        };
        (Place { sort, moment }, fate)
    }

    /// Runs a test with a flip of one bit of a register. First draws the state from which the test
    /// starts. Then draws a change of the register after this state; all changes are equally
    /// likely.
    fn of_register(&self, rng: &mut Random, register: usize, prepared: &Prepared) -> (Place, Fate) {
        let sort = match register {
            registers::D => "the Gerbicz product",
            registers::V => "the check's x_v",
            registers::NEXT => "the check's left side",
            registers::POWER => "the check's right side",
            registers::LAST => "the check's last residue",
            _ => "the check's copy of x",
        };
        let start = &prepared.starts[rng.random_range(0..prepared.starts.len())];
        let after = rng.random_range(1..=start.changes[register].max(1));
        let bit = rng.random_range(0..self.number.bits());
        let moment =
            format!("bit {bit} after change {after}, from iteration {}", start.iteration());
        let fault = Fault::FlippedRegister { register, after, bit };
        (Place { sort, moment }, self.with_fault(fault, start, prepared))
    }

    /// Runs a test with a fault, from the given start to the end of the test. Returns the effect of
    /// the fault.
    fn with_fault(&self, fault: Fault, start: &Start, prepared: &Prepared) -> Fate {
        self.try_with_fault(fault, start, prepared).unwrap_or_else(Fate::Failed)
    }

    fn try_with_fault(
        &self,
        fault: Fault,
        start: &Start,
        prepared: &Prepared,
    ) -> Result<Fate, String> {
        let faulty = Faulty::leaked(self.family, fault);
        let folder = Folder::new()?;
        let mut store = store(&folder, self.kind, self.number)?;
        if let Some(state) = &start.state {
            store.save(state).map_err(|e| e.to_string())?;
        }
        let run = Run::new(self.kind, self.number).stored(&mut store);
        let (outcome, events) = run.by(faulty)?.outcome()?;
        if faulty.flips() != 1 {
            return Err(format!("{} bits flipped", faulty.flips()));
        }
        let errors = outcome.errors.gerbicz + outcome.errors.jacobi;
        let seen = events.iter().filter(|e| matches!(e, Event::CheckFailed { .. })).count();
        let res64 = outcome.residue.res64_hex();
        match (outcome.residue == prepared.right, errors) {
            _ if seen != errors as usize => Err(format!("{seen} of {errors} errors were reported")),
            (true, 1) => Ok(Fate::Found),
            (true, 0) => Ok(Fate::Harmless),
            (false, 0) if !self.kind.is_checked() => Ok(Fate::Missed),
            (true, n) => Err(format!("{n} checks failed")),
            (false, n) => Err(format!("res64 {res64} after {n} failed checks")),
        }
    }
}
