//! Transforms on devices against those of the CPU, and those of the CPU against the definition.

pub mod big;
pub mod cpu;
pub mod prime;
pub mod small;

use warpint_device::{Buffer, DeviceError};
use warpint_transform::cpu::{NoTransform, WrongArgument};
use warpint_transform::gpu::gfn::GfnFftError;
use warpint_transform::gpu::layout::element_major;
use warpint_transform::gpu::prime::PrimeFftError;

/// Why a case of transforms on a device fails.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Gfn(#[from] GfnFftError),
    #[error(transparent)]
    Prime(#[from] PrimeFftError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    NoTransform(#[from] NoTransform),
    #[error(transparent)]
    WrongArgument(#[from] WrongArgument),
    #[error("{part} {at} of element {element} of {what} is {found:#x}, not {expected:#x}")]
    Wrong {
        /// What a word of an element is: a digit, or a word.
        part: &'static str,
        at: usize,
        element: usize,
        what: &'static str,
        found: u64,
        expected: u64,
    },
    #[error("there is no root of unity")]
    NoRoot,
}

/// Elements of K words on a device, each called `part`, against those expected.
fn compare<const K: usize>(
    (what, part): (&'static str, &'static str),
    found: &Buffer<u64>,
    expected: &[[u64; K]],
) -> Result<(), Failure> {
    let found = element_major(&found.download()?, K);
    for (i, (&found, &expected)) in found.iter().zip(expected.as_flattened()).enumerate() {
        if found != expected {
            let (at, element) = (i % K, i / K);
            return Err(Failure::Wrong { part, at, element, what, found, expected });
        }
    }
    Ok(())
}
