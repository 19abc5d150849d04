//! Exit codes, and errors as one line.

use std::fmt;
use std::process::ExitCode;

use warpint::device::DeviceError;
use warpint::gimps::{ProofFileError, ResultsError, WorkFileError};
use warpint::mersenne::proof::ProofError;
use warpint::mersenne::{ExponentError, FactorError, PlanError, TestError};

/// What the program tells the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The work is done; prime or composite.
    Done,
    /// Anything that is none of the others: a directory or file that cannot be
    /// used, a directory in use by another process, unreliable hardware.
    Failed,
    /// What was asked for makes no sense.
    BadInput,
    /// Stopped by the user before the end.
    Stopped,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::BadInput => 2,
            Self::Stopped => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// A request that makes no sense, in one line.
#[derive(Debug)]
pub(crate) struct BadRequest(pub(crate) String);

impl fmt::Display for BadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRequest {}

/// A check that failed, in one line: the program did what was asked for, and found an error.
#[derive(Debug)]
pub(crate) struct Finding(pub(crate) String);

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Finding {}

/// Prints `error: …`, one line, and picks the exit code.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    crate::report::notice(&format!("error: {}", one_line(error)));
    let asked_too_much = error.chain().any(|cause| {
        cause.is::<BadRequest>()
            || cause.is::<ExponentError>()
            || cause.is::<FactorError>()
            || cause.is::<PlanError>()
            || matches!(cause.downcast_ref(), Some(TestError::PastTarget { .. }))
            || matches!(
                cause.downcast_ref(),
                Some(DeviceError::NoDevice(_) | DeviceError::NoCompiler(_))
            )
            || matches!(cause.downcast_ref(), Some(ResultsError::NotAFile { .. }))
            || matches!(cause.downcast_ref(), Some(WorkFileError::NotAFile { .. }))
            || matches!(
                cause.downcast_ref(),
                Some(ProofFileError::NotAFile { .. } | ProofFileError::Format { .. })
            )
            || matches!(
                cause.downcast_ref(),
                Some(
                    ProofError::Power { .. }
                        | ProofError::Exponent(_)
                        | ProofError::Factor(_)
                        | ProofError::Bytes { .. }
                )
            )
    });
    // A plan that fails in mid-run (`TestError::Plan`, which hides the
    // `PlanError` from the chain) is no fault of the request.
    if asked_too_much { Exit::BadInput } else { Exit::Failed }
}

/// The error and its causes, each once: some messages already quote their cause.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;
    use warpint::mersenne::Exponent;

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
    fn a_bad_request_is_told_from_a_failure() {
        let no_length = PlanError::NoLength { engine: "fp64", exponent: 7 };
        let past = TestError::PastTarget { found: 2, wanted: 1 };
        assert_eq!(report(&Exponent::new(4).unwrap_err().into()), Exit::BadInput);
        assert_eq!(report(&no_length.clone().into()), Exit::BadInput);
        assert_eq!(report(&past.into()), Exit::BadInput);
        let folder = ResultsError::NotAFile { path: "folder".into(), what: "a directory" };
        assert_eq!(report(&folder.into()), Exit::BadInput);
        assert_eq!(report(&BadRequest("no".into()).into()), Exit::BadInput);
        assert_eq!(report(&TestError::Plan(no_length).into()), Exit::Failed);
        assert_eq!(report(&Finding("check failed".into()).into()), Exit::Failed);
        assert_eq!(report(&anyhow!("disk on fire")), Exit::Failed);
    }
}
