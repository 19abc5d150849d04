//! Convolutions of N elements: products of polynomials modulo z^N − 1 and z^N + 1. N is the
//! transform length.

use warpint_arith::field::Field;

use super::steps::least_run;
use super::{Transform, WrongArgument};
use crate::parallel::each_part;

impl<F: Field> Transform<F> {
    /// Replaces each vector of a by its cyclic convolution with the corresponding vector of b:
    /// a_l ← Σ_(i + j ≡ l mod N) a_i·b_j. This is a product of polynomials modulo z^N − 1. b is
    /// overwritten with the transforms of its vectors. Cost of each convolution: three transforms
    /// and 2N products.
    ///
    /// # Errors
    /// a and b differ in length, or their length is not a multiple of N.
    pub fn cyclic(&self, a: &mut [F::Element], b: &mut [F::Element]) -> Result<(), WrongArgument> {
        self.check_factors(a, b)?;
        self.forward(b)?;
        self.forward(a)?;
        self.multiply(a, b);
        self.inverse(a)
    }

    /// Replaces each vector of a by its cyclic convolution with itself. Cost of each convolution:
    /// two transforms, N squarings and N products.
    ///
    /// # Errors
    /// The number of elements is not a multiple of N.
    pub fn cyclic_square(&self, a: &mut [F::Element]) -> Result<(), WrongArgument> {
        self.forward(a)?;
        each_part(a, least_run::<F>(), &|_, a| {
            a.iter_mut().for_each(|a| *a = self.field.square(a));
        });
        self.inverse(a)
    }

    /// Replaces each vector of a by its negacyclic convolution with the corresponding vector of b:
    /// a_l ← Σ_(i + j = l) a_i·b_j − Σ_(i + j = l + N) a_i·b_j. This is a product of polynomials
    /// modulo z^N + 1. b is overwritten with the transforms of b_j·ψ^j, where ψ is the root of
    /// unity of order 2N. Cost of each convolution: three transforms and about 6N products.
    ///
    /// # Errors
    /// a and b differ in length, their length is not a multiple of N, or the field has no root of
    /// unity of order 2N.
    pub fn negacyclic(
        &self,
        a: &mut [F::Element],
        b: &mut [F::Element],
    ) -> Result<(), WrongArgument> {
        self.check_factors(a, b)?;
        let psi = self.half_root.as_ref().ok_or(WrongArgument::Root(self.log2 + 1))?;
        for x in [&mut *b, &mut *a] {
            // ψ^(2i) = ω^i.
            self.each_element(x, &|j, x| {
                *x = self.times_root(x, j / 2);
                if j % 2 == 1 {
                    *x = self.field.mul(x, psi);
                }
            });
            self.forward(x)?;
        }
        self.multiply(a, b);
        // ψ^−j = ω^(N − j/2), or ψ·ω^(N − (j + 1)/2).
        let scales = [&self.scale, &self.field.mul(&self.scale, psi)];
        each_part(a, self.len(), &|_, a| self.one_backward(a));
        self.each_element(a, &|j, a| {
            let back = self.times_root(a, (self.len() - j.div_ceil(2)) % self.len());
            *a = self.field.mul(&back, scales[j % 2]);
        });
        Ok(())
    }

    /// Calls `work` with every element of all vectors, and its index in its vector.
    fn each_element(&self, x: &mut [F::Element], work: &(dyn Fn(usize, &mut F::Element) + Sync)) {
        let run = least_run::<F>();
        each_part(x, self.len(), &|_, x| {
            each_part(x, run, &|i, x| {
                x.iter_mut().enumerate().for_each(|(j, x)| work(i * run + j, x));
            });
        });
    }

    fn check_factors(&self, a: &[F::Element], b: &[F::Element]) -> Result<(), WrongArgument> {
        if a.len() != b.len() {
            return Err(WrongArgument::Lengths(a.len(), b.len()));
        }
        self.check(a.len())
    }

    /// Computes a_i ← a_i·b_i for all i. a and b have the same length.
    pub(crate) fn multiply(&self, a: &mut [F::Element], b: &[F::Element]) {
        let run = least_run::<F>();
        each_part(a, run, &|i, a| {
            self.field.mul_each(a, &b[i * run..]);
        });
    }
}
