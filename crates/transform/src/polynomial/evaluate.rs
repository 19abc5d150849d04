//! Evaluation at many points, and interpolation.

use rayon::prelude::*;
use warpint_arith::field::Field;

use super::tree::Node;
use super::{PolynomialError, Polynomials, reversed};
use crate::definition;
use crate::parallel::{each_part, in_pool};

/// Polynomials with fewer coefficients, or fewer points, are evaluated by Horner's rule. Measured
/// like the constants of `shape`.
const LEAST: usize = 384;

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Returns the product of x − x_i for all x_i of `roots`: a polynomial of n + 1 coefficients for
    /// n roots, the highest of which is 1. Roots may be repeated. Without roots, it is 1.
    ///
    /// Method: products of two halves (Borodin and Moenck 1974). Cost: about 3/4·n·log2(n)²
    /// products.
    ///
    /// # Errors
    /// Those that the [module](super#errors) states.
    pub fn from_roots(&self, roots: &[F::Element]) -> Result<Vec<F::Element>, PolynomialError> {
        Ok(reversed(&in_pool(|| self.reverse_from_roots(roots))?))
    }

    /// Returns f(x_i) = Σ_j f_j·x_i^j for all x_i of `points`, in the order of the points. Points
    /// may be repeated, and f may have any number of coefficients.
    ///
    /// Method: from the first coefficients of f/M, where M is the product of x − x_i, those for the
    /// two halves of the points are computed by products with the polynomials of the halves, and so
    /// on (Bostan, Lecerf and Schost 2003; Bernstein 2004, *Scaled remainder trees*). If f is much
    /// longer than M, it is first replaced by its remainder modulo M. If there are many more points
    /// than coefficients, they are processed in groups.
    ///
    /// Cost for n points and n coefficients: six transforms for each node of the tree, which are about
    /// 3/2·n·log2(n)² products. Memory: about 2n·log2(n) elements.
    ///
    /// # Errors
    /// Those that the [module](super#errors) states.
    pub fn evaluate_many(
        &self,
        f: &[F::Element],
        points: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let mut values = vec![self.field.zero(); points.len()];
        if f.len().min(points.len()) < LEAST {
            each_part(&mut values, LEAST, &|i, values| {
                for (value, point) in values.iter_mut().zip(&points[i * LEAST..]) {
                    *value = definition::evaluate(&self.field, f, point);
                }
            });
            return Ok(values);
        }
        let group = f.len().next_power_of_two();
        values
            .par_chunks_mut(group)
            .zip(points.par_chunks(group))
            .try_for_each(|(values, points)| self.evaluate_on(&self.tree(points)?, f, values))?;
        Ok(values)
    }

    /// Returns the polynomial f of n coefficients with f(x_i) = y_i for the n points x_i and the n
    /// values y_i.
    ///
    /// Method: Lagrange's formula f = Σ_i y_i/M'(x_i)·Π_(j ≠ i) (x − x_j), where M' is the
    /// derivative of M, the product of all x − x_j. The values M'(x_i) are computed as in
    /// [`Polynomials::evaluate_many`], and the sum for a set of points from the sums for its halves
    /// (Borodin and Moenck 1974).
    ///
    /// Cost: nine transforms for each node of the tree, which are about 9/4·n·log2(n)² products, and
    /// one inversion. Memory: about 2n·log2(n) elements.
    ///
    /// # Errors
    /// The numbers of points and of values differ. A point occurs more than once. Those that the
    /// [module](super#errors) states.
    pub fn interpolate(
        &self,
        points: &[F::Element],
        values: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        if points.len() != values.len() {
            let (points, values) = (points.len(), values.len());
            return Err(PolynomialError::Lengths { points, values });
        }
        in_pool(|| {
            let tree = self.tree(points)?;
            // The coefficient of x^(n − k) in M is that of z^k in R.
            let n = points.len();
            let derivative: Vec<_> = (1..=n)
                .map(|k| self.field.mul(&self.field.from_u64(k as u64), &tree.polynomial()[n - k]))
                .collect();
            let mut weights = vec![self.field.zero(); n];
            self.evaluate_on(&tree, &derivative, &mut weights)?;
            self.invert_all(&mut weights).map_err(PolynomialError::RepeatedPoint)?;
            self.field.mul_each(&mut weights, values);
            // Σ_i w_i·Π_(j ≠ i) (1 − x_j·z) has the coefficients of f in reverse order.
            Ok(reversed(&self.combine(&tree, &weights)?))
        })
    }

    /// Writes f(x_i) for the points of a tree to `values`.
    pub(super) fn evaluate_on(
        &self,
        tree: &Node<'_, F::Element>,
        f: &[F::Element],
        values: &mut [F::Element],
    ) -> Result<(), PolynomialError> {
        let n = values.len();
        if n == 0 || f.is_empty() {
            return Ok(());
        }
        let remainder;
        let mut f = f;
        if f.len() / 2 > n {
            remainder = self.divide_with_remainder(f, &reversed(tree.polynomial()))?.1;
            f = &remainder;
        }
        // f/M = f·x^(−n)/R(1/x), so the coefficient of x^(j − n) is Σ_i f_(i + j)·s_i for s = 1/R.
        let inverse = self.series_inverse(tree.polynomial(), f.len())?;
        let mut padded = f.to_vec();
        padded.resize(f.len() + n - 1, self.field.zero());
        let t = self.middle_product(&padded, &reversed(&inverse))?;
        self.descend(tree, &t, values)
    }

    /// Replaces all elements by their inverses. If one is 0, returns its index.
    ///
    /// The inverse of the product of all elements yields the inverse of each by three products
    /// (Montgomery 1987).
    fn invert_all(&self, x: &mut [F::Element]) -> Result<(), usize> {
        let field = &self.field;
        let zero = field.zero();
        if let Some(i) = x.iter().position(|x| *x == zero) {
            return Err(i);
        }
        // The products of the elements before each.
        let mut product = field.one();
        let mut before = Vec::with_capacity(x.len());
        for x in &*x {
            let next = field.mul(&product, x);
            before.push(std::mem::replace(&mut product, next));
        }
        // No element is 0, so their product has an inverse.
        let Some(mut inverse) = field.inverse(&product) else { return Err(0) };
        for (x, before) in x.iter_mut().zip(&before).rev() {
            let next = field.mul(&inverse, x);
            *x = field.mul(&inverse, before);
            inverse = next;
        }
        Ok(())
    }
}
