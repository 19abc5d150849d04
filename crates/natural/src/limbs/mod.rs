//! Slow, obvious algorithms on natural numbers. A number is a little-endian slice of `u64` limbs,
//! x = Σ x_i·2^(64·i).
//!
//! Tests compare the fast algorithms of this crate, and the algorithms on devices, with the
//! products, quotients, greatest common divisors, roots, powers and primality tests of this
//! module. Sums, comparisons and shifts take one pass over the limbs, and so do most operations
//! modulo 2^p − 1.

mod div;
mod gcd;
mod linear;
mod mersenne;
mod mul;
mod power;
mod primality;
mod root;

pub use div::div_rem;
pub use gcd::{gcd, inverse};
pub(crate) use linear::{at_least, shift_right_assign};
pub use linear::{bit_length, copy_to, shift_left_to, shifted_left, shifted_right};
pub use mersenne::{
    add_mod, canonicalise, div_small_mod, limbs_for_bits, mul_mod, mul_small_mod_assign,
    quarter_mod_assign, reduce, rotate_left, sub_mod, sub_mod_assign,
};
pub use mul::mul;
pub use power::pow_mod;
pub use primality::is_probable_prime;
pub use root::{root, sqrt};
pub(crate) use warpint_arith::limbs::reversed_sub_assign;
pub use warpint_arith::limbs::{
    add_assign, compare, div_rem_small, mul_small_assign, rem_small, sub_assign, trim, trimmed,
};
