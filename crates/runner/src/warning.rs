//! Warnings while a job or worker runs, as lines of text.

use std::fmt::{self, Display};
use std::path::PathBuf;

use warpint_mersenne::Number;

/// A warning, after which the job or worker continues. `Display` writes it as one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Warning {
    /// A GPU exists but is not used, or the times that `warpint tune` stored cannot be read. The
    /// string is the warning.
    OfPlan(String),
    /// The stored result is damaged or belongs to another test. Its file was renamed.
    UnsoundResult {
        /// The number that is tested.
        number: Number,
        /// The new path of the file.
        aside: PathBuf,
        /// The reason why the file cannot be used.
        reason: String,
    },
    /// A check before the test shows that the result cannot be written to the results file.
    NotRecordable {
        /// The number that is tested.
        number: Number,
        /// The reason, as text.
        reason: String,
        /// The path of the file in which the result will be stored.
        stored: PathBuf,
    },
    /// The result of an assignment could not be delivered. The string says why.
    Undelivered(String),
    /// Checkpoints or residues of a finished test could not be removed.
    NotCleared {
        /// The number that is tested.
        number: Number,
        /// The reason, as text.
        reason: String,
    },
    /// A checkpoint of a finished test is damaged.
    BadCheckpoint {
        /// The number that is tested.
        number: Number,
        /// A line of text that names the checkpoint and says how it is damaged.
        line: String,
    },
    /// Another file has the name that the proof of the test will have.
    ProofInTheWay {
        /// The number that is tested.
        number: Number,
        /// The path of the file that already exists.
        path: PathBuf,
    },
    /// Residues that the proof needs are missing. They belong to iterations up to the one at which
    /// the test resumes.
    ResiduesMissing {
        /// The number that is tested.
        number: Number,
        /// The iteration at which the test resumes.
        iteration: u64,
        /// The largest power that a proof can still have; 0 if no proof is possible.
        power: u32,
        /// The requested power of the proof.
        wanted: u32,
        /// Whether the test is for an assignment.
        assigned: bool,
    },
    /// The proof has a lower power than requested.
    LowerPower {
        /// The number that is tested.
        number: Number,
        /// The power of the proof.
        power: u32,
        /// The requested power of the proof.
        wanted: u32,
    },
    /// No proof was made, and none can be made later.
    NoProof {
        /// The number that is tested.
        number: Number,
        /// The reason, as text.
        reason: String,
    },
    /// The first run of the verification of a proof made an error, which a second run revealed. The
    /// machine computes unreliably.
    ProofRunErred {
        /// The number that is tested.
        number: Number,
    },
    /// The log cannot be written.
    NoLog {
        /// The path of the log.
        path: PathBuf,
        /// The reason, as text.
        reason: String,
    },
    /// The lines of a file of additions, such as `worktodo.add`, cannot be moved to the list of
    /// assignments.
    AdditionsStay {
        /// The name of the file of additions.
        file: String,
        /// The reason, as text.
        reason: String,
    },
    /// A line of a list is not an assignment for this program.
    NotOurs {
        /// The path of the list and the number of the line, such as `worktodo.txt, line 3`.
        place: String,
        /// The reason, as text.
        reason: String,
    },
    /// Further lines are not assignments for this program.
    MoreNotOurs {
        /// The number of these lines.
        count: usize,
    },
    /// An assignment failed; its line is kept.
    Failed {
        /// The path of the list and the number of the line, such as `worktodo.txt, line 3`.
        place: String,
        /// The reason, as text.
        reason: String,
    },
    /// The line of a finished assignment has already been removed from its list.
    LineGone {
        /// The path of the list and the number of the line, such as `worktodo.txt, line 3`.
        place: String,
    },
    /// The start residue of a finished certification could not be removed.
    StartStays {
        /// The exponent p of M_p = 2^p − 1.
        exponent: u32,
        /// The reason, as text.
        reason: String,
    },
    /// A worker that runs as a process or a thread of its own has failed.
    WorkerFailed {
        /// The worker's name, such as `worker 1 (cuda:1)`.
        worker: String,
        /// A text that says how the worker failed.
        how: String,
    },
}

/// Formats a clause for messages. It says that the proof will have power `power` instead of power
/// `wanted`, or that no proof can be made if `power` is 0.
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
            Self::UnsoundResult { number, aside, reason } => write!(
                f,
                "{number}: the stored result is not sound ({reason}): set aside as {}, testing \
                 again",
                aside.display()
            ),
            Self::NotRecordable { number, reason, stored } => write!(
                f,
                "{number}: warning: {reason}; the test goes on, and its result will be kept in {}",
                stored.display()
            ),
            Self::NotCleared { number, reason } => {
                write!(f, "{number}: the result is safe, but {reason}")
            }
            Self::BadCheckpoint { number, line } => write!(f, "{number}: {line}"),
            Self::ProofInTheWay { number, path } => write!(
                f,
                "{number}: warning: another {} exists already: move it away before the test \
                 ends, or the proof cannot be put there",
                path.display()
            ),
            Self::ResiduesMissing { number, iteration, power: 0, assigned, .. } => {
                let instead = match assigned {
                    false => "--restart begins it again",
                    true => "the test goes on without one",
                };
                write!(
                    f,
                    "{number}: warning: the test goes on at iteration {iteration}, and residues \
                     from before are missing: no proof can be made; {instead}"
                )
            }
            Self::ResiduesMissing { number, iteration, power, wanted, .. } => write!(
                f,
                "{number}: warning: residues from before iteration {iteration} are missing: {}",
                prospect(*power, *wanted)
            ),
            Self::LowerPower { number, power, wanted } => write!(
                f,
                "{number}: residues are missing: the proof has power {power} instead of {wanted}"
            ),
            Self::NoProof { number, reason } => write!(
                f,
                "{number}: warning: no proof was made: {reason}; the result stands without one"
            ),
            Self::ProofRunErred { number } => {
                write!(
                    f,
                    "{number}: the first verification of the proof made an error: this machine computes unreliably"
                )
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
            Self::MoreNotOurs { count } => {
                write!(f, "{count} further lines are no work for this program, and are kept")
            }
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
