//! Faults made on purpose: what a test meets on an unreliable machine must be noticed, and end in
//! the right residue or in no residue at all.
//!
//! [`run`] is the suite of `warpint selftest --faults`, [`Campaign`] flips bits by the thousand.
//! The [`wrappers`] that make the faults can be built in this module, and with the feature
//! `wrappers` by tests: the program is built without it, so that none of its tests of Mersenne
//! numbers can hold one.

mod binomial;
mod cases;
mod collatz;
mod flips;
mod kill;
mod saved;
mod sitting;
mod starts;
#[cfg(feature = "wrappers")]
pub mod wrappers;
#[cfg(not(feature = "wrappers"))]
#[allow(dead_code, unreachable_pub)]
mod wrappers;

use std::path::Path;
use std::time::{Duration, Instant};

use warpint_mersenne::{EngineFamily, Exponent};

use crate::sample::Scale;
use crate::{Summary, name};
pub use collatz::run_collatz;
pub use flips::{Campaign, Fate, Flip, Place, Tally, Target};

/// What came of one fault on one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultReport {
    /// The family (`fp64`, `goldilocks@cuda:0`).
    pub family: String,
    /// The fault.
    pub fault: &'static str,
    /// How it was noticed and survived, with counts, or what went wrong.
    pub result: Result<String, String>,
    /// Its time.
    pub elapsed: Duration,
}

/// A family under test, and the numbers to test it with.
struct Bench<'a> {
    family: &'static dyn EngineFamily,
    scale: Scale,
    /// One whose residues are known: composite, so that they are not 0 and 1.
    exponent: Exponent,
    /// `warpint` itself, to be killed.
    program: Option<&'a Path>,
}

/// Exponents with known residues, the first for all families that take it.
const EXPONENTS: [u64; 2] = [4_441, 59];
const EXPONENTS_ON_SIMULATOR: [u64; 2] = [1_277, 4_441];

/// Runs every fault on some families, each on one thread: on those of the CPU in about a minute on
/// two cores.
///
/// With a filter, only those whose `family::fault` contains it. `program` is run as `program prp P
/// …` and killed; without it, nothing is. Each report is given as soon as its fault is over. A
/// family that takes no exponent with known residues is left out.
pub fn run(
    families: &[&'static dyn EngineFamily],
    program: Option<&Path>,
    filter: Option<&str>,
    report: &mut dyn FnMut(&FaultReport),
) -> Summary {
    let mut summary = Summary::default();
    for &family in families {
        let Some(bench) = Bench::new(family, program) else { continue };
        let name = name(family);
        for case in cases::CASES.iter().filter(|case| (case.suits)(&bench)) {
            if filter.is_some_and(|f| !format!("{name}::{}", case.name).contains(f)) {
                continue;
            }
            let begun = Instant::now();
            let result = (case.run)(&bench);
            match &result {
                Ok(_) => summary.passed += 1,
                Err(_) => summary.failed += 1,
            }
            let (family, fault) = (name.clone(), case.name);
            report(&FaultReport { family, fault, result, elapsed: begun.elapsed() });
        }
    }
    summary
}

impl<'a> Bench<'a> {
    fn new(family: &'static dyn EngineFamily, program: Option<&'a Path>) -> Option<Self> {
        let scale = Scale::of(family);
        let range = family.exponent_range();
        let candidates = match scale {
            Scale::Small => EXPONENTS_ON_SIMULATOR,
            Scale::Whole | Scale::Large | Scale::Quick => EXPONENTS,
        };
        let taken = |p: &u64| u32::try_from(*p).is_ok_and(|p| range.contains(&p));
        let exponent = Exponent::new(*candidates.iter().find(|&p| taken(p))?).ok()?;
        Some(Self { family, scale, exponent, program })
    }

    /// Whether a test is long enough to be stopped on the way.
    fn is_long(&self) -> bool {
        self.exponent.get() > 64
    }

    /// n, or 3 on the simulator.
    fn count(&self, n: u64) -> u64 {
        if self.scale == Scale::Small { n.min(3) } else { n }
    }
}
