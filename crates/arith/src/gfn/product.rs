//! Products by columns (sums of products of digits), and the choice of the multiplication method
//! for each K.

use super::Gfn;
use super::column::Column;

impl<const K: usize> Gfn<K> {
    /// Returns a·b by the method that is fastest for K: columns for K < 128, and transforms for
    /// K = 128. The choice is based on measurements with AVX2. Karatsuba's method is not the
    /// fastest for any K.
    pub(super) fn product(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        match K {
            ..128 => self.mul_by_columns(a, b),
            _ => self.mul_by_transforms(a, b),
        }
    }

    /// Returns a² by the method that is fastest for K: columns for K < 128, and transforms for
    /// K = 128.
    pub(super) fn squared(&self, a: &[u64; K]) -> [u64; K] {
        match K {
            ..128 => self.square_by_columns(a),
            _ => self.square_by_transforms(a),
        }
    }

    /// Returns a·b by K² products of digits, summed in columns of 192 bits. Column i is c_i =
    /// Σ_(j ≤ i) a_j·b_(i−j) − Σ_(j > i) a_j·b_(K+i−j), where a_j and b_j are the digits, and a·b
    /// is Σ c_i·r^i.
    #[must_use]
    pub fn mul_by_columns(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        if let Some(product) = self.by_minus_one(a, b) {
            return product;
        }
        let mut columns = [Column::default(); K];
        for (i, column) in columns.iter_mut().enumerate() {
            let sum = |a: &[u64], b: &[u64]| {
                let add = |sum: Column, (&a, &b): (&u64, &u64)| sum.plus_product(a, b);
                a.iter().zip(b.iter().rev()).fold(Column::default(), add)
            };
            *column = sum(&a[..=i], &b[..=i]).minus(sum(&a[i + 1..], &b[i + 1..]));
        }
        self.resolved(&columns)
    }

    /// Returns a² by the method of [`Gfn::mul_by_columns`], with about half as many products of
    /// digits.
    #[must_use]
    pub fn square_by_columns(&self, a: &[u64; K]) -> [u64; K] {
        if self.is_minus_one(a) {
            return self.one_element();
        }
        let mut columns = [Column::default(); K];
        for (i, column) in columns.iter_mut().enumerate() {
            // Σ x_j·x_(n−1−j).
            let sum = |x: &[u64]| {
                let (low, high) = (&x[..x.len() / 2], &x[x.len() / 2..]);
                let add = |sum: Column, (&a, &b): (&u64, &u64)| sum.plus_product(a, b);
                let twice = low.iter().zip(high.iter().rev()).fold(Column::default(), add);
                let middle = if x.len() % 2 == 1 { high[0] } else { 0 };
                twice.doubled().plus_product(middle, middle)
            };
            *column = sum(&a[..=i]).minus(sum(&a[i + 1..]));
        }
        self.resolved(&columns)
    }

    /// Returns a·b if at least one of the factors is −1. Otherwise returns `None`.
    pub(super) fn by_minus_one(&self, a: &[u64; K], b: &[u64; K]) -> Option<[u64; K]> {
        let other = match (self.is_minus_one(a), self.is_minus_one(b)) {
            (true, _) => b,
            (_, true) => a,
            _ => return None,
        };
        Some(self.difference(&[0; K], other))
    }

    pub(super) fn one_element(&self) -> [u64; K] {
        let mut one = [0; K];
        one[0] = 1;
        one
    }

    /// Returns a·b by K² products of digits. Each product is split into two digits by division
    /// instructions. Tests compare the faster methods with this method.
    #[must_use]
    pub fn mul_schoolbook(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        let mut sums = [0i128; K];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let (product, r) = (u128::from(x) * u128::from(y), u128::from(self.r));
                for (at, digit) in [(i + j, product % r), (i + j + 1, product / r)] {
                    let digit = digit as i128;
                    sums[at % K] += if (at / K).is_multiple_of(2) { digit } else { -digit };
                }
            }
        }
        self.carried(sums)
    }

    /// Returns the element Σ x_i·r^i, for signed digits x_i with |x_i| < 2^120.
    pub(super) fn carried(&self, mut x: [i128; K]) -> [u64; K] {
        let r = i128::from(self.r);
        loop {
            let mut carry = 0;
            for digit in &mut x {
                let sum = *digit + carry;
                (*digit, carry) = (sum.rem_euclid(r), sum.div_euclid(r));
            }
            if carry == 0 {
                return x.map(|digit| digit as u64);
            }
            // r^k = −1.
            x[0] -= carry;
            if carry == 1 && x[0] == -1 && x[1..].iter().all(|&digit| digit == 0) {
                return self.minus_one();
            }
        }
    }
}
