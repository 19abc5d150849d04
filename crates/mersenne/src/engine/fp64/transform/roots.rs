//! Roots of unity with full `f64` accuracy.

use rustfft::num_complex::Complex;
use warpint_arith::dd::{Dd, cos_sin_2pi};

/// The n-th roots of unity ω^k with ω = e^(−2πi/n), for any k. Each is exact to about half a unit
/// in the last place.
///
/// The type contains two tables of about √n double-double roots: ω^(h·i) with h = ⌊√n⌋, and ω^j for
/// j < h. A root is the product of one entry of each table, rounded once. Building the tables costs
/// O(√n) Taylor series.
pub(crate) struct Roots {
    n: u64,
    step: u64,
    coarse: Vec<(Dd, Dd)>,
    fine: Vec<(Dd, Dd)>,
}

impl Roots {
    pub(crate) fn new(n: usize) -> Self {
        let n = n as u64;
        let step = n.isqrt().max(1);
        let table = |count: u64, stride: u64| {
            (0..count).map(|i| cos_sin_2pi(i * stride, n)).collect::<Vec<_>>()
        };
        Self { n, step, coarse: table(n.div_ceil(step), step), fine: table(step, 1) }
    }

    pub(crate) fn get(&self, k: u64) -> Complex<f64> {
        let k = k % self.n;
        let (ca, sa) = self.coarse[(k / self.step) as usize];
        let (cb, sb) = self.fine[(k % self.step) as usize];
        let cos = ca * cb - sa * sb;
        let sin = sa * cb + ca * sb;
        Complex::new(cos.to_f64(), -sin.to_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_of_the_tables_is_the_root() {
        for n in [1usize, 2, 3, 7, 12, 100, 1 << 10, 6561] {
            let roots = Roots::new(n);
            for k in 0..2 * n as u64 {
                let (cos, sin) = cos_sin_2pi(k, n as u64);
                let root = roots.get(k);
                let error = (root - Complex::new(cos.to_f64(), -sin.to_f64())).norm();
                assert!(error <= 2f64.powi(-53), "ω_{n}^{k}: {error:e}");
            }
        }
    }
}
