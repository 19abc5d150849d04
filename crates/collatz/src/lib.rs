//! The Collatz conjecture: every positive number reaches 1 under T(n) = n/2 for even n, (3n + 1)/2
//! for odd n.
//!
//! * [`Region`]: a set of numbers; [`Verifier`]: a method that verifies a region on the assumption
//!   that all smaller positive numbers outside the region reach 1;
//! * [`Plain`]: the slow, obvious method, with which tests compare the other methods;
//! * [`sieve`]: the sieve: a search of a tree over the low bits of numbers, with whole subtrees
//!   pruned;
//! * [`table`]: the table method: a step processes several low bits of a number; residues whose
//!   numbers provably fall below their starts are skipped;
//! * [`open`]: opens the fastest method that the CPU or a GPU supports, with tuned sizes of the
//!   method's tables ([`sizes`]);
//! * [`evidence`]: evidence that the work was done: random parts of it that the host recomputed;
//! * [`runs`]: verification of a range in units of work, with a file for each unit. The files of
//!   several directories can be merged;
//! * [`report`]: results as objects of JSON;
//! * [`delay`]: the delays of all numbers of a range, and the records among them. The delay of a
//!   number is the number of its steps n/2 and 3n + 1 to 1;
//! * [`path`]: the exact path of one number of any size to 1;
//! * [`walk`]: the exact path of one number, step by step, to the first value below its start;
//! * [`descent`]: the lemma by which the low bits of a number alone prove that its path falls below
//!   its start.

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
pub mod report;
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
