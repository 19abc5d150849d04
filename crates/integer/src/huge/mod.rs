//! Arithmetic on single natural numbers of any length.
//!
//! A number is a little-endian slice of limbs of 64 bits: x = Σ x_i·2^(64·i).
//!
//! | module | subject |
//! |---|---|
//! | [`device`] | products on a device |

pub mod device;
