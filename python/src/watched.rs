//! Runs a long job in a thread of its own. The calling thread of Python meanwhile reports progress
//! and notices Ctrl-C.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use warpint::integer::IntegerError;
use warpint::progress::{StopToken, Watch};

use crate::ending::{Job, before_lock};
use crate::failure::Failure;
use crate::work::work;

/// The longest time until Ctrl-C is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The shortest time between two reports of a [`Counter`].
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The stack of the thread of a job, as large as that of a main thread.
const STACK: usize = 8 << 20;

/// What a job reports to the observer, a callable of Python.
pub(crate) enum News {
    /// So much of the work is done: `observer("progress", done, total, seconds_of_one)`. The time is
    /// 0 if the observer is to measure it.
    Progress { done: u128, total: u128, each: f64 },
    /// A line for the user: `observer("note", line)`.
    Note(String),
    /// A line about trouble: `observer("warning", line)`.
    Warning(String),
    /// The job has ended.
    End,
}

impl News {
    fn deliver(self, py: Python<'_>, observer: &Py<PyAny>) -> PyResult<()> {
        match self {
            Self::Progress { done, total, each } => {
                observer.call1(py, ("progress", done, total, each))?
            }
            Self::Note(line) => observer.call1(py, ("note", line))?,
            Self::Warning(line) => observer.call1(py, ("warning", line))?,
            Self::End => return Ok(()),
        };
        Ok(())
    }
}

/// Reports the end of the job, also when it panics.
struct Ends(Sender<News>);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.send(News::End);
    }
}

/// Runs `job` without holding Python's lock, and returns its result. The observer is called in the
/// calling thread.
///
/// If Python's handler of a signal raises an exception, such as `KeyboardInterrupt`, or the observer
/// does, the token is set. When the job has then saved its work and ended, the exception is raised;
/// its cause is the error of the job, if the job could not save its work. Further signals are ignored
/// in the meantime.
///
/// # Errors
/// The exception of the job, of a signal or of the observer.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    observer: &Bound<'_, PyAny>,
    job: impl FnOnce(&StopToken, Sender<News>) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let observer = observer.clone().unbind();
    let (result, raised) = work(py, || follow(&observer, job))?;
    match (result, raised) {
        (result, None) => result.map_err(|failure| failure.exception()),
        (Err(failure), Some(raised)) if !failure.is_stop() => {
            raised.set_cause(py, Some(failure.exception()));
            Err(raised)
        }
        (_, Some(raised)) => Err(raised),
    }
}

/// The result of a job, and the exception that stopped it.
type Followed<T> = (Result<T, Failure>, Option<PyErr>);

fn follow<T: Send>(
    observer: &Py<PyAny>,
    job: impl FnOnce(&StopToken, Sender<News>) -> Result<T, Failure> + Send,
) -> Result<Followed<T>, IntegerError> {
    let stop = StopToken::new();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let (token, running) = (stop.clone(), Job::new(&stop));
        let run = move || {
            let _running = running;
            let ends = Ends(sender.clone());
            let result = job(&token, sender);
            drop(ends);
            result
        };
        let thread = thread::Builder::new().name("warpint job".into()).stack_size(STACK);
        let no_thread = |source: std::io::Error| IntegerError::Threads {
            threads: 1,
            reason: source.to_string(),
        };
        let thread = thread.spawn_scoped(scope, run).map_err(no_thread)?;
        let mut raised = None;
        loop {
            let news = match receiver.recv_timeout(LOOK_EVERY) {
                Ok(News::End) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(news) => Some(news),
                Err(RecvTimeoutError::Timeout) => None,
            };
            before_lock();
            let seen = Python::attach(|py| {
                py.check_signals()?;
                news.map_or(Ok(()), |news| news.deliver(py, observer))
            });
            if let Err(error) = seen
                && raised.is_none()
            {
                raised = Some(error);
                stop.stop();
            }
        }
        let result = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok((result, raised))
    })
}

/// A watch that reports how much of a job is done.
pub(crate) struct Counter {
    stop: StopToken,
    news: Sender<News>,
    total: u128,
    done: Mutex<(u128, Option<Instant>)>,
}

impl Counter {
    pub(crate) fn new(stop: &StopToken, news: Sender<News>, total: u128) -> Self {
        Self { stop: stop.clone(), news, total, done: Mutex::new((0, None)) }
    }
}

impl Watch for Counter {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn done(&self, amount: u128) {
        let mut state = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let before = state.0;
        state.0 += amount;
        let completes = before < self.total && state.0 >= self.total;
        if completes || state.1.is_none_or(|last| last.elapsed() >= REPORT_EVERY) {
            state.1 = Some(Instant::now());
            let done = state.0.min(self.total);
            let _ = self.news.send(News::Progress { done, total: self.total, each: 0.0 });
        }
    }
}
