//! Where batches are computed.

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

/// Where to compute, and its name. Threads are those of the CPU.
pub(crate) fn executor(
    choice: DeviceChoice,
    threads: Option<usize>,
) -> anyhow::Result<(Executor, String)> {
    match settled(choice)? {
        DeviceChoice::On(id) => Ok((Executor::on(device_on(id)?), id.to_string())),
        DeviceChoice::Auto | DeviceChoice::Cpu => {
            let executor = match threads {
                Some(threads) => Executor::cpu_with_threads(threads)?,
                None => Executor::cpu(),
            };
            Ok((executor, DeviceChoice::Cpu.to_string()))
        }
    }
}
