//! Verification in units of work: on several devices and machines, resumable, with files that other programs
//! can check.
//!
//! * [`Layout`]: how a range is cut into numbered units, the same everywhere;
//! * [`Run`]: does the units that are not done yet; [`Selection`]: which of them;
//! * [`Unit`]: what is known of a unit; [`Folder`]: a directory of their files;
//! * [`sample`]: the checksum that every method must agree on;
//! * [`Merged`]: what the files of several directories cover together.
//!
//! Each unit has [evidence](crate::evidence) that its work was done, which [`crate::evidence::Evidence::check`] repeats.
//!
//! # What "verified" means
//!
//! A method shows of each number of a region that its path comes below its start, or that a smaller number has
//! the same path from some point on. By induction over n, with 1 as its own proof:
//!
//! * [0, X): every n with 1 ≤ n < X reaches 1. This takes *all* units; 0 is counted and is no claim.
//! * [A, B) with A > 2: every n in it reaches 1 if every n below A does, be it verified here or by others.
//! * A unit alone is a statement given all smaller numbers, of its range too. For a residue class, which has
//!   numbers all over the range, that is all other classes: only a complete set of classes is a claim.
//! * An unresolved number is one that was not seen below its start within a limit of steps far beyond what any
//!   known number takes. It may be a counter-example: it is told, kept in its unit's file, and told again by
//!   every later run and merge. All else is then proven of the paths that do not meet its path.

mod check;
mod folder;
mod layout;
mod merge;
mod name;
mod run;
pub mod sample;
mod unit;

pub use check::Flaw;
pub use folder::{Folder, FolderError};
pub use layout::{Layout, LayoutError};
pub use merge::{Audit, AuditOutcome, Disagreement, Files, Merged, Missing, Overlap, Rejected};
pub use run::{Event, Outcome, Run, Selection, SelectionError};
pub use unit::{HighestText, RegionText, Unit, UnitError};
