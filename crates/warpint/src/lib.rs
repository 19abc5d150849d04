//! Exact arithmetic on large integers: the library behind the program `warpint`.
//!
//! * [`mersenne`]: Lucas–Lehmer and PRP tests of 2^p − 1.
//! * [`gimps`]: the files that programs around GIMPS read and write.
//! * [`arith`]: exact scalar arithmetic.

pub use warpint_arith as arith;
pub use warpint_gimps as gimps;
pub use warpint_mersenne as mersenne;
