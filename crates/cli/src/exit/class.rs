//! The choice of the exit code of an error.
//!
//! The crates of the project give each of their errors an [`ErrorKind`], from which the exit code
//! follows. In a chain of causes, the outermost error whose kind has an exit code decides. Errors
//! of kind [`ErrorKind::Other`], and types that are not listed in this file, are passed over. If no
//! error of the chain has an exit code, the exit code is [`Exit::Failed`].

use std::error::Error;
use std::io;

use anyhow::Chain;
use warpint::ErrorKind;
use warpint::batch::BatchError;
use warpint::collatz::CollatzError;
use warpint::collatz::open::OpenError;
use warpint::collatz::runs::{FolderError, LayoutError, SelectionError, UnitError};
use warpint::device::{DeviceError, TuningError};
use warpint::gimps::{LockError, ProofFileError, ProofFormatError, ResultsError, WorkFileError};
use warpint::integer::IntegerError;
use warpint::integer::huge::device::HugeError;
use warpint::keys::KeysError;
use warpint::mersenne::checkpoint::CheckpointError;
use warpint::mersenne::proof::{ProofError, ResidueFileError};
use warpint::mersenne::{
    EngineError, ExponentError, FactorError, NumberError, PlanError, PlanRefusal, ResidueError,
    TestError,
};
use warpint::runner::RunError;
use warpint::runner::proofs::MakeError;
use warpint::runner::stored::StoredError;
use warpint::runner::work::StartFileError;
use warpint::testkeys::TestKeysError;
use warpint::transform::gpu::gfn::GfnFftError;
use warpint::transform::gpu::ntt::NttError;
use warpint::transform::gpu::prime::PrimeFftError;
use warpint::transform::gpu::small_primes::SmallPrimesError;
use warpint::transform::gpu::spectra::Spectra50Error;
use warpint_bench::BenchError;
use warpint_files::FileError;

use super::Exit::{self, BadInput, Failed, Negative, Stopped};
use super::{BadRequest, Finding, OutputError};

/// Returns the exit code of an error.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    of_error(error.as_ref())
}

/// Returns the exit code of an error of one of the project's crates.
pub(crate) fn of_error(error: &(dyn Error + 'static)) -> Exit {
    Chain::new(error).find_map(class).unwrap_or(Failed)
}

/// Returns the exit code that one error of a chain of causes determines. Returns `None` if the
/// error has no exit code of its own, so that its cause decides.
fn class(cause: &(dyn Error + 'static)) -> Option<Exit> {
    match cause.downcast_ref::<io::Error>() {
        // It may contain an error of this program.
        Some(error) => error
            .get_ref()
            .and_then(|inner| class(inner))
            .or_else(|| of_kind(ErrorKind::from(error))),
        None => own(cause).or_else(|| of_kind(kind(cause)?)),
    }
}

/// Returns the exit code of an error whose type this program defines. Returns `None` for other
/// types.
fn own(cause: &(dyn Error + 'static)) -> Option<Exit> {
    match () {
        () if cause.is::<BadRequest>() || cause.is::<OutputError>() => Some(BadInput),
        () if cause.is::<Finding>() => Some(Negative),
        () => None,
    }
}

/// Returns the exit code of errors of a kind. Returns `None` for kinds without an exit code, such
/// as [`ErrorKind::Other`].
fn of_kind(kind: ErrorKind) -> Option<Exit> {
    match kind {
        ErrorKind::BadInput => Some(BadInput),
        ErrorKind::Finding => Some(Negative),
        ErrorKind::Stopped => Some(Stopped),
        ErrorKind::Io | ErrorKind::Device | ErrorKind::Resources | ErrorKind::Unsound => {
            Some(Failed)
        }
        _ => None,
    }
}

/// Returns the kind of an error of one of the project's crates. Returns `None` for types that are
/// not listed in this function.
fn kind(cause: &(dyn Error + 'static)) -> Option<ErrorKind> {
    macro_rules! first_of {
        ($($error:ty),+ $(,)?) => {
            None$(.or_else(|| cause.downcast_ref().map(<$error>::kind)))+
        };
    }
    first_of![
        BatchError,
        BenchError,
        CheckpointError,
        CollatzError,
        DeviceError,
        EngineError,
        ExponentError,
        NumberError,
        FactorError,
        FileError,
        FolderError,
        GfnFftError,
        HugeError,
        IntegerError,
        KeysError,
        LayoutError,
        LockError,
        MakeError,
        Spectra50Error,
        NttError,
        OpenError,
        PlanError,
        PlanRefusal,
        PrimeFftError,
        ProofError,
        ProofFileError,
        ProofFormatError,
        ResidueError,
        ResidueFileError,
        ResultsError,
        RunError,
        SelectionError,
        SmallPrimesError,
        StartFileError,
        StoredError,
        TestError,
        TestKeysError,
        TuningError,
        UnitError,
        WorkFileError,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};
    use warpint::mersenne::Exponent;

    #[test]
    fn a_bad_request_is_told_from_a_failure() {
        let no_length = PlanError::NoLength { engine: "fp64", number: 7u32.into() };
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
            (anyhow!(TestError::Constants { iteration: 7 }), Failed),
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
                anyhow!(SmallPrimesError::Ntt(Spectra50Error::Device(device))),
            ] {
                assert_eq!(of(&error), expected, "{error:?}");
            }
        }
    }
}
