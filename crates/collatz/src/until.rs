//! A watch for tests.

use std::sync::Mutex;

use crate::Watch;

/// A watch that counts the numbers reported as done, and stops the work when this count reaches a
/// given limit.
pub(crate) struct Until {
    most: u128,
    seen: Mutex<u128>,
}

impl Until {
    pub(crate) fn new(most: u128) -> Self {
        Self { most, seen: Mutex::default() }
    }

    pub(crate) fn seen(&self) -> u128 {
        *self.seen.lock().unwrap()
    }
}

impl Watch for Until {
    fn is_stopped(&self) -> bool {
        self.seen() >= self.most
    }

    fn done(&self, numbers: u128) {
        *self.seen.lock().unwrap() += numbers;
    }
}
