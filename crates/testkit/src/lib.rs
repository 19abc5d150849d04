//! Code for tests only, which compares engines and limb arithmetic with GMP.
//!
//! * [`gmp`]: arithmetic modulo M_p by GMP;
//! * [`forger`]: forged proofs, which a verification must refuse;
//! * [`cases`] and [`gmp_engine_suite!`]: comparisons of every engine with GMP, one `#[test]` per
//!   case;
//! * [`tests`]: complete tests of M_p, as the program runs them;
//! * [`on_device`]: a family on the CPU that claims to be on a device;
//! * [`vectors`]: the known answers that are computed with GMP.

pub mod cases;
pub mod forger;
pub mod gmp;
mod macros;
pub mod on_device;
pub mod tests;
pub mod vectors;
