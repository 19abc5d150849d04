//! Every case of the engines on the simulator: the kernels' own text.
#![cfg(test)]

use warpint_device::Device;
use warpint_mersenne::EngineFamily;
use warpint_mersenne::engine::fp64_gpu::Fp64On;
use warpint_mersenne::engine::goldilocks_gpu::GoldilocksOn;
use warpint_selftest::engine_suite;

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
