//! Storage of tuned values, as long as it works.

use warpint_device::TuningError;

/// Whether results can be stored: tested before anything is measured, and valid until the first
/// failure.
///
/// A failure does not end a measurement: its results are in the rows in any case. Nothing is stored
/// after it.
#[derive(Debug)]
pub struct Storing {
    failure: Option<TuningError>,
}

impl Storing {
    /// Creates the state from the outcome of a test whether results can be stored.
    #[must_use]
    pub fn new(trial: Result<(), TuningError>) -> Self {
        Self { failure: trial.err() }
    }

    /// Returns why results are not stored; `None` as long as they are.
    #[must_use]
    pub fn failure(&self) -> Option<&TuningError> {
        self.failure.as_ref()
    }

    /// Stores a result by `put`, unless storing failed before; returns the value of `put` if it was
    /// stored.
    pub(super) fn put<T>(&mut self, put: impl FnOnce() -> Result<T, TuningError>) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        match put() {
            Ok(stored) => Some(stored),
            Err(e) => {
                self.failure = Some(e);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_stored_after_a_failure() {
        let mut storing = Storing::new(Ok(()));
        assert_eq!(storing.put(|| Ok(7)), Some(7));
        assert_eq!(storing.put(|| Err::<(), _>(TuningError::NoFolder)), None);
        assert!(matches!(storing.failure(), Some(TuningError::NoFolder)));
        assert_eq!(storing.put(|| Ok(())), None);
        let mut storing = Storing::new(Err(TuningError::NoFolder));
        assert!(storing.put(|| Ok(())).is_none() && storing.failure().is_some());
    }
}
