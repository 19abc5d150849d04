//! Measures the peak memory of a PRP test with its checks and saved states.

#![cfg(target_os = "linux")]

use std::time::Duration;

use super::registers::{D, X};
use super::*;
use crate::checkpoint::{Confirmation, GerbiczState, State};
use crate::engine::fp64::Fp64;
use crate::engine::{BuildOptions, EngineFamily, Step};
use crate::{DigestedResidue, Shift};

/// Returns a field of /proc/self/status in MB (10^6 bytes).
fn megabytes(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    let kib: f64 = line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap();
    kib * 1024.0 / 1e6
}

/// Returns the state of a PRP test after the first block of B squarings.
fn after_a_block(plan: &Plan, block: u32) -> State {
    let p = plan.exponent();
    let mut engine = Fp64.build(p, plan.length(), BuildOptions::new(2, 2)).unwrap();
    engine.set(X, 3, Shift::ZERO).unwrap();
    engine.square(X, u64::from(block), Step::Square, Shift::ZERO).unwrap();
    engine.set(D, 3, Shift::ZERO).unwrap();
    engine.mul(D, D, X).unwrap();
    State {
        kind: TestKind::Prp,
        iteration: u64::from(block),
        residue: engine.read(X, Shift::ZERO).unwrap(),
        shift: 0,
        elapsed: Duration::ZERO,
        errors: ErrorCounts::default(),
        least_length: None,
        confirmed: Confirmation::No,
        lucas: None,
        gerbicz: Some(GerbiczState {
            block,
            verified_iteration: 0,
            verified: DigestedResidue::new(Residue::from_u64(p, 3)),
            product_iteration: u64::from(block),
            product: engine.read(D, Shift::ZERO).unwrap(),
        }),
    }
}

/// A PRP test of M82589933 at 4,608K words on two threads, from iteration 33 to 1,400. A check
/// passes at iteration 396, and another one at the end. States are saved every 0.2 s, also during
/// the checks.
#[test]
#[ignore = "half a minute of measuring on Linux; run it with --release and --nocapture"]
fn peak_memory_at_4608k_words() {
    let exponent = Exponent::new(82_589_933).unwrap();
    let plan = Plan::of_family(exponent, &Fp64, Some(4_718_592), Some(2)).unwrap();
    println!("at the start: {:.1} MB", megabytes("VmRSS"));
    let root = tempfile::tempdir().unwrap();
    let mut store = CheckpointStore::open(root.path(), exponent.get(), TestKind::Prp).unwrap();
    store.save(&after_a_block(&plan, 33)).unwrap();
    // Resets the peak.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    println!("before the test: {:.1} MB", megabytes("VmRSS"));
    let mut spec = TestSpec::new(TestKind::Prp, exponent);
    spec.iterations = Some(1_400);
    spec.shift = 12_345_678;
    let checkpoint_interval = Duration::from_millis(200);
    let options = RunOptions { checkpoint_interval, ..RunOptions::default() };
    let (mut saved, mut checks) = (0, 0);
    let mut note = |event| match event {
        Event::Started { iteration, .. } => {
            assert_eq!(iteration, 33);
            println!("state read: peak {:.1} MB", megabytes("VmHWM"));
        }
        Event::Saved { iteration, .. } => {
            saved += 1;
            let (now, peak) = (megabytes("VmRSS"), megabytes("VmHWM"));
            if saved % 10 == 1 {
                println!("saved at {iteration}: {now:.1} MB, peak {peak:.1} MB");
            }
        }
        Event::Verified { iteration, .. } => {
            checks += 1;
            println!("verified {iteration}: peak {:.1} MB", megabytes("VmHWM"));
        }
        _ => {}
    };
    let end = run(&spec, plan, Some(&mut store), &mut note, &StopToken::new(), &options);
    assert!(matches!(end, Ok(Finished::Done(_))), "{end:?}");
    println!("{checks} checks before the last one, {saved} saves");
    println!("peak: {:.1} MB", megabytes("VmHWM"));
}
