//! Natural numbers as little-endian slices of `u64` limbs: x = Σ x_i·2^(64·i).
//!
//! These are the slow, obvious versions that every fast transform is tested
//! against, and the few linear-time operations a residue needs. Nothing here
//! allocates more than its result, and nothing here is asymptotically fast.

mod add;
mod mersenne;
mod mul;
mod small;

pub use add::{add_assign, compare, sub_assign};
pub use mersenne::{
    add_mod, canonicalise, div_small_mod, limbs_for_bits, mul_mod, reduce, rotate_left, sub_mod,
};
pub use mul::mul;
pub use small::{div_rem_small, mul_small_assign, rem_small};
