//! The events and the result of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Highest;
use crate::runs::Unit;

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A verifier begins a unit.
    Begun {
        /// The unit's number.
        unit: u64,
        /// The place of the verifier.
        place: String,
    },
    /// A unit is verified and its file is written.
    Done(Box<Unit>),
    /// A unit already has a sound file, from an earlier run or another process.
    Before(Box<Unit>),
    /// A file that was not a sound unit was renamed.
    SetAside {
        /// The unit's number.
        unit: u64,
        /// The new path of the file.
        path: PathBuf,
        /// What was wrong with the file.
        reason: String,
    },
    /// A unit has numbers that did not come below their starts: possible counter-examples. They are
    /// reported before their unit is written, and again when a later run reads the unit.
    Unresolved {
        /// The unit's number.
        unit: u64,
        /// The unresolved numbers, ascending.
        numbers: Vec<u128>,
    },
    /// Another file in the directory, which the run did not write, has numbers that did not come
    /// below their starts.
    UnresolvedFile {
        /// The path of the file.
        path: PathBuf,
        /// The unresolved numbers, ascending.
        numbers: Vec<u128>,
    },
    /// The file system does not support locks, so other processes may verify the same units.
    /// Reported once.
    NoLocks,
    /// A unit could not be verified and stays undone.
    Failed {
        /// The unit's number.
        unit: u64,
        /// The place of the verifier.
        place: String,
        /// Why the unit failed.
        reason: String,
    },
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The number of units of the range.
    pub units: u64,
    /// The number of selected units.
    pub selected: u64,
    /// The number of units done by this run.
    pub done: u64,
    /// The number of units done earlier, or by another process meanwhile.
    pub before: u64,
    /// The numbers of the units that failed, ascending.
    pub failed: Vec<u64>,
    /// The count of numbers in the units done by this run.
    pub numbers: u128,
    /// The count of numbers in the units done earlier.
    pub numbers_before: u128,
    /// The wall-clock time of the computation, in seconds.
    pub seconds: f64,
    /// The highest value of all finished units of the range, selected or not.
    pub highest: Option<Highest>,
    /// The unresolved numbers of all unit files in the directory, selected or not: ascending, each
    /// once.
    pub unresolved: Vec<u128>,
    /// The number of unit files of the range by method, version and parameters, selected or not.
    pub methods: BTreeMap<(String, u32, String), u64>,
    /// Whether the watch stopped the run.
    pub stopped: bool,
    /// Why the run ended early, if the watch did not stop it: units cannot be read or written.
    pub broken: Option<String>,
    /// Whether every unit of the range, selected or not, has a sound file.
    pub complete: bool,
}

impl Outcome {
    /// Returns the count of numbers verified per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.numbers as f64 / self.seconds } else { 0.0 }
    }

    /// Returns whether all selected units are done and every number came below its start.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.done + self.before == self.selected && self.unresolved.is_empty()
    }

    pub(super) fn add(&mut self, unit: &Unit) {
        let highest = unit
            .highest
            .as_ref()
            .map(|highest| Highest { value: highest.value.clone(), start: highest.start });
        self.highest = Highest::of(self.highest.take(), highest);
        self.unresolved.extend(&unit.unresolved);
    }
}
