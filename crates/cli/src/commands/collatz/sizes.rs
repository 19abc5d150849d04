//! Sizes of tables: those that are asked for, and those that `warpint tune collatz` has stored.

use std::cell::RefCell;
use std::fmt::{self, Display};

use warpint::collatz::gpu::{DelayShape, DeviceTable};
use warpint::collatz::sieve::{Looking, Step};
use warpint::collatz::{CollatzError, Method};
use warpint::device::{Device, Tuning, TuningError, TuningKey, TuningStore, Warned};
use warpint::mersenne::engine::places::cpu_name;

use crate::args::Tuned;
use crate::report;

/// What can be chosen; where nothing is, the method chooses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    /// Steps that the sieve's vectors look ahead.
    pub(super) look: Option<Looking>,
    /// Of the sieve's walk.
    pub(super) step: Option<Step>,
    /// Of the table method.
    pub(super) table_bits: Option<u32>,
    /// Of delays on devices.
    pub(super) delays: Option<DelayShape>,
}

impl Sizes {
    /// These, and where they say nothing, others.
    pub(super) fn or(self, others: Self) -> Self {
        Self {
            look: self.look.or(others.look),
            step: self.step.or(others.step),
            table_bits: self.table_bits.or(others.table_bits),
            delays: self.delays.or(others.delays),
        }
    }
}

/// One size that is tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Step(Step),
    TableBits(u32),
    Delays(DelayShape),
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => write!(f, "step={}", step.bits()),
            Self::TableBits(bits) => write!(f, "d={bits}"),
            Self::Delays(shape) => f.write_str(&described(shape)),
        }
    }
}

impl From<Size> for Sizes {
    fn from(size: Size) -> Self {
        match size {
            Size::Step(step) => Self { step: Some(step), ..Self::default() },
            Size::TableBits(bits) => Self { table_bits: Some(bits), ..Self::default() },
            Size::Delays(shape) => Self { delays: Some(shape), ..Self::default() },
        }
    }
}

/// `d=14,t=15,threads=1024,blocks=1`
pub(super) fn described(shape: &DelayShape) -> String {
    let DelayShape { step_bits, small_bits, small_shared, threads, blocks, .. } = shape;
    let place = if *small_shared { "" } else { ",global" };
    format!("d={step_bits},t={small_bits}{place},threads={threads},blocks={blocks}")
}

/// What is worth measuring on a device, or on the CPU.
pub(super) fn candidates(what: Tuned, device: Option<&Device>) -> Vec<Size> {
    let shared = device.map(|device| device.info().shared_memory_per_block);
    match (what, shared) {
        (Tuned::Sieve, _) => (11..=13).filter_map(Step::new).map(Size::Step).collect(),
        (Tuned::Table, None) => (9..=14).map(Size::TableBits).collect(),
        (Tuned::Table, Some(shared)) => {
            let most = DeviceTable::most_table_bits(shared);
            (11.min(most)..=most).map(Size::TableBits).collect()
        }
        // The CPU's tables have one size.
        (Tuned::Delays, None) => vec![],
        (Tuned::Delays, Some(shared)) => {
            DelayShape::candidates(shared).into_iter().map(Size::Delays).collect()
        }
    }
}

/// What is tuned of a method.
pub(super) fn of_method(method: Method) -> Option<Tuned> {
    match method {
        Method::Plain => None,
        Method::Table => Some(Tuned::Table),
        Method::Sieve => Some(Tuned::Sieve),
    }
}

/// The sizes that were stored, by product, driver and version of this program.
#[derive(Debug)]
pub(super) struct TunedSizes {
    store: Option<TuningStore>,
    /// The lines told so far: devices of one product have the same.
    told: RefCell<Vec<String>>,
}

impl TunedSizes {
    /// Those of this user; none for a user without a home.
    pub(super) fn open() -> Self {
        Self::of(TuningStore::open().ok())
    }

    pub(super) fn of(store: Option<TuningStore>) -> Self {
        Self { store, told: RefCell::default() }
    }

    /// What was stored for a device, or for the CPU. What is wrong with it is told, and is a matter of speed only.
    pub(super) fn get(&self, what: Tuned, device: Option<&Device>) -> Sizes {
        let stored = self.store.as_ref().map(|store| (store, store.get(&key(what, device))));
        let Some((store, Ok(Warned { value, warning }))) = stored else { return Sizes::default() };
        self.tell(warning);
        let Some(Tuning { choice, .. }) = value else { return Sizes::default() };
        let mut known = candidates(what, device).into_iter();
        match known.find(|size| size.to_string() == choice) {
            Some(size) => size.into(),
            None => {
                self.tell(Some(format!(
                    "'{}' in {} is no size for {}: it is not used; tune again",
                    choice.escape_debug(),
                    store.path().display(),
                    subject(what),
                )));
                Sizes::default()
            }
        }
    }

    /// Stores the fastest, which needs so many microseconds for a million numbers.
    pub(super) fn put(
        &self,
        what: Tuned,
        device: Option<&Device>,
        size: Size,
        microseconds: f64,
    ) -> Result<(), TuningError> {
        let store = self.store.as_ref().ok_or(TuningError::NoFolder)?;
        let tuning = Tuning { choice: size.to_string(), microseconds };
        let Warned { value: (), warning } = store.put(&key(what, device), &tuning)?;
        self.tell(warning);
        Ok(())
    }

    /// Whether sizes can be stored, before they are measured.
    pub(super) fn check(&self) -> Result<(), TuningError> {
        let store = self.store.as_ref().ok_or(TuningError::NoFolder)?;
        let Warned { value: _, warning } = store.get(&key(Tuned::Sieve, None))?;
        self.tell(warning);
        Ok(())
    }

    fn tell(&self, warning: Option<String>) {
        let mut told = self.told.borrow_mut();
        if let Some(warning) = warning.filter(|warning| !told.contains(warning)) {
            report::notice(&format!("warning: {warning}"));
            told.push(warning);
        }
    }
}

fn subject(what: Tuned) -> String {
    format!("collatz {}", what.name())
}

fn key(what: Tuned, device: Option<&Device>) -> TuningKey {
    match device {
        Some(device) => TuningKey::new(device.info(), subject(what)),
        None => TuningKey {
            device: cpu_name(),
            driver: String::new(),
            program: env!("CARGO_PKG_VERSION").into(),
            subject: subject(what),
        },
    }
}

/// Why there is no such size, or no way for such numbers, as a request that makes no sense, and other errors.
pub(super) fn explained(error: CollatzError) -> anyhow::Error {
    match error {
        // What is missing is told by the exit code too.
        CollatzError::Device(error) => error.into(),
        CollatzError::Parameter { .. }
        | CollatzError::LowBits { .. }
        | CollatzError::TooLarge { .. }
        | CollatzError::DelayTooLarge { .. } => super::verifiers::refused(error).into(),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use warpint::mersenne::{DeviceChoice, DeviceId};

    use super::super::delay::engine_at;
    use super::*;

    fn step(bits: u32) -> Size {
        Size::Step(Step::new(bits).unwrap())
    }

    #[test]
    fn sizes_come_back_for_their_own_device() {
        let dir = tempfile::tempdir().unwrap();
        let tuned = TunedSizes::of(Some(TuningStore::at(dir.path())));
        let sim = Device::simulator().unwrap();
        assert!(tuned.check().is_ok() && tuned.get(Tuned::Sieve, None).step.is_none());
        tuned.put(Tuned::Sieve, None, step(11), 1.0).unwrap();
        tuned.put(Tuned::Sieve, Some(&sim), step(13), 1.0).unwrap();
        tuned.put(Tuned::Table, Some(&sim), Size::TableBits(15), 1.0).unwrap();
        for size in candidates(Tuned::Delays, Some(&sim)) {
            tuned.put(Tuned::Delays, Some(&sim), size, 1.0).unwrap();
            let found = tuned.get(Tuned::Delays, Some(&sim)).delays;
            assert_eq!(found.map(Size::Delays), Some(size));
            let (_, shape) = engine_at(DeviceChoice::On(DeviceId::Sim), &tuned).unwrap();
            assert_eq!(shape, found);
        }
        assert_eq!(tuned.get(Tuned::Sieve, None).step, Step::new(11));
        assert_eq!(tuned.get(Tuned::Sieve, Some(&sim)).step, Step::new(13));
        assert_eq!(tuned.get(Tuned::Table, Some(&sim)).table_bits, Some(15));
        assert_eq!(tuned.get(Tuned::Table, None).table_bits, None);
        assert!(tuned.told.borrow().is_empty());

        let none = TunedSizes::of(None);
        assert!(none.check().is_err() && none.get(Tuned::Sieve, None).step.is_none());
        assert!(none.put(Tuned::Sieve, None, step(11), 1.0).is_err());
    }

    #[test]
    fn what_is_no_size_is_told_once_and_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let store = TuningStore::at(dir.path());
        let tuned = TunedSizes::of(Some(store.clone()));
        let sim = Device::simulator().unwrap();
        let mut lines = 0;
        for choice in ["d=99", "d=8", "d=", "", "step=12", "d=12 ", "d=12\n"] {
            let tuning = Tuning { choice: choice.into(), microseconds: 1.0 };
            for device in [None, Some(&sim)] {
                store.put(&key(Tuned::Table, device), &tuning).unwrap();
                assert_eq!(tuned.get(Tuned::Table, device).table_bits, None, "{choice}");
            }
            lines += 1;
            assert_eq!(tuned.told.borrow().len(), lines, "{choice}");
        }
        let told = tuned.told.borrow().join("\n");
        assert!(told.starts_with("'d=99' in ") && told.lines().count() == lines, "{told}");
        assert!(told.contains(" is no size for collatz table: it is not used"), "{told}");
    }

    #[test]
    fn every_candidate_has_a_name_of_its_own() {
        let sim = Device::simulator().unwrap();
        for what in [Tuned::Table, Tuned::Sieve, Tuned::Delays] {
            for device in [None, Some(&sim)] {
                let mut names: Vec<String> =
                    candidates(what, device).iter().map(ToString::to_string).collect();
                let count = names.len();
                names.sort();
                names.dedup();
                assert_eq!(names.len(), count, "{names:?}");
                assert!(count >= 3 || (what, device.is_none()) == (Tuned::Delays, true));
            }
        }
    }
}
