//! Parts of a test that go wrong on purpose.
//!
//! * [`Faulty`]: an engine family with one [`Fault`];
//! * [`FullDisk`], [`flip_bit_of_file`], [`cut_file`]: disks;
//! * [`FailingMemory`]: the memory between two looks at a state;
//! * [`JumpingClock`], [`HurriedClock`]: clocks.

mod clock;
mod disk;
mod engine;
mod memory;

pub use clock::{HurriedClock, JumpingClock};
pub use disk::{FullDisk, cut_file, flip_bit_of_file};
pub use engine::{Fault, Faulty};
pub use memory::{FailingMemory, Part};
