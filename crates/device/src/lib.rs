//! Runs kernels on GPUs and on a simulator. All kernels of the workspace run through this crate.
//!
//! A [`Device`] compiles kernels from CUDA C++ text ([`Source`]), specialised by constants, and
//! runs them on its own memory ([`Buffer`]). The two kinds of devices have the same interface:
//!
//! | kind | how a kernel runs |
//! |---|---|
//! | CUDA (feature `cuda`) | compiled by NVRTC for the device's architecture, or the nearest earlier architecture that NVRTC supports; launched by the driver |
//! | simulator (feature `sim`) | compiled from the same text as C++ for the host; the threads of a block run one after another |
//!
//! Work is asynchronous and in order: a call submits work and returns, and the work sees the
//! effects of all work submitted earlier. [`Buffer::download`], [`Device::synchronize`] and
//! [`Device::times`] wait until all submitted work is done. Other calls may wait too, such as long
//! uploads and the release of memory. Several threads may share a device; the work is then executed
//! in the order of their calls.

mod buffer;
mod choice;
pub mod common;
#[cfg(feature = "cuda")]
mod cubin_cache;
#[cfg_attr(not(feature = "cuda"), path = "no_cuda.rs")]
mod cuda;
mod device;
mod error;
mod folders;
mod fp64_rate;
mod launch;
mod nvrtc;
mod open;
mod opened;
mod rates;
mod sensor_watch;
#[cfg(feature = "sim")]
pub mod sim;
mod source;
mod telemetry;
mod tuning;
mod view;

pub use buffer::Buffer;
pub use choice::{CPU, DeviceChoice, DeviceId, UnknownDevice};
pub use device::{Backend, Capture, Device, DeviceInfo, Graph, GraphNode, Kernel, Program};
pub use error::DeviceError;
pub use folders::config as config_folder;
pub use fp64_rate::{Fp64Rate, fp64_rate};
pub use launch::{Arg, Launch, Pointer, structure};
pub use nvrtc::{Compiled, Nvrtc};
pub use open::DeviceList;
pub use opened::{cpu_name, device_model, device_on, first_gpu};
pub use rates::{
    CopyRate, Effort, InRegisters, MeasuredTransforms, Rates, copies, own_sources, rates,
};
pub use sensor_watch::{SensorExtremes, SensorRange, WatchedSensors};
pub use source::Source;
pub use telemetry::{Sensors, Telemetry, sensors};
pub use tuning::{Tuning, TuningError, TuningKey, TuningStore, Warned};
pub use view::{Cells, View, assert_room};
pub use warpint_files::ErrorKind;
