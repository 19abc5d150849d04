//! The place where batches are computed.

use warpint::device::device_on;
use warpint::device::{DeviceError, TuningStore};
use warpint::integer::Executor;
use warpint::integer::gpu::{Gpu, Prices};
use warpint::mersenne::{DeviceChoice, DeviceId, PlanRequest};

use crate::run::resolve_for_any;
use crate::{report, threads};

/// Returns the given device, or the one that `auto` selects.
pub(crate) fn resolved(choice: DeviceChoice) -> anyhow::Result<DeviceChoice> {
    match choice {
        DeviceChoice::Auto => {
            let request = PlanRequest { device: choice, ..PlanRequest::default() };
            Ok(resolve_for_any(&request)?.device)
        }
        DeviceChoice::Cpu | DeviceChoice::On(_) => Ok(choice),
    }
}

/// Opens the operations of a device, with methods chosen by the prices that `warpint tune batch`
/// stored. Errors in the store only affect speed, so they become warnings.
pub(crate) fn gpu(id: DeviceId) -> Result<Gpu, DeviceError> {
    let gpu = Gpu::new(&device_on(id)?);
    let stored = TuningStore::open().and_then(|store| Prices::stored(&store, gpu.device().info()));
    let Ok(prices) = stored else { return Ok(gpu) };
    if let Some(warning) = prices.warning {
        report::notice(&format!("warning: {warning}"));
    }
    Ok(gpu.with_prices(prices.value))
}

/// Opens and returns the executor, and its name. Work on the CPU next to a device uses the same
/// number of threads. Called once per process.
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
