//! The engines of Mersenne tests as register machines: one list of cases for all engines, the
//! oracle and the comparisons.

pub mod agreement;
pub mod cases;
pub mod interim;
mod macros;
pub mod oracle;
pub mod sequence;
pub mod stress;
pub mod twin;
