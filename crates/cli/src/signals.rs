//! Ctrl-C, SIGTERM and SIGHUP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use warpint::mersenne::StopToken;

use crate::exit::Exit;

/// A request so soon after the first is the same one: `timeout`, for one, tells a process and then
/// its whole group.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// What a request to stop does: at first it ends the program at once, for
/// there is nothing to lose; once [`Signals::save_first`] was called, the first
/// request asks the test to save and return, and only a second one, half a second
/// later or more, ends the program at once. Either way the exit code is that of
/// [`Exit::Stopped`].
pub(crate) struct Signals {
    stop: StopToken,
    saves: Arc<AtomicBool>,
}

impl Signals {
    /// Puts the handler in place; once a process.
    pub(crate) fn install() -> anyhow::Result<Self> {
        let signals = Self { stop: StopToken::new(), saves: Arc::default() };
        let (stop, saves) = (signals.stop.clone(), Arc::clone(&signals.saves));
        let mut first: Option<Instant> = None;
        ctrlc::set_handler(move || {
            let again = first.is_some_and(|first| first.elapsed() >= ONE_REQUEST);
            if !saves.load(Ordering::SeqCst) || again {
                std::process::exit(i32::from(Exit::Stopped.code()));
            }
            first.get_or_insert_with(Instant::now);
            stop.stop();
        })?;
        Ok(signals)
    }

    /// From now on, until [`Self::save_first`], a request ends the program at
    /// once. What was asked for before stays asked for.
    pub(crate) fn leave_at_once(&self) -> &StopToken {
        self.saves.store(false, Ordering::SeqCst);
        &self.stop
    }

    /// From now on the first request only sets the token.
    pub(crate) fn save_first(&self) -> &StopToken {
        self.saves.store(true, Ordering::SeqCst);
        &self.stop
    }
}
