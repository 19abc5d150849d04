//! Fields Z/pZ, where p = r^k + 1 is a sparse-radix generalized Fermat prime: r = 2^w ± 2^u (Chen,
//! Covanov, Mohajerani and Moreno Maza 2018, appendix).
//!
//! Elements are stored as k digits in radix r. In Z/pZ, r is a root of unity of order 2k, and a
//! product by a power of r is a rotation of the digits with changes of sign.
//!
//! | file | subject |
//! |---|---|
//! | `form` | the numbers p, and the known primes |
//! | `known` | a type for the field of each known prime |
//! | `primality` | proofs that p is prime |
//! | `root` | roots of unity |
//! | `sum` | sums, and products by powers of r and of ½ |
//! | `column` | sums of products of digits, and their conversion to digits |
//! | `product`, `karatsuba`, `transforms` | three multiplication methods |
//! | `convert` | conversions to and from integers, bytes and digits |
//! | `dispatch` | a macro for the field of a form known only at run time |

mod column;
mod convert;
mod dispatch;
mod form;
mod karatsuba;
mod known;
mod primality;
mod product;
mod root;
mod sum;
#[cfg(test)]
mod tests;
mod transforms;

pub use crate::with_field;
pub use convert::NoElement;
pub use form::{Form, NoForm, PRIMES};
pub use known::{Gfn2, Gfn4, Gfn8, Gfn16, Gfn32, Gfn64, Gfn128};

use std::sync::OnceLock;

use crate::field::Field;
use column::{Column, Divisor};

/// The field Z/pZ for a prime p = r^K + 1, which is given by a [`Form`] of K digits.
///
/// An element consists of K digits x_i in radix r, the lowest first. Its value is Σ x_i·r^i. All
/// digits are below r, with the exception of one element: r^K is stored with x_(K−1) = r and all
/// other digits 0.
#[derive(Debug, Clone)]
pub struct Gfn<const K: usize> {
    form: Form,
    r: u64,
    divisor: Divisor,
    bias: [Column; 2],
    /// The roots of unity ω(0), ω(1), …, where ω(m) has order 2^m. They are computed at the first
    /// use.
    roots: OnceLock<Vec<[u64; K]>>,
}

/// The reason why there is no field of type [`Gfn`] for a [`Form`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoField {
    /// The number of digits of the form differs from the parameter K of the type.
    #[error("{form} has elements of {} digits, not of {digits}", .form.digits())]
    Digits {
        /// The form that was given.
        form: Form,
        /// The parameter K of the type.
        digits: usize,
    },
    /// The number r^k + 1 of the form stored here is not prime.
    #[error("{0} is not a prime, so there is no field of this order")]
    Composite(Form),
}

impl<const K: usize> Gfn<K> {
    /// Creates the field Z/pZ, where p is the number of the form.
    ///
    /// The [`PRIMES`] are accepted without a test. For any other form, [`Form::is_prime`] proves
    /// that p is prime.
    ///
    /// # Errors
    /// Returns an error if the form does not have K digits, or if p is not prime.
    pub fn new(form: Form) -> Result<Self, NoField> {
        if form.digits() != K {
            return Err(NoField::Digits { form, digits: K });
        }
        if !form.is_known() && !form.is_prime() {
            return Err(NoField::Composite(form));
        }
        Ok(Self::ring(form))
    }

    /// Creates the ring Z/pZ without checking that p is prime. Requires a form of K digits.
    fn ring(form: Form) -> Self {
        debug_assert_eq!(form.digits(), K, "{form}");
        let r = form.radix();
        let (divisor, bias) = (Divisor::new(r), column::bias(form));
        Self { form, r, divisor, bias, roots: OnceLock::new() }
    }

    /// Returns the form of the modulus p.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }
}

impl<const K: usize> Field for Gfn<K> {
    type Element = [u64; K];

    fn zero(&self) -> [u64; K] {
        [0; K]
    }
    fn one(&self) -> [u64; K] {
        self.from_u64(1)
    }
    fn from_u64(&self, x: u64) -> [u64; K] {
        let mut digits = [0; K];
        digits[0] = i128::from(x);
        self.carried(digits)
    }
    fn add(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        self.sum(a, b)
    }
    fn sub(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        self.difference(a, b)
    }
    fn mul(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        self.product(a, b)
    }
    fn square(&self, a: &[u64; K]) -> [u64; K] {
        self.squared(a)
    }
    /// Returns 1/a. Returns `None` for a = 0. Cost: about log2(p) squarings.
    fn inverse(&self, a: &[u64; K]) -> Option<[u64; K]> {
        // a^(p − 2), p − 2 = (r − 1)·(r^(k−1) + … + 1).
        if *a == self.zero() {
            return None;
        }
        let base = self.pow(a, &[self.r - 1]);
        Some((1..K).fold(base, |power, _| self.mul(&self.pow_radix(&power), &base)))
    }
    /// Returns ω(m), a root of unity of order 2^m, for m = `log2`. Returns `None` if m > 40 or if
    /// the field has no root of this order.
    ///
    /// For 2^m = 2K, ω(m) is r. For 2^m ≥ 2K, ω(m + 1) is the smaller of the two square roots of
    /// ω(m), compared as integers from 0 to p − 1.
    ///
    /// Cost: about log2(p) squarings at the first call. Later calls only read a table.
    fn root_of_unity(&self, log2: u32) -> Option<[u64; K]> {
        self.roots.get_or_init(|| self.all_roots()).get(log2 as usize).copied()
    }
    fn log2_of_cheap_roots(&self) -> u32 {
        K.ilog2() + 1
    }
    fn mul_by_cheap_root(&self, a: &[u64; K], i: u64) -> [u64; K] {
        self.mul_by_radix_power(a, i)
    }
}

/// Two fields are equal if and only if their forms are equal.
impl<const K: usize> PartialEq for Gfn<K> {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl<const K: usize> Eq for Gfn<K> {}
