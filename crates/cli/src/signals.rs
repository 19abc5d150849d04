//! Requests to stop by Ctrl-C (SIGINT), SIGTERM or SIGHUP, and the end of the process after them.

use std::io::Write;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use warpint::mersenne::StopToken;

use crate::exit::Exit;

/// The time after a signal during which another signal counts as part of the same request. The
/// command `timeout`, for example, sends a signal to a process and then to its whole process group.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// The number of the first signal that requested a stop; 0 if there was none.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// The handler of requests to stop. At first a request ends the program at once, because nothing
/// needs saving. After [`Signals::save_first`] the first request only sets the stop token, so that
/// the command saves its work and returns. A second request at least half a second later ends the
/// program at once.
///
/// The process finally ends by the signal itself, as if the process had not caught it. The
/// exception is a command that ends with an error or a negative finding ([`end_as_asked`]). A shell
/// that runs the program in a loop notices the signal and ends the loop, see
/// <https://www.cons.org/cracauer/sigint.html>. On systems without signals (Windows), the process
/// ends with the exit code of [`Exit::Stopped`].
#[derive(Clone)]
pub(crate) struct Signals {
    stop: StopToken,
    saves: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handler. It must be called only once per process.
    pub(crate) fn install() -> anyhow::Result<Self> {
        let signals = Self { stop: StopToken::new(), saves: Arc::default() };
        let (stop, saves) = (signals.stop.clone(), Arc::clone(&signals.saves));
        let mut first: Option<Instant> = None;
        platform::on_request(move |signal| {
            let again = first.is_some_and(|first| first.elapsed() >= ONE_REQUEST);
            if !saves.load(Ordering::SeqCst) || again {
                platform::end_by(signal);
            }
            first.get_or_insert_with(Instant::now);
            // The signal is stored before the token is set, so that whoever sees the token set
            // finds the signal.
            let _ = FIRST.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
            stop.stop();
        })?;
        Ok(signals)
    }

    /// Returns the token that a request to stop sets if it does not end the program at once.
    pub(crate) fn token(&self) -> &StopToken {
        &self.stop
    }

    /// From now on, until [`Self::save_first`] is called, a request to stop ends the program at
    /// once. A token that an earlier request has set remains set. Returns the token.
    pub(crate) fn leave_at_once(&self) -> &StopToken {
        self.saves.store(false, Ordering::SeqCst);
        &self.stop
    }

    /// From now on, the first request to stop does no more than set the token. Returns the token.
    pub(crate) fn save_first(&self) -> &StopToken {
        self.saves.store(true, Ordering::SeqCst);
        &self.stop
    }
}

/// Ends the process by the signal that requested a stop. If no signal requested a stop, the
/// function returns. `main` calls it last, when all files are closed.
///
/// If the work was completed in spite of the request ([`Exit::Done`]), the process still ends by
/// the signal, so that a shell's loop around the program ends too. After a negative finding, an
/// error or bad input, the function returns, so that the exit code is kept.
pub(crate) fn end_as_asked(exit: Exit) {
    let signal = FIRST.load(Ordering::SeqCst);
    if signal != 0 && matches!(exit, Exit::Done | Exit::Stopped) {
        // No code of the standard library that would flush runs after this.
        let _ = std::io::stdout().flush();
        platform::end_by(signal);
    }
}

/// Returns the first signal that requested this process to stop. Returns `None` if there was none.
#[cfg(unix)]
pub(crate) fn asked_by() -> Option<rustix::process::Signal> {
    rustix::process::Signal::from_named_raw(FIRST.load(Ordering::SeqCst))
}

/// Returns whether a process was ended by SIGINT, SIGTERM or SIGHUP; always false on systems
/// without signals.
pub(crate) fn is_request(status: ExitStatus) -> bool {
    platform::is_request(status)
}

#[cfg(unix)]
mod platform {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::thread;

    use anyhow::Context;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::exit::Exit;

    const REQUESTS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

    pub(super) fn is_request(status: ExitStatus) -> bool {
        status.signal().is_some_and(|signal| REQUESTS.contains(&signal))
    }

    /// Starts a thread that calls `act` with the number of each signal that requests a stop.
    pub(super) fn on_request(mut act: impl FnMut(i32) + Send + 'static) -> anyhow::Result<()> {
        let mut signals =
            Signals::new(REQUESTS).context("cannot put the signal handler in place")?;
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || signals.forever().for_each(&mut act))
            .context("cannot start the thread that waits for signals")?;
        Ok(())
    }

    /// Restores the default action of a signal, which ends the process, and raises the signal.
    ///
    /// The default action does not end the first process of a container. This process exits with the
    /// code by which shells describe the signal.
    pub(super) fn end_by(signal: i32) -> ! {
        if std::process::id() == 1 {
            std::process::exit(128 + signal);
        }
        let _ = emulate_default_handler(signal);
        // Not reached: the system knows all three.
        std::process::exit(i32::from(Exit::Stopped.code()));
    }
}

#[cfg(not(unix))]
mod platform {
    use std::process::ExitStatus;

    use crate::exit::Exit;

    pub(super) fn is_request(_: ExitStatus) -> bool {
        false
    }

    /// Installs a handler of Ctrl-C, which calls `act` in a thread of its own. The argument of
    /// `act` is 0, because there are no signal numbers on this system.
    pub(super) fn on_request(mut act: impl FnMut(i32) + Send + 'static) -> anyhow::Result<()> {
        // No signal: the process ends by its exit code.
        Ok(ctrlc::set_handler(move || act(0))?)
    }

    pub(super) fn end_by(_: i32) -> ! {
        std::process::exit(i32::from(Exit::Stopped.code()));
    }
}
