//! The memory in which a run keeps states. Tests replace it by memory that fails.

use std::fmt;

use crate::checkpoint::State;

/// A way to keep the states of a run in memory, which tests may replace.
pub trait Memory: fmt::Debug + Sync {
    /// Returns a stored state as memory holds it when it is used again: before it is saved, or when
    /// the test goes back to it.
    fn recalled(&self, state: State) -> State;
}

/// The memory of this machine, assumed to be sound.
#[derive(Debug, Clone, Copy, Default)]
pub struct SoundMemory;

impl Memory for SoundMemory {
    fn recalled(&self, state: State) -> State {
        state
    }
}
