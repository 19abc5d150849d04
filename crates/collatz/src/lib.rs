//! The Collatz conjecture: every positive number reaches 1 by T(n) = n/2 for even n, (3n + 1)/2 for odd n.
//!
//! * [`Region`]: which numbers; [`Verifier`]: a method that verifies them, given all smaller ones;
//! * [`Plain`]: the slow, obvious method, the oracle of the others;
//! * [`sieve`]: numbers grown from their low bits, whole subtrees left out;
//! * [`table`]: some bits at a time by tables, residues that come down left out;
//! * [`open`]: the fastest method of a place, with the sizes of its tables ([`sizes`]);
//! * [`evidence`]: that the work was done;
//! * [`runs`]: verification in units of work, their files, and what these cover together;
//! * [`delay`]: the delays of all numbers of a range, and records;
//! * [`path`]: the exact path of one number of any size to 1;
//! * [`walk`]: one number step by step, exactly, until it is below its start;
//! * [`descent`]: when low bits alone show that a number comes below its start.

mod decimal;
pub mod delay;
pub mod descent;
mod error;
pub mod evidence;
pub mod gpu;
pub mod names;
pub mod open;
pub mod path;
mod plain;
mod region;
pub mod runs;
pub mod sieve;
pub mod sizes;
pub mod table;
#[cfg(test)]
mod until;
mod verifier;
pub mod walk;

pub use error::{CollatzError, Refutation};
pub use plain::Plain;
pub use region::Region;
pub use verifier::{Highest, Method, Verified, Verifier};
pub use warpint_progress::{Unwatched, Watch};
