//! Operations that take one pass over the limbs of natural numbers. A number x is a little-endian
//! slice of `u64` limbs x_i, x = Σ x_i·2^(64·i).
//!
//! Fields with long moduli use these operations for conversions. Products, division and the
//! algorithms built on them are in the crate `warpint-natural`.

mod add;
#[cfg(test)]
pub(crate) mod oracle;
mod small;

pub use add::{add_assign, compare, reversed_sub_assign, sub_assign, trim, trimmed};
pub use small::{div_rem_small, mul_small_assign, rem_small};
