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

use std::path::PathBuf;
use std::sync::Arc;

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
        let seed = std::env::var("WARPINT_SIM_SEED").ok().and_then(|s| s.trim().parse().ok());
        Self { seed: seed.unwrap_or(0), resident_blocks: 8, record: None }
    }
}

impl Device {
    /// A simulator with the default [`SimOptions`].
    ///
    /// # Errors
    /// If there is no C++ compiler, or no folder to keep what it compiles.
    pub fn simulator() -> Result<Self, DeviceError> {
        Self::simulator_with(&SimOptions::default())
    }

    /// A simulator with these options.
    ///
    /// # Errors
    /// As [`Device::simulator`], and if the record cannot be written.
    pub fn simulator_with(options: &SimOptions) -> Result<Self, DeviceError> {
        Ok(Self::new(Arc::new(Simulator::new(options)?)))
    }
}
