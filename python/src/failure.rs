//! The Python exceptions for the errors of jobs: tests, verifications, audits.

use std::error::Error;
use std::io;

use pyo3::exceptions::{
    PyBlockingIOError, PyFileExistsError, PyFileNotFoundError, PyMemoryError, PyNotADirectoryError,
    PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use warpint::ErrorKind;
use warpint::collatz::CollatzError;
use warpint::collatz::open::OpenError;
use warpint::collatz::runs::{FolderError, LayoutError, SelectionError};
use warpint::device::DeviceError;
use warpint::integer::IntegerError;
use warpint::integer::huge::device::HugeError;
use warpint::keys::KeysError;
use warpint::mersenne::checkpoint::CheckpointError;
use warpint::mersenne::{ExponentError, FactorError, NumberError};
use warpint::runner::{RunError, one_line};
use warpint::transform::gpu::ntt::NttError;

use crate::error::{device_exception, exception};

/// An error of a job, with its kind.
pub(crate) struct Failure {
    kind: ErrorKind,
    error: Box<dyn Error + Send + Sync>,
}

macro_rules! failures {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self { kind: error.kind(), error: Box::new(error) }
            }
        }
    )+};
}

failures![
    CollatzError,
    DeviceError,
    ExponentError,
    FactorError,
    FolderError,
    HugeError,
    IntegerError,
    KeysError,
    LayoutError,
    NttError,
    NumberError,
    OpenError,
    RunError,
    SelectionError,
];

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { kind: ErrorKind::from(&error), error: Box::new(error) }
    }
}

impl Failure {
    /// Creates the failure of a request that is not valid.
    pub(crate) fn request(text: impl Into<String>) -> Self {
        Self { kind: ErrorKind::BadInput, error: text.into().into() }
    }

    /// Creates the failure of work that was stopped on request.
    pub(crate) fn stopped() -> Self {
        Self { kind: ErrorKind::Stopped, error: "the work was stopped".into() }
    }

    /// Creates the failure of work for which the host has too little memory.
    pub(crate) fn memory(text: String) -> Self {
        Self { kind: ErrorKind::Resources, error: text.into() }
    }

    /// Returns whether the work was stopped on request.
    pub(crate) fn is_stop(&self) -> bool {
        self.kind == ErrorKind::Stopped
    }

    /// Returns the exception. Errors of devices, files and locks among the causes choose its type;
    /// otherwise the kind of the error does.
    pub(crate) fn exception(self) -> PyErr {
        let error = match self.error.downcast::<IntegerError>() {
            Ok(error) => return exception(*error),
            Err(error) => error,
        };
        let text = one_line(&*error);
        let mut next: Option<&(dyn Error + 'static)> = Some(&*error);
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref::<DeviceError>() {
                return device_exception(error);
            }
            if let Some(RunError::Checkpoint(CheckpointError::Locked { .. })) = error.downcast_ref()
            {
                return PyBlockingIOError::new_err(text);
            }
            if let Some(error) = error.downcast_ref::<io::Error>() {
                return of_file(error, text);
            }
            next = error.source();
        }
        match self.kind {
            ErrorKind::BadInput => PyValueError::new_err(text),
            ErrorKind::Io => PyOSError::new_err(text),
            ErrorKind::Device => crate::error::DeviceError::new_err(text),
            ErrorKind::Resources => PyMemoryError::new_err(text),
            _ => PyRuntimeError::new_err(text),
        }
    }
}

/// Returns the exception for an error of the operating system.
fn of_file(error: &io::Error, text: String) -> PyErr {
    match error.kind() {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
        io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
        io::ErrorKind::NotADirectory => PyNotADirectoryError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}
