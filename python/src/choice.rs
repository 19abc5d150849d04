//! The choice of a device and of threads for a job.

use std::sync::mpsc::Sender;

use warpint::device::{Device, DeviceChoice, device_on};
use warpint::mersenne::{Exponent, PlanRequest};

use crate::failure::Failure;
use crate::watched::News;

/// An exponent that is large enough for a GPU.
const FOR_A_GPU: u64 = 216_091;

/// The largest number of threads.
const MOST_THREADS: usize = 1024;

/// Returns the choice that `name` names. A device that is named is opened, so that its error is that
/// of the device.
pub(crate) fn device(name: &str) -> Result<DeviceChoice, Failure> {
    let choice: DeviceChoice = name.parse().map_err(|e| Failure::request(format!("{e}")))?;
    if let DeviceChoice::On(id) = choice {
        device_on(id)?;
    }
    Ok(choice)
}

/// Returns the device that `name` names; `None` for the CPU. `auto` is a GPU that works.
pub(crate) fn opened(name: &str, news: &Sender<News>) -> Result<Option<Device>, Failure> {
    let choice = match device(name)? {
        DeviceChoice::Auto => {
            let request = PlanRequest::default();
            let resolved = request
                .resolved(Exponent::new(FOR_A_GPU)?)
                .map_err(|error| Failure::request(error.to_string()))?;
            if let Some(warning) = resolved.warning {
                let _ = news.send(News::Warning(warning.to_string()));
            }
            resolved.request.device
        }
        choice => choice,
    };
    Ok(match choice {
        DeviceChoice::On(id) => Some(device_on(id)?),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    })
}

/// Returns the number of threads, if it is possible.
pub(crate) fn threads(threads: Option<usize>) -> Result<Option<usize>, Failure> {
    match threads {
        Some(n) if !(1..=MOST_THREADS).contains(&n) => Err(Failure::request(format!(
            "{n} is not a number of threads from 1 to {MOST_THREADS}"
        ))),
        threads => Ok(threads),
    }
}

/// Returns the number of threads: the given one, or one for each logical CPU.
pub(crate) fn thread_count(given: Option<usize>) -> Result<usize, Failure> {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(threads(given)?.unwrap_or_else(all))
}
