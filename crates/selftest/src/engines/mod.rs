//! Tests of the engines for Mersenne numbers: the list of cases, the oracle and the comparisons. An
//! engine is a machine with numbered registers of residues.

pub mod agreement;
pub mod cases;
pub mod interim;
mod macros;
pub mod oracle;
pub mod sequence;
pub mod stress;
pub mod twin;
