//! A simulator that compiles the text of a kernel as C++ for the host, and runs the threads of the
//! kernel one after another on the CPU.
//!
//! The simulator requires a C++ compiler at run time: the compiler that `WARPINT_CXX` or `CXX`
//! names, or the first of c++, g++ and clang++ in the path. `sim/README.md` of this crate states
//! which errors the simulator finds and which it cannot find.

mod arguments;
mod backend;
mod compiler;
mod library;
mod memory;
mod replay;
mod trace;
mod unit;

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use crate::{Device, DeviceError};

use backend::Simulator;
pub use replay::{Sanitizer, replay};

/// The options of a simulator.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// The seed from which the order of blocks and threads is drawn. With 0 they run in the order
    /// of their indices.
    pub seed: u64,
    /// The number of blocks that are resident at the same time, at least 1. When a block ends, the
    /// next one starts.
    pub resident_blocks: u32,
    /// The folder for a record of all operations, which [`replay`] can repeat. The folder is
    /// created if it is missing. With `None`, nothing is recorded.
    pub record: Option<PathBuf>,
}

impl Default for SimOptions {
    /// Returns the default options: the seed in `WARPINT_SIM_SEED`, or 0; 8 resident blocks; no
    /// record.
    fn default() -> Self {
        Self { seed: seed_of_environment().unwrap_or(0), resident_blocks: 8, record: None }
    }
}

fn seed_of_environment() -> Option<u64> {
    std::env::var("WARPINT_SIM_SEED").ok()?.trim().parse().ok()
}

/// Returns the two seeds with which a test suite runs: 0, and the value of `WARPINT_SIM_SEED`. If
/// that variable is not set, the second seed is drawn from 1 to 2^32, once per process.
///
/// An error that depends on the order of threads may appear only with some seeds, and never with 0.
/// An example is a missing barrier in a kernel whose threads run in the right order with seed 0.
#[must_use]
pub fn suite_seeds() -> [u64; 2] {
    static DRAWN: LazyLock<u64> =
        LazyLock::new(|| (RandomState::new().hash_one(std::process::id()) >> 32) + 1);
    [0, seed_of_environment().unwrap_or(*DRAWN)]
}

impl Device {
    /// Opens a simulator with the default [`SimOptions`].
    ///
    /// # Errors
    /// No C++ compiler was found, or the compiler that `WARPINT_CXX` or `CXX` names does not run.
    pub fn simulator() -> Result<Self, DeviceError> {
        Self::simulator_with(&SimOptions::default())
    }

    /// Opens a simulator with each of the [`suite_seeds`]. The seed is printed to standard error
    /// when its simulator is opened, so that the output of a failing test shows it.
    ///
    /// An item is an error if [`Device::simulator`] would fail.
    pub fn simulators() -> impl Iterator<Item = Result<Self, DeviceError>> {
        suite_seeds().into_iter().map(announced)
    }

    /// Opens a simulator with the second of the [`suite_seeds`], and prints the seed to standard
    /// error. This function is meant for long tests of kernels that other tests run with seed 0.
    ///
    /// # Errors
    /// The same errors as [`Device::simulator`].
    pub fn shuffled_simulator() -> Result<Self, DeviceError> {
        let [_, seed] = suite_seeds();
        announced(seed)
    }

    /// Opens a simulator with these options.
    ///
    /// # Errors
    /// No C++ compiler was found, the compiler that `WARPINT_CXX` or `CXX` names does not run, or
    /// the record cannot be written.
    pub fn simulator_with(options: &SimOptions) -> Result<Self, DeviceError> {
        Ok(Self::new(Arc::new(Simulator::new(options)?)))
    }
}

fn announced(seed: u64) -> Result<Device, DeviceError> {
    eprintln!("simulator at seed {seed}; WARPINT_SIM_SEED={seed} repeats it");
    Device::simulator_with(&SimOptions { seed, ..SimOptions::default() })
}
