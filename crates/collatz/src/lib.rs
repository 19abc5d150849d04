//! The Collatz conjecture: every positive number reaches 1 under T(n) = n/2 for even n, (3n + 1)/2
//! for odd n.
//!
//! * [`Region`]: a set of numbers; [`Verifier`]: a method that verifies them, given all smaller
//!   ones;
//! * [`Plain`]: the slow, obvious method, the oracle of the others;
//! * [`sieve`]: the sieve: numbers grown from their low bits, with whole subtrees pruned;
//! * [`table`]: the table method: several bits at a time, with provably descending residues
//!   skipped;
//! * [`open`]: opens the fastest method of a place, with the sizes of its tables ([`sizes`]);
//! * [`evidence`]: evidence that the work was done;
//! * [`runs`]: verification in units of work, their files, and the union of what they cover;
//! * [`delay`]: the delays of all numbers of a range, and records;
//! * [`path`]: the exact path of one number of any size to 1;
//! * [`walk`]: one number step by step, exactly, until it is below its start;
//! * [`descent`]: the lemma by which low bits alone prove that a path falls below its start.

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
