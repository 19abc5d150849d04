//! Deliberate faults, as they occur on unreliable machines. Every fault that affects a result must
//! be noticed, and a test must end with the right residue or with an error.
//!
//! [`run`], [`run_on_cpu`] and [`run_on_device`] are the suites of `warpint selftest --faults`;
//! [`Campaign`] runs thousands of tests, in each of which one bit flips.
//!
//! The [`wrappers`] that make the faults are available only in this module, and to tests with the
//! feature `wrappers`. The program is built without this feature, so that its tests of Mersenne
//! numbers cannot contain a fault.

mod batch;
mod binomial;
mod cases;
mod collatz;
mod flips;
mod kill;
mod on_device;
mod saved;
mod sitting;
mod squarings;
mod starts;
mod transform;
#[cfg(feature = "wrappers")]
pub mod wrappers;
#[cfg(not(feature = "wrappers"))]
#[allow(dead_code, unreachable_pub)]
mod wrappers;

use std::path::Path;
use std::time::{Duration, Instant};

use warpint_mersenne::{EngineFamily, Exponent, Number};

use crate::sample::Scale;
use crate::{Summary, name};
pub use collatz::run_collatz;
pub use flips::{Campaign, Fate, Flip, Place, Tally, Target};
pub use on_device::{Sizes, run_on_cpu, run_on_device};
pub use squarings::{flip_squarings, flip_squarings_on_cpu};

/// The result of one case, which makes faults in one family or suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultReport {
    /// The name of the family or suite: `fp64`, `goldilocks@cuda:0`, `batch@cuda:0`.
    pub family: String,
    /// The name of the case, which describes the fault.
    pub fault: &'static str,
    /// `Ok` if the case passed: the text says how the fault was noticed and survived, with counts.
    /// The text of an error says what failed.
    pub result: Result<String, String>,
    /// The duration of the case.
    pub elapsed: Duration,
}

/// A family under test, and the exponent and scale with which it is tested.
struct Bench<'a> {
    family: &'static dyn EngineFamily,
    scale: Scale,
    /// An exponent p with known residues, for which M_p = 2^p − 1 is composite. The final residues
    /// are therefore neither 0 nor 1.
    exponent: Exponent,
    /// The path of the `warpint` program, which the case `kills` runs and kills. With `None`, this
    /// case is left out.
    program: Option<&'a Path>,
}

/// Exponents with known residues. A family is tested with the first one that it supports.
const EXPONENTS: [u64; 2] = [4_441, 59];
const EXPONENTS_ON_SIMULATOR: [u64; 2] = [1_277, 4_441];

/// Runs every case with each of the families, whose engines use one thread. For the families on the
/// CPU this takes about a minute on two cores.
///
/// With a filter, runs only the cases whose name `family::fault` contains the filter. `program` is
/// started as `program prp P …` or `program ll P …`, and killed. If `program` is `None`, no process
/// is killed. Each report is passed to `report` as soon as its case has ended. A family that
/// supports no exponent with known residues is left out.
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

    /// Returns a composite number k·2^n + 1 without factors below 2^16 that the family takes, the shortest of a few.
    fn plus(&self) -> Option<Number> {
        self.first_of(["7*2^1002+1", "7*2^10002+1"])
    }

    /// Returns a composite number k·2^n − 1 without factors below 2^16 that the family takes, the shortest of a few.
    fn minus(&self) -> Option<Number> {
        self.first_of(["7*2^1001-1", "3*2^10003-1"])
    }

    fn first_of(&self, numbers: [&str; 2]) -> Option<Number> {
        let mut numbers = numbers.into_iter().filter_map(|number| number.parse().ok());
        numbers.find(|&number| self.family.takes(number))
    }

    /// Returns whether a test with this exponent is long enough to be stopped before its end.
    fn is_long(&self) -> bool {
        self.exponent.get() > 64
    }

    /// Returns the number of faults to make: n, or at most 3 on the simulator.
    fn count(&self, n: u64) -> u64 {
        if self.scale == Scale::Small { n.min(3) } else { n }
    }
}

#[cfg(test)]
mod tests {
    use warpint_mersenne::engine::fp64::Fp64;

    use super::wrappers::{Fault, Faulty};
    use crate::agreement::products;

    #[test]
    fn a_comparison_of_products_with_squares_finds_a_flip() {
        products(&Fp64, 1_279, 1).unwrap();
        // Two products and three squares.
        for after in 1..=5 {
            let faulty = Faulty::leaked(&Fp64, Fault::FlippedBit { after, bit: 77 });
            let found = products(faulty, 1_279, 1);
            assert!(found.is_err() && faulty.flips() == 1, "{after}: {found:?}");
        }
    }
}
