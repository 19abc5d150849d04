//! What a run tells, and what comes of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Highest;
use crate::runs::Unit;

/// What happens in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A verifier begins a unit.
    Begun {
        /// Its number.
        unit: u64,
        /// Where.
        place: String,
    },
    /// A unit is verified, and its file written.
    Done(Box<Unit>),
    /// A unit has a sound file, of before or of another process.
    Before(Box<Unit>),
    /// A file that was no sound unit was renamed.
    SetAside {
        /// The unit's number.
        unit: u64,
        /// Its name now.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Numbers that did not come below their starts: possible counter-examples. Told before their unit is
    /// written, and once more when a later run finds that.
    Unresolved {
        /// The unit's number.
        unit: u64,
        /// The numbers.
        numbers: Vec<u128>,
    },
    /// The same of another file in the directory, which the run had no part in.
    UnresolvedFile {
        /// The file.
        path: PathBuf,
        /// The numbers.
        numbers: Vec<u128>,
    },
    /// The file system has no locks, so other processes may do the same units. Told once.
    NoLocks,
    /// A unit stays undone.
    Failed {
        /// Its number.
        unit: u64,
        /// Where.
        place: String,
        /// Why.
        reason: String,
    },
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Units of the range.
    pub units: u64,
    /// Units asked for.
    pub selected: u64,
    /// Those that were done now.
    pub done: u64,
    /// Those that had been done, or were by another process meanwhile.
    pub before: u64,
    /// Those that failed, ascending.
    pub failed: Vec<u64>,
    /// Numbers of the units done now.
    pub numbers: u128,
    /// Numbers of those done before.
    pub numbers_before: u128,
    /// Computing time, by the clock.
    pub seconds: f64,
    /// The highest value of all units of the range that are done, asked for or not.
    pub highest: Option<Highest>,
    /// The unresolved numbers of all files of units in the directory, asked for or not: ascending, each once.
    pub unresolved: Vec<u128>,
    /// Files of units of the range by method, version and parameters, asked for or not.
    pub methods: BTreeMap<(String, u32, String), u64>,
    /// The watch ended it before its end.
    pub stopped: bool,
    /// Why it ended early, if it was not the watch: no unit can be read or written.
    pub broken: Option<String>,
    /// Whether every unit of the range, not only of the selection, has a sound file.
    pub complete: bool,
}

impl Outcome {
    /// Numbers verified a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.numbers as f64 / self.seconds } else { 0.0 }
    }

    /// Whether all that was asked for is done, and every number came down.
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
