//! Conversion between numbers and digits.

pub mod decimal;
mod fractions;
pub mod groups;
pub mod hex;
