//! The cases of `warpint selftest --faults` for tests of Mersenne numbers and of k·2^n ± 1.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use warpint_device::DeviceError;
use warpint_mersenne::{
    Event, Finished, LlStart, Number, Residue, RunOptions, TestError, TestKind, Verdict,
};

use super::Bench;
use super::flips::{Campaign, Target};
use super::kill;
use super::sitting::{Folder, Run, plan, store};
use super::wrappers::{Fault, Faulty, FullDisk, HurriedClock, JumpingClock};
use crate::{SEED, sample};

pub(super) const LL: TestKind = TestKind::Ll(LlStart::Four);

/// A fault, and the Mersenne test that must notice and survive it.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// A function that returns whether the fault can be made with the family of the bench.
    pub(super) suits: fn(&Bench<'_>) -> bool,
    pub(super) run: fn(&Bench<'_>) -> Result<String, String>,
}

fn is_long(bench: &Bench<'_>) -> bool {
    bench.is_long()
}

macro_rules! cases {
    ($($case:ident if $suits:expr;)*) => {
        pub(super) const CASES: &[Case] =
            &[$(Case { name: stringify!($case), suits: $suits, run: $case }),*];
    };
}

cases! {
    flips_of_the_residue if |_| true;
    flips_of_the_product if |_| true;
    flips_in_checks if |_| true;
    flips_of_saved_states if is_long;
    flips_in_lucas_lehmer if |_| true;
    flips_of_other_powers if |bench| bench.plus().is_some();
    flips_in_lucas_lehmer_riesel if |bench| bench.minus().is_some();
    flips_before_a_second_engine if |_| true;
    a_stuck_bit if |_| true;
    a_dead_machine if |_| true;
    too_much_round_off if |bench| bench.family.name() == "fp64";
    a_launch_that_fails if |_| true;
    a_device_that_is_lost if is_long;
    a_full_disk if is_long;
    a_clock_that_jumps if |_| true;
    kills if kill::suits;
}

fn campaign(
    bench: &Bench<'_>,
    kind: TestKind,
    target: Target,
    count: u64,
) -> Result<String, String> {
    campaign_of(bench, kind, bench.exponent.into(), target, count)
}

fn campaign_of(
    bench: &Bench<'_>,
    kind: TestKind,
    number: Number,
    target: Target,
    count: u64,
) -> Result<String, String> {
    let family = bench.family;
    // Every machine has two processors; kernels run one after the other in any case.
    let threads = 2;
    let count = bench.count(count);
    let campaign = Campaign { family, kind, number, target, count, seed: SEED, threads };
    campaign.judge(&campaign.run(&mut |_| ())?)
}

/// Flips bits of the residue x after random squarings of a PRP test. Every flip must be found.
fn flips_of_the_residue(bench: &Bench<'_>) -> Result<String, String> {
    campaign(bench, TestKind::Prp, Target::Residue, 40)
}

/// Flips bits of the Gerbicz product D in a PRP test. Every flip must be found or be harmless.
fn flips_of_the_product(bench: &Bench<'_>) -> Result<String, String> {
    campaign(bench, TestKind::Prp, Target::Product, 20)
}

/// Flips bits of the registers that only the checks of a PRP test use. Every flip must be found or
/// be harmless.
fn flips_in_checks(bench: &Bench<'_>) -> Result<String, String> {
    campaign(bench, TestKind::Prp, Target::Check, 20)
}

/// Flips bits of the saved states of a PRP test, on disk and in memory. Every flip must be found or
/// be harmless.
fn flips_of_saved_states(bench: &Bench<'_>) -> Result<String, String> {
    campaign(bench, TestKind::Prp, Target::Saved, 30)
}

/// Flips bits of the residue s of a Lucas–Lehmer test. The Jacobi check must find about half of the
/// flips, and must not fail in a test without a flip.
fn flips_in_lucas_lehmer(bench: &Bench<'_>) -> Result<String, String> {
    campaign(bench, LL, Target::Residue, 100)
}

/// Flips bits of each kind of state in Proth's test and in Fermat's test of k·2^n + 1. Every flip must be
/// found or be harmless.
fn flips_of_other_powers(bench: &Bench<'_>) -> Result<String, String> {
    let number = bench.plus().ok_or("no number of the form is taken")?;
    let mut said = vec![];
    for kind in [TestKind::for_number(number), TestKind::fermat(number)] {
        let targets =
            [(Target::Residue, 10), (Target::Product, 5), (Target::Check, 5), (Target::Saved, 5)];
        for (target, count) in targets {
            let of_target = campaign_of(bench, kind, number, target, count)?;
            said.push(format!("{kind}, {target:?}: {of_target}"));
        }
    }
    Ok(said.join("; "))
}

/// Flips bits of the residue in a test of Lucas, Lehmer and Riesel. The Jacobi check must find about half
/// of the flips.
fn flips_in_lucas_lehmer_riesel(bench: &Bench<'_>) -> Result<String, String> {
    let number = bench.minus().ok_or("no number of the form is taken")?;
    campaign_of(bench, TestKind::Riesel, number, Target::Residue, 40)
}

/// Flips bits of squarings in a Lucas–Lehmer test while a second engine does the same squarings.
/// The comparison of the two engines must find every flip.
fn flips_before_a_second_engine(bench: &Bench<'_>) -> Result<String, String> {
    let right = right(bench, LL)?;
    let last = LL.iterations(bench.exponent.get());
    let count = bench.count(8);
    for i in 0..count {
        let after = 1 + i * (last - 1) / count;
        let family = Faulty::leaked(bench.family, Fault::FlippedBit { after, bit: 17 * i as u32 });
        let mut run = Run::new(LL, bench.exponent);
        run.options.verify_with = Some(plan(bench.family, bench.exponent)?);
        let (outcome, _) = run.by(family)?.outcome()?;
        same(&outcome.residue, &right)?;
        let found = outcome.errors.double_check;
        if (found, family.flips()) != (1, 1) {
            return Err(format!("squaring {after}: the engines differed {found} times"));
        }
    }
    Ok(format!("{count} of {count} flips found, every residue right"))
}

/// Sets one bit of every product to 1. The test must end with an error instead of a result.
fn a_stuck_bit(bench: &Bench<'_>) -> Result<String, String> {
    let bit = bench.exponent.get() / 2;
    let family = Faulty::leaked(bench.family, Fault::StuckBit { bit });
    match Run::new(TestKind::Prp, bench.exponent).by(family)?.finished {
        Err(error @ (TestError::RepeatedError { .. } | TestError::Unreliable { .. })) => {
            Ok(format!("no answer: {}", first_clause(&error)))
        }
        other => Err(format!("{other:?}")),
    }
}

/// Sets every product to 0 after some number of products. A Lucas–Lehmer test with a final residue
/// of 0 would declare any Mersenne number prime. Each test must end with an error.
fn a_dead_machine(bench: &Bench<'_>) -> Result<String, String> {
    for kind in [TestKind::Prp, LL] {
        let last = kind.iterations(bench.exponent.get());
        for after in [0, last / 2, last - 1] {
            let family = Faulty::leaked(bench.family, Fault::Dead { after });
            match Run::new(kind, bench.exponent).by(family)?.finished {
                Err(
                    TestError::RepeatedError { .. }
                    | TestError::Unreliable { .. }
                    | TestError::Impossible { .. },
                ) => {}
                other => return Err(format!("{kind}, dead after {after}: {other:?}")),
            }
        }
    }
    Ok("6 of 6 tests gave no answer".into())
}

/// Lets an engine report too much round-off at the planned length. The test must continue at a
/// longer length, with the right residue.
fn too_much_round_off(bench: &Bench<'_>) -> Result<String, String> {
    let first = plan(bench.family, bench.exponent)?;
    let enough = first.longer().map_err(|e| e.to_string())?.length();
    for kind in [TestKind::Prp, LL] {
        let after = kind.iterations(bench.exponent.get()) / 2;
        let family = Faulty::leaked(bench.family, Fault::RoundOff { after, enough });
        let (outcome, _) = Run::new(kind, bench.exponent).by(family)?.outcome()?;
        same(&outcome.residue, &right(bench, kind)?)?;
        if (outcome.length, outcome.errors.round_off) != (enough, 1) {
            return Err(format!("{kind}: {} words, {:?}", outcome.length, outcome.errors));
        }
    }
    Ok(format!("{} words became {enough}, both residues right", first.length()))
}

fn failed_launch() -> DeviceError {
    DeviceError::Failed { what: "launch".into(), message: "a fault made on purpose".into() }
}

/// Lets one launch fail. The test must continue with a new engine and end with the right residue.
fn a_launch_that_fails(bench: &Bench<'_>) -> Result<String, String> {
    for kind in [TestKind::Prp, LL] {
        let after = kind.iterations(bench.exponent.get()) / 2;
        let left = Arc::new(AtomicU64::new(1));
        let fault = Fault::DeviceFails { after, left, error: failed_launch() };
        let sitting = Run::new(kind, bench.exponent).by(Faulty::leaked(bench.family, fault))?;
        let seen = sitting.count(|e| matches!(e, Event::DeviceFailed { .. }));
        same(&sitting.outcome()?.0.residue, &right(bench, kind)?)?;
        if seen != 1 {
            return Err(format!("{kind}: reported {seen} times"));
        }
    }
    Ok("reported, a new engine continued, both residues right".into())
}

/// Lets the device fail permanently. The test must end with an error. A second run on a sound
/// device must resume from the checkpoint and end with the right residue.
fn a_device_that_is_lost(bench: &Bench<'_>) -> Result<String, String> {
    for kind in [TestKind::Prp, LL] {
        let folder = Folder::new()?;
        let mut store = store(&folder, kind, bench.exponent)?;
        let half = kind.iterations(bench.exponent.get()) / 2;
        let mut run = Run::new(kind, bench.exponent).stored(&mut store);
        run.spec.iterations = Some(half);
        run.by(bench.family)?.outcome()?;
        let left = Arc::new(AtomicU64::new(u64::MAX));
        let fault = Fault::DeviceFails { after: half / 2, left, error: failed_launch() };
        let run = Run::new(kind, bench.exponent).stored(&mut store);
        match run.by(Faulty::leaked(bench.family, fault))?.finished {
            Err(error @ TestError::Device { .. })
                if error.to_string().contains(&format!("iteration {half}")) => {}
            other => return Err(format!("{kind}: {other:?}")),
        }
        let sitting = Run::new(kind, bench.exponent).stored(&mut store).by(bench.family)?;
        let resumed =
            |e: &Event| matches!(e, Event::Started { iteration, .. } if *iteration == half);
        let went_on = sitting.count(resumed) == 1;
        same(&sitting.outcome()?.0.residue, &right(bench, kind)?)?;
        if !went_on {
            return Err(format!("{kind}: did not go on from iteration {half}"));
        }
    }
    Ok("no answer, the checkpoint named; on a sound device both residues right".into())
}

/// Fills the disk. Existing files must stay unchanged, and checkpoints must be saved again when the
/// disk has room.
fn a_full_disk(bench: &Bench<'_>) -> Result<String, String> {
    let mut failures = 0;
    for kind in [TestKind::Prp, LL] {
        let folder = Folder::new()?;
        let mut store = store(&folder, kind, bench.exponent)?;
        let third = kind.iterations(bench.exponent.get()) / 3;
        let mut run = Run::new(kind, bench.exponent).stored(&mut store);
        run.spec.iterations = Some(third);
        run.by(bench.family)?.outcome()?;
        let before = files(store.dir())?;

        // Stopped while the disk is full.
        store.set_disk(Arc::new(FullDisk::new("", u64::MAX)));
        let mut run = Run::new(kind, bench.exponent).stored(&mut store);
        let stop = run.stop.clone();
        run.options = hurried();
        let interrupted = Fault::Interrupted { after: third, stop };
        let sitting = run.by(Faulty::leaked(bench.family, interrupted))?;
        failures += sitting.count(|e| matches!(e, Event::SaveFailed { .. }));
        match &sitting.finished {
            Ok(Finished::Stopped { saved: false, .. }) => {}
            other => return Err(format!("{kind}, stopped with a full disk: {other:?}")),
        }
        if files(store.dir())? != before {
            return Err(format!("{kind}: a full disk changed the checkpoints"));
        }

        // Two more files do not fit, then the disk has room.
        let disk = Arc::new(FullDisk::new("", 2));
        store.set_disk(disk.clone());
        let mut run = Run::new(kind, bench.exponent).stored(&mut store);
        run.options = hurried();
        let sitting = run.by(bench.family)?;
        let failed = sitting.count(|e| matches!(e, Event::SaveFailed { .. }));
        let saved = sitting.count(|e| matches!(e, Event::Saved { .. }));
        failures += failed;
        same(&sitting.outcome()?.0.residue, &right(bench, kind)?)?;
        if (failed, disk.left()) != (2, 0) || saved == 0 {
            return Err(format!("{kind}: {failed} saves failed, {saved} did not"));
        }
    }
    Ok(format!("{failures} failed saves reported, no checkpoint lost, both residues right"))
}

/// Returns options with a checkpoint every half second of a clock that runs 1,000 times too fast,
/// that is, every half millisecond. A short test then saves many checkpoints, and has time for
/// squarings between two checkpoints on any disk.
fn hurried() -> RunOptions {
    RunOptions {
        checkpoint_interval: Duration::from_millis(500),
        clock: HurriedClock::leaked(1_000),
        ..RunOptions::default()
    }
}

/// Returns the names and contents of the files in a folder, sorted by name, without the lock file.
fn files(dir: &std::path::Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let read = || -> std::io::Result<Vec<(String, Vec<u8>)>> {
        let mut files = vec![];
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "lock" {
                files.push((name, fs::read(entry.path())?));
            }
        }
        files.sort();
        Ok(files)
    };
    read().map_err(|e| e.to_string())
}

/// Runs tests with a clock that jumps forwards and back by hours. The tests must end with the right
/// residue and without errors.
fn a_clock_that_jumps(bench: &Bench<'_>) -> Result<String, String> {
    let mut looks = 0;
    for kind in [TestKind::Prp, LL] {
        let clock = JumpingClock::leaked();
        let mut run = Run::new(kind, bench.exponent);
        run.options.clock = clock;
        let (outcome, _) = run.by(bench.family)?.outcome()?;
        same(&outcome.residue, &right(bench, kind)?)?;
        if outcome.errors != Default::default() || outcome.verdict != Verdict::Composite {
            return Err(format!("{kind}: {:?}, {:?}", outcome.verdict, outcome.errors));
        }
        looks += clock.looks();
    }
    Ok(format!("{looks} jumps, both residues right"))
}

fn kills(bench: &Bench<'_>) -> Result<String, String> {
    kill::kills(bench, &mut sample::random(SEED))
}

/// Returns the final residue of a test without a fault. Returns an error if its low 64 bits differ
/// from the known answer.
fn right(bench: &Bench<'_>, kind: TestKind) -> Result<Residue, String> {
    let prepared = super::starts::prepare(bench.family, kind, bench.exponent.into(), 1)?;
    Ok(prepared.right)
}

fn same(found: &Residue, right: &Residue) -> Result<(), String> {
    if found == right {
        return Ok(());
    }
    Err(format!("res64 {}, not {}", found.res64_hex(), right.res64_hex()))
}

/// Returns the message of an error up to its first colon.
fn first_clause(error: &TestError) -> String {
    let text = error.to_string();
    text.split(':').next().unwrap_or_default().to_owned()
}
