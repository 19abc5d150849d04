//! Natural numbers as little-endian slices of `u64` limbs: x = Σ x_i·2^(64·i).
//!
//! These are the slow, obvious versions that every fast transform is tested
//! against, and the few linear-time operations a residue needs. What is faster
//! takes its products from a [`Multiplier`].

mod add;
mod div;
mod div_recursive;
mod gcd;
mod karatsuba;
mod mersenne;
mod mul;
mod multiplier;
mod power;
mod root;
mod rows;
mod small;

pub use add::{add_assign, compare, sub_assign};
pub(crate) use div::shift_right_assign;
pub use div::{div_rem, trim, trimmed};
pub use div_recursive::div_rem_by;
pub use gcd::{gcd, inverse};
pub use karatsuba::Karatsuba;
pub use mersenne::{
    add_mod, canonicalise, div_small_mod, limbs_for_bits, mul_mod, reduce, rotate_left, sub_mod,
};
pub use mul::mul;
pub use multiplier::{Matrix2, Multiplier, Schoolbook};
pub use power::pow_mod;
pub use root::root;
pub use rows::mul_to;
pub use small::{div_rem_small, mul_small_assign, rem_small};
