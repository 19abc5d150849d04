//! The end of Python while threads compute.
//!
//! Daemon threads may be in a native function when the interpreter ends. A thread that asks for
//! Python's lock after that is ended by an unwinding of its stack, which native code does not
//! survive, and the GPU driver does not survive calls while the process exits. So once [`end`] has
//! been called, threads finish what they do and then stop for ever.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use warpint::progress::StopToken;

/// The longest time for which the end waits for native functions that are no jobs. Later it goes on
/// although they compute, which only those on the CPU survive.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest time until Ctrl-C is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

static ENDING: AtomicBool = AtomicBool::new(false);
/// The thread that has called [`end`], which may go on.
static LAST: OnceLock<ThreadId> = OnceLock::new();
/// How many threads are in native functions, without those that have stopped for ever.
static BUSY: AtomicUsize = AtomicUsize::new(0);
/// The stop tokens of the running jobs.
static JOBS: Mutex<BTreeMap<u64, StopToken>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// How many native functions this thread is in. Callables of Python call others.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

fn jobs() -> MutexGuard<'static, BTreeMap<u64, StopToken>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether Python ends, so that this thread must not ask for its lock.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst) && LAST.get() != Some(&thread::current().id())
}

/// A native function that this thread executes, from before it has given Python's lock away until
/// after it has taken the lock again.
#[must_use]
pub(crate) struct Busy(());

impl Busy {
    /// To be called without Python's lock. Never returns once Python ends.
    pub(crate) fn new() -> Self {
        DEPTH.with(|depth| {
            if depth.get() == 0 {
                BUSY.fetch_add(1, Ordering::SeqCst);
            }
            depth.set(depth.get() + 1);
        });
        before_lock();
        Self(())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        DEPTH.with(|depth| {
            depth.set(depth.get() - 1);
            if depth.get() == 0 {
                BUSY.fetch_sub(1, Ordering::SeqCst);
            }
        });
    }
}

/// To be called in a native function before Python's lock is taken. Never returns once Python ends,
/// except in the thread that ends it.
pub(crate) fn before_lock() {
    if is_ending() {
        BUSY.fetch_sub(1, Ordering::SeqCst);
        loop {
            thread::park();
        }
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

/// Called by `atexit`: stops the jobs of daemon threads, which save their work, and waits until all
/// other threads have left native functions or have stopped for ever.
///
/// # Errors
/// The exception of a signal, such as `KeyboardInterrupt`, which ends the wait.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) -> PyResult<()> {
    let _ = LAST.set(thread::current().id());
    ENDING.store(true, Ordering::SeqCst);
    let begin = Instant::now();
    let is_over =
        || jobs().is_empty() && (BUSY.load(Ordering::SeqCst) == 0 || begin.elapsed() >= PATIENCE);
    while !is_over() {
        py.check_signals()?;
        // A job may have begun meanwhile.
        jobs().values().for_each(StopToken::stop);
        py.detach(|| {
            let look = Instant::now();
            while !is_over() && look.elapsed() < LOOK_EVERY {
                thread::sleep(Duration::from_millis(1));
            }
        });
    }
    Ok(())
}
