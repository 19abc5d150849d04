//! The Python exceptions for the errors of the library.

use pyo3::create_exception;
use pyo3::exceptions::{
    PyMemoryError, PyOverflowError, PyRuntimeError, PyValueError, PyZeroDivisionError,
};
use pyo3::prelude::*;
use warpint::device;
use warpint::integer::IntegerError;

create_exception!(
    warpint,
    DeviceError,
    PyRuntimeError,
    "A GPU, its driver or its run-time compiler is missing or has failed."
);

/// Returns the exception for an error of an operation on batches.
pub(crate) fn exception(error: IntegerError) -> PyErr {
    use IntegerError as E;
    let text = error.to_string();
    match error {
        E::Device(error) => device_exception(&error),
        E::Memory { .. } => PyMemoryError::new_err(text),
        E::Overflow { .. } | E::TooWide { .. } | E::TooLong { .. } => {
            PyOverflowError::new_err(text)
        }
        E::ZeroModulus { .. } | E::ZeroDivisor => PyZeroDivisionError::new_err(text),
        E::Threads { .. } => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns the exception for an error of a device.
pub(crate) fn device_exception(error: &device::DeviceError) -> PyErr {
    let text = error.to_string();
    match error {
        device::DeviceError::OutOfMemory { .. } => PyMemoryError::new_err(text),
        _ => DeviceError::new_err(text),
    }
}
