//! Tests with devices that compute incorrectly. Their results must be recomputed, or not be
//! written.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use warpint_device::Device;
use warpint_integer::Width;
use warpint_progress::StopToken;
use warpint_selftest::faults::wrappers::{DeviceFault, FaultyDevice};

use super::*;
use crate::pipeline::{Checks, Plan};
use crate::sink::{Begin, Sink};
use crate::state::Identity;
use crate::{BatchError, Form, Format, Item, News, Out, Source, Tally};

/// Returns the device simulator that all tests share, so that each kernel is compiled only once.
fn simulator() -> &'static Device {
    static SIMULATOR: OnceLock<Device> = OnceLock::new();
    SIMULATOR.get_or_init(|| Device::simulator().unwrap())
}

/// Returns twelve odd numbers with exactly 64 bits, which are derived from a seed.
fn numbers(seed: u64) -> UintBatch {
    let number = |i: u64| (seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1;
    let limbs: Vec<u64> = (0..12).map(number).collect();
    UintBatch::from_limbs_u64(&Executor::cpu(), Width::new(64).unwrap(), &limbs).unwrap()
}

/// Returns twelve primes. A device that computes no powers makes all of them composite.
fn primes() -> UintBatch {
    let primes = (1u64 << 63..).filter(|&n| warpint_natural::limbs::is_probable_prime(&[n]));
    let limbs: Vec<u64> = primes.take(12).collect();
    UintBatch::from_limbs_u64(&Executor::cpu(), Width::new(64).unwrap(), &limbs).unwrap()
}

fn outcome(operation: Operation, fault: DeviceFault, asked_for: bool) -> (Outcome, u64) {
    let faulty = FaultyDevice::new(simulator(), fault);
    let on = Executor::on(faulty.device().clone());
    let [mut a, b, m] = [3, 77, 1234].map(numbers);
    if operation == Operation::ProbablePrime {
        a = primes();
    }
    let mut identities = Identities::new(asked_for, 5);
    let outcome = identities.compute(operation, &on, [&a, &b, &m], 2).unwrap();
    (outcome, faulty.strikes())
}

fn limbs(outcome: &Outcome) -> Vec<Vec<u32>> {
    outcome.results.iter().map(|r| r.to_limbs().unwrap()).collect()
}

const SOUND: DeviceFault = DeviceFault::Zeros { from: u64::MAX };

#[test]
fn a_flipped_bit_is_computed_again_and_dead_devices_give_no_result() {
    for &operation in Operation::ALL {
        let (sound, _) = outcome(operation, SOUND, true);
        assert_eq!((sound.erred, sound.wrong, sound.checked), (None, None, 12), "{operation:?}");

        // The first download of an inverse, and the first two of a test for primality, are made by
        // the operation itself.
        let download = match operation {
            Operation::Inverse => 1,
            Operation::ProbablePrime => 2,
            _ => 0,
        };
        let flip = DeviceFault::FlippedDownload { download, bit: 69 };
        let (again, strikes) = outcome(operation, flip, true);
        assert_eq!(strikes, 1);
        assert!(again.erred.is_some_and(|erred| erred.count == 1), "{operation:?}");
        assert_eq!((limbs(&again), &again.none), (limbs(&sound), &sound.none), "{operation:?}");
        assert_eq!((again.wrong, again.checked), (None, 12));

        for fault in [DeviceFault::Dead { from: 0 }, DeviceFault::Zeros { from: 0 }] {
            let (wrong, strikes) = outcome(operation, fault, true);
            assert!(strikes > 0);
            let all = Some(Contradiction { first: 0, count: 12 });
            assert_eq!((wrong.erred, wrong.wrong), (all, all), "{operation:?}, {fault:?}");
        }

        // Without a check the error stays undetected.
        let (unchecked, _) = outcome(operation, DeviceFault::Zeros { from: 0 }, false);
        assert_eq!((unchecked.erred, unchecked.wrong, unchecked.checked), (None, None, 0));
        assert_ne!(limbs(&unchecked)[0], limbs(&sound)[0], "{operation:?}");
    }
}

/// Squares the ten numbers of a file on a device with the given fault, in pieces of four numbers.
/// Returns the totals or the error, and the warnings.
fn products(fault: DeviceFault, dir: &Path) -> (Result<Tally, BatchError>, Vec<String>) {
    let file = dir.join("a.txt");
    let lines: Vec<String> = (1000..1010).map(|x| x.to_string()).collect();
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let width = Width::new(32).unwrap();
    let outs = [Out::new(&dir.join("out.txt")).unwrap()];
    let found = [&file; 2].map(|file| Source::new(file, None, Some(width)).unwrap());
    let faulty = FaultyDevice::new(simulator(), fault);
    let form = Form { format: Format::Decimal, width: Width::new(64).unwrap(), item: Item::U32 };
    let plan = Plan {
        operation: Operation::Multiply,
        executor: Executor::on(faulty.device().clone()),
        operands: found.into(),
        count: 10,
        forms: vec![form],
        chunk: 4,
    };
    let mut told = vec![];
    let checks = Checks { identities: Identities::new(true, 1), sample: Sample::new(0, 10, 1) };
    let identity = Identity { command: vec![], inputs: vec![], count: 10 };
    let hour = Duration::from_secs(3600);
    let Begin { mut sink, tally, .. } = Sink::begin(&outs, vec![], identity, true, hour).unwrap();
    let ran = plan.run(tally, &mut sink, checks, &StopToken::new(), &mut |news| {
        if let News::Warning(line) = news {
            told.push(line);
        }
    });
    let ran = ran.unwrap();
    assert!(!ran.distrusted);
    if ran.ended.is_ok() {
        sink.finish().unwrap();
    } else {
        sink.discard();
    }
    (ran.ended.map(|()| ran.tally), told)
}

#[test]
fn a_file_is_written_whole_and_right_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.txt");
    let squares: String = (1000..1010).map(|x: u32| format!("{}\n", x * x)).collect();

    let (tally, told) = products(SOUND, dir.path());
    let tally = tally.unwrap();
    assert_eq!((tally.identities, tally.device_errors, told.len()), (10, 0, 0));
    assert_eq!(fs::read_to_string(&out).unwrap(), squares);

    // A product has two limbs: the bit belongs to the second number of the second piece.
    fs::remove_file(&out).unwrap();
    let (tally, told) =
        products(DeviceFault::FlippedDownload { download: 1, bit: 64 + 3 }, dir.path());
    let tally = tally.unwrap();
    assert_eq!((tally.identities, tally.device_errors), (10, 1));
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("sim erred: mul of "), "{told:?}");
    assert!(
        told[0].ends_with("a.txt: line 6 contradicted the operands; computed again, all are right")
    );
    assert_eq!(fs::read_to_string(&out).unwrap(), squares);

    for fault in [DeviceFault::Dead { from: 1 }, DeviceFault::Zeros { from: 1 }] {
        fs::remove_file(&out).unwrap_or_default();
        let (tally, _) = products(fault, dir.path());
        let error = tally.unwrap_err();
        assert!(matches!(error, BatchError::Contradiction { .. }));
        let line = error.to_string();
        assert!(line.starts_with("check failed: mul of "), "{line}");
        let end = "a.txt: line 5: the result contradicts its operands, computed twice on sim";
        assert!(line.ends_with(end), "{line}");
        assert!(!out.exists());
        // No other file is left.
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
