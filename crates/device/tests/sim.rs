//! Tests of the simulator: kernels give correct results in every order of blocks and threads, and
//! each kind of fault is reported with its file and line.
#![cfg(test)]

mod planted;

use planted::{Finder, PLANTS, Suite, carry, reduction, transpose};
use warpint_device::sim::{SimOptions, suite_seeds};
use warpint_device::{Device, DeviceError};

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
