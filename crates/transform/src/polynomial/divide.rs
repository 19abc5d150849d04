//! Division with remainder.

use warpint_arith::field::Field;

use super::{PolynomialError, Polynomials, reversed, schoolbook};

/// The number of coefficients of the quotient or of the remainder up to which each coefficient of
/// the quotient is computed in turn. Measured like the constants of `shape`.
const LEAST: usize = 128;

/// A quotient and a remainder.
type Division<F> = (Vec<<F as Field>::Element>, Vec<<F as Field>::Element>);

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Returns the quotient q and the remainder r with a = q·b + r and deg r < deg b.
    ///
    /// Let d be the degree of b, so b_d is its highest coefficient that is not 0, and let n be the
    /// number of coefficients of a. Then q has n − d coefficients, or none if n ≤ d, and r has
    /// exactly d coefficients, of which the highest may be 0.
    ///
    /// Method: the reversed quotient is the quotient of the reversed polynomials as power series,
    /// so it is a product by an inverse series (Strassen 1973). The remainder follows from q·b
    /// modulo x^N − 1 for N ≥ d. A quotient of more than d coefficients is computed in blocks of d
    /// coefficients with one inverse.
    ///
    /// Cost: an inverse series of k = min(n − d, d) coefficients, and for each block of k coefficients
    /// of the quotient three transforms of at least 2k elements and three of at least d elements.
    ///
    /// # Errors
    /// b is the zero polynomial. Those that the [module](super#errors) states.
    pub fn divide_with_remainder(
        &self,
        a: &[F::Element],
        b: &[F::Element],
    ) -> Result<Division<F>, PolynomialError> {
        let zero = self.field.zero();
        let d = b.iter().rposition(|b| *b != zero).ok_or(PolynomialError::DivisionByZero)?;
        let b = &b[..=d];
        let count = (a.len() + 1).saturating_sub(b.len());
        if count.min(d) <= LEAST {
            let inverse = self.field.inverse(&b[d]).ok_or(PolynomialError::DivisionByZero)?;
            let mut remainder = a.to_vec();
            let quotient = schoolbook::divide(&self.field, &mut remainder, b, &inverse);
            remainder.resize(d, zero);
            return Ok((quotient, remainder));
        }
        self.divide_in_blocks(a, b)
    }

    /// Computes [`Polynomials::divide_with_remainder`] by an inverse series. The highest coefficient
    /// of b is not 0. a has at least as many coefficients as b, and b at least two.
    pub(super) fn divide_in_blocks(
        &self,
        a: &[F::Element],
        b: &[F::Element],
    ) -> Result<Division<F>, PolynomialError> {
        let (count, d) = (a.len() + 1 - b.len(), b.len() - 1);
        let block = count.min(d);
        let inverse = self.series_inverse(&reversed(b), block)?;
        let mut quotient = vec![self.field.zero(); count];
        let mut remainder = a[count..].to_vec();
        let mut end = count;
        while end > 0 {
            // The first block may be shorter than the others.
            let from = (end - 1) / block * block;
            let dividend = [&a[from..end], &remainder].concat();
            let q = self.quotient(&dividend, &inverse, end - from)?;
            remainder = self.remainder(dividend, &q, b)?;
            quotient[from..end].clone_from_slice(&q);
            end = from;
        }
        Ok((quotient, remainder))
    }

    /// Returns the quotient, of `count` coefficients. `inverse` is the first coefficients, at least
    /// `count`, of the inverse of the reversed divisor.
    fn quotient(
        &self,
        dividend: &[F::Element],
        inverse: &[F::Element],
        count: usize,
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let highest = reversed(&dividend[dividend.len() - count..]);
        let mut quotient = self.product(&highest, &inverse[..count])?;
        quotient.truncate(count);
        quotient.reverse();
        Ok(quotient)
    }

    /// Returns a − q·b, whose degree is below the degree d of b.
    fn remainder(
        &self,
        mut a: Vec<F::Element>,
        q: &[F::Element],
        b: &[F::Element],
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let d = b.len() - 1;
        if let Some(plan) = self.plan_for(d)? {
            // Modulo x^N − 1 for N ≥ d.
            let mut product = self.spectrum(plan, q);
            plan.multiply(&mut product, &self.spectrum(plan, b));
            plan.inverse_each(&mut product);
            a = self.folded(plan, &a);
            self.subtract_from(&mut a, &product);
        } else {
            self.subtract_from(&mut a, &self.product(q, b)?);
        }
        a.truncate(d);
        Ok(a)
    }
}
