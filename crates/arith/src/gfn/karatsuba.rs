//! Products of elements by Karatsuba's method. An element is treated as a polynomial whose
//! coefficients are the digits.

use super::Gfn;
use super::column::Column;

/// The largest number of coefficients of two polynomials that the recursion multiplies by the
/// schoolbook method.
const SHORT: usize = 16;

impl<const K: usize> Gfn<K> {
    /// Returns a·b by Karatsuba's method (Karatsuba and Ofman 1962).
    ///
    /// The digits of a and b are the coefficients of polynomials in T. Each polynomial is split
    /// into halves of h coefficients, a = a_0 + a_1·T^h and b = b_0 + b_1·T^h. The middle part
    /// a_0·b_1 + a_1·b_0 of the product is computed as a_0·b_0 + a_1·b_1 + (a_0 − a_1)·(b_1 − b_0).
    ///
    /// Differences are used because a sum of two digits may have 65 bits, whereas a difference has
    /// 64 bits and a sign. The product of the differences is computed by the schoolbook method. The
    /// products a_0·b_0 and a_1·b_1 are computed recursively by Karatsuba's method.
    #[must_use]
    pub fn mul_by_karatsuba(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        if let Some(product) = self.by_minus_one(a, b) {
            return product;
        }
        let mut halves = [[Column::default(); K]; 2];
        multiply(a, b, halves.as_flattened_mut());
        // T^K = −1.
        let mut columns = halves[0];
        for (column, high) in columns.iter_mut().zip(&halves[1]) {
            *column = column.minus(*high);
        }
        self.resolved(&columns)
    }
}

/// Writes the 2n − 1 coefficients of a·b and a final 0 to `product`, the lowest first. The
/// polynomials a and b have n coefficients each, and `product` has 2n entries.
fn multiply(a: &[u64], b: &[u64], product: &mut [Column]) {
    let n = a.len();
    if n <= SHORT {
        for (i, column) in product.iter_mut().enumerate() {
            let (from, to) = (i.saturating_sub(n - 1), n.min(i + 1));
            *column = (from..to).fold(Column::default(), |sum, j| sum.plus_product(a[j], b[i - j]));
        }
        return;
    }
    let h = n / 2;
    let (low, high) = product.split_at_mut(n);
    multiply(&a[..h], &b[..h], low);
    multiply(&a[h..], &b[h..], high);
    let mut middle = [Column::default(); 128];
    let middle = &mut middle[..n];
    multiply_signed(&differences(&a[..h], &a[h..]), &differences(&b[h..], &b[..h]), h, middle);
    for (middle, (low, high)) in middle.iter_mut().zip(low.iter().zip(&*high)) {
        *middle = middle.plus(*low).plus(*high);
    }
    for (column, middle) in product[h..].iter_mut().zip(middle) {
        *column = column.plus(*middle);
    }
}

/// Up to 64 signed numbers. Each number is stored as (absolute value, mask). All bits of the mask
/// are ones for a negative number, and zeros otherwise.
type Signed = [(u64, u64); 64];

fn differences(a: &[u64], b: &[u64]) -> Signed {
    let mut all = [(0, 0); 64];
    for (to, (&a, &b)) in all.iter_mut().zip(a.iter().zip(b)) {
        *to = (a.abs_diff(b), if a < b { u64::MAX } else { 0 });
    }
    all
}

/// Writes the 2n − 1 coefficients of a·b and a final 0 to `product`, the lowest first. The
/// coefficients of the polynomials a and b are the first n numbers of each array, and `product` has
/// 2n entries.
fn multiply_signed(a: &Signed, b: &Signed, n: usize, product: &mut [Column]) {
    for (i, column) in product.iter_mut().enumerate() {
        let (from, to) = (i.saturating_sub(n - 1), n.min(i + 1));
        let (mut sum, mut negative) = (Column::default(), 0);
        for j in from..to {
            let ((a, sign_a), (b, sign_b)) = (a[j], b[i - j]);
            let mask = sign_a ^ sign_b;
            sum = sum.plus_masked(a, b, mask);
            negative += mask & 1;
        }
        *column = sum.plus(Column::new(u128::from(negative), 0));
    }
}
