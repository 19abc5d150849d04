//! Parts of a test that fail deliberately.
//!
//! * [`Faulty`]: an engine family with one [`Fault`];
//! * [`FaultyDevice`]: a device with one [`DeviceFault`];
//! * [`FullDisk`], [`flip_bit_of_file`], [`cut_file`]: disks;
//! * [`FailingMemory`]: the memory that stores a state until it is read back;
//! * [`JumpingClock`], [`HurriedClock`]: clocks.

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
