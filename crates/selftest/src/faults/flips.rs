//! Single bits that flip at random moments of a test: each flip must be found or have no effect.
//!
//! A flip is drawn from the seed and its own number, so that any flip can be repeated alone. A test
//! resumes from a verified state before the flip, which is also drawn. Computing the part before it
//! would be useless, since no check depends on anything before a verified state.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use warpint_mersenne::layout::WordLayout;
use warpint_mersenne::primality::registers;
use warpint_mersenne::{EngineFamily, Event, Exponent, TestKind};

use super::binomial;
use super::saved;
use super::sitting::{Folder, Run, plan, store};
use super::starts::{Prepared, Start, prepare};
use super::wrappers::{Fault, Faulty};
use crate::sample::{self, Random};

/// The number of verified states from which tests are started.
const STARTS: u64 = 8;

/// The probability, on either side, that a sound program fails the judgement.
const TAIL: f64 = 0.000_5;

/// Where the bits of a campaign flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The residue, after any squaring.
    Residue,
    /// The Gerbicz product.
    Product,
    /// The registers that only checks use.
    Check,
    /// The state to which a test would go back, or from which it resumes: on disk and in memory.
    Saved,
}

/// A series of flips.
#[derive(Clone, Copy)]
pub struct Campaign {
    /// The family that computes, with one thread per test.
    pub family: &'static dyn EngineFamily,
    /// The kind of the test: PRP, or Lucas–Lehmer, which supports [`Target::Residue`] only.
    pub kind: TestKind,
    /// The exponent p of M_p.
    pub exponent: Exponent,
    /// Where the bits of a campaign flip.
    pub target: Target,
    /// The number of flips.
    pub count: u64,
    /// The seed from which the flips are drawn.
    pub seed: u64,
    /// The number of tests at a time.
    pub threads: usize,
}

/// The effect of a flip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// The flip was found, and the residue is right.
    Found,
    /// The bit was not used, and the residue is right.
    Harmless,
    /// In a Lucas–Lehmer test: the Jacobi check passed, and the residue is wrong.
    Missed,
    /// A failure: an unnoticed error, a test that does not end, or a wrong residue.
    Failed(String),
}

/// One flip of a campaign, and its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flip {
    /// The flip's number in the campaign, from 0.
    pub number: u64,
    /// Where and when the bit flipped.
    pub place: Place,
    /// The effect of the flip.
    pub fate: Fate,
    /// The duration of the test.
    pub elapsed: Duration,
}

/// Where and when a bit flips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of place, by which flips are counted: `the residue`, `a checkpoint, cut short`.
    pub sort: &'static str,
    /// The moment, the word and the bit, as text.
    pub moment: String,
}

/// The effects of all flips of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The numbers of found, harmless and missed flips for each kind of place.
    pub sorts: BTreeMap<&'static str, [u64; 3]>,
    /// The failures, in one line each.
    pub failed: Vec<String>,
    /// The number of tests without a flip. In these no check may fail, and none did.
    pub sound: u64,
}

impl Tally {
    /// Returns the number of flips found.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.sorts.values().map(|n| n[0]).sum()
    }

    /// Returns the number of harmless flips.
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
    /// Makes the flips, and returns their effects. Passes each flip to `each` as soon as its test
    /// has ended, in any order.
    ///
    /// First the test runs without a flip from each of up to 8 states, which [`Tally::sound`]
    /// counts. Cost for flips of residues: one and a half tests for each flip, and six tests before
    /// the first.
    ///
    /// # Errors
    /// Returns an error if a test without a flip fails, or if the request is impossible. A flip
    /// that fails is in [`Tally::failed`].
    pub fn run(&self, each: &mut dyn FnMut(&Flip)) -> Result<Tally, String> {
        self.run_on(&vec![self.family; self.threads.max(1)], each)
    }

    /// Makes the flips as [`Campaign::run`] does, on several equivalent families, each on a thread
    /// of its own. On a device they work in parallel if each has opened the device for itself.
    ///
    /// # Errors
    /// Returns the errors of [`Campaign::run`].
    pub fn run_on(
        &self,
        families: &[&'static dyn EngineFamily],
        each: &mut dyn FnMut(&Flip),
    ) -> Result<Tally, String> {
        if !self.kind.is_checked() && self.target != Target::Residue {
            return Err("a Lucas–Lehmer test has a residue only".into());
        }
        let prepared = prepare(self.family, self.kind, self.exponent, STARTS.min(self.count))?;
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

    /// Judges whether enough flips were found, and says so in words. In a PRP test all flips except
    /// the harmless ones must be found. In Lucas–Lehmer tests about half must be, within the
    /// interval that chance leaves with a probability of 0.1 %.
    ///
    /// # Errors
    /// Returns an error if too few or too many were found.
    pub fn judge(&self, tally: &Tally) -> Result<String, String> {
        let (found, all) = (tally.found(), self.count);
        if let Some(first) = tally.failed.first() {
            return Err(format!("{} of {all} flips went wrong; {first}", tally.failed.len()));
        }
        if self.kind.is_checked() {
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

    /// Returns the range of the number of flips that Jacobi checks may find.
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

    /// Makes one flip: of a bit of a word after some squaring, all of which are equally likely.
    fn of_residue(&self, rng: &mut Random, prepared: &Prepared) -> (Place, Fate) {
        let total = self.kind.iterations(self.exponent.get());
        let k = rng.random_range(1..=total);
        let before = prepared.starts.iter().take_while(|start| start.iteration() < k).count();
        let start = &prepared.starts[rng.random_range(0..before)];
        let sort = "the residue";
        let length = match plan(self.family, self.exponent) {
            Ok(plan) => plan.length(),
            Err(e) => return (Place { sort, moment: String::new() }, Fate::Failed(e)),
        };
        let layout = WordLayout::new(self.exponent.get(), length);
        let word = rng.random_range(0..length);
        let bit = rng.random_range(0..layout.bits(word));
        let moment = format!(
            "bit {bit} of word {word} after squaring {k}, from iteration {}",
            start.iteration()
        );
        // The bit is below p.
        let bit = layout.offset(word) as u32 + bit;
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

    /// Makes one flip: of a bit of a register after some change of it, all of which are equally
    /// likely from a start.
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
        let bit = rng.random_range(0..self.exponent.get());
        let moment =
            format!("bit {bit} after change {after}, from iteration {}", start.iteration());
        let fault = Fault::FlippedRegister { register, after, bit };
        (Place { sort, moment }, self.with_fault(fault, start, prepared))
    }

    /// Runs a test from a start to its end, with one fault on the way.
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
        let mut store = store(&folder, self.kind, self.exponent)?;
        if let Some(state) = &start.state {
            store.save(state).map_err(|e| e.to_string())?;
        }
        let run = Run::new(self.kind, self.exponent).stored(&mut store);
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
