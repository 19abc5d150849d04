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
//! * [`transforms`]: transforms over fields and rings, on the CPU and on devices;
//! * [`sample`]: exponents, residues and shifts for tests, drawn from a seed;
//! * [`vectors`]: the known answers of `tests/vectors`.

pub mod batches;
pub mod collatz;
mod engines;
pub mod faults;
pub mod fields;
pub mod sample;
pub mod transforms;
pub mod vectors;

pub use engines::{agreement, cases, interim, oracle, sequence, stress, twin};

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use warpint_device::{CPU, Device};
use warpint_integer::Executor;
use warpint_integer::gpu::Gpu;
use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks};
use warpint_mersenne::{BuildOptions, EngineError, EngineFamily, Shift, Step};

use batches::elementwise;
use oracle::Limbs;
use sample::Scale;

/// The seed of [`run`]. It is fixed, so that a self-test does the same on every machine.
pub const SEED: u64 = 20_261_121;

/// How much of the suites is run: some cases, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// On a GPU, some cases of every suite, for which few kernels must be compiled. On the CPU, all
    /// cases.
    Quick,
    /// All cases of every suite.
    Thorough,
}

impl Depth {
    /// Returns the approximate duration of all cases of this depth, on a GPU or on the CPU, if no
    /// compiled kernels are cached. The duration on a GPU was measured on an NVIDIA H200 with 16
    /// CPU cores, and is mostly the time to compile kernels. The duration on the CPU holds for two
    /// cores. The times of the cases are in `benches/runs` (`*-h200/selftest*.txt`).
    #[must_use]
    pub fn estimate(self, is_gpu: bool) -> Duration {
        Duration::from_secs(match (is_gpu, self) {
            (false, _) => 15,
            (true, Self::Quick) => 60,
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
/// With a filter, runs only the cases whose name `family::case` contains it. Each report is passed
/// to `report` as soon as its case has ended.
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
/// In addition to the [`cases`], compares every family except the CPU's `fp64` with a family of the
/// other arithmetic (integers or floating point) on the CPU, at large exponents
/// ([`agreement::sizes`]). Also compares the families on GPUs with the residues of [`interim`].
pub fn run_seeded(
    families: &[&'static dyn EngineFamily],
    depth: Depth,
    filter: Option<&str>,
    seed: u64,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    for &family in families {
        let (name, scale) = (name(family), Scale::at(family, depth));
        if scale == Scale::Quick && filter.is_none_or(|filter| name.contains(filter)) {
            run.one(&name, "builds", || builds(family, scale, seed));
        }
        for case in cases::CASES {
            if scale != Scale::Quick || cases::QUICK.contains(&case.name) {
                run.one(&name, case.name, || (case.run)(family, seed, scale));
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
                run.one(&both, &format!("agree_at_{p}_bits"), || {
                    agreement::agree(family, other, p, squarings, seed)
                });
            }
        }
        if matches!(scale, Scale::Large | Scale::Quick) {
            run.one(&name, "interim_residues", || interim::interim_residues(family, scale));
        }
    }
    run.summary
}

/// Builds engines for the exponents of the quick cases, and does a few operations of every kind
/// with each engine. This compiles the kernels in parallel, so that the cases need not compile
/// them.
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

/// The largest number of exponents that a case draws. All cases draw from the same sequence of
/// exponents; a case that needs fewer uses the first exponents of this sequence.
const MOST_DRAWN: usize = 80;

/// Returns the family on the CPU with the other arithmetic: `goldilocks` (integers) for `fp64`, and
/// `fp64` (floating point) for all other families.
fn other_arithmetic(family: &dyn EngineFamily) -> &'static dyn EngineFamily {
    if family.name() == Fp64.name() { &Goldilocks } else { &Fp64 }
}

/// For each suite, the sizes of its cases on a device.
#[derive(Debug, Clone)]
pub struct DeviceSizes {
    /// The widths in limbs of [`elementwise`] operations.
    pub elementwise: Vec<usize>,
    /// The sizes of the cases of [`batches`].
    pub batches: batches::Sizes,
    /// The sizes of the cases of [`collatz`].
    pub collatz: collatz::Sizes,
    /// The sizes of the cases of [`transforms::big`].
    pub big: transforms::big::Sizes,
    /// The sizes of the cases of [`transforms::small`].
    pub small: transforms::small::Sizes,
}

impl DeviceSizes {
    /// Returns the sizes of the cases on GPUs.
    #[must_use]
    pub fn of_gpus(depth: Depth) -> Self {
        match depth {
            Depth::Quick => Self {
                elementwise: elementwise::quick_widths(),
                batches: batches::Sizes::quick(),
                collatz: collatz::Sizes::quick(),
                big: transforms::big::Sizes::quick(),
                small: transforms::small::Sizes::quick(),
            },
            Depth::Thorough => Self {
                elementwise: elementwise::widths(),
                batches: batches::Sizes::of_gpus(),
                collatz: collatz::Sizes::of_gpus(),
                big: transforms::big::Sizes::of_gpus(),
                small: transforms::small::Sizes::of_gpus(),
            },
        }
    }
}

/// Runs the cases of all suites on a device, except the suite of engines: kernels, batches, Collatz
/// methods and transforms. The reports of the Collatz methods have names such as
/// `collatz@cuda:0::trees`. The other reports are named as in [`run_kernels`], [`run_batches`] and
/// [`run_transforms`].
pub fn run_device(
    gpu: &Gpu,
    depth: Depth,
    sizes: &DeviceSizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let (device, executor) = (gpu.device(), Executor::from(gpu.clone()));
    let mut cases = of_kernels(device, &sizes.elementwise);
    cases.extend(of_batches(&executor, &sizes.batches));
    cases.extend(of_collatz(device, &sizes.collatz));
    cases.extend(of_transforms(device, depth, (&sizes.big, &sizes.small)));
    let mut run = Running { filter, report, summary: Summary::default() };
    run.all(cases, depth.cases_at_once());
    run.summary
}

/// Runs the cases of [`fields`] and [`elementwise`] on a device: `field@cuda:0::products`,
/// `elementwise@cuda:0::shifts` and so on. `filter` and `report` are those of [`run`].
pub fn run_kernels(
    device: &Device,
    widths: &[usize],
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    one_by_one(of_kernels(device, widths), filter, report)
}

/// Runs the cases of [`batches`] on an executor: `batch::sums` and so on for the CPU,
/// `batch@cuda:0::sums` and so on for a device. `filter` and `report` are those of [`run`].
pub fn run_batches(
    executor: &Executor,
    sizes: &batches::Sizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    one_by_one(of_batches(executor, sizes), filter, report)
}

/// Runs the cases of [`transforms::big`], [`transforms::small`] and [`transforms::prime`] on a
/// device: `transform-big@cuda:0::convolutions`, `transform-small@cuda:0::rings` and so on.
/// `filter` and `report` are those of [`run`].
pub fn run_transforms(
    device: &Device,
    depth: Depth,
    sizes: (&transforms::big::Sizes, &transforms::small::Sizes),
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    one_by_one(of_transforms(device, depth, sizes), filter, report)
}

fn one_by_one(
    cases: Vec<Case<'_>>,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    run.all(cases, 1);
    run.summary
}

fn of_kernels<'a>(device: &'a Device, widths: &'a [usize]) -> Vec<Case<'a>> {
    let place = &device.info().id;
    let goldilocks = fields::goldilocks::CASES.iter().map(|&(case, of_field)| {
        Case::new(format!("field@{place}"), case, move || of_field(device, SEED))
    });
    let f50 = fields::f50::CASES.iter().map(|&(case, of_field)| {
        let work = move || of_field(device, SEED, fields::f50::DRAWN);
        Case::new(format!("field50@{place}"), case, work)
    });
    let elementwise = elementwise::CASES.iter().map(|&(case, of_batches)| {
        let work = move || of_batches(device, SEED, widths);
        Case::new(format!("elementwise@{place}"), case, work)
    });
    goldilocks.chain(f50).chain(elementwise).collect()
}

fn of_batches<'a>(executor: &'a Executor, sizes: &'a batches::Sizes) -> Vec<Case<'a>> {
    let place = executor.device().map(|device| format!("@{}", device.info().id));
    let family = format!("batch{}", place.unwrap_or_default());
    let of_devices = if executor.is_cpu() { &[] } else { batches::CASES_OF_DEVICES };
    let cases = batches::CASES.iter().chain(of_devices).map(|&(case, of_batches)| {
        Case::new(family.clone(), case, move || of_batches(executor, SEED, sizes))
    });
    cases.collect()
}

fn of_collatz<'a>(device: &'a Device, sizes: &'a collatz::Sizes) -> Vec<Case<'a>> {
    let family = format!("collatz@{}", device.info().id);
    let cases = collatz::CASES.iter().map(|&(case, of_methods)| {
        Case::new(family.clone(), case, move || of_methods(device, SEED, sizes))
    });
    cases.collect()
}

fn of_transforms<'a>(
    device: &'a Device,
    depth: Depth,
    (big, small): (&'a transforms::big::Sizes, &'a transforms::small::Sizes),
) -> Vec<Case<'a>> {
    let place = &device.info().id;
    let is_run = |case: &str| depth == Depth::Thorough || transforms::prime::QUICK.contains(&case);
    let of_big = transforms::big::CASES.iter().map(|&(case, of_big)| {
        let work = move || of_big(device, SEED, big);
        Case::new(format!("transform-big@{place}"), case, work)
    });
    let of_small = transforms::small::CASES.iter().map(|&(case, of_small)| {
        let work = move || of_small(device, SEED, small);
        Case::new(format!("transform-small@{place}"), case, work)
    });
    let of_prime = transforms::prime::CASES.iter().filter(|(case, _)| is_run(case));
    let of_prime = of_prime.map(|&(case, of_prime)| {
        Case::new(format!("transform-prime@{place}"), case, move || of_prime(device, SEED))
    });
    of_big.chain(of_small).chain(of_prime).collect()
}

/// Runs the cases of [`transforms::cpu`]: `transform::outputs` and so on. `filter` and `report` are
/// those of [`run`].
pub fn run_transforms_on_cpu(filter: Option<&str>, report: &mut dyn FnMut(&CaseReport)) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    for (case, of_cpu) in transforms::cpu::CASES {
        run.one("transform", case, || of_cpu(SEED));
    }
    run.summary
}

/// A case to be run: the name of its family or suite, its own name, and its function.
struct Case<'a> {
    family: String,
    case: &'a str,
    work: Box<dyn Fn() -> Result<(), String> + Send + Sync + 'a>,
}

impl<'a> Case<'a> {
    fn new(
        family: String,
        case: &'a str,
        work: impl Fn() -> Result<(), String> + Send + Sync + 'a,
    ) -> Self {
        Self { family, case, work: Box::new(work) }
    }

    fn run(&self) -> CaseReport {
        let begin = Instant::now();
        // The work shares nothing that a panic could leave half changed but devices and executors, whose
        // tables stay whole.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)()));
        let result = result.unwrap_or_else(|_| Err("it panicked: see above".into()));
        let (family, case) = (self.family.clone(), self.case.to_owned());
        CaseReport { family, case, result, elapsed: begin.elapsed() }
    }
}

/// The state of a run: its filter, the receiver of reports, and the numbers of cases that have
/// passed and failed so far.
struct Running<'a> {
    filter: Option<&'a str>,
    report: &'a mut dyn FnMut(&CaseReport),
    summary: Summary,
}

impl Running<'_> {
    fn one(
        &mut self,
        family: &str,
        case: &str,
        work: impl Fn() -> Result<(), String> + Send + Sync,
    ) {
        self.all(vec![Case::new(family.to_owned(), case, work)], 1);
    }

    /// Runs cases, up to `at_once` at the same time. Passes on their reports in the order of the
    /// cases.
    fn all(&mut self, mut cases: Vec<Case<'_>>, at_once: usize) {
        cases.retain(|Case { family, case, .. }| {
            self.filter.is_none_or(|filter| format!("{family}::{case}").contains(filter))
        });
        let next = AtomicUsize::new(0);
        let work = |reports: &mpsc::Sender<(usize, CaseReport)>| {
            while let Some((index, case)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, cases.get(i)?)))
            {
                // Without a receiver the reports are over: the caller has panicked.
                if reports.send((index, case.run())).is_err() {
                    break;
                }
            }
        };
        thread::scope(|scope| {
            let (reports, received) = mpsc::channel();
            for _ in 0..at_once.min(cases.len()) {
                let reports = reports.clone();
                scope.spawn(move || work(&reports));
            }
            drop(reports);
            let mut early = BTreeMap::new();
            for index in 0..cases.len() {
                while !early.contains_key(&index) {
                    // Without a sender a thread has panicked, which the scope passes on.
                    let Ok((index, report)) = received.recv() else { return };
                    early.insert(index, report);
                }
                if let Some(report) = early.remove(&index) {
                    self.take(&report);
                }
            }
        });
    }

    fn take(&mut self, report: &CaseReport) {
        match report.result {
            Ok(()) => self.summary.passed += 1,
            Err(_) => self.summary.failed += 1,
        }
        (self.report)(report);
    }
}

/// Returns the name of a family, followed by its device, if any: `fp64`, `goldilocks@cuda:0`.
fn name(family: &dyn EngineFamily) -> String {
    match family.place() {
        CPU => family.name().to_owned(),
        place => format!("{}@{place}", family.name()),
    }
}

/// Runs the case with this name for one family. [`engine_suite!`] calls it.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs ten cases, of which numbers 0, 3, 6 and 9 fail. Returns the name and the success of
    /// each reported case, and the summary.
    fn ten(filter: Option<&str>, at_once: usize) -> (Vec<(String, bool)>, Summary) {
        let names: Vec<String> = (0..10).map(|i| format!("case-{i}")).collect();
        let cases = names.iter().enumerate().map(|(i, name)| {
            Case::new("ten".into(), name, move || {
                // Later cases end first.
                thread::sleep(Duration::from_millis(3 * (10 - i as u64)));
                if i % 3 == 0 { Err(format!("{i} is a multiple of 3")) } else { Ok(()) }
            })
        });
        let mut seen = vec![];
        let mut report = |r: &CaseReport| seen.push((r.case.clone(), r.result.is_ok()));
        let mut run = Running { filter, report: &mut report, summary: Summary::default() };
        run.all(cases.collect(), at_once);
        let summary = run.summary;
        (seen, summary)
    }

    #[test]
    fn cases_side_by_side_are_reported_in_their_order() {
        let expected: Vec<_> = (0..10).map(|i| (format!("case-{i}"), i % 3 != 0)).collect();
        for at_once in [1, 4, 100] {
            assert_eq!(ten(None, at_once), (expected.clone(), Summary { passed: 6, failed: 4 }));
        }
        let one = (vec![expected[7].clone()], Summary { passed: 1, failed: 0 });
        assert_eq!(ten(Some("ten::case-7"), 4), one);
        assert_eq!(ten(Some("eleven"), 4), (vec![], Summary::default()));
    }

    #[test]
    fn a_case_that_panics_has_failed() {
        let panics = Case::new("two".into(), "first", || panic!("on purpose"));
        let passes = Case::new("two".into(), "second", || Ok(()));
        let mut results = vec![];
        let mut report = |r: &CaseReport| results.push(r.result.clone());
        let mut run = Running { filter: None, report: &mut report, summary: Summary::default() };
        run.all(vec![panics, passes], 2);
        assert_eq!(run.summary, Summary { passed: 1, failed: 1 });
        assert_eq!(results, [Err("it panicked: see above".into()), Ok(())]);
    }
}
