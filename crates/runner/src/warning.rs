//! What a person should know of a run, as lines.

use std::fmt::{self, Display};
use std::path::PathBuf;

/// One line each (`Display`). The run goes on in spite of them.
#[derive(Debug)]
#[non_exhaustive]
pub enum Warning {
    /// A GPU that is there is not used, or stored times cannot be read.
    OfPlan(String),
    /// The stored result is damaged, or another test's.
    UnsoundResult {
        /// p.
        exponent: u32,
        /// Where it is now.
        aside: PathBuf,
        /// What was wrong with it.
        reason: String,
    },
    /// The result will not go into the results file.
    NotRecordable {
        /// p.
        exponent: u32,
        /// Why.
        reason: String,
        /// Where it will be kept.
        stored: PathBuf,
    },
    /// The result of an assignment could not be delivered.
    Undelivered(String),
    /// Checkpoints or residues of a finished test stay.
    NotCleared {
        /// p.
        exponent: u32,
        /// Why.
        reason: String,
    },
    /// A checkpoint of a finished test is damaged.
    BadCheckpoint {
        /// p.
        exponent: u32,
        /// Which, and what is wrong with it.
        line: String,
    },
    /// There is another file where the proof will go.
    ProofInTheWay {
        /// p.
        exponent: u32,
        /// The file.
        path: PathBuf,
    },
    /// Residues from before a test goes on are missing.
    ResiduesMissing {
        /// p.
        exponent: u32,
        /// Where it goes on.
        iteration: u64,
        /// The power of the proof that is possible; 0 if none is.
        power: u32,
        /// The power that was asked for.
        wanted: u32,
        /// Whether the test is for an assignment.
        assigned: bool,
    },
    /// The proof is of a lower power than was asked for.
    LowerPower {
        /// p.
        exponent: u32,
        /// Its power.
        power: u32,
        /// The power that was asked for.
        wanted: u32,
    },
    /// No proof was made, and none ever will be.
    NoProof {
        /// p.
        exponent: u32,
        /// Why.
        reason: String,
    },
    /// A first run through a proof has erred.
    ProofRunErred {
        /// p.
        exponent: u32,
    },
    /// The log cannot be written.
    NoLog {
        /// The log.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Additions to a list cannot be moved over.
    AdditionsStay {
        /// The name of their file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A line of a list is no work for this program.
    NotOurs {
        /// The list and the line's number.
        place: String,
        /// Why.
        reason: String,
    },
    /// An assignment failed; its line is kept.
    Failed {
        /// The list and the line's number.
        place: String,
        /// Why.
        reason: String,
    },
    /// The line of an assignment that is done is gone already.
    LineGone {
        /// The list and the line's number.
        place: String,
    },
    /// The residue that a finished certification began with stays.
    StartStays {
        /// p.
        exponent: u32,
        /// Why.
        reason: String,
    },
    /// A worker that is a process of its own has failed.
    WorkerFailed {
        /// `worker 1 (cuda:1)`.
        worker: String,
        /// How.
        how: String,
    },
}

/// What is to be expected of the power of a proof that was to be higher.
pub(crate) fn prospect(power: u32, wanted: u32) -> String {
    match power {
        0 => "no proof can be made".into(),
        _ => format!("the proof will have power {power} instead of {wanted}"),
    }
}

impl Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfPlan(line) | Self::Undelivered(line) => write!(f, "warning: {line}"),
            Self::UnsoundResult { exponent, aside, reason } => write!(
                f,
                "M{exponent}: the stored result is not sound ({reason}): set aside as {}, testing \
                 again",
                aside.display()
            ),
            Self::NotRecordable { exponent, reason, stored } => write!(
                f,
                "M{exponent}: warning: {reason}; the test goes on, and its result will be kept in {}",
                stored.display()
            ),
            Self::NotCleared { exponent, reason } => {
                write!(f, "M{exponent}: the result is safe, but {reason}")
            }
            Self::BadCheckpoint { exponent, line } => write!(f, "M{exponent}: {line}"),
            Self::ProofInTheWay { exponent, path } => write!(
                f,
                "M{exponent}: warning: there is another {} already: move it away before the test \
                 ends, or the proof cannot be put there",
                path.display()
            ),
            Self::ResiduesMissing { exponent, iteration, power: 0, assigned, .. } => {
                let instead = match assigned {
                    false => "--restart begins it anew",
                    true => "the test goes on without one",
                };
                write!(
                    f,
                    "M{exponent}: warning: it goes on at iteration {iteration}, and residues from \
                     before are missing: no proof can be made of it; {instead}"
                )
            }
            Self::ResiduesMissing { exponent, iteration, power, wanted, .. } => write!(
                f,
                "M{exponent}: warning: residues from before iteration {iteration} are missing: {}",
                prospect(*power, *wanted)
            ),
            Self::LowerPower { exponent, power, wanted } => write!(
                f,
                "M{exponent}: residues are missing: the proof has power {power} instead of {wanted}"
            ),
            Self::NoProof { exponent, reason } => write!(
                f,
                "M{exponent}: warning: no proof was made: {reason}; the result stands without one"
            ),
            Self::ProofRunErred { exponent } => {
                write!(f, "M{exponent}: a first run went wrong: this machine computes unreliably")
            }
            Self::NoLog { path, reason } => write!(
                f,
                "warning: cannot write {}: {reason}; the work goes on without a log",
                path.display()
            ),
            Self::AdditionsStay { file, reason } => {
                write!(f, "warning: {file} is left as it is: {reason}")
            }
            Self::NotOurs { place, reason } => write!(f, "{place}: {reason}; the line is kept"),
            Self::Failed { place, reason } => {
                write!(f, "error: {place}: {reason}; the line is kept")
            }
            Self::LineGone { place } => {
                write!(f, "{place} is gone already; its result is recorded")
            }
            Self::StartStays { exponent, reason } => {
                write!(f, "M{exponent}: the result is recorded, but {reason}")
            }
            Self::WorkerFailed { worker, how } => {
                write!(f, "error: {worker} {how}; the others go on")
            }
        }
    }
}
