//! The memory in which a run keeps states. Tests replace it by memory that fails.

use std::fmt;

use crate::checkpoint::State;

/// The memory that holds the states of a run. Tests replace it by a type that changes states.
pub trait Memory: fmt::Debug + Sync {
    /// Returns `state` as it is read back from memory. The state is unchanged if memory has no
    /// error. A run calls this function before it saves a state, and when it goes back to a state.
    fn recalled(&self, state: State) -> State;
}

/// The memory of this machine, which is assumed to have no errors.
#[derive(Debug, Clone, Copy, Default)]
pub struct SoundMemory;

impl Memory for SoundMemory {
    fn recalled(&self, state: State) -> State {
        state
    }
}
