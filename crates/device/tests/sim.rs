//! Tests of the simulator: kernels give correct results in every order of blocks and threads, and
//! each kind of fault is reported with its file and line.
#![cfg(test)]

mod planted;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planted::{Finder, PLANTS, Suite, carry, reduction, transpose};
use warpint_device::sim::{SimOptions, suite_seeds};
use warpint_device::{Buffer, Device, DeviceError};

const SUITES: [(&str, Suite); 3] =
    [("reduction", reduction), ("transpose", transpose), ("carry", carry)];

fn seeded(seed: u64) -> Device {
    Device::simulator_with(&SimOptions { seed, ..SimOptions::default() }).unwrap()
}

#[test]
fn kernels_are_right_in_every_order() {
    for seed in 0..20 {
        for (name, suite) in SUITES {
            suite(&seeded(seed), None)
                .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
        }
    }
}

#[test]
fn suites_run_in_order_and_in_an_order_that_each_process_draws() {
    let [in_order, drawn] = suite_seeds();
    assert_eq!(in_order, 0);
    // A user who sets the seed may set it to 0.
    assert!(drawn != 0 || std::env::var_os("WARPINT_SIM_SEED").is_some());
    assert_eq!(suite_seeds(), [in_order, drawn]);
    assert_eq!(Device::simulators().filter_map(Result::ok).count(), 2);
    for device in Device::simulators() {
        for (_, suite) in SUITES {
            suite(device.as_ref().unwrap(), None).unwrap();
        }
    }
}

#[test]
fn kernels_are_right_with_any_number_of_resident_blocks() {
    for resident_blocks in [1, 2, 3, 64] {
        let options = SimOptions { resident_blocks, ..SimOptions::default() };
        for (_, suite) in SUITES {
            suite(&Device::simulator_with(&options).unwrap(), None).unwrap();
        }
    }
}

#[test]
fn work_is_timed_in_order_up_to_the_first_failure() {
    let device = seeded(1);
    let mut done = vec![];
    let times = device.times(3, |i| {
        done.push(i);
        Ok(())
    });
    assert_eq!(times.unwrap().len(), 3);
    assert_eq!(done, [0, 1, 2]);
    let failure = DeviceError::Failed { what: "the second".into(), message: "no".into() };
    let mut calls = 0;
    let times = device.times(3, |i| {
        calls += 1;
        if i == 1 { Err(failure.clone()) } else { Ok(()) }
    });
    assert_eq!((times, calls), (Err(failure), 2));
    assert_eq!(device.times(0, |_| Ok(())), Ok(vec![]));
}

#[test]
fn planted_faults_are_reported_with_their_place() {
    for plant in PLANTS.iter().filter(|plant| plant.finder == Finder::Scheduler) {
        for seed in [0, 1, 2] {
            let device = seeded(seed);
            let error = (plant.suite)(&device, Some(plant.name)).unwrap_err();
            assert!(matches!(error, DeviceError::Fault { .. }), "{}: {error}", plant.name);
            for part in plant.report {
                assert!(error.to_string().contains(part), "{}: {error}", plant.name);
            }
            // The device works again.
            (plant.suite)(&device, None).unwrap();
        }
    }
}

/// Memory of another library: it is used without a copy, and its owner is dropped with the buffer.
#[test]
fn memory_of_others_is_borrowed() {
    struct Owner(Arc<AtomicBool>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let device = Device::simulator().unwrap();
    let mut theirs = device.upload(&[1_u32, 2, 3, 4]).unwrap();
    let dropped = Arc::new(AtomicBool::new(false));
    let owner = Box::new(Owner(Arc::clone(&dropped)));
    // SAFETY: the memory outlives the buffer, and is written before the download only.
    let borrowed = unsafe { Buffer::<u32>::foreign(&device, theirs.address(), 3, owner) }.unwrap();
    assert_eq!((borrowed.address(), borrowed.len()), (theirs.address(), 3));
    // SAFETY: the memory outlives the copy.
    let copy = unsafe { Buffer::<u32>::copy_of_foreign(&device, theirs.address() + 4, 2) }.unwrap();
    theirs.upload(&[5, 6, 7, 8]).unwrap();
    assert_eq!(borrowed.download().unwrap(), [5, 6, 7]);
    assert!(!dropped.load(Ordering::Relaxed));
    drop(borrowed);
    assert!(dropped.load(Ordering::Relaxed));
    // The memory is still theirs.
    assert_eq!(theirs.download().unwrap(), [5, 6, 7, 8]);
    assert_eq!(copy.download().unwrap(), [2, 3]);
}

#[test]
fn memory_of_no_device_is_refused() {
    let device = Device::simulator().unwrap();
    let theirs = device.alloc::<u32>(64).unwrap();
    // SAFETY: never used: the addresses are refused.
    let refused = |address| unsafe { Buffer::<u32>::foreign(&device, address, 1, Box::new(())) };
    let error = refused(theirs.address() + 4).unwrap_err().to_string();
    assert!(error.contains("is not aligned to 256 bytes"), "{error}");
    let error = refused(256).unwrap_err().to_string();
    assert!(error.contains("no buffer holds"), "{error}");
    // SAFETY: as above.
    unsafe { Buffer::<u32>::copy_of_foreign(&device, 256, 1) }.unwrap_err();
    assert_eq!(device.stream(), None);
    device.synchronize_all().unwrap();
}
