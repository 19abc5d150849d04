//! The command `warpint tune`, and the code that its subcommands have in common.

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

/// The warning that results cannot be stored. It is printed at most once. The results are printed
/// in any case.
pub(crate) struct Unstored {
    /// The name of the results to be stored, such as `times` or `prices`.
    what: &'static str,
    /// The exit code: [`Exit::Done`] unless a result could not be stored.
    pub(crate) exit: Exit,
}

impl Unstored {
    /// Creates the value. If results cannot be stored, prints the warning at once. Call this before
    /// the measurements, which take minutes.
    pub(crate) fn new(what: &'static str, storing: &Storing) -> Self {
        let mut unstored = Self { what, exit: Exit::Done };
        unstored.look_at(storing);
        unstored
    }

    /// Prints a warning that says why results are not stored, unless it was printed before.
    pub(crate) fn look_at(&mut self, storing: &Storing) {
        if let (Some(e), Exit::Done) = (storing.failure(), self.exit) {
            let (line, what) = (exit::one_line_of(e), self.what);
            report::notice(&format!("warning: {line}: {what} are printed, but not stored"));
            self.exit = exit::class_of_error(e);
        }
    }
}
