//! Polynomials over a field: products, inverses of power series, division, evaluation at many
//! points and interpolation, on the CPU.
//!
//! A polynomial a_0 + a_1·x + … + a_(n−1)·x^(n−1) is the slice of its coefficients, the constant
//! coefficient first. The highest coefficients of a slice may be 0, and the empty slice is the zero
//! polynomial. *A polynomial of n coefficients* is a slice of length n, so its degree is below n.
//!
//! [`Polynomials`] has the operations. In the table, n is the number of coefficients of the result,
//! or of points, and M(n) is the cost of a product with n coefficients: three transforms of N ≥ n
//! elements, or about 3/2·N·log2(N) products of elements, where N is a power of two.
//!
//! | operation | method | cost |
//! |---|---|---|
//! | [`product`](Polynomials::product), [`square`](Polynomials::square) | cyclic transforms; long factors are cut into pieces | M(n) |
//! | [`middle_product`](Polynomials::middle_product) | a cyclic transform that lets unwanted coefficients wrap around | M of the longer factor |
//! | [`series_inverse`](Polynomials::series_inverse) | Newton iteration | about 10/3·M(n) |
//! | [`divide_with_remainder`](Polynomials::divide_with_remainder) | a series inverse and two products for each block of the quotient | about 19/3·M(n) for a quotient and a divisor of n coefficients |
//! | [`from_roots`](Polynomials::from_roots) | products in a tree | about M(n)·log2(n)/2 |
//! | [`evaluate_many`](Polynomials::evaluate_many), [`interpolate`](Polynomials::interpolate) | subproduct tree, transposed product | about M(n)·log2(n), 3/2·M(n)·log2(n) |
//!
//! Sums, differences and products of the coefficients of two polynomials, one by one, are loops of the
//! field ([`Field::mul_each`] and its siblings), which for `F50` use AVX-512 or AVX2.
//!
//! Short operands are processed by the slow and obvious methods of [`schoolbook`].
//!
//! # Fields
//!
//! The coefficients may be elements of any [`Field`]:
//!
//! | field | primes p |
//! |---|---|
//! | [`Goldilocks`](warpint_arith::goldilocks::Goldilocks) | 2^64 − 2^32 + 1 |
//! | [`F50`](warpint_arith::f50::F50) | 2^46 to 2^50 |
//! | [`PrimeField`](warpint_arith::montgomery::PrimeField) | all odd primes; `PrimeField<1>` those below 2^64 |
//! | [`Gfn`](warpint_arith::gfn::Gfn) | big primes r^k + 1 |
//!
//! Coefficients must be elements of the field: for example, those of `Goldilocks` are below p. For
//! other inputs results are unspecified, and a build with overflow checks may panic.
//!
//! A transform of N elements requires a root of unity of order N. If the field does not have it,
//! shorter transforms multiply pieces of the factors, and Karatsuba's identity combines the products
//! of the pieces. So no operation fails for lack of roots, and results are exact, but the cost grows:
//! if 2^s is the largest order, a product of two polynomials of n coefficients costs about
//! (n/2^s)^1.6 products of 2^s coefficients each. For primes p ≡ 3 mod 4, which have s = 1, this is
//! Karatsuba's method.
//!
//! # Errors
//!
//! Every operation returns [`PolynomialError::Transform`] if the memory for the tables of its
//! transforms is not available. Other errors are stated for each operation.

mod divide;
mod error;
mod evaluate;
mod middle;
mod product;
pub mod schoolbook;
mod series;
mod shape;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::OnceLock;

use warpint_arith::field::Field;

use crate::cpu::Transform;

pub use error::PolynomialError;

/// Arithmetic with polynomials over the field F. The [module](self) states the representation.
///
/// The value stores the plans of the transforms that its operations have used. Threads may share
/// it. The operations run on the threads of rayon's current pool.
///
/// ```
/// use warpint_arith::goldilocks::{Goldilocks, Q};
/// use warpint_transform::polynomial::Polynomials;
///
/// let polynomials = Polynomials::new(Goldilocks);
/// // (1 + x)·(−1 + x) = −1 + x².
/// assert_eq!(polynomials.product(&[1, 1], &[Q - 1, 1])?, [Q - 1, 0, 1]);
/// # Ok::<(), warpint_transform::polynomial::PolynomialError>(())
/// ```
#[derive(Debug)]
pub struct Polynomials<F: Field> {
    field: F,
    /// The plans of transforms of 2^m elements, for all m for which the field has roots of order
    /// 2^m.
    plans: Box<[OnceLock<Transform<F>>]>,
}

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Creates the arithmetic over a field. Cost: six calls of [`Field::root_of_unity`].
    #[must_use]
    pub fn new(field: F) -> Self {
        // A field with a root of order 2^m has one of order 2^(m − 1).
        let (mut has, mut lacks) = (0, usize::BITS - 1);
        while has + 1 < lacks {
            let middle = u32::midpoint(has, lacks);
            if field.root_of_unity(middle).is_some() {
                has = middle;
            } else {
                lacks = middle;
            }
        }
        Self { field, plans: (0..=has).map(|_| OnceLock::new()).collect() }
    }

    /// Returns the field of the coefficients.
    #[must_use]
    pub fn field(&self) -> &F {
        &self.field
    }

    /// Returns the largest m for which transforms of 2^m elements exist.
    fn longest(&self) -> u32 {
        self.plans.len() as u32 - 1
    }

    /// Returns the plan of transforms of 2^log2 elements, for log2 ≤ `longest`.
    fn plan(&self, log2: u32) -> Result<&Transform<F>, PolynomialError> {
        let slot = &self.plans[log2 as usize];
        if let Some(plan) = slot.get() {
            return Ok(plan);
        }
        let plan = Transform::new(self.field.clone(), log2)?;
        Ok(slot.get_or_init(|| plan))
    }

    /// Returns the plan of the shortest transforms of at least n elements. Returns `None` if the
    /// field has no roots of this order.
    fn plan_for(&self, n: usize) -> Result<Option<&Transform<F>>, PolynomialError> {
        let log2 = n.next_power_of_two().ilog2();
        if log2 > self.longest() { Ok(None) } else { self.plan(log2).map(Some) }
    }

    /// Returns the coefficients of x modulo z^N − 1, where N is the length of `plan`.
    fn folded(&self, plan: &Transform<F>, x: &[F::Element]) -> Vec<F::Element> {
        let n = plan.len();
        let (low, high) = x.split_at(n.min(x.len()));
        let mut all = Vec::with_capacity(n);
        all.extend_from_slice(low);
        all.resize(n, self.field.zero());
        for part in high.chunks(n) {
            self.add_to(&mut all, part);
        }
        all
    }

    /// Returns the transform of x modulo z^N − 1.
    fn spectrum(&self, plan: &Transform<F>, x: &[F::Element]) -> Vec<F::Element> {
        let mut all = self.folded(plan, x);
        plan.forward_each(&mut all);
        all
    }

    /// Computes a_i ← a_i + b_i for all i below the length of b, or of a if that is shorter.
    fn add_to(&self, a: &mut [F::Element], b: &[F::Element]) {
        self.field.add_each(a, b);
    }

    /// Computes a_i ← a_i − b_i for all i below the length of b, or of a if that is shorter.
    fn subtract_from(&self, a: &mut [F::Element], b: &[F::Element]) {
        self.field.sub_each(a, b);
    }
}

/// Returns the coefficients of x in reverse order.
fn reversed<T: Clone>(x: &[T]) -> Vec<T> {
    x.iter().rev().cloned().collect()
}
