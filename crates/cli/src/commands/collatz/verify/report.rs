//! The report of `warpint collatz verify`.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;
use warpint::collatz::names::{claim, number, unresolved};
use warpint::collatz::runs::{Folder, Layout, Outcome};

use crate::commands::collatz::numbers::{about, highest};
use crate::commands::collatz::text::{self, MethodObject, printable};
use crate::units;

/// The outcome of a run, as JSON. Numbers that may exceed 2^53 are strings of digits.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Report {
    status: Status,
    /// The statement that is proven once the whole range is verified; absent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    from: String,
    to: String,
    /// The method of the units that this run has done; `null` if it has done none.
    method: Option<&'static str>,
    places: Vec<String>,
    /// The methods of all unit files of the range, with their counts of units.
    methods: Vec<MethodObject>,
    dir: String,
    unit_bits: u32,
    units: u64,
    selected: u64,
    done: u64,
    before: u64,
    failed: Vec<u64>,
    numbers: String,
    numbers_before: String,
    seconds: f64,
    numbers_per_second: f64,
    highest: Option<Peak>,
    unresolved: Vec<String>,
    complete: bool,
    /// The failure that ended the run early, such as a file that cannot be written; absent if there
    /// was none. A stop by the user is not a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Whether the number 0, about which nothing is claimed, is counted in `numbers`.
    #[serde(skip)]
    has_zero: bool,
    #[serde(skip)]
    outcome: Outcome,
}

#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Status {
    /// The whole range is verified.
    Verified,
    /// All selected units are done, but not all units of the range.
    Part,
    Unresolved,
    Stopped,
    /// Some selected units could not be verified.
    Failed,
}

#[derive(Serialize)]
struct Peak {
    value: String,
    start: String,
}

impl Report {
    pub(super) fn new(
        layout: &Layout,
        folder: &Folder,
        method: &'static str,
        places: Vec<String>,
        outcome: Outcome,
    ) -> Self {
        let (from, to) = (layout.from(), layout.to());
        let status = match &outcome {
            outcome if !outcome.unresolved.is_empty() => Status::Unresolved,
            outcome if outcome.is_good() && outcome.complete => Status::Verified,
            outcome if outcome.is_good() => Status::Part,
            outcome if outcome.stopped && outcome.failed.is_empty() => Status::Stopped,
            _ => Status::Failed,
        };
        Self {
            status,
            claim: matches!(status, Status::Verified).then(|| claim(from, to)),
            from: from.to_string(),
            to: to.to_string(),
            method: (outcome.done > 0).then_some(method),
            places,
            methods: text::objects(&outcome.methods),
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
            highest: outcome.highest.as_ref().map(|highest| Peak {
                value: highest.value.to_string(),
                start: highest.start.to_string(),
            }),
            unresolved: outcome.unresolved.iter().map(ToString::to_string).collect(),
            complete: outcome.complete,
            reason: outcome.broken.clone(),
            // It is known only if all numbers below `to` were processed.
            has_zero: from == 0 && outcome.numbers == to,
            outcome,
        }
    }

    fn headline(&self) -> String {
        let Outcome { units, selected, done, before, .. } = self.outcome;
        let left = units::count(selected - done - before, "unit");
        match self.status {
            Status::Verified => format!("verified: {}", self.claim.as_deref().unwrap_or_default()),
            Status::Part => format!(
                "done: {} of {units}; when all are done, warpint collatz merge {} reports what is verified",
                units::count(selected, "unit"),
                printable(&self.dir)
            ),
            Status::Unresolved => unresolved(&self.outcome.unresolved),
            Status::Stopped => {
                format!("stopped: {left} left to do; the same command does the rest")
            }
            Status::Failed => format!(
                "not verified: {left} not done, of which {} failed; the same command does the rest",
                self.failed.len()
            ),
        }
    }
}

/// Formats the report as several lines of text.
impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = &self.outcome;
        writeln!(f, "{}", self.headline())?;
        if let Some(reason) = &self.reason {
            writeln!(f, "ended early: {}", printable(reason))?;
        }
        writeln!(
            f,
            "{} of up to {} numbers in {}: {} done now, {} before, {} selected",
            units::count(self.units, "unit"),
            number(1 << self.unit_bits),
            printable(&self.dir),
            self.done,
            self.before,
            self.selected
        )?;
        if !outcome.methods.is_empty() {
            let files = units::count(outcome.methods.values().sum::<u64>(), "file");
            writeln!(f, "{files}: {}", text::by(&outcome.methods))?;
        }
        if let Some(method) = self.method {
            let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
            writeln!(
                f,
                "{} numbers{} in {}: {} a second, {} on {}",
                self.numbers,
                if self.has_zero { " (0 is counted, not claimed)" } else { "" },
                units::elapsed(time),
                about(self.numbers_per_second),
                method,
                self.places.join(", ")
            )?;
        }
        match &outcome.highest {
            Some(peak) => f.write_str(&highest(peak)),
            None => f.write_str("highest value unknown"),
        }
    }
}
