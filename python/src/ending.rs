//! The end of Python while threads compute.
//!
//! Daemon threads may be in a native function when the interpreter ends. A thread that asks for
//! Python's lock after that is ended by an unwinding of its stack, which native code does not
//! survive. So no thread asks for the lock any more once [`end`] has been called.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use warpint::progress::StopToken;

/// The longest time for which the end waits for callables of Python, and for jobs to save their work.
const PATIENCE: Duration = Duration::from_secs(10);

static ENDING: AtomicBool = AtomicBool::new(false);
/// The thread that has called [`end`], which may go on.
static LAST: OnceLock<ThreadId> = OnceLock::new();
/// How many threads ask for the lock, or have it and will return to native code.
static ASKING: AtomicUsize = AtomicUsize::new(0);
/// The stop tokens of the running jobs.
static JOBS: Mutex<BTreeMap<u64, StopToken>> = Mutex::new(BTreeMap::new());

fn jobs() -> MutexGuard<'static, BTreeMap<u64, StopToken>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether Python ends, so that this thread must not ask for its lock.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst) && LAST.get() != Some(&thread::current().id())
}

/// A thread that asks for Python's lock, until this is dropped.
#[must_use]
pub(crate) struct Asking(());

impl Asking {
    /// To be called before the lock is taken. Never returns once Python ends, except in the thread
    /// that ends it.
    pub(crate) fn new() -> Self {
        ASKING.fetch_add(1, Ordering::SeqCst);
        if is_ending() {
            ASKING.fetch_sub(1, Ordering::SeqCst);
            loop {
                thread::park();
            }
        }
        Self(())
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        ASKING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A running job, which is stopped when Python ends. The job has ended when this is dropped.
pub(crate) struct Job(u64);

impl Job {
    pub(crate) fn new(stop: &StopToken) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        jobs().insert(number, stop.clone());
        Self(number)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        jobs().remove(&self.0);
    }
}

/// Called by `atexit`: stops the jobs of daemon threads, which save their work, and lets no other
/// thread take Python's lock any more.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) {
    let _ = LAST.set(thread::current().id());
    ENDING.store(true, Ordering::SeqCst);
    jobs().values().for_each(StopToken::stop);
    py.detach(|| {
        let begin = Instant::now();
        while (ASKING.load(Ordering::SeqCst) > 0 || !jobs().is_empty())
            && begin.elapsed() < PATIENCE
        {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
