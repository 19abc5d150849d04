//! Suites that ship in the program: every engine against a slow, obvious oracle
//! and against known answers that other programs computed. No GMP here; the same
//! idea against GMP is the crate `warpint-testkit`.
//!
//! * [`cases`]: what every engine must do, one function a case;
//! * [`oracle`]: the family `limbs`, schoolbook arithmetic;
//! * [`agreement`]: two families against each other at lengths beyond the oracle;
//! * [`vectors`]: the known answers of `tests/vectors`;
//! * [`engine_suite!`]: one `#[test]` for every case.

pub mod agreement;
pub mod cases;
mod macros;
pub mod oracle;
pub mod sample;
pub mod sequence;
pub mod twin;
pub mod vectors;

use std::time::{Duration, Instant};

use warpint_mersenne::EngineFamily;
use warpint_mersenne::engine::{self, fp64::Fp64, goldilocks::Goldilocks};

/// The seed of [`run`]: a self-test does the same on every machine.
pub const SEED: u64 = 20_261_121;

/// What one case of one family did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseReport {
    /// The family, or the two families compared.
    pub family: &'static str,
    /// The case.
    pub case: &'static str,
    /// Why it failed; the message says exponent, length and seed.
    pub result: Result<(), String>,
    /// Its time.
    pub elapsed: Duration,
}

/// How many cases passed and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Cases without a fault.
    pub passed: usize,
    /// Cases with one.
    pub failed: usize,
}

/// Runs every case of every family of the program, about ten seconds on two cores.
///
/// With a filter, only those whose `family::case` contains it. Each report is
/// given as soon as its case has ended.
pub fn run(filter: Option<&str>, report: &mut dyn FnMut(&CaseReport)) -> Summary {
    run_seeded(filter, SEED, report)
}

/// [`run`] with another seed, for other exponents and residues.
pub fn run_seeded(filter: Option<&str>, seed: u64, report: &mut dyn FnMut(&CaseReport)) -> Summary {
    let mut summary = Summary::default();
    let mut one = |family: &'static str, case, run: &dyn Fn() -> Result<(), String>| {
        if filter.is_some_and(|f| !format!("{family}::{case}").contains(f)) {
            return;
        }
        let begin = Instant::now();
        let result = run();
        match &result {
            Ok(()) => summary.passed += 1,
            Err(_) => summary.failed += 1,
        }
        report(&CaseReport { family, case, result, elapsed: begin.elapsed() });
    };
    for family in engine::families() {
        for case in cases::CASES {
            one(family.name(), case.name, &|| (case.run)(family, seed));
        }
    }
    for (case, p) in [("agree_at_100k_bits", 100_003), ("agree_at_1m_bits", 1_000_003)] {
        one("fp64 ~ goldilocks", case, &|| agreement::agree(&Fp64, &Goldilocks, p, 100, seed));
    }
    summary
}

/// One case of one family, for [`engine_suite!`].
///
/// # Errors
/// The case's own message, or that there is no such case.
pub fn run_case(family: &'static dyn EngineFamily, case: &str) -> Result<(), String> {
    let case = cases::CASES
        .iter()
        .find(|c| c.name == case)
        .ok_or_else(|| format!("there is no case {case}"))?;
    (case.run)(family, SEED)
}
