//! Numbers as digits.

pub mod decimal;
pub mod hex;
