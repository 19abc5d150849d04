//! `warpint tune`

mod batch;
mod collatz;
mod mersenne;

use warpint_bench::tune::Storing;

use crate::args::{Tune, TuneArgs};
use crate::exit::{self, Exit};
use crate::report;

pub(crate) fn run(args: &TuneArgs) -> anyhow::Result<Exit> {
    match &args.what {
        Some(Tune::Batch(args)) => batch::run(args),
        Some(Tune::Collatz(args)) => collatz::run(args),
        None => mersenne::run(args),
    }
}

/// Warns about results that cannot be stored; they are printed in any case.
pub(crate) struct Unstored {
    /// What is stored: `times`, `prices`.
    what: &'static str,
    /// The exit code, which is [`Exit::Done`] as long as results are stored.
    pub(crate) exit: Exit,
}

impl Unstored {
    /// Creates the value, and warns at once if results cannot be stored, so that the user need not
    /// wait for the end to learn it.
    pub(crate) fn new(what: &'static str, storing: &Storing) -> Self {
        let mut unstored = Self { what, exit: Exit::Done };
        unstored.look_at(storing);
        unstored
    }

    /// Warns why results are not stored, unless that was said before.
    pub(crate) fn look_at(&mut self, storing: &Storing) {
        if let (Some(e), Exit::Done) = (storing.failure(), self.exit) {
            let (line, what) = (exit::one_line_of(e), self.what);
            report::notice(&format!("warning: {line}: {what} are printed, but not stored"));
            self.exit = exit::class_of_error(e);
        }
    }
}
