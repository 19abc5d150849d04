//! The choice of the device or CPU that computes batches.

use warpint::device::{DeviceError, Warned, device_on};
use warpint::integer::Executor;
use warpint::integer::gpu::Gpu;
use warpint::mersenne::{DeviceChoice, DeviceId, PlanRequest};

use crate::run::resolve_for_any;
use crate::{report, threads};

/// Replaces the choice `auto` by the device or the CPU that is selected for it. Returns any other
/// choice unchanged.
pub(crate) fn resolved(choice: DeviceChoice) -> anyhow::Result<DeviceChoice> {
    match choice {
        DeviceChoice::Auto => {
            let request = PlanRequest { device: choice, ..PlanRequest::default() };
            Ok(resolve_for_any(&request)?.device)
        }
        DeviceChoice::Cpu | DeviceChoice::On(_) => Ok(choice),
    }
}

/// Opens a device for operations on batches, with the prices that `warpint tune batch` has stored.
pub(crate) fn gpu(id: DeviceId) -> Result<Gpu, DeviceError> {
    let Warned { value: gpu, warning } = Gpu::tuned(&device_on(id)?);
    report::warn(Vec::from_iter(warning));
    Ok(gpu)
}

/// Opens the executor, which is a device or the CPU, and returns it with its name. `threads` is the
/// number of CPU threads, which are also used for work that a device leaves to the CPU. The
/// function must be called at most once per process.
pub(crate) fn executor(
    choice: DeviceChoice,
    threads: Option<usize>,
) -> anyhow::Result<(Executor, String)> {
    threads::set(threads)?;
    Ok(match resolved(choice)? {
        DeviceChoice::On(id) => (gpu(id)?.into(), id.to_string()),
        DeviceChoice::Auto | DeviceChoice::Cpu => (Executor::cpu(), DeviceChoice::Cpu.to_string()),
    })
}
