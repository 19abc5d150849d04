//! Which exit code an error has.
//!
//! Every error type that reaches a command is classified here, variant by variant: a new one does
//! not compile before it is. The outermost cause with a class decides. An error of the file system
//! is a matter of its kind: a path that is missing, of another kind or not permitted is
//! [`Exit::BadInput`], all else is a failure of the disk. What has no class is [`Exit::Failed`].

mod collatz;
mod mersenne;
mod numbers;

use std::error::Error;
use std::io;

use anyhow::Chain;
use warpint::batch::BatchError;
use warpint::collatz::CollatzError;
use warpint::collatz::open::OpenError;
use warpint::collatz::runs::{FolderError, LayoutError, SelectionError, UnitError};
use warpint::device::{DeviceError, TuningError};
use warpint::gimps::{LockError, ProofFileError, ProofFormatError, ResultsError, WorkFileError};
use warpint::integer::IntegerError;
use warpint::mersenne::checkpoint::CheckpointError;
use warpint::mersenne::proof::{ProofError, ResidueFileError};
use warpint::mersenne::{
    EngineError, ExponentError, FactorError, PlanError, ResidueError, TestError,
};
use warpint::runner::RunError;
use warpint::runner::proofs::MakeError;
use warpint::runner::stored::StoredError;
use warpint::runner::work::StartFileError;
use warpint::transform::gpu::f50::Ntt50Error;
use warpint::transform::gpu::gfn::GfnFftError;
use warpint::transform::gpu::prime::PrimeFftError;
use warpint::transform::gpu::small_primes::SmallPrimesError;

use warpint_bench::BenchError;
use warpint_files::FileError;

use super::Exit::{self, BadInput, Failed, Negative, Stopped};
use super::{BadRequest, Finding, OutputError};

/// The exit code of an error.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    of_error(error.as_ref())
}

/// The exit code of an error of a library.
pub(crate) fn of_error(error: &(dyn Error + 'static)) -> Exit {
    Chain::new(error).find_map(class).unwrap_or(Failed)
}

/// The class of one error of a chain; `None` if its cause decides.
fn class(cause: &(dyn Error + 'static)) -> Option<Exit> {
    fn as_a<T: Classed + 'static>(cause: &(dyn Error + 'static)) -> Option<Exit> {
        cause.downcast_ref::<T>().and_then(Classed::class)
    }
    let by_type = [
        as_a::<BadRequest>,
        as_a::<Finding>,
        as_a::<OutputError>,
        as_a::<io::Error>,
        as_a::<BatchError>,
        as_a::<BenchError>,
        as_a::<CheckpointError>,
        as_a::<CollatzError>,
        as_a::<DeviceError>,
        as_a::<EngineError>,
        as_a::<ExponentError>,
        as_a::<FactorError>,
        as_a::<FileError>,
        as_a::<FolderError>,
        as_a::<GfnFftError>,
        as_a::<IntegerError>,
        as_a::<LayoutError>,
        as_a::<LockError>,
        as_a::<Ntt50Error>,
        as_a::<OpenError>,
        as_a::<PlanError>,
        as_a::<PrimeFftError>,
        as_a::<ProofError>,
        as_a::<ProofFileError>,
        as_a::<ProofFormatError>,
        as_a::<ResidueError>,
        as_a::<ResidueFileError>,
        as_a::<ResultsError>,
        as_a::<RunError>,
        as_a::<SelectionError>,
        as_a::<SmallPrimesError>,
        as_a::<TestError>,
        as_a::<TuningError>,
        as_a::<UnitError>,
        as_a::<WorkFileError>,
    ];
    by_type.iter().find_map(|of_type| of_type(cause))
}

trait Classed: Error {
    /// `None` if the cause decides.
    fn class(&self) -> Option<Exit>;
}

/// Errors of one class.
macro_rules! always {
    ($($class:ident: $($error:ty),+;)+) => {$($(
        impl Classed for $error {
            fn class(&self) -> Option<Exit> {
                Some($class)
            }
        }
    )+)+};
}

always! {
    BadInput: BadRequest, OutputError, ExponentError, FactorError, ResidueError, LayoutError,
        SelectionError, UnitError, ProofFormatError;
    Negative: Finding;
}

impl Classed for io::Error {
    fn class(&self) -> Option<Exit> {
        use io::ErrorKind as Kind;
        // An error of this program's own may be inside.
        if let Some(class) = self.get_ref().and_then(|inner| class(inner)) {
            return Some(class);
        }
        Some(match self.kind() {
            Kind::NotFound
            | Kind::PermissionDenied
            | Kind::AlreadyExists
            | Kind::NotADirectory
            | Kind::IsADirectory
            | Kind::DirectoryNotEmpty
            | Kind::ReadOnlyFilesystem
            | Kind::InvalidFilename
            | Kind::InvalidInput
            | Kind::InvalidData => BadInput,
            _ => Failed,
        })
    }
}

impl Classed for FileError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NotAFile { .. }
            | Self::NotAFolder { .. }
            | Self::Unwritable { .. }
            | Self::TooLarge { .. }
            | Self::Locked { .. } => Some(BadInput),
            Self::Io { .. } => None,
            Self::Stopped { .. } => Some(Stopped),
        }
    }
}

impl Classed for DeviceError {
    fn class(&self) -> Option<Exit> {
        Some(match self {
            Self::NoDevice(_) | Self::NoCompiler(_) => BadInput,
            Self::Compile { .. }
            | Self::OutOfMemory { .. }
            | Self::Failed { .. }
            | Self::Fault { .. } => Failed,
        })
    }
}

impl Classed for TuningError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NoFolder => Some(BadInput),
            Self::Io { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};
    use warpint::mersenne::Exponent;

    #[test]
    fn a_bad_request_is_told_from_a_failure() {
        let no_length = PlanError::NoLength { engine: "fp64", exponent: 7 };
        let past = TestError::PastTarget { found: 2, wanted: 1 };
        let folder = ResultsError::NotAFile { path: "folder".into(), what: "a directory" };
        let locked = CheckpointError::Locked { path: "M7".into(), pid: 1 };
        for (error, expected) in [
            (anyhow!(Exponent::new(4).unwrap_err()), BadInput),
            (anyhow!(no_length.clone()), BadInput),
            (anyhow!(past), BadInput),
            (anyhow!(folder), BadInput),
            (anyhow!(BadRequest("no".into())), BadInput),
            (anyhow!(TestError::Checkpoint(locked)), BadInput),
            (anyhow!(OutputError(io::ErrorKind::StorageFull.into())), BadInput),
            (anyhow!(Finding("wrong".into())).context("M7"), Negative),
            (anyhow!(TestError::Plan(no_length)), Failed),
            (anyhow!(TestError::Memory { verified: 7 }), Failed),
            (anyhow!("disk on fire"), Failed),
        ] {
            assert_eq!(of(&error), expected, "{error:?}");
        }
    }

    #[test]
    fn an_error_of_the_file_system_is_a_matter_of_its_kind() {
        for (kind, expected) in [
            (io::ErrorKind::PermissionDenied, BadInput),
            (io::ErrorKind::NotFound, BadInput),
            (io::ErrorKind::StorageFull, Failed),
            (io::ErrorKind::FileTooLarge, Failed),
            (io::ErrorKind::Other, Failed),
        ] {
            let file = || io::Error::from(kind);
            let results = ResultsError::Write { path: "r".into(), source: file() };
            let checkpoint = CheckpointError::Directory { path: "M7".into(), source: file() };
            for error in [
                Err::<(), _>(file()).context("cannot write f").unwrap_err(),
                anyhow!(results),
                anyhow!(TestError::Checkpoint(checkpoint)),
            ] {
                assert_eq!(of(&error), expected, "{error:?}");
            }
        }
        let inside = io::Error::other(BadRequest("no".into()));
        assert_eq!(of(&inside.into()), BadInput);
    }

    #[test]
    fn an_error_of_a_batch_job_is_a_matter_of_its_cause() {
        let read = |kind: io::ErrorKind| BatchError::Read { name: "a".into(), source: kind.into() };
        let write = |kind: io::ErrorKind| {
            let (path, source) = ("r".into(), kind.into());
            BatchError::File(FileError::Io { action: "write", path, source })
        };
        let contradiction = || BatchError::Contradiction {
            operation: "mul",
            number: "a: line 1".into(),
            device: "cuda:0".into(),
        };
        let kept = |source| {
            let (source, path) = (Box::new(source), "r.partial".into());
            BatchError::Kept { source, done: 3, count: 7, path }
        };
        let lost = DeviceError::Failed { what: "launch".into(), message: "lost".into() };
        for (error, expected) in [
            (BatchError::Request("no".into()), BadInput),
            (BatchError::Shortened { name: "a".into() }, Failed),
            (read(io::ErrorKind::NotFound), BadInput),
            (read(io::ErrorKind::OutOfMemory), Failed),
            (write(io::ErrorKind::StorageFull), Failed),
            (write(io::ErrorKind::PermissionDenied), BadInput),
            (kept(write(io::ErrorKind::StorageFull)), Failed),
            (BatchError::Output(io::ErrorKind::StorageFull.into()), BadInput),
            (contradiction(), Negative),
            (kept(contradiction()), Negative),
            (BatchError::Integer(IntegerError::Device(lost.clone())), Failed),
            (kept(BatchError::Integer(IntegerError::Device(lost))), Failed),
        ] {
            assert_eq!(of(&error.into()), expected);
        }
        let error = kept(write(io::ErrorKind::StorageFull)).into();
        assert_eq!(
            super::super::one_line(&error),
            "cannot write r: no storage space; 3 of 7 numbers are kept in r.partial, and the same \
             command goes on from there"
        );
    }

    #[test]
    fn a_device_that_is_not_there_is_told_from_one_that_fails() {
        let missing = DeviceError::NoDevice("no GPU".into());
        let lost = DeviceError::Failed { what: "launch".into(), message: "lost".into() };
        for (device, expected) in [(missing, BadInput), (lost, Failed)] {
            for error in [
                anyhow!(device.clone()),
                anyhow!(EngineError::Device(device.clone())),
                anyhow!(PlanError::Unusable(EngineError::Device(device.clone()))),
                anyhow!(IntegerError::Device(device.clone())),
                anyhow!(CollatzError::Device(device.clone())),
                anyhow!(SmallPrimesError::Ntt(Ntt50Error::Device(device))),
            ] {
                assert_eq!(of(&error), expected, "{error:?}");
            }
        }
    }
}
