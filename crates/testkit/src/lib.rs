//! Code for tests only. Compares engines and limb arithmetic with GMP. M_p denotes 2^p − 1.
//!
//! * [`gmp`]: arithmetic modulo M_p by GMP;
//! * [`forger`]: forged proofs, which a verification must refuse;
//! * [`cases`] and [`gmp_engine_suite!`]: comparisons of every engine with GMP, one `#[test]` per
//!   case;
//! * [`tests`]: complete tests of M_p, as the program runs them;
//! * [`on_device`]: an engine family that computes on the CPU, but claims to be on a device;
//! * [`vectors`]: files of known answers, computed with GMP.

pub mod cases;
pub mod forger;
pub mod gmp;
mod macros;
pub mod on_device;
pub mod tests;
pub mod vectors;
