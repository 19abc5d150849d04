//! The report of `warpint collatz verify`.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;
use warpint::collatz::Method;
use warpint::collatz::names::{number, unresolved};
use warpint::collatz::report::{Status, VerifyReport};
use warpint::collatz::runs::{Folder, Layout, Outcome};

use crate::commands::collatz::numbers::{about, highest};
use crate::commands::collatz::text::{self, printable};
use crate::units;

/// The outcome of a run, as JSON and as text.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Report {
    object: VerifyReport,
    /// Whether the number 0, about which nothing is claimed, is counted in the numbers.
    #[serde(skip)]
    has_zero: bool,
    #[serde(skip)]
    outcome: Outcome,
}

impl Report {
    pub(super) fn new(
        layout: &Layout,
        folder: &Folder,
        method: Option<Method>,
        places: Vec<String>,
        outcome: Outcome,
    ) -> Self {
        Self {
            object: VerifyReport::new(layout, folder, method, places, &outcome),
            // It is known only if all numbers below the end were processed.
            has_zero: layout.from() == 0 && outcome.numbers == layout.to(),
            outcome,
        }
    }

    fn headline(&self) -> String {
        let Outcome { units, selected, done, before, .. } = self.outcome;
        let left = units::count(selected - done - before, "unit");
        match self.object.status {
            Status::Verified => {
                format!("verified: {}", self.object.claim.as_deref().unwrap_or_default())
            }
            Status::Part => format!(
                "done: {} of {units}; when all are done, warpint collatz merge {} reports what is verified",
                units::count(selected, "unit"),
                printable(&self.object.dir)
            ),
            Status::Unresolved => unresolved(&self.outcome.unresolved),
            Status::Stopped => {
                format!("stopped: {left} left to do; the same command does the rest")
            }
            Status::Failed => format!(
                "not verified: {left} not done, of which {} failed; the same command does the rest",
                self.outcome.failed.len()
            ),
        }
    }
}

/// Formats the report as several lines of text.
impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, has_zero, outcome } = self;
        writeln!(f, "{}", self.headline())?;
        if let Some(reason) = &object.reason {
            writeln!(f, "ended early: {}", printable(reason))?;
        }
        writeln!(
            f,
            "{} of up to {} numbers in {}: {} done now, {} before, {} selected",
            units::count(object.units, "unit"),
            number(1 << object.unit_bits),
            printable(&object.dir),
            object.done,
            object.before,
            object.selected
        )?;
        if !outcome.methods.is_empty() {
            let files = units::count(outcome.methods.values().sum::<u64>(), "file");
            writeln!(f, "{files}: {}", text::by(&outcome.methods))?;
        }
        if let Some(method) = object.method {
            let time = Duration::try_from_secs_f64(object.seconds).unwrap_or_default();
            writeln!(
                f,
                "{} numbers{} in {}: {} a second, {} on {}",
                object.numbers,
                if *has_zero { " (0 is counted, not claimed)" } else { "" },
                units::elapsed(time),
                about(object.numbers_per_second),
                method,
                object.places.join(", ")
            )?;
        }
        match &outcome.highest {
            Some(peak) => f.write_str(&highest(peak)),
            None => f.write_str("highest value unknown"),
        }
    }
}
