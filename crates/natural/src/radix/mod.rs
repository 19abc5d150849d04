//! Conversion between numbers and digits.

pub mod decimal;
pub mod hex;
