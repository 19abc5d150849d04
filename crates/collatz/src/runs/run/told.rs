//! The events and the result of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Highest;
use crate::runs::Unit;

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A verifier begins to verify a unit.
    Begun {
        /// The unit's number.
        unit: u64,
        /// The name of the CPU or device on which the verifier runs: `cpu`, `cuda:0`.
        place: String,
    },
    /// A unit is verified and its file is written. Contains the result.
    Done(Box<Unit>),
    /// A unit already has a sound file, from an earlier run or another process. Contains the result
    /// in this file.
    Before(Box<Unit>),
    /// A file that was not a sound unit was renamed.
    SetAside {
        /// The unit's number.
        unit: u64,
        /// The new path of the file.
        path: PathBuf,
        /// A description of the error in the file.
        reason: String,
    },
    /// A unit has unresolved numbers, whose paths did not fall below their starts: possible
    /// counter-examples. They are reported before their unit is written, and again when a later run
    /// reads the unit.
    Unresolved {
        /// The unit's number.
        unit: u64,
        /// The unresolved numbers, ascending.
        numbers: Vec<u128>,
    },
    /// Another file in the directory, which the run did not write, has unresolved numbers.
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
        /// The name of the CPU or device on which the verifier runs: `cpu`, `cuda:0`.
        place: String,
        /// The reason why the unit could not be verified.
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
    /// The number of units that this run verified.
    pub done: u64,
    /// The number of selected units that this run found verified, by earlier runs or by other
    /// processes.
    pub before: u64,
    /// The numbers of the units that failed, ascending.
    pub failed: Vec<u64>,
    /// The count of numbers in the units that this run verified.
    pub numbers: u128,
    /// The count of numbers in the selected units that this run found verified, by earlier runs or
    /// by other processes.
    pub numbers_before: u128,
    /// The wall-clock time of the run, in seconds.
    pub seconds: f64,
    /// The highest value of all finished units of the range, selected or not.
    pub highest: Option<Highest>,
    /// The unresolved numbers of all unit files in the directory, of selected and other units:
    /// ascending, each once.
    pub unresolved: Vec<u128>,
    /// The number of unit files of the range, of selected and other units, by method, version and
    /// parameters.
    pub methods: BTreeMap<(String, u32, String), u64>,
    /// Whether the watch stopped the run before all selected units were verified.
    pub stopped: bool,
    /// The reason why the run ended early although the watch did not stop it: a file cannot be
    /// written, the directory cannot be used, or a thread panicked. `None` otherwise.
    pub broken: Option<String>,
    /// Whether every unit of the range, selected or not, has a sound file.
    pub complete: bool,
}

impl Outcome {
    /// Returns the count of numbers that this run verified per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.numbers as f64 / self.seconds } else { 0.0 }
    }

    /// Returns whether all selected units are verified and no number is unresolved.
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
