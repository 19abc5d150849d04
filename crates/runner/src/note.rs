//! Notes that may interest the user while a job or worker runs, as lines of text.

use std::fmt::{self, Display};
use std::path::PathBuf;

use warpint_mersenne::{DeviceChoice, Number, Plan, TestKind, engine_at};
use warpint_progress::units;

use crate::report::StopReport;

/// The engine that has no words.
const PLAIN: &str = "plain";

/// A note that may interest the user. `Display` writes it as one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Note {
    /// A transform length is being chosen, which takes seconds.
    ChoosingLength {
        /// The number that is tested.
        number: Number,
        /// The kind of the test.
        kind: TestKind,
        /// Where the test will compute.
        device: DeviceChoice,
    },
    /// The device has no stored time of a squaring by the chosen plan. The plan is the fastest of a few that were
    /// measured.
    Untuned {
        /// The plan of a test of a Mersenne number.
        plan: Plan,
    },
    /// The number was named in another form than its normal form, in which it is tested.
    NormalForm {
        /// The name of the number.
        name: String,
        /// The number.
        number: Number,
    },
    /// No test with squarings can prove the number prime, because k is not below b^n. A probable-prime
    /// test is made.
    LongMultiplier {
        /// The number.
        number: Number,
    },
    /// A plan for the test has been chosen.
    Planned {
        /// The plan.
        plan: Plan,
        /// The kind of the test.
        kind: TestKind,
    },
    /// The residues for the proof need disk space in a directory.
    ProofRoom {
        /// The number that is tested.
        number: Number,
        /// The power of the proof.
        power: u32,
        /// The largest number of bytes needed.
        bytes: u64,
        /// The path of the directory of the residues.
        dir: PathBuf,
    },
    /// The test was finished before, and its result is stored.
    FinishedBefore {
        /// The number that is tested.
        number: Number,
        /// The path of the stored result.
        path: PathBuf,
        /// Whether the user can request that the test be repeated. This is false for a job with an
        /// assignment.
        repeatable: bool,
    },
    /// A stored result is used for the assignment of the job, although its test was not done for
    /// this assignment.
    FinishedWithout {
        /// The number that is tested.
        number: Number,
        /// The path of the stored result.
        path: PathBuf,
    },
    /// A stored result exists, but cannot be used for the assignment of the job.
    NotThisResult {
        /// The number that is tested.
        number: Number,
        /// The path of the stored result.
        path: PathBuf,
        /// The reason why the result cannot be used.
        reason: &'static str,
    },
    /// The test was stopped on request.
    Stopped(StopReport),
    /// The proof has been written.
    ProofMade {
        /// The number that is tested.
        number: Number,
        /// The power of the proof.
        power: u32,
        /// The path of the file.
        path: PathBuf,
    },
    /// The start residue of a finished certification has been removed.
    StartRemoved {
        /// The exponent p of M_p = 2^p − 1.
        exponent: u32,
        /// The path of the file.
        path: PathBuf,
    },
    /// Lines were moved from a file of additions, such as `worktodo.add`, to its list of
    /// assignments.
    MovedOver {
        /// The number of lines.
        lines: usize,
        /// The name of the file of additions.
        from: String,
    },
    /// The lock of a list of assignments was taken over from a process that no longer exists. The
    /// string is the note.
    LockTakenOver(String),
    /// The worker has no work left.
    NoWorkLeft {
        /// A text that names the lists and counts their lines, such as `no work left in
        /// worktodo.txt: 3 assignments done, 1 failed`.
        summary: String,
        /// Whether the worker waits for more work.
        waits: bool,
    },
    /// The workers of a team have stopped on request.
    TeamStopped {
        /// A text that counts what they have done, such as `3 assignments done`.
        summary: String,
    },
}

impl Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChoosingLength { number, kind, device: DeviceChoice::On(device) } => write!(
                f,
                "{number}, {kind}: choosing a transform length on {device}; kernels that are not in the cache are \
                 compiled first…"
            ),
            Self::ChoosingLength { number, kind, .. } => {
                write!(f, "{number}, {kind}: choosing a transform length…")
            }
            Self::Untuned { plan } => {
                let (p, place) = (plan.number().exponent(), plan.place());
                write!(
                    f,
                    "M{p}: no time of this length is stored for {place}; `warpint tune {p} --device {place}` times \
                     more kernels and stores the fastest"
                )
            }
            Self::NormalForm { name, number } => write!(f, "{name} is {number}"),
            Self::LongMultiplier { number } => write!(
                f,
                "{number}: k is not below {}^n, so no test with squarings proves the number prime; a \
                 probable-prime test is made",
                number.base()
            ),
            Self::Planned { plan, kind } => planned(f, plan, *kind),
            Self::ProofRoom { number, power, bytes, dir } => write!(
                f,
                "{number}: residues for a proof of power {power} take up to {} in {}",
                units::memory(*bytes),
                dir.display()
            ),
            Self::FinishedBefore { number, path, repeatable } => {
                let path = path.display();
                write!(f, "{number}: finished before, the result is from {path}")?;
                f.write_str(if *repeatable { "; --restart tests again" } else { "" })
            }
            Self::FinishedWithout { number, path } => {
                let path = path.display();
                write!(f, "{number}: finished before without this assignment, from {path}")
            }
            Self::NotThisResult { number, path, reason } => {
                let path = path.display();
                write!(f, "{number}: the result in {path} is {reason}, testing again")
            }
            Self::Stopped(report) => report.fmt(f),
            Self::ProofMade { number, power, path } => {
                write!(f, "{number}: the proof of power {power} is in {}", path.display())
            }
            Self::StartRemoved { exponent, path } => {
                let path = path.display();
                write!(f, "M{exponent}: {path} is removed: its certification is finished")
            }
            Self::MovedOver { lines, from } => {
                write!(f, "{} moved over from {from}", units::count(*lines as u64, "line"))
            }
            Self::LockTakenOver(line) => f.write_str(line),
            Self::NoWorkLeft { summary, waits } => {
                f.write_str(summary)?;
                f.write_str(if *waits { "; waiting for more, until Ctrl-C" } else { "" })
            }
            Self::TeamStopped { summary } => write!(f, "stopped: {summary}"),
        }
    }
}

/// Writes a plan as `M216091, PRP-3: engine fp64, 12K words (17.58 bits a word, margin 1.2 bits), 2
/// threads`, or `M82589933, PRP-3: engine goldilocks on cuda:0, 4M words (…), 2048x2048/4x4`, or
/// `3*2^3189+1, Proth-11: engine plain, 2 threads`.
fn planned(f: &mut fmt::Formatter<'_>, plan: &Plan, kind: TestKind) -> fmt::Result {
    let engine = engine_at(plan.engine(), plan.place());
    write!(f, "{}, {kind}: engine {engine}", plan.number())?;
    if plan.engine() != PLAIN {
        let (length, bits) = (units::count_words(plan.length()), plan.bits_per_word());
        write!(f, ", {length} ({bits:.2} bits a word, margin {:.1} bits)", plan.margin().bits)?;
    }
    match plan.variant() {
        _ if plan.is_on_cpu() => {
            write!(f, ", {}", units::count(plan.threads() as u64, "thread"))
        }
        variant if variant.is_empty() => Ok(()),
        variant => write!(f, ", {variant}"),
    }
}
