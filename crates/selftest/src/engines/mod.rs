//! Tests of the engines for Mersenne numbers, which are machines with numbered registers of
//! residues: the list of cases, the oracle and the comparisons.

pub mod agreement;
pub mod cases;
pub mod interim;
mod macros;
pub mod oracle;
pub mod sequence;
pub mod stress;
pub mod twin;
