//! The report of a verification.

use serde::Serialize;

use super::{MethodObject, Peak, methods, texts};
use crate::Method;
use crate::names::claim;
use crate::runs::{Folder, Layout, Outcome};

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct VerifyReport {
    /// What the run has shown.
    pub status: Status,
    /// The statement that is proven once the whole range is verified; `None` before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The first number of the range.
    pub from: String,
    /// The number after the last.
    pub to: String,
    /// The method of the units that this run has done; `None` if it has done none.
    pub method: Option<&'static str>,
    /// Where units were verified.
    pub places: Vec<String>,
    /// The methods of all unit files of the range, with their counts of units.
    pub methods: Vec<MethodObject>,
    /// The directory of the unit files.
    pub dir: String,
    /// log2 of the size of a unit.
    pub unit_bits: u32,
    /// The number of units of the range.
    pub units: u64,
    /// The number of selected units.
    pub selected: u64,
    /// The number of units that this run verified.
    pub done: u64,
    /// The number of selected units that were verified before.
    pub before: u64,
    /// The selected units that could not be verified.
    pub failed: Vec<u64>,
    /// The count of numbers that this run verified.
    pub numbers: String,
    /// The count of numbers of the selected units that were verified before.
    pub numbers_before: String,
    /// The time of the run in seconds.
    pub seconds: f64,
    /// The count of numbers that this run verified per second.
    pub numbers_per_second: f64,
    /// The highest value of all finished units of the range.
    pub highest: Option<Peak>,
    /// The unresolved numbers.
    pub unresolved: Vec<String>,
    /// Whether every unit of the range has a sound file.
    pub complete: bool,
    /// The failure that ended the run early, such as a file that cannot be written; `None` if there
    /// was none. A stop on request is not a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a run has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The whole range is verified.
    Verified,
    /// All selected units are done, but not all units of the range.
    Part,
    /// Some numbers are unresolved.
    Unresolved,
    /// The run was stopped on request.
    Stopped,
    /// Some selected units could not be verified.
    Failed,
}

impl VerifyReport {
    /// Creates the report of a run on `places` with `method`.
    #[must_use]
    pub fn new(
        layout: &Layout,
        folder: &Folder,
        method: Option<Method>,
        places: Vec<String>,
        outcome: &Outcome,
    ) -> Self {
        let (from, to) = (layout.from(), layout.to());
        let status = match outcome {
            outcome if !outcome.unresolved.is_empty() => Status::Unresolved,
            outcome if outcome.is_good() && outcome.complete => Status::Verified,
            outcome if outcome.is_good() => Status::Part,
            outcome if outcome.stopped && outcome.failed.is_empty() => Status::Stopped,
            _ => Status::Failed,
        };
        Self {
            status,
            claim: (status == Status::Verified).then(|| claim(from, to)),
            from: from.to_string(),
            to: to.to_string(),
            method: method.filter(|_| outcome.done > 0).map(Method::name),
            places,
            methods: methods(&outcome.methods),
            dir: folder.path().display().to_string(),
            unit_bits: layout.unit_bits(),
            units: outcome.units,
            selected: outcome.selected,
            done: outcome.done,
            before: outcome.before,
            failed: outcome.failed.clone(),
            numbers: outcome.numbers.to_string(),
            numbers_before: outcome.numbers_before.to_string(),
            seconds: outcome.seconds,
            numbers_per_second: outcome.rate(),
            highest: outcome.highest.as_ref().map(Peak::from),
            unresolved: texts(&outcome.unresolved),
            complete: outcome.complete,
            reason: outcome.broken.clone(),
        }
    }
}
