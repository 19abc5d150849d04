//! The choice of the device or CPU that computes batches.

use warpint::device::device_on;
use warpint::device::{DeviceError, TuningStore};
use warpint::integer::Executor;
use warpint::integer::gpu::{Gpu, Prices};
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

/// Opens a device for operations on batches. Methods are chosen by the prices that `warpint tune
/// batch` has stored. If the prices cannot be read, the default estimates are used, because prices
/// only affect speed.
pub(crate) fn gpu(id: DeviceId) -> Result<Gpu, DeviceError> {
    let gpu = Gpu::new(&device_on(id)?);
    let stored = TuningStore::open().and_then(|store| Prices::stored(&store, gpu.device().info()));
    let Ok(prices) = stored else { return Ok(gpu) };
    if let Some(warning) = prices.warning {
        report::notice(&format!("warning: {warning}"));
    }
    Ok(gpu.with_prices(prices.value))
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
