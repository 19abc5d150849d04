//! The registers of a PRP test or a certification. A Lucas–Lehmer test uses [`X`] alone.

/// The register that holds x_k, the present term of the sequence.
pub const X: usize = 0;
/// The register that holds D, the Gerbicz product up to the last whole block.
pub const D: usize = 1;
/// The register that holds x_v, the verified state.
pub const V: usize = 2;
/// The register that holds, at a check, D including the block that has just ended.
pub const NEXT: usize = 3;
/// The register that holds D^(2^j) during a check.
pub const POWER: usize = 4;
/// The register that holds x_(T−1), then x_T, where T is the last iteration.
pub const LAST: usize = 5;
/// The register that holds, at a check, x_k written back from the host's copy.
pub const READ: usize = 6;

/// The number of registers.
pub const COUNT: usize = 7;
