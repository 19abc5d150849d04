//! The memory that keeps a state: a seam at which tests put memory that fails.

use std::fmt;

use crate::checkpoint::State;

/// Whoever keeps the states of a run between two looks at them.
pub trait Memory: fmt::Debug + Sync {
    /// A state as it is found again: one that is about to be saved, or to be gone back to.
    fn recalled(&self, state: State) -> State;
}

/// The memory of this machine, taken for sound.
#[derive(Debug, Clone, Copy, Default)]
pub struct SoundMemory;

impl Memory for SoundMemory {
    fn recalled(&self, state: State) -> State {
        state
    }
}
