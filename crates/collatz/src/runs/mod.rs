//! Verification in units of work: on several devices and machines, resumable, with files that other
//! programs can check.
//!
//! * [`Layout`]: the division of a range into numbered units, the same on all machines;
//! * [`Run`]: verifies the units that are not done yet; [`Selection`]: a choice of units;
//! * [`Unit`]: the result for a unit; [`Folder`]: a directory of unit files;
//! * [`sample`]: a checksum on which all methods must agree;
//! * [`Merged`]: the union of the numbers that the files of several directories cover.
//!
//! Each unit has [evidence](crate::evidence) of its work; only units in files of format version 1
//! have none. [`crate::evidence::Evidence::check`] recomputes the evidence.
//!
//! # The meaning of "verified"
//!
//! A method shows for each number n of a region that the path of n falls below n, or joins the path
//! of a number below n. By induction over n, starting with 1, this proves the following:
//!
//! * [0, X): every n with 1 ≤ n < X reaches 1. This requires *all* units; 0 is counted, but nothing
//!   is claimed for it.
//! * [A, B) with A > 2: every n in it reaches 1 if every n with 1 ≤ n < A does, whether that was
//!   verified here or elsewhere.
//! * A unit alone proves only a conditional statement: its positive numbers reach 1 if all smaller
//!   positive numbers do, including those of its range. The numbers of a residue class are spread
//!   over the range, and the numbers between them belong to all other classes. So only a complete
//!   set of classes proves a claim.
//! * The path of an unresolved number did not fall below its start within a limit of steps. No
//!   known path comes near this limit. The number may be a counter-example. It is reported, stored
//!   in its unit's file, and reported again by every later run and merge. The claims above are then
//!   proven only for the paths that do not join its path.

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
