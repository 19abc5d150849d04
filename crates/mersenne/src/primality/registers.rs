//! The registers of a PRP test or a certification. A Lucas–Lehmer test uses [`X`] alone.

/// x_k, the present term of the sequence.
pub const X: usize = 0;
/// D, the Gerbicz product up to the last whole block.
pub const D: usize = 1;
/// x_v, the verified state.
pub const V: usize = 2;
/// D including the block that has just ended, at a check.
pub const NEXT: usize = 3;
/// D^(2^j) during a check.
pub const POWER: usize = 4;
/// x_(T−1), then x_T, where T is the last iteration.
pub const LAST: usize = 5;
/// x_k at a check, written back from the host's copy.
pub const READ: usize = 6;

/// The number of registers.
pub const COUNT: usize = 7;
