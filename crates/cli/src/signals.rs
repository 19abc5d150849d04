//! Requests to stop: Ctrl-C, SIGTERM and SIGHUP, and the resulting end of the process.

use std::io::Write;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use warpint::mersenne::StopToken;

use crate::exit::Exit;

/// The time after a signal within which a second one belongs to the same request: `timeout`, for
/// example, signals a process and then its whole group.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// The number of the first signal that this process received; 0 before any.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// The handler of requests to stop. At first a request ends the program at once, because nothing
/// needs saving. After [`Signals::save_first`] the first request asks the command to save and
/// return; a second one, at least half a second later, ends the program at once.
///
/// In both cases the process is ended by the signal itself ([`end_as_asked`]), as if it had not
/// caught it: a shell that runs a loop notices that, and ends the loop too. See
/// <https://www.cons.org/cracauer/sigint.html>. On systems without signals (Windows), the exit code
/// is that of [`Exit::Stopped`].
#[derive(Clone)]
pub(crate) struct Signals {
    stop: StopToken,
    saves: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handler; called once per process.
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
            // Before the token, so that whoever sees the token finds the signal.
            let _ = FIRST.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
            stop.stop();
        })?;
        Ok(signals)
    }

    /// Returns the token that a request sets, if it does not end the program.
    pub(crate) fn token(&self) -> &StopToken {
        &self.stop
    }

    /// Lets requests from now on, until [`Self::save_first`], end the program at once; returns the
    /// token. Earlier requests stay in effect.
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

/// Ends the process by the signal that requested the stop, if any. This is the last call of `main`,
/// when all files are closed.
///
/// Work that was completed in spite of the request ([`Exit::Done`]) ends in the same way, because
/// the request also applies to a loop around the program. A finding, an error or bad input keeps
/// its exit code.
pub(crate) fn end_as_asked(exit: Exit) {
    let signal = FIRST.load(Ordering::SeqCst);
    if signal != 0 && matches!(exit, Exit::Done | Exit::Stopped) {
        // No code of the standard library that would flush runs after this.
        let _ = std::io::stdout().flush();
        platform::end_by(signal);
    }
}

/// Returns the signal that asked this process to stop, if any.
#[cfg(unix)]
pub(crate) fn asked_by() -> Option<rustix::process::Signal> {
    rustix::process::Signal::from_named_raw(FIRST.load(Ordering::SeqCst))
}

/// Returns whether a process was ended by a signal that requests a stop.
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

    /// Calls `act` with the number of each signal, in its own thread.
    pub(super) fn on_request(mut act: impl FnMut(i32) + Send + 'static) -> anyhow::Result<()> {
        let mut signals =
            Signals::new(REQUESTS).context("cannot put the signal handler in place")?;
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || signals.forever().for_each(&mut act))
            .context("cannot start the thread that waits for signals")?;
        Ok(())
    }

    /// Restores the default action of a signal, which ends the process, and raises it.
    pub(super) fn end_by(signal: i32) -> ! {
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

    /// Calls `act` at each Ctrl-C, in its own thread.
    pub(super) fn on_request(mut act: impl FnMut(i32) + Send + 'static) -> anyhow::Result<()> {
        // No signal: the process ends by its exit code.
        Ok(ctrlc::set_handler(move || act(0))?)
    }

    pub(super) fn end_by(_: i32) -> ! {
        std::process::exit(i32::from(Exit::Stopped.code()));
    }
}
