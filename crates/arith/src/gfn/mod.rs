//! Fields Z/pZ, p = r^k + 1 with r = 2^w ± 2^u: sparse-radix generalized Fermat primes (Chen, Covanov,
//! Mohajerani and Moreno Maza 2018, appendix).
//!
//! r is a root of unity of order 2k, and a product by a power of r is a rotation of digits.

mod convert;
mod dispatch;
mod form;
mod primality;
mod root;
#[cfg(test)]
mod tests;

pub use crate::with_field;
pub use convert::NoElement;
pub use form::{Form, NoForm, PRIMES};

use std::sync::OnceLock;

use crate::field::Field;

/// The field of a [`Form`] of K digits.
///
/// An element is K digits x_i in radix r, the lowest first: either all digits are below r, or the value
/// is r^k, with x_(K−1) = r and zeros below.
#[derive(Debug, Clone)]
pub struct Gfn<const K: usize> {
    form: Form,
    r: u64,
    /// ω(0), ω(1), …, once somebody asked.
    roots: OnceLock<Vec<[u64; K]>>,
}

/// Why there is no such field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoField {
    /// The elements of the form have another number of digits.
    #[error("{form} has elements of {} digits, not of {digits}", .form.digits())]
    Digits {
        /// The form.
        form: Form,
        /// K of the type.
        digits: usize,
    },
    /// p is no prime.
    #[error("{0} is no prime: there is no field of so many elements")]
    Composite(Form),
}

impl<const K: usize> Gfn<K> {
    /// Z/pZ.
    ///
    /// # Errors
    /// The form must have K digits, and p must be prime. Cost: nothing for the [`PRIMES`], else a proof
    /// as in [`Form::is_prime`].
    pub fn new(form: Form) -> Result<Self, NoField> {
        if form.digits() != K {
            return Err(NoField::Digits { form, digits: K });
        }
        if !form.is_known() && !form.is_prime() {
            return Err(NoField::Composite(form));
        }
        Ok(Self::ring(form))
    }

    /// Z/pZ, whether p is prime or not.
    fn ring(form: Form) -> Self {
        debug_assert_eq!(form.digits(), K, "{form}");
        Self { form, r: form.radix(), roots: OnceLock::new() }
    }

    /// The form.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// −1 = r^k.
    fn minus_one(&self) -> [u64; K] {
        let mut digits = [0; K];
        digits[K - 1] = self.r;
        digits
    }

    /// The element Σ x_i·r^i of signed digits |x_i| < 2^120.
    fn carried(&self, mut x: [i128; K]) -> [u64; K] {
        let r = i128::from(self.r);
        loop {
            let mut carry = 0;
            for digit in &mut x {
                let sum = *digit + carry;
                (*digit, carry) = (sum.rem_euclid(r), sum.div_euclid(r));
            }
            if carry == 0 {
                return x.map(|digit| digit as u64);
            }
            // r^k = −1.
            x[0] -= carry;
            if carry == 1 && x[0] == -1 && x[1..].iter().all(|&digit| digit == 0) {
                let mut minus_one = [0; K];
                minus_one[K - 1] = self.r;
                return minus_one;
            }
        }
    }

    /// a·b by the definition, digit by digit.
    #[must_use]
    pub fn mul_schoolbook(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        let mut sums = [0i128; K];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let (product, r) = (u128::from(x) * u128::from(y), u128::from(self.r));
                for (at, digit) in [(i + j, product % r), (i + j + 1, product / r)] {
                    let digit = digit as i128;
                    sums[at % K] += if (at / K).is_multiple_of(2) { digit } else { -digit };
                }
            }
        }
        self.carried(sums)
    }

    /// a·r^i by a rotation, for any i: r^2k = 1.
    #[must_use]
    pub fn mul_by_radix_power(&self, a: &[u64; K], i: u64) -> [u64; K] {
        let mut sums = [0i128; K];
        for (j, &digit) in a.iter().enumerate() {
            let (digit, at) = (i128::from(digit), j + (i % (2 * K as u64)) as usize);
            sums[at % K] = if (at / K).is_multiple_of(2) { digit } else { -digit };
        }
        self.carried(sums)
    }

    fn sum(&self, a: &[u64; K], b: &[u64; K], sign: i128) -> [u64; K] {
        let mut sums = a.map(i128::from);
        for (sum, &digit) in sums.iter_mut().zip(b) {
            *sum += sign * i128::from(digit);
        }
        self.carried(sums)
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
        self.sum(a, b, 1)
    }
    fn sub(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        self.sum(a, b, -1)
    }
    fn mul(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        self.mul_schoolbook(a, b)
    }
    fn inverse(&self, a: &[u64; K]) -> Option<[u64; K]> {
        // a^(p − 2), p − 2 = (r − 1)·(r^(k−1) + … + 1).
        if *a == self.zero() {
            return None;
        }
        let base = self.pow(a, &[self.r - 1]);
        Some((1..K).fold(base, |power, _| self.mul(&self.pow_radix(&power), &base)))
    }
    /// As in [`Field::root_of_unity`]; `None` beyond order 2^40 too. ω(log2 2k) = r, and beyond it ω(m + 1)
    /// is the smaller one of the square roots of ω(m). Cost: the first time about log2(p) squarings.
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

/// Fields of the same form are the same.
impl<const K: usize> PartialEq for Gfn<K> {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl<const K: usize> Eq for Gfn<K> {}
