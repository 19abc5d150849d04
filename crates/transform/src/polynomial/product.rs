//! Products and squares.

use warpint_arith::field::Field;

use super::shape::{Method, Pieces, WRAPPED};
use super::{PolynomialError, Polynomials, schoolbook};
use crate::parallel::{each_part, in_pool};

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Returns the product c_k = Σ_(i + j = k) a_i·b_j.
    ///
    /// With n and m coefficients of a and b, the product has n + m − 1 coefficients. It has none if
    /// a or b is empty.
    ///
    /// Method: a cyclic convolution of N elements is a product modulo x^N − 1. For N ≥ n + m − 1,
    /// it is the product. If N is a few coefficients too short, the highest coefficients of the
    /// product are computed by their definition, and subtracted where they wrap around. If it is
    /// cheaper, the longer factor is cut into pieces. Then the other factor is transformed once. If
    /// the field lacks roots of unity, factors are halved (Karatsuba and Ofman 1962).
    ///
    /// Cost: about 3/2·N·log2(N) products for the least power of two N ≥ n + m − 1. For m much
    /// smaller than n, about 2n·log2(m) products.
    ///
    /// # Errors
    /// Those that the [module](super#errors) states.
    pub fn product(
        &self,
        a: &[F::Element],
        b: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        if short.is_empty() {
            return Ok(vec![]);
        }
        match self.method_of_product(long.len(), short.len()) {
            Method::Schoolbook => Ok(schoolbook::product(&self.field, long, short)),
            Method::Cyclic(pieces) => in_pool(|| self.product_of_pieces(long, short, pieces)),
            Method::Halves => self.product_of_halves(long, short),
        }
    }

    /// Returns the square of a, which has 2n − 1 coefficients for n = a.len() ≥ 1, and none for
    /// n = 0.
    ///
    /// Method: that of [`Polynomials::product`]. Cost: two thirds of that of a product.
    ///
    /// # Errors
    /// Those that the [module](super#errors) states.
    pub fn square(&self, a: &[F::Element]) -> Result<Vec<F::Element>, PolynomialError> {
        if a.is_empty() {
            return Ok(vec![]);
        }
        let length = 2 * a.len() - 1;
        match self.method_of_product(a.len(), a.len()) {
            Method::Schoolbook => Ok(schoolbook::square(&self.field, a)),
            Method::Halves => self.product_of_halves(a, a),
            Method::Cyclic(pieces) => in_pool(|| {
                let least = length.saturating_sub(WRAPPED).max(1);
                let Some(plan) = self.plan_for(least)? else {
                    return self.product_of_pieces(a, a, pieces);
                };
                let mut c = self.spectrum(plan, a);
                let copy = c.clone();
                plan.multiply(&mut c, &copy);
                plan.inverse_each(&mut c);
                self.unwrap_around(&mut c, a, a);
                Ok(c)
            }),
        }
    }

    /// Returns the product of `short` and the pieces of `long`, added up at their places.
    pub(super) fn product_of_pieces(
        &self,
        long: &[F::Element],
        short: &[F::Element],
        pieces: Pieces,
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let plan = self.plan(pieces.log2)?;
        let factor = self.spectrum(plan, short);
        let n = plan.len();
        if pieces.count == 1 {
            let mut c = self.spectrum(plan, long);
            plan.multiply(&mut c, &factor);
            plan.inverse_each(&mut c);
            self.unwrap_around(&mut c, long, short);
            return Ok(c);
        }
        let mut parts = vec![self.field.zero(); n * pieces.count];
        for (to, from) in parts.chunks_mut(n).zip(long.chunks(pieces.step)) {
            to[..from.len()].clone_from_slice(from);
        }
        plan.forward_each(&mut parts);
        each_part(&mut parts, n, &|_, part| plan.multiply(part, &factor));
        plan.inverse_each(&mut parts);
        let mut c = vec![self.field.zero(); long.len() + short.len() - 1];
        for (i, part) in parts.chunks(n).enumerate() {
            self.add_to(&mut c[i * pieces.step..], part);
        }
        Ok(c)
    }

    /// Replaces c = a·b modulo x^N − 1 by a·b, where N is the length of c.
    fn unwrap_around(&self, c: &mut Vec<F::Element>, a: &[F::Element], b: &[F::Element]) {
        let length = a.len() + b.len() - 1;
        let high: Vec<_> =
            (c.len()..length).map(|k| schoolbook::coefficient(&self.field, a, b, k)).collect();
        self.subtract_from(c, &high);
        c.extend(high);
        c.truncate(length);
    }

    /// Returns the product of two polynomials, where `long` has at least as many coefficients as
    /// `short`, from products of polynomials of half the length.
    ///
    /// For a = a_0 + a_1·x^h and b = b_0 + b_1·x^h, the coefficient of x^h in a·b is (a_0 + a_1)·(b_0
    /// + b_1) − a_0·b_0 − a_1·b_1 (Karatsuba and Ofman 1962).
    fn product_of_halves(
        &self,
        long: &[F::Element],
        short: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let h = long.len().div_ceil(2);
        let (low, high) = long.split_at(h);
        let mut c = vec![self.field.zero(); long.len() + short.len() - 1];
        if short.len() <= h {
            self.add_to(&mut c, &self.product(low, short)?);
            self.add_to(&mut c[h..], &self.product(high, short)?);
            return Ok(c);
        }
        let (short_low, short_high) = short.split_at(h);
        let sum = |low: &[F::Element], high: &[F::Element]| {
            let mut sum = low.to_vec();
            self.add_to(&mut sum, high);
            sum
        };
        let mut middle = self.product(&sum(low, high), &sum(short_low, short_high))?;
        for (to, part) in
            [(0, self.product(low, short_low)?), (2 * h, self.product(high, short_high)?)]
        {
            self.subtract_from(&mut middle, &part);
            self.add_to(&mut c[to..], &part);
        }
        self.add_to(&mut c[h..], &middle);
        Ok(c)
    }
}
