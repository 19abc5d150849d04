//! Inverses of power series.

use warpint_arith::field::Field;

use super::{PolynomialError, Polynomials, schoolbook};
use crate::cpu::Transform;
use crate::parallel::in_pool;

/// The number of coefficients of an inverse up to which each coefficient is computed from those
/// before it. Measured like the constants of `shape`.
const LEAST: usize = 64;

/// The largest number of coefficients by which an inverse is extended beyond a power of two without
/// another step of the Newton iteration.
const BEYOND: usize = 8;

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Returns the first n coefficients of the power series g = 1/a, so that a·g ≡ 1 mod x^n.
    /// Coefficients of a from x^n on have no effect. The result has exactly n coefficients.
    ///
    /// Method: Newton iteration. If g has h correct coefficients, then g − g·(a·g − 1) has 2h. The
    /// coefficients h to 2h − 1 of a·g are a middle product, and the transform of g is used twice,
    /// so a step takes five transforms of 2h elements (Hanrot, Quercia and Zimmermann 2004).
    ///
    /// Cost: about ten transforms of N elements, or 5·N·log2(N) products, for the least power of two
    /// N ≥ n.
    ///
    /// # Errors
    /// The constant coefficient of a is 0, or a is empty. The memory for n coefficients is not
    /// available. Those that the [module](super#errors) states.
    pub fn series_inverse(
        &self,
        a: &[F::Element],
        n: usize,
    ) -> Result<Vec<F::Element>, PolynomialError> {
        let first = a.first().and_then(|a| self.field.inverse(a));
        let first = first.ok_or(PolynomialError::NotInvertible)?;
        let mut g = Vec::new();
        g.try_reserve_exact(n.max(1)).map_err(|_| PolynomialError::Memory(n))?;
        g.push(first);
        // From the last step to the first: the number of coefficients after the step.
        let mut steps = vec![];
        let power = if n == 0 { 0 } else { 1 << n.ilog2() };
        let mut length = if n - power <= BEYOND { power } else { n };
        while length > LEAST {
            steps.push(length);
            length = length.div_ceil(2);
        }
        schoolbook::extend_inverse(&self.field, a, &mut g, length);
        if !steps.is_empty() {
            in_pool(|| steps.iter().rev().try_for_each(|&k| self.newton_step(a, &mut g, k)))?;
        }
        schoolbook::extend_inverse(&self.field, a, &mut g, n);
        g.truncate(n);
        Ok(g)
    }

    /// Extends g, the first h coefficients of 1/a, to k ≤ 2h coefficients.
    fn newton_step(
        &self,
        a: &[F::Element],
        g: &mut Vec<F::Element>,
        k: usize,
    ) -> Result<(), PolynomialError> {
        let a = &a[..a.len().min(k)];
        let more = match self.plan_for(k)? {
            Some(plan) => self.newton_by_transforms(plan, a, g, k),
            None => {
                let mut a = a.to_vec();
                a.resize(k, self.field.zero());
                // The coefficients h − 1 to k − 1 of a·g.
                let error = self.middle_product(&a, g)?;
                let mut more = self.product(&error[1..], g)?;
                more.truncate(k - g.len());
                more
            }
        };
        g.extend(more.iter().map(|more| self.field.neg(more)));
        Ok(())
    }

    /// Returns the coefficients 0 to k − h − 1 of e·g, where g has h coefficients and x^h·e are the
    /// terms from x^h to x^(k − 1) of a·g. The length of `plan` is at least k.
    fn newton_by_transforms(
        &self,
        plan: &Transform<F>,
        a: &[F::Element],
        g: &[F::Element],
        k: usize,
    ) -> Vec<F::Element> {
        let spectrum = self.spectrum(plan, g);
        let mut error = self.spectrum(plan, a);
        plan.multiply(&mut error, &spectrum);
        plan.inverse_each(&mut error);
        // Products of at most k + h − 1 coefficients: those from N on wrap around to coefficients
        // below h − 1.
        let mut more = self.spectrum(plan, &error[g.len()..k]);
        plan.multiply(&mut more, &spectrum);
        plan.inverse_each(&mut more);
        more.truncate(k - g.len());
        more
    }
}
