//! Why a test could not go on.

use std::path::PathBuf;

use warpint_device::DeviceError;
use warpint_files::ErrorKind;

use crate::checkpoint::CheckpointError;
use crate::{Check, EngineError, PlanError};

/// Why a run could not go on. The checkpoints are kept in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// The engine failed in a way that no longer transform mends.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The device failed, twice from the same state or beyond hope.
    #[error("{place} failed: {error}; {kept}")]
    Device {
        /// Its name.
        place: String,
        /// What happened.
        error: DeviceError,
        /// Where the last checkpoint is, in words.
        kept: String,
    },
    /// No usable plan, in particular no longer length after a round-off error.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The checkpoint directory cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The checkpoint is further than the iterations asked for.
    #[error(
        "the checkpoint is at iteration {found}, past the {wanted} asked for: use another directory"
    )]
    PastTarget {
        /// The checkpoint's iteration.
        found: u64,
        /// The iterations asked for.
        wanted: u64,
    },
    /// A Lucas–Lehmer sequence got to 0, 2 or −2 before its end, or to zero in a
    /// PRP test: no sound computation does.
    #[error(
        "the residue at iteration {iteration} is impossible (res64 {res64}): this machine computes \
         unreliably; the same command goes on from the last checkpoint, or try --engine goldilocks"
    )]
    Impossible {
        /// Where it was seen.
        iteration: u64,
        /// Its low 64 bits.
        res64: String,
    },
    /// A certification without the residue that it begins with.
    #[error("a certification needs the residue that it begins with")]
    NoStart,
    /// What known factors leave of M_p was raised twice, with different results.
    #[error(
        "3^(d−1) mod M{exponent}, d the product of known factors, came out in two ways: this \
         machine computes unreliably; the same command tries again from the last checkpoint"
    )]
    CofactorDiffers {
        /// p.
        exponent: u32,
    },
    /// The state a test would go back to has changed in memory.
    #[error(
        "the copy in memory of the verified state at iteration {verified} has changed: this \
         machine's memory is unreliable; the same command goes on from the last checkpoint"
    )]
    Memory {
        /// The last verified iteration.
        verified: u64,
    },
    /// The same wrong residue twice: not chance, but the hardware or the program.
    #[error(
        "the {check} at iteration {iteration} failed twice with the same residue {res64}: \
         not a chance error, but this machine or the arithmetic ({arithmetic}); the verified state \
         at iteration {verified} is kept. The same command goes on from it: try --engine \
         goldilocks, a longer --length, or another machine"
    )]
    RepeatedError {
        /// Which check.
        check: Check,
        /// Engine, length and margin, in words.
        arithmetic: String,
        /// Where the check was made.
        iteration: u64,
        /// The last verified iteration.
        verified: u64,
        /// The residue that came twice.
        res64: String,
    },
    /// Three checks in a row failed, each differently.
    #[error(
        "three checks in a row failed, the last a {check} at iteration {iteration}: this machine \
         computes unreliably, or the arithmetic does not suffice ({arithmetic}); the verified \
         state at iteration {verified} is kept, and the same command goes on from it"
    )]
    Unreliable {
        /// Which check was the last.
        check: Check,
        /// Engine, length and margin, in words.
        arithmetic: String,
        /// Where the last check was made.
        iteration: u64,
        /// The last verified iteration.
        verified: u64,
    },
}

impl TestError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::PastTarget { .. } | Self::NoStart => ErrorKind::BadInput,
            Self::Checkpoint(e) => e.kind(),
            Self::Device { .. }
            | Self::Engine(EngineError::Device(_) | EngineError::NoRoom { .. }) => {
                ErrorKind::Device
            }
            // A plan or an engine that fails in mid-run is no fault of the request.
            Self::Plan(_)
            | Self::Engine(_)
            | Self::Impossible { .. }
            | Self::CofactorDiffers { .. }
            | Self::Memory { .. }
            | Self::RepeatedError { .. }
            | Self::Unreliable { .. } => ErrorKind::Unsound,
        }
    }
}

impl TestError {
    /// [`TestError::Device`], with the checkpoint (iteration, file) that is on disk.
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
