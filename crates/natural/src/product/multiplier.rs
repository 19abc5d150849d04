//! The interface through which algorithms use any method of multiplication.

use warpint_transform::cpu::goldilocks::Pool;

use super::{Products, Windows};
use crate::limbs::{add_assign, mul, sub_assign};

/// A 2×2 matrix of natural numbers, by rows.
pub type Matrix2<'a> = [[&'a [u64]; 2]; 2];

/// A method to multiply natural numbers of any lengths.
///
/// Operands may have leading zero limbs. All methods except [`Multiplier::mul`] have default
/// implementations by separate products. A multiplier by transforms overrides `mul_matrices` and
/// `mul_adjugate`, because sums of products need fewer transforms than separate products.
pub trait Multiplier {
    /// Returns a·b in `a.len() + b.len()` limbs.
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64>;

    /// Returns an upper bound of the host's memory in bytes that a product of factors of `a` and `b`
    /// limbs needs in addition to the factors and the result. Memory that is kept for the next
    /// product counts too. The default is 0.
    fn working_memory(&self, a: usize, b: usize) -> u64 {
        let _ = (a, b);
        0
    }

    /// Returns ⌊a/d⌋ and a mod d without leading zero limbs, if the multiplier has a method of its own for
    /// numbers of these lengths. Otherwise returns `None`, and the caller divides by products. The
    /// default is `None`. d is not 0.
    fn div_rem(&self, a: &[u64], d: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        let _ = (a, d);
        None
    }

    /// Returns the decimal digits of a without leading zeros, the highest first, if the multiplier has
    /// a method of its own for this number; otherwise `None`, which is the default.
    fn format_decimal(&self, a: &[u64]) -> Option<Vec<u8>> {
        let _ = a;
        None
    }

    /// Returns the number with the given decimal digits, the highest first, without leading zero
    /// limbs, if the multiplier has its own method for this number of digits; otherwise `None`, which is
    /// the default.
    fn parse_decimal(&self, digits: &[u8]) -> Option<Vec<u64>> {
        let _ = digits;
        None
    }

    /// Returns the product of the two numbers of each pair, in the order of the pairs.
    fn products(&self, pairs: &[[&[u64]; 2]]) -> Vec<Vec<u64>> {
        pairs.iter().map(|[a, b]| self.mul(a, b)).collect()
    }

    /// Computes a window of the product of a common factor and each of the numbers `rows`, which have
    /// `windows.len` limbs each, one after the other. The result for a product P is ⌊P/2^(64·s)⌋ modulo
    /// 2^(64·w), where the window begins at limb s and has w limbs, or this number plus 1
    /// modulo 2^(64·w). If s = 0, it is the former. Results have w limbs each, in the order of the rows.
    ///
    /// By default, this costs a whole product for each row.
    ///
    /// # Panics
    /// As [`Windows::count`].
    fn windows(&self, windows: &Windows<'_>, rows: &[u64], out: &mut [u64]) {
        windows.by_products(self, rows, out);
    }

    /// Returns the matrix product m·n, by rows. Entries of the result may have leading zero limbs.
    /// By default, this costs eight products.
    fn mul_matrices(&self, m: Matrix2, n: Matrix2) -> [[Vec<u64>; 2]; 2] {
        let pairs = [0, 1].map(|i| [0, 1].map(|j| [0, 1].map(|k| [m[i][k], n[k][j]])));
        let mut products = self.products(pairs.as_flattened().as_flattened()).into_iter();
        let mut entry = || {
            let mut sum = products.next().unwrap_or_default();
            let other = products.next().unwrap_or_default();
            sum.resize(sum.len().max(other.len()) + 1, 0);
            add_assign(&mut sum, &other);
            sum
        };
        [[entry(), entry()], [entry(), entry()]]
    }

    /// Returns adj(m)·x = (m11·x0 − m01·x1, m00·x1 − m10·x0), where m_ij is entry j of row i of m,
    /// both counted from 0. Both results are in two's complement; the top bit of the top limb is
    /// the sign. By default, this costs four products.
    fn mul_adjugate(&self, m: Matrix2, x: [&[u64]; 2]) -> [Vec<u64>; 2] {
        let pairs = [[m[1][1], x[0]], [m[0][1], x[1]], [m[0][0], x[1]], [m[1][0], x[0]]];
        let mut products = self.products(&pairs).into_iter();
        let mut difference = || {
            let mut first = products.next().unwrap_or_default();
            let second = products.next().unwrap_or_default();
            first.resize(first.len().max(second.len()) + 1, 0);
            sub_assign(&mut first, &second);
            first
        };
        [difference(), difference()]
    }
}

/// A multiplier by [`mul`], the slow, obvious schoolbook method.
#[derive(Debug, Clone, Copy, Default)]
pub struct Schoolbook;

impl Multiplier for Schoolbook {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        mul(a, b)
    }
}

/// A multiplier by the methods of [`Products`], on the caller's thread. It allocates working memory
/// for each product. If both factors are the same slice, it computes a square.
#[derive(Debug, Clone, Copy, Default)]
pub struct FastProducts;

impl Multiplier for FastProducts {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut product = vec![0; a.len() + b.len()];
        if std::ptr::eq(a, b) {
            Products::default().square(&mut product, a);
        } else {
            Products::default().mul(&mut product, a, b);
        }
        product
    }

    fn windows(&self, windows: &Windows<'_>, rows: &[u64], out: &mut [u64]) {
        if !windows.on(&Pool::new(1), 1, rows, out) {
            windows.by_products(self, rows, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::division::div_rem_by;
    use crate::radix::decimal::{format_by, parse_by};

    /// A multiplier with methods of its own, whose results no other method returns.
    struct Own;

    impl Multiplier for Own {
        fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
            FastProducts.mul(a, b)
        }

        fn div_rem(&self, a: &[u64], d: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
            (a.len() > 5000).then(|| (vec![a.len() as u64], vec![d.len() as u64]))
        }

        fn format_decimal(&self, a: &[u64]) -> Option<Vec<u8>> {
            (a.len() > 100).then(|| b"digits".to_vec())
        }

        fn parse_decimal(&self, digits: &[u8]) -> Option<Vec<u64>> {
            (digits.len() > 100).then(|| vec![digits.len() as u64])
        }
    }

    #[test]
    fn own_methods_of_a_multiplier_are_used() {
        let number = vec![7; 6000];
        assert_eq!(div_rem_by(&Own, &number, &number[..3000]), (vec![6000], vec![3000]));
        let shorter = &number[..5000];
        let expected = div_rem_by(&FastProducts, shorter, &number[..2500]);
        assert!(div_rem_by(&Own, shorter, &number[..2500]) == expected);
        assert_eq!(format_by(&Own, &number), b"digits");
        assert_eq!(format_by(&Own, &[12, 0]), b"12");
        assert_eq!(parse_by(&Own, &[b'7'; 101]), [101]);
        assert_eq!(parse_by(&Own, b"12"), [12]);
    }
}
