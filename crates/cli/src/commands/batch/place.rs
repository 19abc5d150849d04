//! Where batches are computed.

use warpint::device::device_on;
use warpint::device::{DeviceError, TuningStore};
use warpint::integer::Executor;
use warpint::integer::gpu::{Gpu, Prices};
use warpint::mersenne::{DeviceChoice, DeviceId, PlanRequest};

use crate::run::resolve_for_any;
use crate::{report, threads};

/// A device that is named, or what `auto` comes to.
pub(crate) fn resolved(choice: DeviceChoice) -> anyhow::Result<DeviceChoice> {
    match choice {
        DeviceChoice::Auto => {
            let request = PlanRequest { device: choice, ..PlanRequest::default() };
            Ok(resolve_for_any(&request)?.device)
        }
        DeviceChoice::Cpu | DeviceChoice::On(_) => Ok(choice),
    }
}

/// The operations of a device, whose methods are chosen by what `warpint tune batch` has stored of
/// it. What is wrong with the store is a matter of speed only.
pub(crate) fn gpu(id: DeviceId) -> Result<Gpu, DeviceError> {
    let gpu = Gpu::new(&device_on(id)?);
    let stored = TuningStore::open().and_then(|store| Prices::stored(&store, gpu.device().info()));
    let Ok(prices) = stored else { return Ok(gpu) };
    if let Some(warning) = prices.warning {
        report::notice(&format!("warning: {warning}"));
    }
    Ok(gpu.with_prices(prices.value))
}

/// Where to compute, and its name. What is done on the CPU beside a device has so many threads too.
/// Once a process.
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
