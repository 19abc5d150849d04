//! Runs work of the library without holding Python's lock, and turns panics into exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use warpint::integer::IntegerError;

use crate::ending::{Busy, before_lock};
use crate::error::exception;

/// The place of the last panic, `file:line`.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// The process that has first called [`work`]; 0 before the first call.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn place() -> MutexGuard<'static, Option<String>> {
    PLACE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes panics silent: the exception has the message and the place.
pub(crate) fn silence_panics() {
    set_hook(Box::new(|info| *place() = info.location().map(ToString::to_string)));
}

/// Runs `job` without holding Python's lock, so that other threads of Python run meanwhile.
///
/// # Errors
/// The exception for the error of `job`; `RuntimeError` if `job` panics, or if this process is a
/// fork of one that has already computed, because threads and devices do not survive a fork.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    job: impl FnOnce() -> Result<T, IntegerError> + Send,
) -> PyResult<T> {
    let process = std::process::id();
    let first = PROCESS.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    if first.is_err_and(|first| first != process) {
        return Err(PyRuntimeError::new_err(
            "warpint was used before this process was forked, and its threads do not survive a \
             fork: use the start method 'spawn' or 'forkserver' of multiprocessing",
        ));
    }
    let (done, busy) = py.detach(|| {
        let busy = Busy::new();
        let done = catch_unwind(AssertUnwindSafe(job));
        before_lock();
        (done, busy)
    });
    drop(busy);
    match done {
        Ok(done) => done.map_err(exception),
        Err(payload) => Err(panicked(&*payload)),
    }
}

/// Returns the exception for a panic.
fn panicked(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    let place = place().take().unwrap_or_else(|| "an unknown place".into());
    PyRuntimeError::new_err(format!(
        "internal error of warpint: {text} ({place}); please report it at \
         https://github.com/warpint/warpint/issues"
    ))
}
