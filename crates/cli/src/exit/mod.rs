//! Exit codes, and the formatting of errors as one line.

mod class;
mod pipe;

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use warpint::batch::BatchError;
use warpint::runner::RunError;

pub(crate) use class::{of as class_of, of_error as class_of_error};

/// The exit codes of the program. [`CODES`] is the table of their numbers, which applies to all
/// commands.
///
/// The variants are in order of gravity. If there are several failures, the gravest determines the
/// exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// The work is done, and its finding is not negative. The verdict that a number is composite is
    /// not a negative finding.
    Done,
    /// The user stopped the work before its end. If a signal requested the stop, the process ends
    /// by that signal instead of this code: see [`crate::signals`].
    Stopped,
    /// The request is invalid, or its output cannot be written.
    BadInput,
    /// The disk, the device or the memory failed.
    Failed,
    /// The work is done, and its finding is negative: for example, a proof is wrong or a check
    /// failed.
    Negative,
}

/// The table of exit codes that `warpint --help` prints.
pub(crate) const CODES: &str = "\
Exit codes:
  0  done: for example prime or composite, or a check that found no error
  1  a negative finding: wrong proof, failed check or selftest, gaps in merged units, weak key
  2  bad input, or an output that cannot be used: no such file, not permitted, in use
  3  stopped (Windows); elsewhere the signal ends the process: 130 in a shell after Ctrl-C
  4  failure of the disk, the device or the memory: disk full, I/O error, unreliable hardware";

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Negative => 1,
            Self::BadInput => 2,
            Self::Stopped => 3,
            Self::Failed => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// The error of an invalid request, described in one line.
#[derive(Debug)]
pub(crate) struct BadRequest(pub(crate) String);

impl fmt::Display for BadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRequest {}

/// The error of a negative finding, such as a failed check, described in one line. The program has
/// done its work and found something wrong.
#[derive(Debug)]
pub(crate) struct Finding(pub(crate) String);

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Finding {}

/// The error of a failed write to standard output.
#[derive(Debug)]
pub(crate) struct OutputError(pub(crate) io::Error);

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write to standard output: {}", self.0)
    }
}

impl std::error::Error for OutputError {}

/// Prints an error as one line `error: …`, and returns its exit code. If the cause is that the
/// reader of standard output has closed the pipe, ends the process silently, as other filters do.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if error.chain().any(is_broken_pipe) {
        pipe::end();
    }
    crate::report::notice(&format!("error: {}", one_line(error)));
    class_of(error)
}

/// Ends the process silently, as [`report`] does, if one of the errors means that the reader of standard output has
/// closed the pipe.
pub(crate) fn end_if_closed(errors: &[RunError]) {
    let is_closed = |error: &RunError| {
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = cause {
            if is_broken_pipe(error) {
                return true;
            }
            cause = error.source();
        }
        false
    };
    if errors.iter().any(is_closed) {
        pipe::end();
    }
}

/// Returns whether an error means that the reader of standard output, or of the results of a batch,
/// has closed the pipe.
fn is_broken_pipe(cause: &(dyn Error + 'static)) -> bool {
    let output = cause.downcast_ref::<OutputError>().map(|e| &e.0);
    let of_batch = || match cause.downcast_ref::<BatchError>() {
        Some(BatchError::Output(e)) => Some(e),
        _ => None,
    };
    output.or_else(of_batch).is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Formats an error and its causes in one line. A cause that an earlier message already quotes is
/// left out.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    one_line_of(error.as_ref())
}

/// Formats an error of one of the project's crates and its causes in one line. A cause that an
/// earlier message already quotes is left out.
pub(crate) fn one_line_of(error: &(dyn Error + 'static)) -> String {
    warpint::runner::one_line(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn causes_are_said_once() {
        let inner = anyhow!("no space left");
        assert_eq!(
            one_line(&inner.context("cannot write f: no space left")),
            "cannot write f: no space left"
        );
        let inner = anyhow!("no space left");
        assert_eq!(one_line(&inner.context("cannot write f")), "cannot write f: no space left");
    }

    #[test]
    fn the_table_names_every_code_once() {
        let exits = [Exit::Done, Exit::Negative, Exit::BadInput, Exit::Stopped, Exit::Failed];
        let lines: Vec<&str> = CODES.lines().skip(1).collect();
        assert_eq!(lines.len(), exits.len());
        for (i, (exit, line)) in exits.iter().zip(lines).enumerate() {
            assert_eq!(usize::from(exit.code()), i);
            assert!(line.starts_with(&format!("  {i}  ")), "{line}");
            assert!(line.chars().count() < 100, "{line}");
        }
    }

    #[test]
    fn a_negative_finding_is_the_gravest() {
        let mut exits = [Exit::Negative, Exit::Failed, Exit::BadInput, Exit::Stopped, Exit::Done];
        exits.sort_unstable();
        assert_eq!(exits.map(Exit::code), [0, 3, 2, 4, 1]);
    }
}
