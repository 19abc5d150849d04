//! The registers of a PRP test or a certification. A Lucas–Lehmer test uses only [`X`], and a Lucas
//! sequence of Morrison's test [`X`], [`SECOND`] and [`PARAMETER`].
//!
//! A register that is not in use is set to 0. Engines on the CPU then release its memory.

/// The register that holds x_k, the present term of the sequence.
pub const X: usize = 0;
/// The register that holds the Gerbicz–Li product D = x_v·x_(v+B)·x_(v+2B)· … up to the end of the
/// last whole block. Here v is the last verified iteration, and B the number of squarings of a
/// block. At the end of a check, it holds the product of D and the term at the end of the block.
pub const D: usize = 1;
/// The register that holds, for one product at the end of a check, x_v, the term of the sequence at
/// the last verified iteration v.
pub const V: usize = 2;
/// The register that holds, during the check at the end of the run, the product in [`D`] times the
/// term at the end of the block.
pub const NEXT: usize = 3;
/// The register in which a check raises the product in [`D`] to the power 2^B. This takes B
/// squarings, where B is the number of squarings of a block.
pub const POWER: usize = 4;
/// The register in which the check at the end of the run squares x_(T−1) to x_T, the last term of
/// the run, and x_T to the term at the end of the block.
pub const LAST: usize = 5;
/// The register that holds, for the products of a check, the present term x_k as written back from
/// the host's copy.
pub const READ: usize = 6;

/// In a Lucas sequence of Morrison's test, the register that holds V_(m+1). Register [`X`] holds V_m.
pub const SECOND: usize = 1;
/// In a Lucas sequence of Morrison's test, the register that holds the parameter P = V_1.
pub const PARAMETER: usize = 2;

/// The number of registers of a PRP test or a certification.
pub const COUNT: usize = 7;
