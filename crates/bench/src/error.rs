//! Why something cannot be measured.

use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use warpint_arith::gfn::NoField;
use warpint_collatz::CollatzError;
use warpint_collatz::open::OpenError;
use warpint_device::{DeviceError, ErrorKind, TuningError};
use warpint_integer::IntegerError;
use warpint_mersenne::checkpoint::CheckpointError;
use warpint_mersenne::{EngineError, PlanError, TestError};
use warpint_transform::cpu::{NoTransform, WrongArgument};
use warpint_transform::gpu::f50::Ntt50Error;
use warpint_transform::gpu::gfn::GfnFftError;
use warpint_transform::gpu::small_primes::SmallPrimesError;

use crate::mersenne::checks::SHORTEST;
use crate::{batch, bigprime, collatz};

/// Why something cannot be measured, or what was found wrong while it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A benchmark of batches that makes no sense.
    #[error(transparent)]
    Batch(#[from] batch::RequestError),
    /// A benchmark of transforms over big prime fields that makes no sense.
    #[error(transparent)]
    Bigprime(#[from] bigprime::RequestError),
    /// A benchmark of verification that makes no sense.
    #[error(transparent)]
    CollatzRequest(#[from] collatz::RequestError),
    /// Numbers cannot be verified, or delays computed.
    #[error(transparent)]
    Collatz(#[from] CollatzError),
    /// There is nothing to verify with.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The place has no such table.
    #[error("there is no {table} here")]
    NoTable {
        /// `sieve`, `table` or `delays`.
        table: &'static str,
    },
    /// The device leaves more delays to the CPU than it can list.
    #[error("too many numbers are left to the CPU")]
    LeftToCpu,
    /// There is no such field.
    #[error(transparent)]
    Field(#[from] NoField),
    /// There is no such transform on the CPU.
    #[error(transparent)]
    Transform(#[from] NoTransform),
    /// Arguments that do not fit a transform on the CPU.
    #[error(transparent)]
    Argument(#[from] WrongArgument),
    /// A transform in a big prime field, on a device.
    #[error(transparent)]
    GfnFft(GfnFftError),
    /// A transform modulo small primes.
    #[error(transparent)]
    SmallPrimes(SmallPrimesError),
    /// A row could not be measured.
    #[error("{row}")]
    Row {
        /// Which.
        row: String,
        /// Why not.
        source: Box<BenchError>,
    },
    /// A result of a device, or of a batch, is wrong.
    #[error("{0}")]
    Wrong(String),
    /// A transform on the CPU is wrong.
    #[error("{0}")]
    WrongOnCpu(String),
    /// The host has no memory for a vector.
    #[error("the host has no memory for a vector")]
    NoMemory,
    /// The host has no memory for operands.
    #[error("no memory for operands of {bytes} bytes")]
    NoMemoryForOperands {
        /// Of one operand.
        bytes: u64,
    },
    /// What a row was measured with is gone.
    #[error("the {what} of the row is missing")]
    Missing {
        /// What.
        what: &'static str,
    },
    /// A batch has no result of an instance.
    #[error("there is no result of instance {instance}")]
    NoResult {
        /// The instance.
        instance: usize,
    },
    /// A device has no method for a width.
    #[error("no method of this device multiplies {bits} bits")]
    NoMethod {
        /// The width.
        bits: u32,
    },
    /// No batch can be computed.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// The checkpoints of a test cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The device is missing, or failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The engine is missing, or failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A test failed.
    #[error(transparent)]
    Test(#[from] TestError),
    /// The store of what is tuned cannot be used.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// No engine of a place has a length in a range.
    #[error("there are no lengths from {} to {} words on {place}", lengths.start(), lengths.end())]
    NoLengths {
        /// The lengths, in words.
        lengths: RangeInclusive<usize>,
        /// The place.
        place: String,
    },
    /// The engines fp64 and goldilocks have no plan in common that is cut alike.
    #[error("fp64 and goldilocks have no plan of {points} points in common on {place}")]
    NoCommonPlan {
        /// Complex numbers, or integers, of a transform.
        points: usize,
        /// The place.
        place: String,
    },
    /// A whole test takes less than [`SHORTEST`].
    #[error(
        "the test of M{exponent} takes {time:?} here, too little to tell what its checks cost: give an \
         exponent whose test takes {SHORTEST:?} or more"
    )]
    TooShort {
        /// The p of 2^p − 1.
        exponent: u32,
        /// The time of the test.
        time: Duration,
    },
    /// A test ended before anything of it could be timed.
    #[error("the test was too short to be timed")]
    NotTimed,
    /// The thread that takes the times of a test failed.
    #[error("the clock of the bench failed")]
    Clock,
    /// A directory for the folder of a bench cannot be made.
    #[error("cannot make the directory {}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The folder of a bench cannot be made.
    #[error("cannot make the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl BenchError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoLengths { .. }
            | Self::NoCommonPlan { .. }
            | Self::TooShort { .. }
            | Self::Batch(_)
            | Self::Bigprime(_)
            | Self::CollatzRequest(_) => ErrorKind::BadInput,
            Self::Wrong(_) => ErrorKind::Finding,
            Self::WrongOnCpu(_) => ErrorKind::Unsound,
            Self::NoMemory | Self::NoMemoryForOperands { .. } => ErrorKind::Resources,
            Self::Field(_)
            | Self::Transform(_)
            | Self::Argument(_)
            | Self::NoTable { .. }
            | Self::LeftToCpu
            | Self::Missing { .. }
            | Self::NoResult { .. }
            | Self::NoMethod { .. }
            | Self::NotTimed
            | Self::Clock => ErrorKind::Other,
            Self::Row { source, .. } => source.kind(),
            Self::GfnFft(e) => e.kind(),
            Self::SmallPrimes(e) => e.kind(),
            Self::Directory { source, .. } | Self::Folder { source, .. } => source.into(),
            Self::Checkpoint(e) => e.kind(),
            Self::Collatz(e) => e.kind(),
            Self::Open(e) => e.kind(),
            Self::Device(e) => e.kind(),
            Self::Engine(e) => e.kind(),
            Self::Integer(e) => e.kind(),
            Self::Plan(e) => e.kind(),
            Self::Test(e) => e.kind(),
            Self::Tuning(e) => e.kind(),
        }
    }
}

impl BenchError {
    /// The same, of a row.
    pub(crate) fn in_row(self, row: String) -> Self {
        Self::Row { row, source: Box::new(self) }
    }
}

impl From<GfnFftError> for BenchError {
    fn from(e: GfnFftError) -> Self {
        match e {
            GfnFftError::Device(e) => Self::Device(e),
            e => Self::GfnFft(e),
        }
    }
}

impl From<SmallPrimesError> for BenchError {
    fn from(e: SmallPrimesError) -> Self {
        match e {
            SmallPrimesError::Device(e) | SmallPrimesError::Ntt(Ntt50Error::Device(e)) => {
                Self::Device(e)
            }
            e => Self::SmallPrimes(e),
        }
    }
}
