//! The Collatz conjecture: every positive number reaches 1 by T(n) = n/2 for even n, (3n + 1)/2 for odd n.
//!
//! * [`Region`]: which numbers; [`Verifier`]: a method that verifies them, given all smaller ones;
//! * [`Plain`]: the slow, obvious method, the oracle of the others;
//! * [`walk`]: one number step by step, exactly, until it is below its start;
//! * [`descent`]: when low bits alone show that a number comes below its start.

pub mod descent;
mod claim;
mod error;
mod folder;
pub mod gpu;
mod layout;
mod merge;
mod plain;
mod region;
pub mod sieve;
mod run;
pub mod sample;
mod unit;
mod verifier;
pub mod walk;

pub use error::CollatzError;
pub use folder::{Folder, FolderError};
pub use layout::{Layout, LayoutError};
pub use merge::{Disagreement, Merged, Missing, Unusable};
pub use plain::Plain;
pub use region::Region;
pub use run::{Event, Outcome, Run, Selection, SelectionError};
pub use unit::{HighestText, RegionText, Unit, UnitError};
pub use verifier::{Highest, Method, Unwatched, Verified, Verifier, Watch};
