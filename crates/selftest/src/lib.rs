//! Suites that ship in the program: every engine against a slow, obvious oracle
//! and against known answers that other programs computed. No GMP here; the same
//! idea against GMP is the crate `warpint-testkit`.
//!
//! * [`cases`]: what every engine must do, one function a case;
//! * [`oracle`]: the family `limbs`, schoolbook arithmetic;
//! * [`agreement`]: two families against each other at lengths beyond the oracle;
//! * [`batches`]: batches of integers, on the CPU and on devices;
//! * [`collatz`]: the methods of the Collatz conjecture on devices;
//! * [`elementwise`]: operations of batches on a device, limb by limb;
//! * [`faults`]: what goes wrong on unreliable machines, made on purpose;
//! * [`field`]: the field arithmetic of the kernels, one function at a time;
//! * [`field50`]: the same for the fields of primes of 47 to 50 bits;
//! * [`interim`]: residues on the way through large tests;
//! * [`stress`]: checked squarings for as long as one likes;
//! * [`transform_big`]: transforms over big prime fields on devices;
//! * [`transform_cpu`]: transforms on the CPU;
//! * [`transform_prime`]: transforms over prime fields on devices;
//! * [`transform_small`]: transforms by way of small primes;
//! * [`vectors`]: the known answers of `tests/vectors`;
//! * [`engine_suite!`]: one `#[test]` for every case.

pub mod agreement;
pub mod batches;
pub mod cases;
pub mod collatz;
pub mod elementwise;
pub mod faults;
pub mod field;
pub mod field50;
pub mod interim;
mod macros;
pub mod oracle;
mod plans;
pub mod sample;
pub mod sequence;
pub mod stress;
pub mod transform_big;
pub mod transform_cpu;
pub mod transform_prime;
pub mod transform_small;
pub mod twin;
pub mod vectors;

use std::thread;
use std::time::{Duration, Instant};

use warpint_device::{CPU, Device};
use warpint_integer::Executor;
use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks};
use warpint_mersenne::{BuildOptions, EngineError, EngineFamily, Shift, Step};

use oracle::Limbs;
use sample::Scale;

/// The seed of [`run`]: a self-test does the same on every machine.
pub const SEED: u64 = 20_261_121;

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// On a GPU some cases of every suite, with few kernels to be compiled; on the CPU all.
    Quick,
    /// All cases.
    Thorough,
}

impl Depth {
    /// About how long all cases of a place take, with nothing kept of an earlier run: on an NVIDIA
    /// H200 with 16 cores, most of it to compile kernels, and on two cores of the CPU. The times of
    /// the cases stand in `benches/runs` (`*-h200/selftest*.txt`).
    #[must_use]
    pub fn estimate(self, is_gpu: bool) -> Duration {
        Duration::from_secs(match (is_gpu, self) {
            (false, _) => 15,
            (true, Self::Quick) => 75,
            (true, Self::Thorough) => 660,
        })
    }
}

/// What one case of one family did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseReport {
    /// The family (`fp64`, `goldilocks@cuda:0`), or the two compared.
    pub family: String,
    /// The case.
    pub case: String,
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

/// Runs every case of some families, or the quick ones of devices: all of the CPU take about ten
/// seconds on two cores.
///
/// With a filter, only those whose `family::case` contains it. Each report is
/// given as soon as its case has ended.
pub fn run(
    families: &[&'static dyn EngineFamily],
    depth: Depth,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    run_seeded(families, depth, filter, SEED, report)
}

/// [`run`] with another seed, for other exponents and residues.
///
/// Beside the [`cases`]: the CPU's `goldilocks`, and any family on a device,
/// against the other arithmetic on the CPU at large exponents
/// ([`agreement::sizes`]), and on a GPU the residues of [`interim`].
pub fn run_seeded(
    families: &[&'static dyn EngineFamily],
    depth: Depth,
    filter: Option<&str>,
    seed: u64,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    let mut one = |family: &str, case: &str, work: &dyn Fn() -> Result<(), String>| {
        run.one(family, case, work);
    };
    for &family in families {
        let (name, scale) = (name(family), Scale::at(family, depth));
        if scale == Scale::Quick && filter.is_none_or(|filter| name.contains(filter)) {
            one(&name, "builds", &|| builds(family, scale, seed));
        }
        for case in cases::CASES {
            if scale != Scale::Quick || cases::QUICK.contains(&case.name) {
                one(&name, case.name, &|| (case.run)(family, seed, scale));
            }
        }
    }
    for &family in families {
        if family.place() == CPU && family.name() != Goldilocks.name() {
            continue;
        }
        let (name, scale) = (name(family), Scale::at(family, depth));
        let other = other_arithmetic(family);
        let both = format!("{name} ~ {}", other.name());
        let exponents = family.exponent_range();
        for &(p, squarings) in agreement::sizes(scale) {
            if exponents.contains(&p) {
                one(&both, &format!("agree_at_{p}_bits"), &|| {
                    agreement::agree(family, other, p, squarings, seed)
                });
            }
        }
        if matches!(scale, Scale::Large | Scale::Quick) {
            one(&name, "interim_residues", &|| interim::interim_residues(family, scale));
        }
    }
    run.summary
}

/// Builds engines for the exponents of the quick cases, and has each do a bit of everything: their
/// kernels are compiled side by side, and the cases find them.
fn builds(family: &'static dyn EngineFamily, scale: Scale, seed: u64) -> Result<(), String> {
    // From the hundredth on, squarings are not measured, by kernels of their own.
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

/// The most exponents that a case draws: the others take the first of these.
const MOST_DRAWN: usize = 80;

/// The family of the CPU with which one is compared: integers for floating point, and the
/// other way round.
fn other_arithmetic(family: &dyn EngineFamily) -> &'static dyn EngineFamily {
    if family.name() == Fp64.name() { &Goldilocks } else { &Fp64 }
}

/// Runs the cases of [`field`], [`field50`] and [`elementwise`] on a device, as [`run`] does those
/// of families: `field@cuda:0::products`, `elementwise@cuda:0::shifts` and so on.
pub fn run_kernels(
    device: &Device,
    depth: Depth,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    for (case, of_field) in field::CASES {
        run.one(&format!("field@{}", device.info().id), case, &|| of_field(device, SEED));
    }
    for (case, of_field) in field50::CASES {
        let work = || of_field(device, SEED, field50::DRAWN);
        run.one(&format!("field50@{}", device.info().id), case, &work);
    }
    let widths = match depth {
        Depth::Quick => elementwise::quick_widths(),
        Depth::Thorough => elementwise::widths(),
    };
    for (case, of_batches) in elementwise::CASES {
        let work = || of_batches(device, SEED, &widths);
        run.one(&format!("elementwise@{}", device.info().id), case, &work);
    }
    run.summary
}

/// Runs the cases of [`batches`] where an executor works, as [`run`] does those of families:
/// `batch::sums` on the CPU, `batch@cuda:0::sums` and so on elsewhere.
pub fn run_batches(
    executor: &Executor,
    sizes: &batches::Sizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let place = executor.device().map(|device| format!("@{}", device.info().id));
    let family = format!("batch{}", place.unwrap_or_default());
    let mut run = Running { filter, report, summary: Summary::default() };
    let of_devices = if executor.is_cpu() { &[] } else { batches::CASES_OF_DEVICES };
    for (case, of_batches) in batches::CASES.iter().chain(of_devices) {
        run.one(&family, case, &|| of_batches(executor, SEED, sizes));
    }
    run.summary
}

/// Runs the cases of [`collatz`] on a device, as [`run`] does those of families: `collatz@cuda:0::trees`.
pub fn run_collatz(
    device: &Device,
    sizes: &collatz::Sizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    let family = format!("collatz@{}", device.info().id);
    for (case, of_methods) in collatz::CASES {
        run.one(&family, case, &|| of_methods(device, SEED, sizes));
    }
    run.summary
}

/// Runs the cases of [`transform_big`], [`transform_small`] and [`transform_prime`] on a device, as [`run`] does
/// those of families: `transform-big@cuda:0::convolutions`, `transform-small@cuda:0::rings` and so on.
pub fn run_transforms(
    device: &Device,
    depth: Depth,
    (big, small): (&transform_big::Sizes, &transform_small::Sizes),
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    let place = &device.info().id;
    for (case, of_big) in transform_big::CASES {
        run.one(&format!("transform-big@{place}"), case, &|| of_big(device, SEED, big));
    }
    for (case, of_small) in transform_small::CASES {
        run.one(&format!("transform-small@{place}"), case, &|| of_small(device, SEED, small));
    }
    let is_run = |case: &str| depth == Depth::Thorough || transform_prime::QUICK.contains(&case);
    for (case, of_prime) in transform_prime::CASES.iter().filter(|(case, _)| is_run(case)) {
        run.one(&format!("transform-prime@{place}"), case, &|| of_prime(device, SEED));
    }
    run.summary
}

/// Runs the cases of [`transform_cpu`], as [`run`] does those of families: `transform::outputs`.
pub fn run_transforms_on_cpu(filter: Option<&str>, report: &mut dyn FnMut(&CaseReport)) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    for (case, of_cpu) in transform_cpu::CASES {
        run.one("transform", case, &|| of_cpu(SEED));
    }
    run.summary
}

/// Cases, as they are run and counted.
struct Running<'a> {
    filter: Option<&'a str>,
    report: &'a mut dyn FnMut(&CaseReport),
    summary: Summary,
}

impl Running<'_> {
    fn one(&mut self, family: &str, case: &str, work: &dyn Fn() -> Result<(), String>) {
        if self.filter.is_some_and(|f| !format!("{family}::{case}").contains(f)) {
            return;
        }
        let begin = Instant::now();
        let result = work();
        match &result {
            Ok(()) => self.summary.passed += 1,
            Err(_) => self.summary.failed += 1,
        }
        let (family, case) = (family.to_owned(), case.to_owned());
        (self.report)(&CaseReport { family, case, result, elapsed: begin.elapsed() });
    }
}

/// `fp64` on the CPU, `goldilocks@cuda:0` elsewhere.
fn name(family: &dyn EngineFamily) -> String {
    match family.place() {
        CPU => family.name().to_owned(),
        place => format!("{}@{place}", family.name()),
    }
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
    (case.run)(family, SEED, Scale::of(family))
}
