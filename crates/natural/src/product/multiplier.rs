//! What an algorithm needs of a product, whichever way it is computed.

use super::Products;
use crate::limbs::{add_assign, mul, sub_assign};

/// A matrix of natural numbers, by rows.
pub type Matrix2<'a> = [[&'a [u64]; 2]; 2];

/// A way to multiply natural numbers of any lengths.
///
/// Operands may have leading zero limbs. The second and third method have
/// defaults made of products; a transform does them with fewer transforms.
pub trait Multiplier {
    /// a·b, of `a.len() + b.len()` limbs.
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64>;

    /// The matrix product m·n, rows by columns. Entries may have leading zeros.
    fn mul_matrices(&self, m: Matrix2, n: Matrix2) -> [[Vec<u64>; 2]; 2] {
        let entry = |i: usize, j: usize| {
            let mut sum = self.mul(m[i][0], n[0][j]);
            let other = self.mul(m[i][1], n[1][j]);
            sum.resize(sum.len().max(other.len()) + 1, 0);
            add_assign(&mut sum, &other);
            sum
        };
        [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
    }

    /// adj(m)·x = (m11·x0 − m01·x1, m00·x1 − m10·x0), in two's complement: the
    /// top bit is the sign.
    fn mul_adjugate(&self, m: Matrix2, x: [&[u64]; 2]) -> [Vec<u64>; 2] {
        let difference = |a: &[u64], b: &[u64], c: &[u64], d: &[u64]| {
            let (mut first, second) = (self.mul(a, b), self.mul(c, d));
            first.resize(first.len().max(second.len()) + 1, 0);
            sub_assign(&mut first, &second);
            first
        };
        [difference(m[1][1], x[0], m[0][1], x[1]), difference(m[0][0], x[1], m[1][0], x[0])]
    }
}

/// Products by [`mul`]: the slow, obvious way.
#[derive(Debug, Clone, Copy, Default)]
pub struct Schoolbook;

impl Multiplier for Schoolbook {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        mul(a, b)
    }
}

/// Products by the method that their size wants, on the caller's thread: those of [`Products`],
/// without its memory.
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
}
