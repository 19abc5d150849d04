//! Karatsuba's multiplication.

use super::add::{add_assign, compare, sub_assign};
use super::multiplier::Multiplier;
use super::rows::mul_by_row_pairs;

/// Limbs of the shorter factor from which three half products beat four.
const KARATSUBA_FROM: usize = 48;

/// Products by Karatsuba's method (Karatsuba and Ofman 1962), schoolbook below
/// some 48 limbs. Cost O(l·m^0.585) for l ≥ m limbs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Karatsuba;

impl Multiplier for Karatsuba {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        if b.len() < KARATSUBA_FROM {
            return mul_by_row_pairs(a, b);
        }
        if a.len() == b.len() {
            return balanced(a, b);
        }
        // Pieces of the longer factor, as long as the shorter.
        let mut product = vec![0; a.len() + b.len()];
        for (i, piece) in a.chunks(b.len()).enumerate() {
            add_assign(&mut product[i * b.len()..], &self.mul(piece, b));
        }
        product
    }
}

/// a·b for equally long factors.
///
/// With a = a0 + a1·X and b alike, X = 2^(64·h), it is
/// a0·b0 + (a0·b0 + a1·b1 − (a0 − a1)(b0 − b1))·X + a1·b1·X².
fn balanced(a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let h = n.div_ceil(2);
    let ((a0, a1), (b0, b1)) = (a.split_at(h), b.split_at(h));
    let low = Karatsuba.mul(a0, b0);
    let high = Karatsuba.mul(a1, b1);
    let ((a_size, a_negative), (b_size, b_negative)) = (distance(a0, a1), distance(b0, b1));
    let cross = Karatsuba.mul(&a_size, &b_size);

    let mut middle = low.clone();
    middle.push(0);
    add_assign(&mut middle, &high);
    if a_negative == b_negative {
        sub_assign(&mut middle, &cross);
    } else {
        add_assign(&mut middle, &cross);
    }
    // middle = a0·b1 + a1·b0 ends where the product does: what is cut off is zero.
    middle.truncate(2 * n - h);
    let mut product = low;
    product.extend(high);
    add_assign(&mut product[h..], &middle);
    product
}

/// |a − b| and whether it is b − a, for `a.len()` ≥ `b.len()`.
fn distance(a: &[u64], b: &[u64]) -> (Vec<u64>, bool) {
    let negative = compare(a, b).is_lt();
    let (mut size, small) = if negative {
        let mut size = b.to_vec();
        size.resize(a.len(), 0);
        (size, a)
    } else {
        (a.to_vec(), b)
    };
    sub_assign(&mut size, small);
    (size, negative)
}
