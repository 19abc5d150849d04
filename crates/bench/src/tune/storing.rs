//! Storage of tuned values, which ends at the first failure.

use warpint_device::TuningError;

/// Whether the results of tuning can be stored. This is first tested before anything is measured.
///
/// When storing fails for the first time, nothing more is stored. The measurement goes on, and its
/// results are still returned.
#[derive(Debug)]
pub struct Storing {
    failure: Option<TuningError>,
}

impl Storing {
    /// Creates the state from `trial`, the outcome of a test whether results can be stored.
    #[must_use]
    pub fn new(trial: Result<(), TuningError>) -> Self {
        Self { failure: trial.err() }
    }

    /// Returns the error that ended storage. Returns `None` if results are stored.
    #[must_use]
    pub fn failure(&self) -> Option<&TuningError> {
        self.failure.as_ref()
    }

    /// Calls `put` to store a result, unless storing failed before. Returns the value of `put`, or
    /// `None` if the result was not stored.
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
