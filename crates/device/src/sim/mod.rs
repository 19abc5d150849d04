//! The simulator: a kernel's own text, compiled as host C++ and run thread by
//! thread on the CPU.
//!
//! It needs a C++ compiler when it is used: `WARPINT_CXX`, `CXX`, or the first
//! of c++, g++, clang++ in the path. What it shows, and what it cannot show,
//! stands in `sim/README.md` of this crate.

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

/// How a simulator runs.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// The order of blocks and threads: 0 for that of their numbers, otherwise
    /// one drawn from this seed.
    pub seed: u64,
    /// Blocks that are alive at a time, at least 1; a new one starts when one ends.
    pub resident_blocks: u32,
    /// A folder, made if it is missing, for a record of all that is done, which
    /// [`replay`] can do again.
    pub record: Option<PathBuf>,
}

impl Default for SimOptions {
    /// The seed that `WARPINT_SIM_SEED` holds, or 0; 8 blocks; no record.
    fn default() -> Self {
        Self { seed: seed_of_environment().unwrap_or(0), resident_blocks: 8, record: None }
    }
}

fn seed_of_environment() -> Option<u64> {
    std::env::var("WARPINT_SIM_SEED").ok()?.trim().parse().ok()
}

/// The seeds at which a suite runs: 0, and the one that `WARPINT_SIM_SEED` holds, or else one that
/// is drawn once in each process, from 1 to 2^32.
///
/// An error that depends on the order of threads may show at no more than some seeds, and never at
/// 0: a missing barrier whose threads come in the right order, for example.
#[must_use]
pub fn suite_seeds() -> [u64; 2] {
    static DRAWN: LazyLock<u64> =
        LazyLock::new(|| (RandomState::new().hash_one(std::process::id()) >> 32) + 1);
    [0, seed_of_environment().unwrap_or(*DRAWN)]
}

impl Device {
    /// A simulator with the default [`SimOptions`].
    ///
    /// # Errors
    /// If there is no C++ compiler, or no folder to keep what it compiles.
    pub fn simulator() -> Result<Self, DeviceError> {
        Self::simulator_with(&SimOptions::default())
    }

    /// A simulator at each of [`suite_seeds`], for a test to run on all of them. Each is announced on
    /// standard error when it is made, which shows the seed of a test that fails.
    ///
    /// Items are errors where [`Device::simulator`] is.
    pub fn simulators() -> impl Iterator<Item = Result<Self, DeviceError>> {
        suite_seeds().into_iter().map(announced)
    }

    /// A simulator at the second of [`suite_seeds`] alone, for long tests of kernels that other tests
    /// run at seed 0; announced like [`Device::simulators`].
    ///
    /// # Errors
    /// As [`Device::simulator`].
    pub fn shuffled_simulator() -> Result<Self, DeviceError> {
        let [_, seed] = suite_seeds();
        announced(seed)
    }

    /// A simulator with these options.
    ///
    /// # Errors
    /// As [`Device::simulator`], and if the record cannot be written.
    pub fn simulator_with(options: &SimOptions) -> Result<Self, DeviceError> {
        Ok(Self::new(Arc::new(Simulator::new(options)?)))
    }
}

fn announced(seed: u64) -> Result<Device, DeviceError> {
    eprintln!("simulator at seed {seed}; WARPINT_SIM_SEED={seed} repeats it");
    Device::simulator_with(&SimOptions { seed, ..SimOptions::default() })
}
