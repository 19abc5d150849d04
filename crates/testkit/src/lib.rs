//! Code for tests only: engines and limbs compared with GMP.
//!
//! * [`gmp`]: arithmetic mod M_p by GMP;
//! * [`forger`]: forged proofs;
//! * [`cases`] and [`gmp_engine_suite!`]: the requirements on every engine, one `#[test]` per case;
//! * [`tests`]: whole tests of M_p as the program runs them;
//! * [`on_device`]: a CPU family that pretends to be on a device;
//! * [`vectors`]: the known answers that GMP computes.

pub mod cases;
pub mod forger;
pub mod gmp;
mod macros;
pub mod on_device;
pub mod tests;
pub mod vectors;
