//! Runs every case of the engines on the simulator, which runs the source code of the kernels on
//! the CPU.

use warpint_device::{Device, DeviceId};
use warpint_mersenne::engine::places::families_on;
use warpint_mersenne::{EngineFamily, for_every_family};
use warpint_selftest::{Depth, engine_suite, run};

/// Returns a family on a newly opened simulator. Each test opens its own simulator, because a
/// simulator runs one kernel at a time.
fn alone<F: EngineFamily + 'static>(new: fn(Device) -> F) -> &'static dyn EngineFamily {
    Box::leak(Box::new(new(Device::simulator().unwrap())))
}

macro_rules! suites {
    ($($name:ident: $family:path;)+) => { $(engine_suite!($name, alone(<$family>::new));)+ };
}
for_every_family!(device => suites);

#[test]
fn families_are_compared_with_the_other_arithmetic() {
    let mut reports = vec![];
    let families = families_on(DeviceId::Sim).unwrap();
    let summary =
        run(&families, Depth::Quick, Some("agree_at_50021"), &mut |r| reports.push(r.clone()));
    let failures: Vec<_> = reports.iter().filter(|r| r.result.is_err()).collect();
    assert!(failures.is_empty(), "{failures:?}");
    assert_eq!(summary.passed, families.len());
    let pairs: Vec<&str> = reports.iter().map(|r| r.family.as_str()).collect();
    assert_eq!(pairs[..2], ["fp64@sim ~ goldilocks", "goldilocks@sim ~ fp64"]);
}
