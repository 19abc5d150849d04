//! Deliberate faults: what happens to a test on an unreliable machine must be noticed, and the test
//! must end with the right residue or with none.
//!
//! [`run`], [`run_on_cpu`] and [`run_on_device`] are the suites of `warpint selftest --faults`;
//! [`Campaign`] flips bits by the thousand. The [`wrappers`] that make the faults are available
//! within this module, and to tests with the feature `wrappers`. The program is built without that
//! feature, so that its tests of Mersenne numbers cannot contain a fault.

mod batch;
mod binomial;
mod cases;
mod collatz;
mod flips;
mod kill;
mod on_device;
mod saved;
mod sitting;
mod starts;
mod transform;
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
pub use on_device::{Sizes, run_on_cpu, run_on_device};

/// The result of one fault in one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultReport {
    /// The family (`fp64`, `goldilocks@cuda:0`).
    pub family: String,
    /// The name of the fault that was made.
    pub fault: &'static str,
    /// How the fault was noticed and survived, with counts; or, as an error, what failed.
    pub result: Result<String, String>,
    /// How long the case took.
    pub elapsed: Duration,
}

/// A family under test, and the numbers to test it with.
struct Bench<'a> {
    family: &'static dyn EngineFamily,
    scale: Scale,
    /// An exponent with known residues. M_p is composite, so that the residues are not 0 and 1.
    exponent: Exponent,
    /// The `warpint` program, to be killed.
    program: Option<&'a Path>,
}

/// The exponents with known residues; the first is used by all families that support it.
const EXPONENTS: [u64; 2] = [4_441, 59];
const EXPONENTS_ON_SIMULATOR: [u64; 2] = [1_277, 4_441];

/// Runs every fault on some families, each with one thread. For the families on the CPU this takes
/// about a minute on two cores.
///
/// With a filter, runs only faults whose `family::fault` contains it. `program` is run as `program
/// prp P …` and killed; without it, no process is killed. Each report is passed on as soon as its
/// fault is over. A family that supports no exponent with known residues is left out.
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

    /// Returns whether a test is long enough to be stopped before its end.
    fn is_long(&self) -> bool {
        self.exponent.get() > 64
    }

    /// Returns the number of faults to make: n, or 3 on the simulator.
    fn count(&self, n: u64) -> u64 {
        if self.scale == Scale::Small { n.min(3) } else { n }
    }
}
