//! The devices to verify on, and the errors if they cannot be used.

use warpint::collatz::open::{OpenError, Places};
use warpint::mersenne::DeviceChoice;

use crate::args;
use crate::exit::BadRequest;
use crate::run::all_gpus;

/// Converts the value of `--device` to the devices to verify on: `all` becomes the list of all GPUs
/// of this machine.
pub(super) fn places(given: args::Places) -> anyhow::Result<Places> {
    Ok(match given {
        args::Places::All => Places::Devices(all_gpus()?),
        args::Places::One(DeviceChoice::On(id)) => Places::Devices(vec![id]),
        args::Places::One(DeviceChoice::Cpu) => Places::Cpu,
        args::Places::One(DeviceChoice::Auto) => Places::Auto,
    })
}

/// Converts an error of opening a verifier into the error that the program prints. If no method
/// fits the device, the new error names the options to change.
pub(super) fn by_option(e: anyhow::Error) -> anyhow::Error {
    match e.downcast_ref() {
        Some(OpenError::NoMethod { .. }) => {
            BadRequest(format!("{e}: choose another --method or --device")).into()
        }
        _ => e,
    }
}

/// Turns an error of a request or of a directory into an error of bad input.
pub(super) fn refused(error: impl std::fmt::Display) -> BadRequest {
    BadRequest(error.to_string())
}
