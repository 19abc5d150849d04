//! Every case of the engines on the simulator: the kernels' own text.

use warpint_device::Device;
use warpint_mersenne::EngineFamily;
use warpint_mersenne::engine::fp64_gpu::Fp64On;
use warpint_mersenne::engine::goldilocks_gpu::GoldilocksOn;
use warpint_selftest::{Depth, engine_suite, run};

/// A simulator of its own for each test: one alone runs one kernel at a time.
fn goldilocks() -> &'static dyn EngineFamily {
    Box::leak(Box::new(GoldilocksOn::new(Device::simulator().unwrap())))
}

/// The same for the other family.
fn fp64() -> &'static dyn EngineFamily {
    Box::leak(Box::new(Fp64On::new(Device::simulator().unwrap())))
}

engine_suite!(goldilocks_on_simulator, super::goldilocks());
engine_suite!(fp64_on_simulator, super::fp64());

#[test]
fn families_are_compared_with_the_other_arithmetic() {
    let mut reports = vec![];
    let summary = run(&[fp64(), goldilocks()], Depth::Quick, Some("agree_at_50021"), &mut |r| {
        reports.push(r.clone())
    });
    let failures: Vec<_> = reports.iter().filter(|r| r.result.is_err()).collect();
    assert!(failures.is_empty(), "{failures:?}");
    assert_eq!(summary.passed, 2);
    let pairs: Vec<&str> = reports.iter().map(|r| r.family.as_str()).collect();
    assert_eq!(pairs, ["fp64@sim ~ goldilocks", "goldilocks@sim ~ fp64"]);
}
