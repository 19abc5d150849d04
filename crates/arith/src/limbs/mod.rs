//! Natural numbers as little-endian slices of `u64` limbs, x = Σ x_i·2^(64·i): the operations that
//! take one pass over the limbs.
//!
//! Fields with long moduli convert by them; products, division and all that is built on these are in
//! the crate `warpint-natural`.

mod add;
#[cfg(test)]
pub(crate) mod oracle;
mod small;

pub use add::{add_assign, compare, sub_assign, trim, trimmed};
pub use small::{div_rem_small, mul_small_assign, rem_small};
