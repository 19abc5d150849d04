//! Middle products.

use warpint_arith::field::Field;

use super::shape::{Method, Pieces};
use super::{PolynomialError, Polynomials, schoolbook};
use crate::parallel::{each_part, in_pool};

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Returns the coefficients m − 1 to n − 1 of a·b, where n and m are the numbers of
    /// coefficients of a and b: c_k = Σ_(j < m) a_(k + m − 1 − j)·b_j for k ≤ n − m.
    ///
    /// The result has n − m + 1 coefficients. It has none if b is empty or longer than a.
    ///
    /// Method: in a cyclic convolution of N ≥ n elements, the coefficients from n on wrap around to
    /// coefficients below m − 1, which are not wanted (Hanrot, Quercia and Zimmermann 2004). So N
    /// must cover a, not the product. A long result is computed in pieces if this is cheaper. If
    /// the field lacks roots of unity, the whole product is computed.
    ///
    /// Cost: about 3/2·N·log2(N) products for N ≥ n, where N is a power of two.
    ///
    /// # Errors
    /// Those that the [module](super#errors) states.
    pub fn middle_product(
        &self,
        a: &[F::Element],
        b: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        if b.is_empty() || b.len() > a.len() {
            return Ok(vec![]);
        }
        match self.method_of_middle(a.len(), b.len()) {
            Method::Schoolbook => Ok(schoolbook::middle_product(&self.field, a, b)),
            Method::Cyclic(pieces) => in_pool(|| self.middle_of_pieces(a, b, pieces)),
            Method::Halves => Ok(self.product(a, b)?[b.len() - 1..a.len()].to_vec()),
        }
    }

    fn middle_of_pieces(
        &self,
        a: &[F::Element],
        b: &[F::Element],
        pieces: Pieces,
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let plan = self.plan(pieces.log2)?;
        let factor = self.spectrum(plan, b);
        let n = plan.len();
        let overlap = b.len() - 1;
        let mut parts = vec![self.field.zero(); n * pieces.count];
        for (i, to) in parts.chunks_mut(n).enumerate() {
            let from = &a[i * pieces.step..];
            let from = &from[..from.len().min(pieces.step + overlap)];
            to[..from.len()].clone_from_slice(from);
        }
        plan.forward_each(&mut parts);
        each_part(&mut parts, n, &|_, part| plan.multiply(part, &factor));
        plan.inverse_each(&mut parts);
        let mut c = Vec::with_capacity(pieces.count * pieces.step);
        for part in parts.chunks(n) {
            c.extend_from_slice(&part[overlap..overlap + pieces.step]);
        }
        c.truncate(a.len() - overlap);
        Ok(c)
    }
}
