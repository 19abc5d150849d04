//! Products of many numbers, and remainders modulo many numbers (Bernstein 2008, *Fast multiplication
//! and its applications*, §12 and §18).

use rayon::prelude::*;

use warpint_natural::division::{Divider, div_rem_by};
use warpint_natural::limbs::{mul_small_assign, trim, trimmed};
use warpint_natural::product::Multiplier;

use crate::IntegerError;

/// The number of limbs whose product is computed limb by limb.
const LEAF: usize = 32;

/// The number of limbs of a modulus from which a remainder is computed by the multiplier. Remainders
/// modulo shorter numbers are distributed over threads, each on one thread.
const MULTIPLIER_FROM: usize = 4_096;

/// Returns the product of all limbs; 1 for no limbs.
///
/// Cost O(M(n)·log n) for n limbs. The lowest levels of the product tree are distributed over the
/// threads of rayon's current pool.
#[must_use]
pub fn product_of_limbs(multiplier: &dyn Multiplier, limbs: &[u64]) -> Vec<u64> {
    let leaf = |limbs: &[u64]| {
        let mut product = vec![1];
        for &limb in limbs {
            let carry = mul_small_assign(&mut product, limb);
            if carry != 0 {
                product.push(carry);
            }
        }
        trim(&mut product);
        product
    };
    product_of(multiplier, limbs.par_chunks(LEAF).map(leaf).collect())
}

/// Returns the product of all numbers; 1 for no numbers.
///
/// Cost O(M(n)·log m) for m numbers of about equal lengths with n limbs together. All products of a
/// level are computed by one call of [`Multiplier::products`].
#[must_use]
pub fn product_of(multiplier: &dyn Multiplier, mut numbers: Vec<Vec<u64>>) -> Vec<u64> {
    while numbers.len() > 1 {
        numbers = level_above(multiplier, &numbers);
    }
    let mut product = numbers.pop().unwrap_or_else(|| vec![1]);
    trim(&mut product);
    product
}

/// Returns the products of numbers 2i and 2i + 1 for all i. The last number is copied if it has no
/// partner.
fn level_above(multiplier: &dyn Multiplier, numbers: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let (pairs, single) = numbers.as_chunks::<2>();
    let pairs: Vec<[&[u64]; 2]> = pairs.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
    let mut products = multiplier.products(&pairs);
    products.iter_mut().for_each(trim);
    products.extend(single.iter().cloned());
    products
}

/// The product of many numbers with all products on the way, for remainders modulo each number.
///
/// Memory: about log2(m) + 1 times that of m numbers.
#[derive(Debug, Clone)]
pub struct ProductTree {
    /// The numbers, the products of pairs, the products of pairs of these …
    levels: Vec<Vec<Vec<u64>>>,
}

impl ProductTree {
    /// Computes the tree of the numbers. Cost O(M(n)·log m) for m numbers of about equal lengths with
    /// n limbs together.
    #[must_use]
    pub fn new(multiplier: &dyn Multiplier, mut numbers: Vec<Vec<u64>>) -> Self {
        numbers.iter_mut().for_each(trim);
        let mut levels = vec![numbers];
        while let Some(last) = levels.last()
            && last.len() > 1
        {
            let above = level_above(multiplier, last);
            levels.push(above);
        }
        Self { levels }
    }

    /// Returns the product of all numbers; 1 for no numbers.
    #[must_use]
    pub fn product(&self) -> &[u64] {
        self.levels.last().and_then(|top| top.first()).map_or(&[1], |product| &product[..])
    }

    /// Returns a mod m for each number m of the tree, in the order of the numbers.
    ///
    /// Cost: one division of a by the product of all numbers, and O(M(n)·log m) for m numbers with n
    /// limbs together.
    ///
    /// # Errors
    /// [`IntegerError::ZeroModulus`] if a number is 0.
    pub fn remainders(
        &self,
        multiplier: &dyn Multiplier,
        a: &[u64],
    ) -> Result<Vec<Vec<u64>>, IntegerError> {
        let numbers = &self.levels[0];
        if let Some(index) = numbers.iter().position(Vec::is_empty) {
            return Err(IntegerError::ZeroModulus { index });
        }
        let mut above = vec![trimmed(a).to_vec()];
        for level in self.levels.iter().rev() {
            let is_long = level.iter().any(|modulus| modulus.len() >= MULTIPLIER_FROM);
            above = if is_long {
                let each = level.iter().enumerate();
                each.map(|(i, modulus)| div_rem_by(multiplier, &above[i / 2], modulus).1).collect()
            } else {
                let remainder = |divider: &mut Divider, (i, modulus): (usize, &Vec<u64>)| {
                    let a = &above[i / 2];
                    let (mut q, mut r) = (vec![0; a.len()], vec![0; modulus.len()]);
                    divider.set(modulus);
                    divider.div_rem(&mut q, &mut r, a);
                    trim(&mut r);
                    r
                };
                level.par_iter().enumerate().map_init(Divider::default, remainder).collect()
            };
        }
        above.truncate(numbers.len());
        Ok(above)
    }
}
