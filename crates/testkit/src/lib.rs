//! Tests only: engines and limbs against GMP.
//!
//! * [`gmp`]: arithmetic mod M_p by GMP;
//! * [`forger`]: proofs that are made to deceive;
//! * [`cases`] and [`gmp_engine_suite!`]: what every engine must do, one `#[test]` a case;
//! * [`tests`]: whole tests of M_p as the program runs them;
//! * [`on_device`]: a CPU family that pretends to sit on a device;
//! * [`vectors`]: the known answers that GMP computes.

pub mod cases;
pub mod forger;
pub mod gmp;
mod macros;
pub mod on_device;
pub mod tests;
pub mod vectors;
