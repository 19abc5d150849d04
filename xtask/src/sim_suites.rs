//! Runs suites of kernels on the simulator, records them, and replays the records under sanitizers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use warpint_device::sim::{Sanitizer, SimOptions, replay};
use warpint_device::{Device, DeviceError};
use warpint_integer::{Executor, UintBatch, Width};
use warpint_mersenne::engine::fp64_gpu::Fp64On;
use warpint_mersenne::engine::goldilocks_gpu::GoldilocksOn;
use warpint_mersenne::engine::hybrid_gpu::HybridOn;
use warpint_mersenne::{BuildOptions, EngineFamily, Number, Plan, Shift, Step};

#[path = "../../crates/device/tests/planted/mod.rs"]
mod planted;

/// The seeds with which each record is replayed. A seed determines the order of blocks and threads.
const SEEDS: [u64; 2] = [0, 1];

/// The suites whose kernels fill lists in the order in which warps arrive. These suites are
/// replayed with the first seed only, because other seeds give an order that differs from the order
/// in the record.
const IN_ORDER: [&str; 2] = ["collatz", "collatz-overflows"];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Run only suites and planted errors whose name contains this text
    #[arg(long, default_value = "")]
    only: String,
    /// The folder in which to keep the records; by default they are removed
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// The name of a suite, and the function that runs kernels on a device and checks their results.
type Suite = (&'static str, fn(&Device) -> Result<()>);

/// All suites. They run on several threads.
const SUITES: &[Suite] = &[
    ("reduction", |device| Ok(planted::reduction(device, None)?)),
    ("transpose", |device| Ok(planted::transpose(device, None)?)),
    ("carry", |device| Ok(planted::carry(device, None)?)),
    ("field", field),
    ("field50", field50),
    ("field31", field31),
    ("elementwise", elementwise),
    ("batches", batches),
    ("division", division),
    ("collatz", |device| collatz(device, |name| !COLLATZ_ALONE.contains(&name))),
    ("collatz-delays", |device| collatz(device, |name| name == "delays")),
    ("collatz-tables", |device| collatz(device, |name| name == "tables")),
    ("collatz-overflows", |device| collatz(device, |name| name == "overflows")),
    ("transform-big", transform_big),
    ("transform-small", transform_small),
    ("transform-prime", transform_prime),
    ("transform-goldilocks", transform_goldilocks),
    ("transform-f50", transform_f50),
    ("huge", huge),
    ("goldilocks-64", |device| goldilocks(device, 1279, 64)),
    ("goldilocks-320", |device| goldilocks(device, 4423, 320)),
    ("goldilocks-1024", |device| goldilocks(device, 21_701, 1024)),
    ("goldilocks-fermat-1024", |device| goldilocks_form(device, "919444^1024+1", 1024)),
    ("fp64-256", |device| fp64(device, 4423, 256)),
    ("fp64-1344", |device| fp64(device, 21_701, 1344)),
    ("fp64-4608", |device| fp64(device, 86_243, 4608)),
    ("fp64-riesel-1344", |device| fp64_form(device, "10223*2^16001-1", 1344)),
    ("fp64-proth-1152", |device| fp64_form(device, "3*2^20909+1", 1152)),
    ("fp64-base-3-1344", |device| fp64_form(device, "10223*3^11000-1", 1344)),
    ("fp64-fermat-1024", |device| fp64_form(device, "100002^1024+1", 1024)),
    ("hybrid-512", |device| hybrid(device, 11_213, 512)),
    ("hybrid-2688", |device| hybrid(device, 44_497, 2688)),
    ("hybrid-base-1021-1024", |device| hybrid_form(device, "7*1021^2001+1", 1024)),
    // Three parts.
    ("hybrid-base-10-1536", |device| hybrid_form(device, "10^9001-1", 1536)),
    // Carries in units of 16.
    ("hybrid-base-5003-1024", |device| hybrid_form(device, "1001*5003^1468+1", 1024)),
    ("fp64-checked-1344", |device| fp64_checked(device, 21_701, 1344)),
];

/// Compares the kernels' arithmetic modulo 2^64 − 2^32 + 1 with the arithmetic of the CPU.
fn field(device: &Device) -> Result<()> {
    for (name, case) in warpint_selftest::fields::goldilocks::CASES {
        case(device, warpint_selftest::SEED).map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// Compares the kernels' arithmetic modulo primes of 47 to 50 bits with the arithmetic of the CPU.
/// Uses fewer random values than the self-test.
fn field50(device: &Device) -> Result<()> {
    for (name, case) in warpint_selftest::fields::f50::CASES {
        case(device, warpint_selftest::SEED, 500).map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// Compares the kernels' arithmetic modulo 2^31 − 1 with the arithmetic of the CPU.
fn field31(device: &Device) -> Result<()> {
    for (name, case) in warpint_selftest::fields::m31::CASES {
        case(device, warpint_selftest::SEED).map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// Tests limb-by-limb operations of batches, on numbers held by a few lanes, by a whole warp, and
/// by a whole block.
fn elementwise(device: &Device) -> Result<()> {
    for (name, case) in warpint_selftest::batches::elementwise::CASES {
        let widths = [3, 132, 1030];
        case(device, warpint_selftest::SEED, &widths).map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// Tests sums of numbers that one warp holds, and of numbers whose limbs are divided among several
/// warps. Also tests small products by every method.
fn batches(device: &Device) -> Result<()> {
    use warpint_selftest::batches::{CASES, CASES_OF_DEVICES, Sizes};
    let executor = Executor::on(device.clone());
    for (name, case) in CASES.iter().chain(CASES_OF_DEVICES) {
        if matches!(*name, "sums" | "methods") {
            let done = case(&executor, warpint_selftest::SEED, &Sizes::least());
            done.map_err(anyhow::Error::msg).context(*name)?;
        }
    }
    Ok(())
}

/// Tests quotients, common divisors, inverses, powers, square roots and moduli with precomputed
/// reciprocals. The numbers are held by one lane and by groups of two and four lanes.
fn division(device: &Device) -> Result<()> {
    use warpint_selftest::batches::{CASES, Sizes};
    let executor = Executor::on(device.clone());
    // The last case has two warps with different numbers in each block.
    let (widths, powers) = (vec![(3, 3), (40, 70)], vec![(33, 140)]);
    let sizes = Sizes { widths, powers, ..Sizes::least() };
    for (name, case) in CASES {
        let wanted = [
            "quotients",
            "divisors",
            "inverses",
            "powers",
            "square_roots",
            "moduli",
            "many_powers",
        ];
        if wanted.contains(name) {
            let done = case(&executor, warpint_selftest::SEED, &sizes);
            done.map_err(anyhow::Error::msg).context(*name)?;
        }
    }
    cofactors_in_blocks(&executor)
}

/// Tests common divisors and their cofactors at a width at which a block of several warps computes
/// each pair of numbers. The values are small, so that the computation takes few steps.
fn cofactors_in_blocks(executor: &Executor) -> Result<()> {
    let width = Width::new(32 * 1100)?;
    let batch = |executor: &Executor, rows: [u32; 4]| {
        let limb = |&x: &u32| std::iter::once(x).chain(std::iter::repeat_n(0, width.limbs() - 1));
        UintBatch::from_limbs(executor, width, &rows.iter().flat_map(limb).collect::<Vec<_>>())
    };
    let results = |executor: &Executor| {
        let all =
            batch(executor, [15, 7, 0, 77])?.gcd_ext(&batch(executor, [6, 12, 5, 1 << 20])?)?;
        let signs = [all.x_negative.to_vec()?, all.y_negative.to_vec()?];
        Ok::<_, anyhow::Error>(([all.gcd.to_limbs()?, all.x.to_limbs()?, all.y.to_limbs()?], signs))
    };
    ensure!(results(executor)? == results(&Executor::cpu())?, "cofactors are not those of the CPU");
    Ok(())
}

/// Runs the products, quotients and conversions of long numbers, at the sizes of the simulator.
fn huge(device: &Device) -> Result<()> {
    for (name, case) in warpint_selftest::huge::CASES {
        case(device, warpint_selftest::SEED).map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// The names of the Collatz cases that are separate suites.
const COLLATZ_ALONE: [&str; 3] = ["delays", "tables", "overflows"];

/// Runs the Collatz cases for whose names `wanted` returns true, at the smallest sizes.
fn collatz(device: &Device, wanted: fn(&str) -> bool) -> Result<()> {
    use warpint_selftest::collatz::{CASES, Sizes};
    let mut cases = CASES.iter().filter(|(name, _)| wanted(name)).peekable();
    ensure!(cases.peek().is_some(), "no such case");
    for (name, case) in cases {
        let done = case(device, warpint_selftest::SEED, &Sizes::least());
        done.map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// Tests transforms over big prime fields at the smallest sizes.
fn transform_big(device: &Device) -> Result<()> {
    use warpint_selftest::transforms::big::{CASES, Sizes};
    for (name, case) in CASES {
        let done = case(device, warpint_selftest::SEED, &Sizes::least());
        done.map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// Tests transforms modulo small primes, and transforms over big prime fields that are computed
/// modulo small primes.
fn transform_small(device: &Device) -> Result<()> {
    use warpint_selftest::transforms::small::{CASES, Sizes};
    let fields = vec![(0, 3, 2), (2, 2, 1)];
    let sizes = Sizes { modulo: vec![(1, 5, 2), (5, 3, 2)], fields, ..Sizes::few() };
    for (name, case) in CASES {
        let done = case(device, warpint_selftest::SEED, &sizes);
        done.map_err(anyhow::Error::msg).context(*name)?;
    }
    Ok(())
}

/// Tests transforms over prime fields with elements of two words, and with elements of 32 words,
/// which are too large for registers.
fn transform_prime(device: &Device) -> Result<()> {
    use warpint_selftest::transforms::prime::CASES;
    for (name, case) in CASES {
        if matches!(*name, "all_bits_of_2_words" | "all_bits_of_32_words") {
            let done = case(device, warpint_selftest::SEED);
            done.map_err(anyhow::Error::msg).context(*name)?;
        }
    }
    Ok(())
}

/// Tests transforms modulo 2^64 − 2^32 + 1 of one pass and of two.
fn transform_goldilocks(device: &Device) -> Result<()> {
    transform_ntt(device, warpint_selftest::transforms::ntt::GOLDILOCKS)
}

/// Tests transforms modulo primes below 2^50 of one pass and of two.
fn transform_f50(device: &Device) -> Result<()> {
    transform_ntt(device, warpint_selftest::transforms::ntt::F50_PRIMES)
}

fn transform_ntt(
    device: &Device,
    cases: &[(&str, warpint_selftest::transforms::ntt::Run)],
) -> Result<()> {
    for (name, case) in cases {
        let done = case(device, warpint_selftest::SEED);
        done.map_err(anyhow::Error::msg).context((*name).to_owned())?;
    }
    Ok(())
}

fn goldilocks(device: &Device, p: u32, length: usize) -> Result<()> {
    every_operation(&GoldilocksOn::new(device.clone()), Number::mersenne(p), length, false)
}

fn fp64(device: &Device, p: u32, length: usize) -> Result<()> {
    every_operation(&Fp64On::new(device.clone()), Number::mersenne(p), length, false)
}

/// As [`fp64`], modulo a number k·2^n ± 1.
fn fp64_form(device: &Device, number: &str, length: usize) -> Result<()> {
    every_operation(&Fp64On::new(device.clone()), number.parse()?, length, false)
}

fn goldilocks_form(device: &Device, number: &str, length: usize) -> Result<()> {
    every_operation(&GoldilocksOn::new(device.clone()), number.parse()?, length, false)
}

/// As [`fp64`], with squarings that are checked.
fn fp64_checked(device: &Device, p: u32, length: usize) -> Result<()> {
    every_operation(&Fp64On::new(device.clone()), Number::mersenne(p), length, true)
}

fn hybrid(device: &Device, p: u32, length: usize) -> Result<()> {
    every_operation(&HybridOn::new(device.clone()), Number::mersenne(p), length, false)
}

fn hybrid_form(device: &Device, number: &str, length: usize) -> Result<()> {
    every_operation(&HybridOn::new(device.clone()), number.parse()?, length, false)
}

/// Compares every operation of an engine of the given number and length with an exact engine on the
/// CPU. If `check`, the engine checks its squarings.
fn every_operation(
    on_device: &dyn EngineFamily,
    number: Number,
    length: usize,
    check: bool,
) -> Result<()> {
    let exact = if number.is_mersenne() { "goldilocks" } else { "plain" };
    let on_cpu = warpint_mersenne::engine::family(exact).context("no exact family")?;
    let cpu_length = Plan::of_family(number, on_cpu, None, Some(1))?.length();
    let mut results = vec![];
    for (family, length, check) in [(on_cpu, cpu_length, false), (on_device, length, check)] {
        let options = BuildOptions { check_squarings: check, ..BuildOptions::new(3, 1) };
        let mut engine = family.build_for(number, length, options)?;
        // N − 1 has the longest carries.
        engine.set(0, 0, Shift::ZERO)?;
        engine.set(1, 1, Shift::ZERO)?;
        engine.sub(0, 0, 1)?;
        engine.square(0, 2, Step::SquareMinusTwo, Shift::ZERO)?;
        engine.set(1, 3, Shift::ZERO)?;
        engine.square(1, 14, Step::SquareTimes(3), Shift::ZERO)?;
        engine.copy(2, 1)?;
        engine.mul(2, 2, 1)?;
        engine.add(1, 2, 0)?;
        engine.square(1, 2, Step::Square, Shift::ZERO)?;
        for register in 0..3 {
            results.push(engine.read(register, Shift::ZERO)?);
        }
    }
    ensure!(results[..3] == results[3..], "{number} in {length} words is not what the CPU gives");
    Ok(())
}

/// A record to replay under a sanitizer, and the expected outcome.
struct Case {
    name: String,
    folder: PathBuf,
    sanitizer: Sanitizer,
    /// The texts that the sanitizer's report on a planted error must contain. If empty, the replay
    /// must pass.
    report: &'static [&'static str],
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let start = Instant::now();
    let temporary = tempfile::tempdir().context("no temporary folder")?;
    let folder = options.keep.as_deref().unwrap_or(temporary.path());
    let mut cases = suite_cases(folder, &options.only)?;
    cases.extend(planted_cases(folder, &options.only)?);
    ensure!(!cases.is_empty(), "no suite's name holds `{}`", options.only);

    let failed = AtomicUsize::new(0);
    cases.par_iter().for_each(|case| {
        let began = Instant::now();
        let (verdict, why) = match check(case) {
            Ok(()) if case.report.is_empty() => ("passed", String::new()),
            Ok(()) => ("caught", String::new()),
            Err(error) => {
                failed.fetch_add(1, Ordering::Relaxed);
                ("FAILED", format!("\n{error:#}"))
            }
        };
        let time = began.elapsed().as_secs_f64();
        println!("{verdict} {} under {} ({time:.1} s){why}", case.name, case.sanitizer.short());
    });
    let (failed, all) = (failed.into_inner(), cases.len());
    ensure!(failed == 0, "{failed} of {all} replays failed");
    println!("{all} replays as expected in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs each suite whose name contains `only` on a recording simulator, and returns the records to
/// replay.
fn suite_cases(folder: &Path, only: &str) -> Result<Vec<Case>> {
    let cases: Result<Vec<_>> = SUITES
        .par_iter()
        .filter(|(name, _)| name.contains(only))
        .map(|(name, suite)| {
            let folder = folder.join(name);
            suite(&recording(&folder)?).with_context(|| format!("{name} without a sanitizer"))?;
            Ok([Sanitizer::Address, Sanitizer::Thread].map(|sanitizer| Case {
                name: (*name).to_owned(),
                folder: folder.clone(),
                sanitizer,
                report: &[],
            }))
        })
        .collect();
    Ok(cases?.into_iter().flatten().collect())
}

/// Runs each kernel with a planted error on a recording simulator, if the name contains `only` and
/// the error is one that a sanitizer must find. Returns the records to replay.
fn planted_cases(folder: &Path, only: &str) -> Result<Vec<Case>> {
    let sanitizer = |finder| match finder {
        planted::Finder::Scheduler => None,
        planted::Finder::Address => Some(Sanitizer::Address),
        planted::Finder::Thread => Some(Sanitizer::Thread),
    };
    planted::PLANTS
        .par_iter()
        .filter(|plant| plant.name.contains(only))
        .filter_map(|plant| Some((plant, sanitizer(plant.finder)?)))
        .map(|(plant, sanitizer)| {
            let folder = folder.join(plant.name);
            match (plant.suite)(&recording(&folder)?, Some(plant.name)) {
                // Without a sanitizer the error may go unnoticed, or produce a wrong result.
                Ok(()) | Err(DeviceError::Fault { .. } | DeviceError::Failed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            Ok(Case { name: plant.name.to_owned(), folder, sanitizer, report: plant.report })
        })
        .collect()
}

fn recording(folder: &Path) -> Result<Device> {
    let options = SimOptions { record: Some(folder.to_owned()), ..SimOptions::default() };
    Ok(Device::simulator_with(&options)?)
}

fn check(case: &Case) -> Result<()> {
    let seeds = if IN_ORDER.contains(&&*case.name) { &SEEDS[..1] } else { &SEEDS[..] };
    for &seed in seeds {
        match (replay(&case.folder, case.sanitizer, seed), case.report) {
            (done, []) => done.with_context(|| format!("seed {seed}"))?,
            (Err(DeviceError::Fault { report, .. }), parts) => {
                for part in parts {
                    ensure!(report.contains(part), "the report lacks `{part}`:\n{report}");
                }
            }
            (Err(error), _) => return Err(error.into()),
            (Ok(()), _) => bail!("the planted error was not found (seed {seed})"),
        }
    }
    Ok(())
}
