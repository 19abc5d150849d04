//! Errors that end a test.

use std::path::PathBuf;

use warpint_device::DeviceError;
use warpint_files::ErrorKind;

use super::TestKind;
use crate::checkpoint::CheckpointError;
use crate::{Check, EngineError, Number, PlanError};

/// The reason why a run ended with an error. The checkpoints that are on disk at this time are
/// kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// The engine failed in a way that a longer transform cannot correct.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The device failed twice while the test was continuing from the same state, or it failed with
    /// another error than [`DeviceError::Failed`].
    #[error("{place} failed: {error}; {kept}")]
    Device {
        /// The name of the device.
        place: String,
        /// The error of the device.
        error: DeviceError,
        /// A text that says where the last checkpoint is.
        kept: String,
    },
    /// No usable plan exists. For example, a round-off error requires a longer transform, but the
    /// engine has none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The checkpoint directory or a checkpoint in it cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The checkpoint is past the iteration at which the run is to end.
    #[error(
        "the checkpoint is at iteration {found}, past the {wanted} asked for: use another directory"
    )]
    PastTarget {
        /// The checkpoint's iteration.
        found: u64,
        /// The number of iterations asked for.
        wanted: u64,
    },
    /// A residue has a value that no correct computation gives. In a PRP test or a certification
    /// this value is 0. In a Lucas–Lehmer test with p ≥ 13, it is 2 or −2, or 0 before the end of
    /// the test. At the end of any Lucas–Lehmer test, 0 is impossible unless the residue before it
    /// is ±2^((p+1)/2).
    #[error(
        "the residue at iteration {iteration} is impossible (res64 {res64}): this machine computes \
         unreliably; the same command goes on from the last checkpoint, or try engine goldilocks"
    )]
    Impossible {
        /// The iteration of the residue.
        iteration: u64,
        /// The low 64 bits of the residue.
        res64: String,
    },
    /// The test proves nothing about the number, or the plan is for another number.
    #[error("the test {kind} does not apply to {number}{}", if number.is_even() { ", which is even" } else { "" })]
    Unsuitable {
        /// The kind of the test.
        kind: TestKind,
        /// The number.
        number: Number,
    },
    /// The first term of a Riesel test was computed twice with wrong results.
    #[error(
        "the first term of the test of {number} is wrong by its check: this machine computes unreliably"
    )]
    Start {
        /// The number.
        number: Number,
    },
    /// The specification of a certification lacks the start residue.
    #[error("a certification needs its start residue")]
    NoStart,
    /// Two computations of 3^(d−1) mod M_p gave different results, where d is the product of the
    /// known factors.
    #[error(
        "3^(d−1) mod M{exponent}, with the product d of the known factors, was computed twice with \
         different results: this machine computes unreliably; the same command tries again from the last checkpoint"
    )]
    CofactorDiffers {
        /// The exponent p of M_p.
        exponent: u32,
    },
    /// The state to which the test would go back has changed in memory.
    #[error(
        "the copy in memory of the verified state at iteration {verified} has changed: this \
         machine's memory is unreliable; the same command goes on from the last checkpoint"
    )]
    Memory {
        /// The last verified iteration.
        verified: u64,
    },
    /// The modulus or the exponent of the test has changed in memory.
    #[error(
        "the modulus or the exponent of the test has changed in memory before iteration {iteration}: this \
         machine's memory is unreliable; the same command goes on from the last checkpoint"
    )]
    Constants {
        /// The iteration at which it was found.
        iteration: u64,
    },
    /// A check failed twice with the same wrong residue. The cause is not a random error, but a
    /// fault of the hardware or of the program.
    #[error(
        "the {check} at iteration {iteration} failed twice with the same residue {res64}: \
         this is not chance, but a fault of this machine or of the arithmetic ({arithmetic}); the verified state \
         at iteration {verified} is kept. The same command goes on from it: try engine \
         goldilocks, a longer transform length, or another machine"
    )]
    RepeatedError {
        /// The kind of the check.
        check: Check,
        /// A text that names the engine, its transform length and its margin.
        arithmetic: String,
        /// The iteration at which the check was made.
        iteration: u64,
        /// The last verified iteration.
        verified: u64,
        /// The low 64 bits of the residue, as 16 hexadecimal digits.
        res64: String,
    },
    /// The test needs a transform at which the engine cannot check squarings, but each squaring is to
    /// be checked.
    #[error(
        "the engine {engine} cannot check squarings at {length} words, to which the test has to go on: \
         the last checkpoint is kept, and the same command with --check jacobi goes on from it"
    )]
    Unchecked {
        /// The name of the engine.
        engine: &'static str,
        /// The transform length, in words.
        length: usize,
    },
    /// Three checks of one kind failed in a row, with different residues.
    #[error(
        "three checks in a row failed, the last a {check} at iteration {iteration}: this machine \
         computes unreliably, or the arithmetic does not suffice ({arithmetic}); the verified \
         state at iteration {verified} is kept, and the same command goes on from it"
    )]
    Unreliable {
        /// The kind of the last check that failed.
        check: Check,
        /// A text that names the engine, its transform length and its margin.
        arithmetic: String,
        /// The iteration at which the last check was made.
        iteration: u64,
        /// The last verified iteration.
        verified: u64,
    },
}

impl TestError {
    /// Returns the kind of the error. An error of the plan or of the engine during a run does not
    /// count as bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::PastTarget { .. } | Self::NoStart | Self::Unsuitable { .. } => {
                ErrorKind::BadInput
            }
            Self::Checkpoint(e) => e.kind(),
            Self::Device { .. }
            | Self::Engine(EngineError::Device(_) | EngineError::NoRoom { .. }) => {
                ErrorKind::Device
            }
            // A plan or an engine that fails during a run is not an error in the request.
            Self::Plan(_)
            | Self::Engine(_)
            | Self::Unchecked { .. }
            | Self::Start { .. }
            | Self::Impossible { .. }
            | Self::CofactorDiffers { .. }
            | Self::Memory { .. }
            | Self::Constants { .. }
            | Self::RepeatedError { .. }
            | Self::Unreliable { .. } => ErrorKind::Unsound,
        }
    }
}

impl TestError {
    /// Returns [`TestError::Device`] for an error of the device named `place`. `on_disk` is the
    /// iteration and the path of the newest checkpoint on disk; `None` if there is none.
    pub(super) fn device(
        place: String,
        error: DeviceError,
        on_disk: Option<(u64, PathBuf)>,
    ) -> Self {
        let kept = match on_disk {
            Some((iteration, path)) => format!(
                "the checkpoint at iteration {iteration} is kept in {}: the same command goes on \
                 from it, with --device cpu on the CPU",
                path.display()
            ),
            None => "no checkpoint was saved yet".to_owned(),
        };
        Self::Device { place, error, kept }
    }
}
