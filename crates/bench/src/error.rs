//! Errors of measurements.

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

/// Why a measurement is impossible, or what was found wrong in one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// An impossible benchmark of batches.
    #[error(transparent)]
    Batch(#[from] batch::RequestError),
    /// An impossible benchmark of transforms over big prime fields.
    #[error(transparent)]
    Bigprime(#[from] bigprime::RequestError),
    /// An impossible benchmark of verification.
    #[error(transparent)]
    CollatzRequest(#[from] collatz::RequestError),
    /// Numbers that cannot be verified, or delays that cannot be computed.
    #[error(transparent)]
    Collatz(#[from] CollatzError),
    /// No verifier could be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The place has no table of this name.
    #[error("this place has no {table}")]
    NoTable {
        /// The name of the table: `sieve`, `table` or `delays`.
        table: &'static str,
    },
    /// The device leaves more delays to the CPU than it can list.
    #[error("too many numbers are left to the CPU")]
    LeftToCpu,
    /// A field that does not exist.
    #[error(transparent)]
    Field(#[from] NoField),
    /// A transform that the CPU does not support.
    #[error(transparent)]
    Transform(#[from] NoTransform),
    /// Arguments that do not fit a transform on the CPU.
    #[error(transparent)]
    Argument(#[from] WrongArgument),
    /// An error of a transform in a big prime field on a device.
    #[error(transparent)]
    GfnFft(GfnFftError),
    /// An error of a transform modulo small primes.
    #[error(transparent)]
    SmallPrimes(SmallPrimesError),
    /// A row that could not be measured.
    #[error("{row}")]
    Row {
        /// The row, in words.
        row: String,
        /// The underlying error.
        source: Box<BenchError>,
    },
    /// A wrong result of a device, or of a batch.
    #[error("{0}")]
    Wrong(String),
    /// A wrong transform on the CPU.
    #[error("{0}")]
    WrongOnCpu(String),
    /// Too little memory on the host for a vector.
    #[error("the host has too little memory for a vector")]
    NoMemory,
    /// Too little memory on the host for operands.
    #[error("not enough memory for operands of {bytes} bytes")]
    NoMemoryForOperands {
        /// The bytes of one operand.
        bytes: u64,
    },
    /// A missing object with which a row was measured.
    #[error("the {what} of the row is missing")]
    Missing {
        /// The object, in words.
        what: &'static str,
    },
    /// A batch without a result for an instance.
    #[error("instance {instance} has no result")]
    NoResult {
        /// The index of the instance.
        instance: usize,
    },
    /// A device without a method for a width.
    #[error("no method of this device multiplies {bits} bits")]
    NoMethod {
        /// The width, in bits.
        bits: u32,
    },
    /// An error of a batch.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// The checkpoints of a test cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A device that is missing or has failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// An engine that is missing or has failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A plan that does not exist.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A test that failed.
    #[error(transparent)]
    Test(#[from] TestError),
    /// A store of tuned values that cannot be used.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// No engine of a place has a length in a range.
    #[error("no engine has a length from {} to {} words on {place}", lengths.start(), lengths.end())]
    NoLengths {
        /// The range of lengths, in words.
        lengths: RangeInclusive<usize>,
        /// The name of the place.
        place: String,
    },
    /// The engines fp64 and goldilocks have no common plan with the same factorisation.
    #[error("fp64 and goldilocks have no common plan of {points} points on {place}")]
    NoCommonPlan {
        /// The number of points of a transform, which are complex numbers or integers.
        points: usize,
        /// The name of the place.
        place: String,
    },
    /// A whole test takes less than [`SHORTEST`].
    #[error(
        "the test of M{exponent} takes {time:?} here, too little to tell what its checks cost: give an \
         exponent whose test takes {SHORTEST:?} or more"
    )]
    TooShort {
        /// The exponent p of 2^p − 1.
        exponent: u32,
        /// The time of the test.
        time: Duration,
    },
    /// A test that ended before any part of it could be timed.
    #[error("the test was too short to be timed")]
    NotTimed,
    /// A failure of the thread that times a test.
    #[error("the clock of the benchmark failed")]
    Clock,
    /// A directory that cannot be created for the folder of a benchmark.
    #[error("cannot make the directory {}", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A folder of a benchmark that cannot be created.
    #[error("cannot make the folder {}", path.display())]
    Folder {
        /// The path of the folder.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

impl BenchError {
    /// Returns the kind of the error.
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
    /// Returns the error with the row in which it occurred.
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
