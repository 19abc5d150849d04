//! The tree of products of the polynomials 1 − x_i·z of many points x_i.
//!
//! R(z) is the product of 1 − x_i·z for the points x_i of a node. The product of x − x_i has the
//! same coefficients in reverse order. A node with two children has the product of their
//! polynomials. Every step between a node of n points and its children is a cyclic convolution of N
//! ≥ n elements with the polynomials of the children. So each node stores their transforms.

use rayon::join;
use warpint_arith::field::Field;

use super::{PolynomialError, Polynomials, reversed, schoolbook};
use crate::cpu::Transform;
use crate::definition;

/// The largest number of points of a leaf. For factors of this length, the schoolbook method is about
/// as fast as transforms (`shape`).
const LEAF: usize = 32;

/// The least number of points of a node whose children are processed on different threads.
const PARALLEL: usize = 1 << 10;

/// A node of the tree.
pub(super) struct Node<'a, E> {
    points: &'a [E],
    /// The polynomial R(z), of one coefficient more than there are points.
    polynomial: Vec<E>,
    children: Option<Box<[Node<'a, E>; 2]>>,
    /// The transforms of the polynomials of the children, of the least length N ≥ n, where n is the
    /// number of points. `None` if the second child has few points, or if the field lacks roots.
    spectra: Option<[Vec<E>; 2]>,
}

impl<E> Node<'_, E> {
    /// Returns the polynomial R(z).
    pub(super) fn polynomial(&self) -> &[E] {
        &self.polynomial
    }
}

/// Returns the number of points of the first child: the largest power of two below n, for n ≥ 2. So
/// transforms of most nodes have no zeros to spare.
fn split(n: usize) -> usize {
    1 << (n - 1).ilog2()
}

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Returns R(z) for these points. Unlike [`Polynomials::tree`], it keeps no other polynomials.
    pub(super) fn reverse_from_roots(
        &self,
        points: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        if points.len() <= LEAF {
            return Ok(schoolbook::reverse_from_roots(&self.field, points));
        }
        let (low, high) = points.split_at(split(points.len()));
        let [low, high] =
            both(points.len(), || self.reverse_from_roots(low), || self.reverse_from_roots(high))?;
        self.product(&low, &high)
    }

    /// Returns the tree of these points.
    pub(super) fn tree<'a>(
        &self,
        points: &'a [F::Element],
    ) -> Result<Node<'a, F::Element>, PolynomialError> {
        let n = points.len();
        if n <= LEAF {
            let polynomial = schoolbook::reverse_from_roots(&self.field, points);
            return Ok(Node { points, polynomial, children: None, spectra: None });
        }
        let (low, high) = points.split_at(split(n));
        let children = both(n, || self.tree(low), || self.tree(high))?;
        let [a, b] = children.each_ref().map(|child| &child.polynomial);
        let plan = if high.len() < LEAF { None } else { self.plan_for(n)? };
        let (polynomial, spectra) = match plan {
            None => (self.product(a, b)?, None),
            Some(plan) => {
                let spectra = [self.spectrum(plan, a), self.spectrum(plan, b)];
                let mut product = spectra[0].clone();
                plan.multiply(&mut product, &spectra[1]);
                plan.inverse_each(&mut product);
                // The coefficient of z^n wraps around if N = n. The constant coefficient is 1.
                product.resize(n + 1, self.field.zero());
                product[n] = self.field.mul(&a[a.len() - 1], &b[b.len() - 1]);
                product[0] = self.field.one();
                (product, Some(spectra))
            }
        };
        let mut node = Node { points, polynomial, children: Some(Box::new(children)), spectra };
        if let (Some(children), Some(_)) = (&mut node.children, &node.spectra) {
            // Leaves and nodes without transforms need their polynomials again.
            for child in children.iter_mut().filter(|child| child.children.is_some()) {
                child.polynomial = vec![];
            }
        }
        Ok(node)
    }

    /// Writes f(x_i) for the n points of a node to `values`. `t` is the n coefficients t_j of x^(j −
    /// n) in the expansion of f/M in powers of 1/x, where M is the product of x − x_i.
    ///
    /// Let R be the polynomial of one child, and m the number of points of the other. For that other
    /// child, t is Σ_i R_i·t_(i + j) for j < m: multiplied by R, f/M becomes f divided by the
    /// product for the other child. This is the transposed product (Bostan, Lecerf and Schost 2003).
    pub(super) fn descend(
        &self,
        node: &Node<'_, F::Element>,
        t: &[F::Element],
        values: &mut [F::Element],
    ) -> Result<(), PolynomialError> {
        let Some(children) = &node.children else {
            self.evaluate_leaf(node, t, values);
            return Ok(());
        };
        let [a, b] = &**children;
        let m = a.points.len();
        let [of_a, of_b] = match &node.spectra {
            Some([spectrum_a, spectrum_b]) => {
                let Some(plan) = self.plan_for(node.points.len())? else { return Ok(()) };
                let spectrum = self.spectrum(plan, t);
                let mut of_a = self.correlation(plan, spectrum.clone(), spectrum_b);
                let mut of_b = self.correlation(plan, spectrum, spectrum_a);
                of_a.truncate(m);
                of_b.truncate(b.points.len());
                [of_a, of_b]
            }
            None => [
                self.middle_product(t, &reversed(&b.polynomial))?,
                self.middle_product(t, &reversed(&a.polynomial))?,
            ],
        };
        let (low, high) = values.split_at_mut(m);
        both(node.points.len(), || self.descend(a, &of_a, low), || self.descend(b, &of_b, high))?;
        Ok(())
    }

    /// Computes [`Polynomials::descend`] for a leaf. The remainder f mod M has the coefficients r_k
    /// = Σ_(i < n − k) R_i·t_(i + k). Its values are computed by Horner's rule.
    fn evaluate_leaf(
        &self,
        node: &Node<'_, F::Element>,
        t: &[F::Element],
        values: &mut [F::Element],
    ) {
        let t = reversed(t);
        let coefficient =
            |k: usize| schoolbook::coefficient(&self.field, &node.polynomial, &t, t.len() - 1 - k);
        let remainder: Vec<_> = (0..t.len()).map(coefficient).collect();
        for (value, point) in values.iter_mut().zip(node.points) {
            *value = definition::evaluate(&self.field, &remainder, point);
        }
    }

    /// Returns Σ_i R_i·t_((i + j) mod N) for all j < N. The arguments are the transforms of t and R.
    fn correlation(
        &self,
        plan: &Transform<F>,
        mut t: Vec<F::Element>,
        r: &[F::Element],
    ) -> Vec<F::Element> {
        // Entry N − i of the transform of R is entry i of that of R(1/z) mod z^N − 1.
        let field = &self.field;
        let (first, rest) = (r.iter().take(1), r.iter().skip(1).rev());
        for (t, r) in t.iter_mut().zip(first.chain(rest)) {
            *t = field.mul(t, r);
        }
        plan.inverse_each(&mut t);
        t
    }

    /// Returns the n coefficients of Σ_i w_i·Π_(j ≠ i) (1 − x_j·z) for the points x_i of a node and
    /// n weights w_i.
    pub(super) fn combine(
        &self,
        node: &Node<'_, F::Element>,
        weights: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let Some(children) = &node.children else {
            return Ok(self.combine_leaf(node.points, weights));
        };
        let [a, b] = &**children;
        let n = node.points.len();
        let (low, high) = weights.split_at(a.points.len());
        let [low, high] = both(n, || self.combine(a, low), || self.combine(b, high))?;
        let plan = if node.spectra.is_some() { self.plan_for(n)? } else { None };
        let (Some(plan), Some([spectrum_a, spectrum_b])) = (plan, &node.spectra) else {
            let mut sum = self.product(&low, &b.polynomial)?;
            self.add_to(&mut sum, &self.product(&high, &a.polynomial)?);
            return Ok(sum);
        };
        let mut sum = self.spectrum(plan, &low);
        plan.multiply(&mut sum, spectrum_b);
        let mut other = self.spectrum(plan, &high);
        plan.multiply(&mut other, spectrum_a);
        self.add_to(&mut sum, &other);
        plan.inverse_each(&mut sum);
        sum.truncate(n);
        Ok(sum)
    }

    fn combine_leaf(&self, points: &[F::Element], weights: &[F::Element]) -> Vec<F::Element> {
        let mut sum = Vec::with_capacity(points.len() + 1);
        let mut product = Vec::with_capacity(points.len() + 1);
        product.push(self.field.one());
        for (point, weight) in points.iter().zip(weights) {
            schoolbook::times_factor(&self.field, &mut sum, point);
            for (sum, product) in sum.iter_mut().zip(&product) {
                *sum = self.field.add(sum, &self.field.mul(product, weight));
            }
            schoolbook::times_factor(&self.field, &mut product, point);
        }
        sum
    }
}

/// Returns the results of both functions. They run on different threads if a node has many points.
fn both<T: Send>(
    points: usize,
    a: impl FnOnce() -> Result<T, PolynomialError> + Send,
    b: impl FnOnce() -> Result<T, PolynomialError> + Send,
) -> Result<[T; 2], PolynomialError> {
    let (a, b) = if points < PARALLEL { (a(), b()) } else { join(a, b) };
    Ok([a?, b?])
}
