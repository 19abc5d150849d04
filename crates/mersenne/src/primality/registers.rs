//! What the registers of a PRP test or a certification hold. A Lucas–Lehmer test has [`X`] alone.

/// x_k, the sequence.
pub const X: usize = 0;
/// D, the Gerbicz product as far as its last whole block.
pub const D: usize = 1;
/// x_v, the verified state.
pub const V: usize = 2;
/// D with the block that has just ended, at a check.
pub const NEXT: usize = 3;
/// D^(2^j) during a check.
pub const POWER: usize = 4;
/// x_(T−1), then x_T, T the last iteration.
pub const LAST: usize = 5;
/// x_k at a check, as the host has it.
pub const READ: usize = 6;

/// How many there are.
pub const COUNT: usize = 7;
