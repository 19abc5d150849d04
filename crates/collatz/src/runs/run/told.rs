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
        /// The place.
        place: String,
    },
    /// A unit is verified and its file written.
    Done(Box<Unit>),
    /// A unit already has a sound file, from an earlier run or another process.
    Before(Box<Unit>),
    /// A file that was not a sound unit was renamed.
    SetAside {
        /// The unit's number.
        unit: u64,
        /// Its new path.
        path: PathBuf,
        /// The error in it.
        reason: String,
    },
    /// Numbers that did not come below their starts: possible counter-examples. Reported before
    /// their unit is written, and again when a later run reads the unit.
    Unresolved {
        /// The unit's number.
        unit: u64,
        /// The numbers.
        numbers: Vec<u128>,
    },
    /// The same for another file in the directory, which the run did not write.
    UnresolvedFile {
        /// The file.
        path: PathBuf,
        /// The numbers.
        numbers: Vec<u128>,
    },
    /// The file system does not support locks, so other processes may verify the same units.
    /// Reported once.
    NoLocks,
    /// A unit that stays undone.
    Failed {
        /// The unit's number.
        unit: u64,
        /// The place.
        place: String,
        /// The reason.
        reason: String,
    },
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Units of the range.
    pub units: u64,
    /// Selected units.
    pub selected: u64,
    /// Units done by this run.
    pub done: u64,
    /// Units done earlier, or by another process meanwhile.
    pub before: u64,
    /// Units that failed, ascending.
    pub failed: Vec<u64>,
    /// Numbers of the units done by this run.
    pub numbers: u128,
    /// Numbers of the units done earlier.
    pub numbers_before: u128,
    /// Wall-clock time of the computation.
    pub seconds: f64,
    /// The highest value of all finished units of the range, selected or not.
    pub highest: Option<Highest>,
    /// The unresolved numbers of all unit files in the directory, selected or not: ascending, each
    /// once.
    pub unresolved: Vec<u128>,
    /// Unit files of the range by method, version and parameters, selected or not.
    pub methods: BTreeMap<(String, u32, String), u64>,
    /// Whether the watch stopped the run.
    pub stopped: bool,
    /// The reason of an early end other than the watch: units cannot be read or written.
    pub broken: Option<String>,
    /// Whether every unit of the range, selected or not, has a sound file.
    pub complete: bool,
}

impl Outcome {
    /// Returns the numbers verified per second.
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
