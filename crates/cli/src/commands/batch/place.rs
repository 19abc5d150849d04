//! Where batches are computed.

use anyhow::Context;
use rayon::ThreadPoolBuilder;
use warpint::integer::Executor;
use warpint::mersenne::engine::places::device_on;
use warpint::mersenne::{DeviceChoice, PlanRequest};

use crate::run::settle_for_any;

/// A device that is named, or what `auto` comes to.
pub(crate) fn settled(choice: DeviceChoice) -> anyhow::Result<DeviceChoice> {
    match choice {
        DeviceChoice::Auto => {
            let request = PlanRequest { device: choice, ..PlanRequest::default() };
            Ok(settle_for_any(&request)?.device)
        }
        DeviceChoice::Cpu | DeviceChoice::On(_) => Ok(choice),
    }
}

/// Where to compute, and its name. From now on rayon has so many threads: what is done on the CPU
/// beside a device has them too. Once a process.
pub(crate) fn executor(
    choice: DeviceChoice,
    threads: Option<usize>,
) -> anyhow::Result<(Executor, String)> {
    if let Some(threads) = threads {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.with_context(|| format!("cannot start {threads} threads"))?;
    }
    Ok(match settled(choice)? {
        DeviceChoice::On(id) => (Executor::on(device_on(id)?), id.to_string()),
        DeviceChoice::Auto | DeviceChoice::Cpu => (Executor::cpu(), DeviceChoice::Cpu.to_string()),
    })
}
