//! Errors of jobs, workers and verifications of proofs.

use std::any::Any;
use std::error::Error;
use std::io;
use std::path::PathBuf;

use warpint_files::ErrorKind;
use warpint_gimps::{ProofFileError, ResultsError, WorkFileError};
use warpint_mersenne::checkpoint::CheckpointError;
use warpint_mersenne::proof::ProofError;
use warpint_mersenne::{ExponentError, FactorError, Number, PlanRefusal, TestError, TestKind};

use warpint_progress::units::count_words;

use crate::observer::Undelivered;
use crate::proofs::MakeError;
use crate::stored::StoredError;
use crate::work::{MOST_WORKERS, StartFileError};

/// The reason why a job, a worker or the verification of a proof ended without the requested
/// result. Checkpoints and results on disk are kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An assignment asks for a test of M_2, to which no test applies.
    #[error("M2 = 3 is prime: no test applies to it, and no result is recorded")]
    NoTestOfM2,
    /// The number is not the exponent of a Mersenne number that can be tested.
    #[error(transparent)]
    Exponent(#[from] ExponentError),
    /// The given list of known factors of M_p = 2^p − 1 is not valid.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// No plan is possible for the request.
    #[error(transparent)]
    Plan(#[from] PlanRefusal),
    /// The second engine, which is to recompute the test, is the same as the first engine.
    #[error(
        "the second engine must differ from the first, and the test of {number} is itself \
         computed by {engine}: choose another engine for one of them"
    )]
    SameEngine {
        /// The number that is tested.
        number: Number,
        /// The name of the engine.
        engine: &'static str,
    },
    /// A proof was requested of a test that has none.
    #[error(
        "the {kind} test of {number} has no proofs; {}",
        if number.is_mersenne() { "a probable-prime test by `warpint prp` has" } else { "Fermat's test to a base A, by --base A, has" }
    )]
    NoProofs {
        /// The kind of the test.
        kind: TestKind,
        /// The number that is tested.
        number: Number,
    },
    /// Every squaring is to be checked, but the engine cannot do so.
    #[error(
        "the engine {engine} does not check squarings at {}: take {}, or --check jacobi",
        count_words(*length),
        if *engine == "fp64" { "another length" } else { "fp64" }
    )]
    Unchecked {
        /// The name of the engine.
        engine: &'static str,
        /// The transform length, in words.
        length: usize,
    },
    /// An earlier run finished the test, but the stored result lacks something that the job
    /// requests.
    #[error("{number} was tested before without {lacks}: --restart tests it again")]
    TestedWithout {
        /// The number that is tested.
        number: Number,
        /// A description of what the stored result lacks.
        lacks: &'static str,
    },
    /// The checkpoints cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The test ended with an error.
    #[error(transparent)]
    Test(#[from] TestError),
    /// The stored result cannot be used.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// The residues that a finished PRP test has saved for its proof cannot be removed.
    #[error("residues of its proof stay in {}", dir.display())]
    Residues {
        /// The path of the directory of the residues.
        dir: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The path of the results file names something that cannot be a results file, such as a
    /// directory.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The result is stored, but could not be written to the results file.
    #[error(
        "{source}; the result is kept in {}, and the same command will try again",
        stored.display()
    )]
    NotRecorded {
        /// The path of the stored result.
        stored: PathBuf,
        /// The underlying error.
        source: ResultsError,
    },
    /// A factor, or a prime that needs no test, could not be written to the results file.
    #[error("the result is printed, but not recorded")]
    FactorNotRecorded {
        /// The underlying error.
        source: ResultsError,
    },
    /// The result could not be stored beside the checkpoints.
    #[error(
        "{}; the result is {}, and existing checkpoints are kept: the same command finishes the \
         test again",
        with_causes(source.as_ref()),
        if *recorded { "recorded" } else { "printed only" }
    )]
    NotKept {
        /// Whether the result was written to the results file.
        recorded: bool,
        /// The underlying error.
        source: Box<RunError>,
    },
    /// The test is done, but its proof could not be made.
    #[error(
        "{number} is tested, but its proof was not made: the same command tries that again{}",
        if source.is_contradiction() { "" } else { "; if no proof is requested, it gives the result" }
    )]
    NotProven {
        /// The number that is tested.
        number: Number,
        /// The underlying error.
        source: MakeError,
    },
    /// The observer could not deliver a report or a tally. A result is nevertheless stored and
    /// recorded.
    #[error("{0}")]
    Undelivered(#[source] Undelivered),
    /// A directory cannot be created.
    #[error("cannot make the directory {}", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A directory cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The path of the directory.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A proof file cannot be read or written.
    #[error(transparent)]
    ProofFile(#[from] ProofFileError),
    /// The file has the format of a proof file, but its content is not a proof.
    #[error("{} is not a proof file", path.display())]
    NotAProof {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the content is not a proof.
        source: ProofError,
    },
    /// No proof of the requested power is possible, or a proof could not be verified.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A list of assignments cannot be used.
    #[error(transparent)]
    WorkFile(#[from] WorkFileError),
    /// The line of a finished assignment cannot be removed from its list.
    #[error("the result is recorded, but the line stays")]
    LineStays {
        /// The underlying error.
        source: WorkFileError,
    },
    /// A line to be added to a list is not an assignment for this program. The string says why.
    #[error("{0}")]
    NoAssignment(String),
    /// The file with the start residue of a certification cannot be used.
    #[error(transparent)]
    StartFile(#[from] StartFileError),
    /// A certification asks for more squarings than a test of its exponent has.
    #[error("a certification of M{exponent} has at most {exponent} squarings, not {squarings}")]
    TooManySquarings {
        /// The exponent p of M_p = 2^p − 1.
        exponent: u32,
        /// The requested number of squarings.
        squarings: u64,
    },
    /// The directory `M<p>` of an exponent cannot be created, or the lock file in it cannot be
    /// used.
    #[error("cannot use {}", path.display())]
    Claim {
        /// The path of the directory.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The lock file that reserves a worker number cannot be used.
    #[error("cannot use the lock {}", path.display())]
    WorkerLock {
        /// The path of the lock file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// Another process works in the directory with the same worker number.
    #[error(
        "worker {worker} is already at work in {}: give this worker another number",
        dir.display()
    )]
    WorkerAtWork {
        /// The number of the worker.
        worker: u32,
        /// The path of the directory.
        dir: PathBuf,
    },
    /// A test or a worker panicked, which is an error of this program.
    #[error("this program made an error: {what}; please report it")]
    Panicked {
        /// The message of the panic.
        what: String,
    },
    /// The thread of a worker cannot be started.
    #[error("cannot start a thread")]
    NoThread {
        /// The underlying error.
        source: io::Error,
    },
    /// More workers were requested than worker numbers exist ([`MOST_WORKERS`]).
    #[error("{workers} workers are too many: at most {MOST_WORKERS} are possible")]
    TooManyWorkers {
        /// The requested number of workers.
        workers: usize,
    },
}

impl RunError {
    /// Returns the kind of the error, which decides the exit code of the program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoTestOfM2
            | Self::Exponent(_)
            | Self::Factor(_)
            | Self::SameEngine { .. }
            | Self::NoProofs { .. }
            | Self::Unchecked { .. }
            | Self::TestedWithout { .. }
            | Self::NoAssignment(_)
            | Self::TooManySquarings { .. }
            | Self::WorkerAtWork { .. }
            | Self::TooManyWorkers { .. } => ErrorKind::BadInput,
            Self::Plan(e) => e.kind(),
            Self::Checkpoint(e) => e.kind(),
            Self::Test(e) => e.kind(),
            Self::Stored(e) => e.kind(),
            Self::Results(e)
            | Self::NotRecorded { source: e, .. }
            | Self::FactorNotRecorded { source: e } => e.kind(),
            Self::NotKept { source, .. } => source.kind(),
            Self::NotProven { source, .. } => source.kind(),
            Self::ProofFile(e) => e.kind(),
            Self::Proof(e) | Self::NotAProof { source: e, .. } => e.kind(),
            Self::WorkFile(e) | Self::LineStays { source: e } => e.kind(),
            Self::StartFile(e) => e.kind(),
            Self::Residues { source, .. }
            | Self::Directory { source, .. }
            | Self::Unreadable { source, .. }
            | Self::Claim { source, .. }
            | Self::WorkerLock { source, .. }
            | Self::NoThread { source } => source.into(),
            // An error of the observer, or of the program.
            Self::Undelivered(_) | Self::Panicked { .. } => ErrorKind::Other,
        }
    }
}

/// Formats an error and its causes in one line. A cause that an earlier message already quotes is
/// left out.
#[must_use]
pub fn one_line(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error).map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text.replace('\n', " ")
}

/// Formats an error and all its causes, separated by colons.
pub(crate) fn with_causes(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the message of a panic in one line, or a text that says that it has none.
pub(crate) fn text_of_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").replace('\n', " ")
}

/// Iterates over the error, its cause, the cause of the cause, and so on.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_said_once() {
        let full = || io::Error::other("no space left");
        let quoted = ResultsError::Write { path: "f".into(), source: full() };
        let line = "cannot write the results file f: no space left";
        assert_eq!(with_causes(&quoted), format!("{line}: no space left"));
        assert_eq!(one_line(&quoted), line);
        let unquoted = RunError::Directory { path: "d".into(), source: full() };
        assert_eq!(one_line(&unquoted), "cannot make the directory d: no space left");
    }

    #[test]
    fn an_engine_is_not_advised_to_replace_itself() {
        for (engine, advice) in
            [("hybrid", "take fp64, or --check jacobi"), ("fp64", "take another length, or")]
        {
            let error = RunError::Unchecked { engine, length: 1 << 25 };
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}
