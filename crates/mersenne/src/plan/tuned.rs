//! Times of squarings in the store that this machine's programs share.

use std::cell::RefCell;
use std::time::Duration;

use warpint_device::{Tuning, TuningError, TuningKey, TuningStore, Warned, device_model};

use super::{Plan, StoredTime, StoredTimes, TimingKey};
use crate::engine::known;

/// The times that `warpint tune` has stored for each device model, driver and version of this
/// program. If no time is stored for a key, the times shipped with the program are used
/// ([`known`]).
#[derive(Debug)]
pub struct TunedTimes {
    store: Option<TuningStore>,
    /// The warnings since the last call of [`TunedTimes::take_warnings`].
    warnings: RefCell<Vec<String>>,
}

impl TunedTimes {
    /// Opens the stored times of this user. A user without a home directory has no stored times.
    #[must_use]
    pub fn open() -> Self {
        Self::of(TuningStore::open().ok())
    }

    /// Creates the value from a store of times; `None` means that there is no store.
    #[must_use]
    pub fn of(store: Option<TuningStore>) -> Self {
        Self { store, warnings: RefCell::default() }
    }

    /// Checks whether times can be stored. Creates the folder if it is missing.
    ///
    /// # Errors
    /// Returns an error if there is no store or it cannot be written.
    pub fn check(&self) -> Result<(), TuningError> {
        self.store.as_ref().ok_or(TuningError::NoFolder)?.check()
    }

    /// Stores the variant of a plan as the fastest one at the plan's length, and its time per
    /// squaring. Stores nothing if this process has not opened the plan's device.
    ///
    /// # Errors
    /// Returns an error if there is no store or it cannot be written.
    pub fn put(&self, plan: &Plan, time: Duration) -> Result<(), TuningError> {
        let store = self.store.as_ref().ok_or(TuningError::NoFolder)?;
        let tuning = Tuning { choice: plan.variant(), microseconds: time.as_secs_f64() * 1e6 };
        if let Some(key) = key(&plan.timing_key()) {
            self.note(store.put(&key, &tuning)?);
        }
        Ok(())
    }

    /// Returns the warnings since the last call, each in one line of text, and clears them.
    pub fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    fn measured_here(&self, key: &TuningKey) -> Option<StoredTime> {
        let found = self.store.as_ref()?.get(key);
        // The store only affects speed: without it, a plan is measured.
        let tuning = self.note(found.ok()?)?;
        let time = Duration::try_from_secs_f64(tuning.microseconds * 1e-6).ok()?;
        Some(StoredTime { variant: tuning.choice, time })
    }

    fn note<T>(&self, answer: Warned<T>) -> T {
        self.warnings.borrow_mut().extend(answer.warning);
        answer.value
    }
}

impl StoredTimes for TunedTimes {
    fn get(&self, of: &TimingKey) -> Option<StoredTime> {
        let key = key(of)?;
        self.measured_here(&key).or_else(|| shipped(&key.device, of))
    }
}

/// Returns the time of a squaring from the tables that are part of this program. `product` is the
/// device model, and `of` the timing key. Returns `None` if the tables have no such time.
fn shipped(product: &str, of: &TimingKey) -> Option<StoredTime> {
    let way = known::on(product, of.engine, of.length)?;
    Some(StoredTime { variant: way.variant.clone(), time: way.time })
}

/// Converts the timing key `of` to a key of the store. Returns `None` for a device that this
/// process has not opened, because its model is not known.
fn key(of: &TimingKey) -> Option<TuningKey> {
    let (device, driver) = device_model(of.place)?;
    let program = env!("CARGO_PKG_VERSION").into();
    Some(TuningKey { device, driver, program, subject: of.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exponent, PlanRequest};
    use warpint_device::DeviceChoice;

    fn plan(threads: usize) -> Plan {
        let request = PlanRequest {
            device: DeviceChoice::Cpu,
            threads: Some(threads),
            ..PlanRequest::default()
        };
        Plan::new(Exponent::new(44_497).unwrap(), &request).unwrap()
    }

    #[test]
    fn a_time_comes_back_for_its_own_length_and_threads() {
        let dir = tempfile::tempdir().unwrap();
        let times = TunedTimes::of(Some(TuningStore::at(dir.path())));
        let (one, two) = (plan(1), plan(2));
        assert_eq!(times.get(&one.timing_key()), None);
        let time = Duration::from_micros(120);
        times.put(&one, time).unwrap();
        let stored = times.get(&one.timing_key()).unwrap();
        assert_eq!(stored.variant, one.variant());
        assert!(stored.time.abs_diff(time) < Duration::from_nanos(10), "{stored:?}");
        assert_eq!(times.get(&two.timing_key()), None);
        assert_eq!(times.get(&one.longer().unwrap().timing_key()), None);
        assert!(times.take_warnings().is_empty());
    }

    #[test]
    fn a_product_that_was_measured_has_times_from_the_start() {
        let key = |engine, length| TimingKey { engine, place: "cuda:0", length, threads: None };
        let found = shipped("NVIDIA H200", &key("fp64", 1 << 22)).unwrap();
        assert!(found.variant.contains('x') && found.time > Duration::from_micros(20), "{found:?}");
        assert_eq!(shipped("NVIDIA H200", &key("fp64", (1 << 22) + 2)), None);
        assert_eq!(shipped("NVIDIA T4", &key("fp64", 1 << 22)), None);
    }

    #[test]
    fn a_damaged_store_is_told_of_and_no_store_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let store = TuningStore::at(dir.path());
        std::fs::write(store.path(), "{").unwrap();
        let times = TunedTimes::of(Some(store));
        assert_eq!(times.get(&plan(1).timing_key()), None);
        assert_eq!(times.take_warnings().len(), 1);

        let none = TunedTimes::of(None);
        assert_eq!(none.get(&plan(1).timing_key()), None);
        assert!(matches!(none.put(&plan(1), Duration::from_secs(1)), Err(TuningError::NoFolder)));
        assert!(matches!(none.check(), Err(TuningError::NoFolder)));
    }
}
