//! The memory in which a run keeps states. Tests replace it by memory that fails.

use std::fmt;

use crate::checkpoint::State;

/// The memory that holds the states of a run. Tests replace it by memory that changes them.
pub trait Memory: fmt::Debug + Sync {
    /// Returns `state` as it is read back from memory: unchanged, if memory is sound. A run calls
    /// this function before it saves a state, and when it goes back to one.
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
