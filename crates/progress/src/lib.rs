//! How long work is asked to stop, and how it tells what is done.
//!
//! A [`StopToken`] is shared between whoever asks and the work. Work that counts what it does reports
//! to a [`Watch`]; a token is one that hears nothing and stops the work when asked. [`units`] has the
//! words for lengths, times and amounts of memory.

pub mod units;

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, shared between whoever asks and the work. Clones are the same request.
#[derive(Debug, Clone, Default)]
pub struct StopToken(Arc<AtomicBool>);

impl StopToken {
    /// A token nobody has asked to stop yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to save what it has and return.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Who watches work that can be counted, or that has named steps.
pub trait Watch: Sync {
    /// Whether the work shall end early.
    fn is_stopped(&self) -> bool;

    /// `amount` more of the work is done, in the unit that the work names: numbers, steps, products.
    fn done(&self, amount: u128) {
        let _ = amount;
    }

    /// Step number `done` of `total`, counted from 0, begins; `what` says what it does.
    fn step(&self, done: u64, total: u64, what: &dyn Display) {
        let _ = (done, total, what);
    }
}

/// Nobody watches; the work is never stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn is_stopped(&self) -> bool {
        false
    }
}

impl Watch for StopToken {
    fn is_stopped(&self) -> bool {
        self.is_stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_token_are_one_request() {
        let (token, other) = (StopToken::new(), StopToken::new());
        let clone = token.clone();
        assert!(!Watch::is_stopped(&clone));
        token.stop();
        assert!(Watch::is_stopped(&clone) && !other.is_stopped() && !Unwatched.is_stopped());
    }
}
