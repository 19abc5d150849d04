//! Where batches are computed.

use warpint::integer::Executor;
use warpint::mersenne::DeviceChoice;

use crate::exit::BadRequest;

/// Where to compute, and its name. `auto` means the CPU: no executor of a GPU is there.
pub(crate) fn executor(
    choice: DeviceChoice,
    threads: Option<usize>,
) -> anyhow::Result<(Executor, String)> {
    match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => {
            let executor = match threads {
                Some(threads) => Executor::cpu_with_threads(threads)?,
                None => Executor::cpu(),
            };
            Ok((executor, DeviceChoice::Cpu.to_string()))
        }
        DeviceChoice::On(id) => Err(BadRequest(format!(
            "--device {id}: batches are computed on the CPU only; give --device cpu"
        ))
        .into()),
    }
}
