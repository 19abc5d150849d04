//! Products and squares of all rows of an array. For short numbers, the choice of a method takes
//! as long as the product, so it is made once for all rows.

use super::Products;
use crate::kernels;

/// The largest number of limbs of rows for which there are kernels.
const KERNELS_TO: usize = 8;

/// Numbers of the same number of limbs, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    limbs: &'a [u64],
    width: usize,
    shared: bool,
}

impl<'a> Rows<'a> {
    /// Returns the numbers of `width` limbs in `limbs`. If `shared` is true, the first number is
    /// used for every product.
    #[must_use]
    pub fn new(limbs: &'a [u64], width: usize, shared: bool) -> Self {
        Self { limbs, width, shared }
    }

    /// Returns the numbers from number `first` on.
    ///
    /// # Panics
    /// Panics if there are fewer than `first` numbers.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        Self { limbs: &self.limbs[self.step() * first..], ..self }
    }

    /// Returns the distance of two numbers, in limbs.
    fn step(self) -> usize {
        if self.shared { 0 } else { self.width }
    }

    /// Returns number i.
    fn row(self, i: usize) -> &'a [u64] {
        &self.limbs[self.step() * i..][..self.width]
    }
}

impl Products {
    /// Computes out_i ← a_i·b_i for all rows of `out`, which have as many limbs as a number of a
    /// and a number of b together.
    ///
    /// # Panics
    /// Panics if the numbers have no limbs, or if there are more rows than numbers.
    pub fn mul_rows(&mut self, out: &mut [u64], a: Rows, b: Rows) {
        let n = a.width;
        let whole = out.len().is_multiple_of(2 * n);
        if n == b.width && n <= KERNELS_TO && whole {
            let factors = [(a.limbs, a.step()), (b.limbs, b.step())];
            if kernels::mul_rows(out, factors, n) {
                return;
            }
        }
        for (i, out) in out.chunks_exact_mut(n + b.width).enumerate() {
            self.mul(out, a.row(i), b.row(i));
        }
    }

    /// Computes out_i ← a_i² for all rows of `out`, which have twice as many limbs as a number.
    ///
    /// # Panics
    /// Panics if the numbers have no limbs, or if there are more rows than numbers.
    pub fn square_rows(&mut self, out: &mut [u64], a: Rows) {
        let n = a.width;
        let whole = out.len().is_multiple_of(2 * n);
        if n <= KERNELS_TO && whole && !a.shared && kernels::square_rows(out, a.limbs, n) {
            return;
        }
        for (i, out) in out.chunks_exact_mut(2 * n).enumerate() {
            self.square(out, a.row(i));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;

    /// Compares rows with schoolbook products, with either factor shared.
    #[test]
    fn rows_are_products() {
        let mut products = Products::default();
        let limb = |i: usize| match i % 5 {
            0 | 3 => u64::MAX,
            1 => 0,
            _ => (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        };
        for n in 1..20 {
            for m in [n, n + 1, 2] {
                for (count, shared) in [
                    (0, [false; 2]),
                    (1, [true; 2]),
                    (7, [false, true]),
                    (7, [false; 2]),
                    (7, [true; 2]),
                ] {
                    let a: Vec<u64> = (0..n * count.max(1)).map(limb).collect();
                    let b: Vec<u64> = (0..m * count.max(1)).map(|i| limb(i + n)).collect();
                    let x = Rows::new(&a, n, shared[0]);
                    let y = Rows::new(&b, m, shared[1]);
                    let want: Vec<u64> =
                        (0..count).flat_map(|i| limbs::mul(x.row(i), y.row(i))).collect();
                    let mut out = vec![3; (n + m) * count];
                    products.mul_rows(&mut out, x, y);
                    assert_eq!(out, want, "{n} by {m} limbs");
                    products.mul_rows(&mut out, y, x);
                    assert_eq!(out, want, "{m} by {n} limbs");
                    let want: Vec<u64> =
                        (0..count).flat_map(|i| limbs::mul(x.row(i), x.row(i))).collect();
                    let mut out = vec![3; 2 * n * count];
                    products.square_rows(&mut out, x);
                    assert_eq!(out, want, "squares of {n} limbs");
                }
            }
        }
    }
}
