//! The places to verify on, and errors if they are unusable.

use warpint::collatz::open::{OpenError, Places};
use warpint::mersenne::DeviceChoice;

use crate::args;
use crate::exit::BadRequest;
use crate::run::all_gpus;

/// Resolves the places of an argument: `all` means the GPUs of this machine.
pub(super) fn places(given: args::Places) -> anyhow::Result<Places> {
    Ok(match given {
        args::Places::All => Places::Devices(all_gpus()?),
        args::Places::One(DeviceChoice::On(id)) => Places::Devices(vec![id]),
        args::Places::One(DeviceChoice::Cpu) => Places::Cpu,
        args::Places::One(DeviceChoice::Auto) => Places::Auto,
    })
}

/// Returns an error that describes why nothing was opened, with the option to change.
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
