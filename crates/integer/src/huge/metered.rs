//! Progress of computations, counted by their products.

use warpint_natural::product::{Matrix2, Multiplier, Windows};
use warpint_progress::Watch;

use super::work;

/// A multiplier that reports the work of each product to a [`Watch`], in units of
/// [`work::product`], and the estimated work of each division and conversion. They are computed by another
/// multiplier.
pub struct Metered<'a> {
    multiplier: &'a dyn Multiplier,
    watch: &'a dyn Watch,
}

impl<'a> Metered<'a> {
    /// Creates a multiplier that reports to `watch` the products that it computes by `multiplier`.
    #[must_use]
    pub fn new(multiplier: &'a dyn Multiplier, watch: &'a dyn Watch) -> Self {
        Self { multiplier, watch }
    }
}

impl Multiplier for Metered<'_> {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let product = self.multiplier.mul(a, b);
        self.watch.done(work::product(a.len(), b.len()) as u128);
        product
    }

    fn working_memory(&self, a: usize, b: usize) -> u64 {
        self.multiplier.working_memory(a, b)
    }

    fn div_rem(&self, a: &[u64], d: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        let done = self.multiplier.div_rem(a, d)?;
        self.watch.done(work::division(a.len(), d.len()) as u128);
        Some(done)
    }

    fn format_decimal(&self, a: &[u64]) -> Option<Vec<u8>> {
        let digits = self.multiplier.format_decimal(a)?;
        self.watch.done(work::to_decimal(a.len()) as u128);
        Some(digits)
    }

    fn parse_decimal(&self, digits: &[u8]) -> Option<Vec<u64>> {
        let number = self.multiplier.parse_decimal(digits)?;
        self.watch.done(work::from_decimal(number.len()) as u128);
        Some(number)
    }

    fn products(&self, pairs: &[[&[u64]; 2]]) -> Vec<Vec<u64>> {
        let products = self.multiplier.products(pairs);
        let work: f64 = pairs.iter().map(|[a, b]| work::product(a.len(), b.len())).sum();
        self.watch.done(work as u128);
        products
    }

    fn windows(&self, windows: &Windows<'_>, rows: &[u64], out: &mut [u64]) {
        self.multiplier.windows(windows, rows, out);
        let count = windows.count(rows, out);
        self.watch.done((count as f64 * work::window(windows)) as u128);
    }

    fn mul_matrices(&self, m: Matrix2, n: Matrix2) -> [[Vec<u64>; 2]; 2] {
        let product = self.multiplier.mul_matrices(m, n);
        let [left, right] = [m, n].map(|m| m.as_flattened().iter().map(|x| x.len()).max());
        let work = 8.0 * work::product(left.unwrap_or(0), right.unwrap_or(0));
        self.watch.done(work as u128);
        product
    }

    fn mul_adjugate(&self, m: Matrix2, x: [&[u64]; 2]) -> [Vec<u64>; 2] {
        let product = self.multiplier.mul_adjugate(m, x);
        let left = m.as_flattened().iter().map(|x| x.len()).max();
        let work = 4.0 * work::product(left.unwrap_or(0), x[0].len().max(x[1].len()));
        self.watch.done(work as u128);
        product
    }
}
