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
use warpint_integer::huge::device::HugeError;
use warpint_mersenne::checkpoint::CheckpointError;
use warpint_mersenne::{EngineError, PlanError, TestError};
use warpint_transform::cpu::{NoTransform, WrongArgument};
use warpint_transform::gpu::gfn::GfnFftError;
use warpint_transform::gpu::ntt::NttError;
use warpint_transform::gpu::small_primes::SmallPrimesError;
use warpint_transform::gpu::spectra::Spectra50Error;

use crate::mersenne::checks::SHORTEST;
use crate::{batch, bigprime, collatz, ntt, product};

/// The reason why a measurement is impossible, or the error that a measurement found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The requested benchmark of batches is impossible.
    #[error(transparent)]
    Batch(#[from] batch::RequestError),
    /// The requested benchmark of transforms over big prime fields is impossible.
    #[error(transparent)]
    Bigprime(#[from] bigprime::RequestError),
    /// The requested benchmark of transforms modulo 2^64 − 2^32 + 1 is impossible.
    #[error(transparent)]
    NttRequest(#[from] ntt::RequestError),
    /// The requested benchmark of products is impossible.
    #[error(transparent)]
    ProductRequest(#[from] product::RequestError),
    /// The requested benchmark of Collatz verification is impossible.
    #[error(transparent)]
    CollatzRequest(#[from] collatz::RequestError),
    /// Numbers could not be verified, or delays could not be computed.
    #[error(transparent)]
    Collatz(#[from] CollatzError),
    /// No Collatz verifier could be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The device or the CPU has no table of this name whose size could be tuned.
    #[error("this place has no {table}")]
    NoTable {
        /// The name of the table: `sieve`, `table` or `delays`.
        table: &'static str,
    },
    /// In a computation of delays, the device leaves more numbers to the CPU than its list of such
    /// numbers can hold.
    #[error("too many numbers are left to the CPU")]
    LeftToCpu,
    /// The requested prime field does not exist.
    #[error(transparent)]
    Field(#[from] NoField),
    /// The CPU does not support a transform.
    #[error(transparent)]
    Transform(#[from] NoTransform),
    /// The arguments do not fit a transform on the CPU.
    #[error(transparent)]
    Argument(#[from] WrongArgument),
    /// A transform over a big prime field failed on a device.
    #[error(transparent)]
    GfnFft(GfnFftError),
    /// A transform modulo small primes failed on a device.
    #[error(transparent)]
    SmallPrimes(SmallPrimesError),
    /// A transform modulo primes failed on a device.
    #[error(transparent)]
    Ntt(NttError),
    /// A product of long numbers failed on a device.
    #[error(transparent)]
    Huge(HugeError),
    /// A row of a benchmark could not be measured.
    #[error("{row}")]
    Row {
        /// A description of the row.
        row: String,
        /// The underlying error.
        source: Box<BenchError>,
    },
    /// A device or an operation on a batch computed a wrong result, which the string describes.
    #[error("{0}")]
    Wrong(String),
    /// A transform on the CPU has a wrong result, which the string describes.
    #[error("{0}")]
    WrongOnCpu(String),
    /// The host has too little memory for a vector.
    #[error("the host has too little memory for a vector")]
    NoMemory,
    /// The host has too little memory for the operands.
    #[error("not enough memory for operands of {bytes} bytes")]
    NoMemoryForOperands {
        /// The number of bytes of one operand of the whole batch.
        bytes: u64,
    },
    /// An object that the measurement of a row needs is missing, which is an internal error.
    #[error("the {what} of the row is missing")]
    Missing {
        /// A description of the object.
        what: &'static str,
    },
    /// A batch has no result for an instance.
    #[error("instance {instance} has no result")]
    NoResult {
        /// The index of the instance.
        instance: usize,
    },
    /// The device has no method for products of a width.
    #[error("no method of this device multiplies {bits} bits")]
    NoMethod {
        /// The width, in bits.
        bits: u32,
    },
    /// An operation on a batch failed.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// The checkpoints of a test cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A device is missing or has failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// An engine is missing or has failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No plan fits the request.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A test failed.
    #[error(transparent)]
    Test(#[from] TestError),
    /// The store of tuned values cannot be used.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// No engine of the device or the CPU has a transform length in the requested range.
    #[error("no engine has a length from {} to {} words on {place}", lengths.start(), lengths.end())]
    NoLengths {
        /// The range of lengths, in words.
        lengths: RangeInclusive<usize>,
        /// The name of the device, or `cpu`.
        place: String,
    },
    /// The engines fp64 and goldilocks have no factorisation of this transform in common.
    #[error("fp64 and goldilocks have no common plan of {points} points on {place}")]
    NoCommonPlan {
        /// The number of points of the transform, which are complex numbers for fp64 and integers
        /// for goldilocks.
        points: usize,
        /// The name of the device, or `cpu`.
        place: String,
    },
    /// A whole test takes less than [`SHORTEST`], too little to measure the cost of its checks.
    #[error(
        "the test of M{exponent} takes {time:?} here, too little to tell what its checks cost: give an \
         exponent whose test takes {SHORTEST:?} or more"
    )]
    TooShort {
        /// The exponent p of 2^p − 1.
        exponent: u32,
        /// The estimated time of the test.
        time: Duration,
    },
    /// A test ended before any of its squarings could be timed.
    #[error("the test was too short to be timed")]
    NotTimed,
    /// The thread that measures the time of a test failed.
    #[error("the clock of the benchmark failed")]
    Clock,
    /// The directory for the folder of a benchmark could not be created.
    #[error("cannot make the directory {}", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The folder of a benchmark could not be created.
    #[error("cannot make the folder {}", path.display())]
    Folder {
        /// The path of the folder.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

impl BenchError {
    /// Returns the kind of the error. The kind decides the exit code of the program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoLengths { .. }
            | Self::NoCommonPlan { .. }
            | Self::TooShort { .. }
            | Self::Batch(_)
            | Self::Bigprime(_)
            | Self::NttRequest(_)
            | Self::ProductRequest(_)
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
            Self::Ntt(e) => e.kind(),
            Self::Huge(e) => e.kind(),
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

/// Separates a lack of device memory from other errors: returns the former as the inner result.
pub(crate) fn if_it_fits<T>(
    done: Result<T, BenchError>,
) -> Result<Result<T, DeviceError>, BenchError> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(BenchError::Device(full @ DeviceError::OutOfMemory { .. })) => Ok(Err(full)),
        Err(e) => Err(e),
    }
}

impl BenchError {
    /// Wraps the error in a [`Self::Row`] that names the row in which it occurred.
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
            SmallPrimesError::Device(e) | SmallPrimesError::Ntt(Spectra50Error::Device(e)) => {
                Self::Device(e)
            }
            e => Self::SmallPrimes(e),
        }
    }
}

impl From<HugeError> for BenchError {
    fn from(e: HugeError) -> Self {
        match e {
            HugeError::Device(e) => Self::Device(e),
            HugeError::Transform(e) => e.into(),
            HugeError::Wrong { .. }
            | HugeError::WrongQuotient { .. }
            | HugeError::WrongDigits { .. } => Self::Wrong(e.to_string()),
            e => Self::Huge(e),
        }
    }
}

impl From<NttError> for BenchError {
    fn from(e: NttError) -> Self {
        match e {
            NttError::Device(e) => Self::Device(e),
            e => Self::Ntt(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lack_of_device_memory_is_taken_as_such() {
        let full =
            DeviceError::OutOfMemory { device: "sim".into(), requested: 2, free: 1, total: 1 };
        let separated = if_it_fits::<()>(Err(NttError::Device(full.clone()).into())).unwrap();
        assert_eq!(separated, Err(full));
        assert_eq!(if_it_fits(Ok(7)).unwrap(), Ok(7));
        let wrong = if_it_fits::<()>(Err(BenchError::Wrong("X".into()))).unwrap_err();
        assert_eq!(wrong.kind(), ErrorKind::Finding);
    }
}
