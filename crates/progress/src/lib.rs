//! Stop requests and progress reports for long-running work.
//!
//! A [`StopToken`] is shared between the work and code that may stop it. Work that can be counted
//! reports to a [`Watch`]; a token is a watch that ignores progress and stops the work on request.
//! [`units`] formats lengths, times and amounts of memory.

pub mod units;

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, shared between the work and code that may stop it. All clones of a token
/// share one request.
#[derive(Debug, Clone, Default)]
pub struct StopToken(Arc<AtomicBool>);

impl StopToken {
    /// Creates a token without a request to stop.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests a stop: the work is to save its state and return.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// An observer of work that can be counted, or that has named steps.
pub trait Watch: Sync {
    /// Returns whether the work should end early.
    fn is_stopped(&self) -> bool;

    /// Reports that `amount` more of the work is done, in the unit that the work names: numbers,
    /// steps, products.
    fn done(&self, amount: u128) {
        let _ = amount;
    }

    /// Reports that step `done` of `total`, counted from 0, begins; `what` describes the step.
    fn step(&self, done: u64, total: u64, what: &dyn Display) {
        let _ = (done, total, what);
    }
}

/// A watch that ignores all reports and never stops the work.
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
