//! Sizes of tables. Users can request a size. For a size that is not requested, the size that
//! tuning found fastest and stored is used.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Display};

use warpint_device::{Device, Tuning, TuningError, TuningKey, TuningStore, Warned, cpu_name};

use crate::Method;
use crate::gpu::{DelayShape, DeviceTable};
use crate::sieve::{Looking, Step};

/// A size of a computation, or a group of sizes, that can be tuned: the fastest value is found by
/// measurement and stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tunable {
    /// The number of bits that a step of the sieve's walk processes.
    Sieve,
    /// The number of low bits of a number by which the tables of the table method are indexed.
    Table,
    /// The shape of the kernel of delays: sizes of tables, and numbers of threads and blocks.
    Delays,
}

impl Tunable {
    /// All tunable sizes, in the order of the enum.
    pub const ALL: [Self; 3] = [Self::Sieve, Self::Table, Self::Delays];

    /// Returns the name of the size, as users see it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sieve => "sieve",
            Self::Table => "table",
            Self::Delays => "delays",
        }
    }

    /// Returns a short description of the size, for users.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Sieve => "The bits of a step of the sieve's walk",
            Self::Table => "The bits of the tables of the table method",
            Self::Delays => "The tables, threads and blocks of delays",
        }
    }

    /// Returns the tunable size of a method of verification; `None` if the method has none.
    #[must_use]
    pub fn of(method: Method) -> Option<Self> {
        match method {
            Method::Plain => None,
            Method::Table => Some(Self::Table),
            Method::Sieve => Some(Self::Sieve),
        }
    }
}

/// Sizes of tables and kernels. If a size is `None`, the method chooses it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    /// The number of steps that the look-ahead vectors of the sieve cover: see [`Looking`].
    pub look: Option<Looking>,
    /// The number of bits that a step of the sieve's walk processes.
    pub step: Option<Step>,
    /// The number of low bits by which the tables of the table method are indexed.
    pub table_bits: Option<u32>,
    /// The sizes of the kernel that computes delays on devices.
    pub delays: Option<DelayShape>,
}

impl Sizes {
    /// Returns these sizes. Each size that is `None` is replaced by the corresponding size of
    /// `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            look: self.look.or(others.look),
            step: self.step.or(others.step),
            table_bits: self.table_bits.or(others.table_bits),
            delays: self.delays.or(others.delays),
        }
    }
}

/// A value of a [`Tunable`] size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The number of bits that a step of the sieve's walk processes.
    Step(Step),
    /// The number of low bits by which the tables of the table method are indexed.
    TableBits(u32),
    /// The sizes of the kernel that computes delays.
    Delays(DelayShape),
}

/// Formats a size as `step=12` (sieve), as `d=14` (table method), or in the format of a
/// [`DelayShape`].
impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => write!(f, "step={}", step.bits()),
            Self::TableBits(bits) => write!(f, "d={bits}"),
            Self::Delays(shape) => shape.fmt(f),
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

/// Formats a shape as `d=14,t=15,threads=1024,blocks=1`. If the table of delays is in global
/// memory, `,global` follows the value of `t`.
impl Display for DelayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step_bits, small_bits, small_shared, threads, blocks, .. } = self;
        let place = if *small_shared { "" } else { ",global" };
        write!(f, "d={step_bits},t={small_bits}{place},threads={threads},blocks={blocks}")
    }
}

/// Returns the sizes worth measuring on `device`, or on the CPU if `device` is `None`. Returns an
/// empty list if only one size exists.
#[must_use]
pub fn candidates(what: Tunable, device: Option<&Device>) -> Vec<Size> {
    let shared = device.map(|device| device.info().shared_memory_per_block);
    match (what, shared) {
        (Tunable::Sieve, _) => (11..=13).filter_map(Step::new).map(Size::Step).collect(),
        (Tunable::Table, None) => (9..=14).map(Size::TableBits).collect(),
        (Tunable::Table, Some(shared)) => {
            let most = DeviceTable::most_table_bits(shared);
            (11.min(most)..=most).map(Size::TableBits).collect()
        }
        // The CPU's tables have only one size.
        (Tunable::Delays, None) => vec![],
        (Tunable::Delays, Some(shared)) => {
            DelayShape::candidates(shared).into_iter().map(Size::Delays).collect()
        }
    }
}

/// The store of tuned sizes, for each device model, driver and version of this program.
#[derive(Debug)]
pub struct TunedSizes {
    store: Option<TuningStore>,
    /// The distinct warnings so far: devices of one model cause the same warnings.
    told: RefCell<Vec<String>>,
    /// The number of warnings that [`Self::take_warnings`] has already returned.
    taken: Cell<usize>,
}

impl TunedSizes {
    /// Opens the current user's store of sizes. A user without a home folder has no store: then no
    /// size is found, and none can be stored.
    #[must_use]
    pub fn open() -> Self {
        Self::of(TuningStore::open().ok())
    }

    /// Creates the tuned sizes with a given store. If `store` is `None`, no size is found, and none
    /// can be stored.
    #[must_use]
    pub fn of(store: Option<TuningStore>) -> Self {
        Self { store, told: RefCell::default(), taken: Cell::default() }
    }

    /// Returns the warnings that were added since the last call, one line each, without
    /// repetitions.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        let told = self.told.borrow();
        told[self.taken.replace(told.len())..].to_vec()
    }

    /// Returns the size `what` that is stored for `device`, or for the CPU if `device` is `None`.
    /// The other sizes of the result are `None`. All sizes are `None` if no valid size is stored or
    /// the store cannot be read. An invalid entry causes a warning instead of an error, since it
    /// affects only the speed.
    #[must_use]
    pub fn get(&self, what: Tunable, device: Option<&Device>) -> Sizes {
        let stored = self.store.as_ref().map(|store| (store, store.get(&key(what, device))));
        let Some((store, Ok(Warned { value, warning }))) = stored else { return Sizes::default() };
        self.tell(warning);
        let Some(Tuning { choice, .. }) = value else { return Sizes::default() };
        let mut known = candidates(what, device).into_iter();
        match known.find(|size| size.to_string() == choice) {
            Some(size) => size.into(),
            None => {
                self.tell(Some(format!(
                    "'{}' in {} is not a valid size for {}: it is not used; tune again",
                    choice.escape_debug(),
                    store.path().display(),
                    subject(what),
                )));
                Sizes::default()
            }
        }
    }

    /// Stores the fastest size for `device`, or for the CPU if `device` is `None`. `microseconds`
    /// is the time per million numbers with this size.
    ///
    /// # Errors
    /// No store exists, or it cannot be read or written.
    pub fn put(
        &self,
        what: Tunable,
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

    /// Returns an error if the store exists and cannot be read.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn readable(&self) -> Result<(), TuningError> {
        let Some(store) = &self.store else { return Ok(()) };
        self.tell(store.get(&key(Tunable::Sieve, None))?.warning);
        Ok(())
    }

    /// Tests whether sizes can be stored. Creates the folder of the store if it does not exist.
    ///
    /// # Errors
    /// No store exists, or it cannot be read or written.
    pub fn check(&self) -> Result<(), TuningError> {
        self.store.as_ref().ok_or(TuningError::NoFolder)?.check()
    }

    /// Adds a warning, unless it is `None` or was added before.
    pub(crate) fn tell(&self, warning: Option<String>) {
        let mut told = self.told.borrow_mut();
        let new = warning.filter(|warning| !told.contains(warning));
        told.extend(new);
    }
}

fn subject(what: Tunable) -> String {
    format!("collatz {}", what.name())
}

fn key(what: Tunable, device: Option<&Device>) -> TuningKey {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::delays_on;

    fn step(bits: u32) -> Size {
        Size::Step(Step::new(bits).unwrap())
    }

    #[test]
    fn sizes_come_back_for_their_own_device() {
        let dir = tempfile::tempdir().unwrap();
        let tuned = TunedSizes::of(Some(TuningStore::at(dir.path())));
        let sim = Device::simulator().unwrap();
        assert!(tuned.readable().is_ok() && tuned.check().is_ok());
        assert!(tuned.get(Tunable::Sieve, None).step.is_none());
        tuned.put(Tunable::Sieve, None, step(11), 1.0).unwrap();
        tuned.put(Tunable::Sieve, Some(&sim), step(13), 1.0).unwrap();
        tuned.put(Tunable::Table, Some(&sim), Size::TableBits(15), 1.0).unwrap();
        for size in candidates(Tunable::Delays, Some(&sim)) {
            tuned.put(Tunable::Delays, Some(&sim), size, 1.0).unwrap();
            let found = tuned.get(Tunable::Delays, Some(&sim)).delays;
            assert_eq!(found.map(Size::Delays), Some(size));
            let (_, shape) = delays_on(Some(&sim), &tuned).unwrap();
            assert_eq!(shape, found);
        }
        assert_eq!(tuned.get(Tunable::Sieve, None).step, Step::new(11));
        assert_eq!(tuned.get(Tunable::Sieve, Some(&sim)).step, Step::new(13));
        assert_eq!(tuned.get(Tunable::Table, Some(&sim)).table_bits, Some(15));
        assert_eq!(tuned.get(Tunable::Table, None).table_bits, None);
        assert!(tuned.told.borrow().is_empty());

        let none = TunedSizes::of(None);
        assert!(none.readable().is_ok() && none.check().is_err());
        assert!(none.get(Tunable::Sieve, None).step.is_none());
        assert!(none.put(Tunable::Sieve, None, step(11), 1.0).is_err());
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
                store.put(&key(Tunable::Table, device), &tuning).unwrap();
                assert_eq!(tuned.get(Tunable::Table, device).table_bits, None, "{choice}");
            }
            lines += 1;
            assert_eq!(tuned.told.borrow().len(), lines, "{choice}");
        }
        let told = tuned.take_warnings().join("\n");
        assert!(tuned.take_warnings().is_empty());
        assert!(told.starts_with("'d=99' in ") && told.lines().count() == lines, "{told}");
        assert!(told.contains(" is not a valid size for collatz table: it is not used"), "{told}");
    }

    #[test]
    fn every_candidate_has_a_name_of_its_own() {
        let sim = Device::simulator().unwrap();
        for what in [Tunable::Table, Tunable::Sieve, Tunable::Delays] {
            for device in [None, Some(&sim)] {
                let mut names: Vec<String> =
                    candidates(what, device).iter().map(ToString::to_string).collect();
                let count = names.len();
                names.sort();
                names.dedup();
                assert_eq!(names.len(), count, "{names:?}");
                assert!(count >= 3 || (what, device.is_none()) == (Tunable::Delays, true));
            }
        }
    }
}
