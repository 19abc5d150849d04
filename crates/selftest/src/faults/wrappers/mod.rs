//! Replacements for parts of a test that fail deliberately.
//!
//! * [`Faulty`]: an engine family with one [`Fault`];
//! * [`FaultyDevice`]: a device with one [`DeviceFault`];
//! * [`FullDisk`], [`flip_bit_of_file`], [`cut_file`]: a full disk, and damaged files;
//! * [`FailingMemory`]: memory in which a bit of a stored state flips;
//! * [`JumpingClock`], [`HurriedClock`]: wrong clocks.

mod clock;
mod device;
mod disk;
mod engine;
mod memory;

pub use clock::{HurriedClock, JumpingClock};
pub use device::{DeviceFault, FaultyDevice};
pub use disk::{FullDisk, cut_file, flip_bit_of_file};
pub use engine::{Fault, Faulty};
pub use memory::{FailingMemory, Part};
