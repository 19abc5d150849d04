//! Arithmetic on natural numbers of any length, one operation at a time, on the CPU.
//!
//! A number is a little-endian slice of `u64` limbs: x = Σ x_i·2^(64·i).
//!
//! | module | subject |
//! |---|---|
//! | [`limbs`] | sums; operations modulo 2^p − 1; slow, obvious products, quotients, gcds, roots and powers for tests |
//! | [`product`] | products and squares: schoolbook, Karatsuba, number-theoretic transforms |
//! | [`division`] | quotients and remainders |
//! | [`euclid`] | the greatest common divisor, cofactors and the Jacobi symbol |
//! | [`root`] | roots |
//! | [`power`] | powers modulo a number |
//! | [`primality`] | trial division, the strong test and the strong Lucas test |
//! | [`radix`] | decimal and hexadecimal digits |
//!
//! Types such as [`product::Products`] contain working memory and reuse it from one operation to
//! the next.

pub mod division;
pub mod euclid;
mod kernels;
pub mod limbs;
pub mod power;
pub mod primality;
pub mod product;
pub mod radix;
pub mod root;
#[cfg(test)]
mod sample;
