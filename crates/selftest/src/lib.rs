//! Test suites that are part of the program. They compare every engine with a slow, obvious oracle
//! and with known answers that other programs computed. The crate `warpint-testkit` compares with
//! GMP, which this crate does not use.
//!
//! * [`cases`]: the requirements on every engine, one function per case; [`engine_suite!`] makes a
//!   `#[test]` of each case;
//! * [`oracle`]: the family `limbs` with schoolbook arithmetic; [`twin`] compares it with an
//!   engine;
//! * [`agreement`]: comparisons of two families at lengths for which the oracle is too slow;
//! * [`interim`]: intermediate residues of large tests, computed by [`sequence`];
//! * [`stress`]: checked squarings for any length of time, to test hardware;
//! * [`batches`]: batches of integers, on the CPU and on devices, and limb by limb on a device;
//! * [`collatz`]: the methods of the Collatz conjecture on devices;
//! * [`faults`]: deliberate faults, as they occur on unreliable machines;
//! * [`fields`]: the field arithmetic of the kernels, one function at a time;
//! * [`huge`]: products, quotients and digits of long numbers on devices;
//! * [`transforms`]: transforms over fields and rings, on the CPU and on devices;
//! * [`sample`]: exponents, residues and shifts for tests, drawn from a seed;
//! * [`vectors`]: the known answers of `crates/selftest/vectors`.

pub mod batches;
pub mod collatz;
mod engines;
pub mod faults;
pub mod fields;
pub mod huge;
pub mod memory;
mod running;
pub mod sample;
mod suites;
pub mod transforms;
pub mod vectors;

pub use engines::{agreement, cases, interim, oracle, sequence, stress, twin};
pub use suites::{
    DeviceSizes, run_batches, run_device, run_huge, run_kernels, run_transforms,
    run_transforms_on_cpu,
};

use std::thread;
use std::time::Duration;

use warpint_device::CPU;
use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks};
use warpint_mersenne::{BuildOptions, EngineError, EngineFamily, Shift, Step};

use oracle::Limbs;
use running::{Case, Running};
use sample::Scale;

/// The seed of [`run`]. It is fixed, so that a self-test uses the same random numbers on every
/// machine.
pub const SEED: u64 = 20_261_121;

/// How much of the suites is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// On a GPU, fewer cases or fewer sizes of most suites, so that few kernels must be compiled.
    /// On the CPU, all cases.
    Quick,
    /// All cases of every suite.
    Thorough,
}

impl Depth {
    /// Returns the approximate duration of all cases of this depth, on a GPU or on the CPU, if no
    /// compiled kernels are cached. The duration on a GPU is for an NVIDIA H200 with 16 CPU cores, and is mostly the
    /// time to compile kernels; that of the quick cases is calculated from the times of the cases. The duration on the
    /// CPU holds for two cores. The times of the cases are in `benches/runs` (`*-h200/selftest*.txt`, and
    /// `2026-11-29-h200/hybrid-bases-2.txt`).
    #[must_use]
    pub fn estimate(self, is_gpu: bool) -> Duration {
        Duration::from_secs(match (is_gpu, self) {
            (false, _) => 40,
            (true, Self::Quick) => 90,
            (true, Self::Thorough) => 660,
        })
    }

    /// Returns the number of cases that run at the same time on a device. Quick cases spend most of
    /// their time compiling kernels, each on one core. Thorough cases run alone, because they need
    /// the device's memory.
    fn cases_at_once(self) -> usize {
        match self {
            Self::Quick => 12,
            Self::Thorough => 1,
        }
    }
}

/// The result of one case for one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseReport {
    /// The name of the family or suite (`fp64`, `goldilocks@cuda:0`), or the names of two families
    /// that are compared.
    pub family: String,
    /// The name of the case.
    pub case: String,
    /// `Ok` if the case passed. The error says why the case failed, with exponent, length and seed.
    pub result: Result<(), String>,
    /// The duration of the case.
    pub elapsed: Duration,
}

/// The numbers of cases that passed and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// The number of cases that passed.
    pub passed: usize,
    /// The number of cases that failed.
    pub failed: usize,
}

/// Runs every case for each of the families. With [`Depth::Quick`], families on GPUs run only the
/// quick cases. All cases of the families on the CPU take about ten seconds on two cores.
///
/// With a filter, runs only the cases whose name `family::case` contains the filter. Each report is
/// passed to `report` as soon as its case and all cases before it have ended.
pub fn run(
    families: &[&'static dyn EngineFamily],
    depth: Depth,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    run_seeded(families, depth, filter, SEED, report)
}

/// Does the same as [`run`] with another seed, which gives other exponents and residues.
///
/// After the [`cases`], compares families with each other at large exponents
/// ([`agreement::sizes`]). Every family except the CPU's `fp64` is compared with a family on the
/// CPU that has the other arithmetic (integers or floating point). Also compares products with
/// squares ([`agreement::products`]), and the families on GPUs with the residues of [`interim`].
pub fn run_seeded(
    families: &[&'static dyn EngineFamily],
    depth: Depth,
    filter: Option<&str>,
    seed: u64,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let cases: Vec<Case<'_>> = of_engines(families, depth, filter, seed);
    let are_quick = families.iter().all(|family| Scale::at(*family, depth) == Scale::Quick);
    let mut run = Running { filter, report, summary: Summary::default() };
    run.all(cases, if are_quick { depth.cases_at_once() } else { 1 });
    run.summary
}

/// Returns the cases of [`run_seeded`].
fn of_engines<'a>(
    families: &[&'static dyn EngineFamily],
    depth: Depth,
    filter: Option<&str>,
    seed: u64,
) -> Vec<Case<'a>> {
    let mut found = vec![];
    for &family in families {
        let (name, scale) = (name(family), Scale::at(family, depth));
        if scale == Scale::Quick && filter.is_none_or(|filter| name.contains(filter)) {
            found.push(Case::new(name.clone(), "builds", move || builds(family, scale, seed)));
        }
        for case in cases::CASES {
            if scale != Scale::Quick || cases::QUICK.contains(&case.name) {
                let work = move || (case.run)(family, seed, scale);
                found.push(Case::new(name.clone(), case.name, work));
            }
        }
    }
    for &family in families {
        if family.place() == CPU && family.name() == Fp64.name() {
            continue;
        }
        let (name, scale) = (name(family), Scale::at(family, depth));
        let other = other_arithmetic(family);
        let both = format!("{name} ~ {}", other.name());
        let exponents = family.exponent_range();
        for &(p, squarings) in agreement::sizes(scale) {
            if exponents.contains(&p) {
                let work = move || agreement::agree(family, other, p, squarings, seed);
                found.push(Case::new(both.clone(), format!("agree_at_{p}_bits"), work));
            }
        }
        for &p in agreement::product_sizes(scale).iter().filter(|p| exponents.contains(p)) {
            let work = move || agreement::products(family, p, seed);
            found.push(Case::new(name.clone(), format!("products_at_{p}_bits"), work));
        }
        if matches!(scale, Scale::Large | Scale::Quick) {
            let work = move || interim::interim_residues(family, scale);
            found.push(Case::new(name.clone(), "interim_residues", work));
        }
    }
    found
}

/// Builds engines for the exponents of the quick cases, and lets each engine square, multiply and
/// add. This compiles the kernels in parallel, so that the cases need not compile them.
fn builds(family: &'static dyn EngineFamily, scale: Scale, seed: u64) -> Result<(), String> {
    // From the hundredth on, most squarings use other kernels, which do not measure round-off.
    const SQUARINGS: u64 = 120;
    let build = |p: u32| {
        let length = sample::shortest_length(family, p)?;
        let work = || {
            let mut engine = family.build(p, length, BuildOptions::new(2, 1))?;
            for step in [Step::Square, Step::SquareMinusTwo] {
                engine.set(0, 3, Shift::ZERO)?;
                engine.square(0, SQUARINGS, step, Shift::ZERO)?;
            }
            engine.mul(1, 0, 0)?;
            engine.add(1, 0, 1)?;
            engine.read(1, Shift::ZERO).map(drop)
        };
        work().map_err(|e: EngineError| format!("{} M{p} length {length}: {e}", family.name()))
    };
    let rng = &mut sample::random(seed);
    let exponents = sample::exponents(family, scale, rng, MOST_DRAWN, Limbs::LARGEST);
    thread::scope(|scope| {
        let builds = exponents.into_iter().map(|p| scope.spawn(move || build(p)));
        let builds: Vec<_> = builds.collect();
        builds.into_iter().try_for_each(|build| {
            build.join().unwrap_or_else(|_| Err("a thread ended unexpectedly".into()))
        })
    })
}

/// The largest number of exponents that a case draws. All cases draw from the same sequence of
/// exponents; a case that needs fewer uses the first exponents of this sequence.
const MOST_DRAWN: usize = 80;

/// Returns the family on the CPU with the other arithmetic: `goldilocks` (integers) for `fp64`, and
/// `fp64` (floating point) for all other families.
fn other_arithmetic(family: &dyn EngineFamily) -> &'static dyn EngineFamily {
    if family.name() == Fp64.name() { &Goldilocks } else { &Fp64 }
}

/// Returns the name of a family, followed by its device, if any: `fp64`, `goldilocks@cuda:0`.
fn name(family: &dyn EngineFamily) -> String {
    match family.place() {
        CPU => family.name().to_owned(),
        place => format!("{}@{place}", family.name()),
    }
}

/// Runs the case with the name `case` for one family. The tests that [`engine_suite!`] defines call
/// this function.
///
/// # Errors
/// The case fails, or there is no case with this name. The error says why.
pub fn run_case(family: &'static dyn EngineFamily, case: &str) -> Result<(), String> {
    let case = cases::CASES
        .iter()
        .find(|c| c.name == case)
        .ok_or_else(|| format!("there is no case {case}"))?;
    (case.run)(family, SEED, Scale::of(family))
}
