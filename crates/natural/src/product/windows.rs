//! Windows of the products of one factor and many numbers.

use std::ops::Range;

use warpint_transform::cpu::goldilocks::{Pool, Shared};

use super::ntt::{self, Fixed, FixedSpace};
use super::{Multiplier, Products};
use crate::limbs::at_least;

/// The smallest number of limbs of the shorter factor for which a window is computed faster by
/// transforms, if one factor is already transformed.
const FIXED_FROM: usize = 192;

/// Which windows of which products are wanted: the product of a factor and a number of `len` limbs, without
/// the limbs below `window.start` and from `window.end` on.
#[derive(Debug, Clone)]
pub struct Windows<'a> {
    /// The common factor.
    pub factor: &'a [u64],
    /// The number of limbs of each other factor.
    pub len: usize,
    /// The limbs of each product, within its `factor.len()` + `len` limbs.
    pub window: Range<usize>,
}

impl Windows<'_> {
    /// Returns the number of the numbers `rows`.
    ///
    /// # Panics
    /// If the window exceeds the products, if a factor has no limbs, or if the rows or the results have a wrong
    /// number of limbs.
    pub fn count(&self, rows: &[u64], out: &[u64]) -> usize {
        assert!(self.window.end <= self.factor.len() + self.len, "the window exceeds the product");
        assert!(self.len > 0 && !self.factor.is_empty() && !self.window.is_empty(), "no limbs");
        let count = rows.len() / self.len;
        assert_eq!(rows.len(), count * self.len, "rows of another length");
        assert_eq!(out.len(), count * self.window.len(), "results of another length");
        count
    }

    /// Computes the windows by whole products of a multiplier, without an error.
    ///
    /// # Panics
    /// As [`Self::count`].
    pub fn by_products<M: Multiplier + ?Sized>(
        &self,
        multiplier: &M,
        rows: &[u64],
        out: &mut [u64],
    ) {
        self.count(rows, out);
        let outs = out.chunks_exact_mut(self.window.len());
        for (row, out) in rows.chunks_exact(self.len).zip(outs) {
            out.copy_from_slice(&multiplier.mul(self.factor, row)[self.window.clone()]);
        }
    }

    /// Computes the windows on a pool of `threads` threads. Returns `false` if the products are too
    /// long, or if transforms over 50-bit primes are not fast on this CPU.
    pub(super) fn on(&self, pool: &Pool, threads: usize, rows: &[u64], out: &mut [u64]) -> bool {
        let count = self.count(rows, out);
        let caller = Pool::new(1);
        let across = count >= threads;
        let (within, threads) = if across { (&caller, 1) } else { (pool, threads) };
        let by_transforms = ntt::is_fast() && self.len.min(self.factor.len()) >= FIXED_FROM;
        let fixed = by_transforms.then(|| Fixed::new(pool, threads, self)).flatten();
        if fixed.is_none() && (by_transforms || !ntt::is_fast()) {
            return false;
        }
        let width = self.window.len();
        let out = Shared::new(out);
        let some = |range: Range<usize>| {
            let (mut space, mut products) = (FixedSpace::default(), Products::default());
            let mut whole = vec![];
            for i in range {
                let row = &rows[i * self.len..][..self.len];
                // SAFETY: each i occurs once.
                let out = unsafe { out.piece(i * width, width) };
                if let Some(fixed) = &fixed {
                    fixed.multiply(within, &mut space, row, out);
                } else {
                    let whole = at_least(&mut whole, self.factor.len() + self.len);
                    products.mul(whole, self.factor, row);
                    out.copy_from_slice(&whole[self.window.clone()]);
                }
            }
        };
        if across {
            pool.each_range(count, some);
        } else {
            some(0..count);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::{FastProducts, TransformMultiplier};
    use crate::sample::Sample;

    /// Compares windows with those of whole products: of random numbers and of ones, around the lengths at which
    /// the method or the shape changes.
    #[test]
    fn windows_are_those_of_whole_products() {
        let mut sample = Sample::new(31);
        let multipliers = [1, 2, 3].map(TransformMultiplier::new);
        let mut cyclic = 0;
        for (factor, len) in [
            (1usize, 1usize),
            (3, 7),
            (64, 129),
            (191, 400),
            (192, 385),
            (193, 193),
            (700, 300),
            (1000, 2001),
            (3000, 6002),
            (9000, 18_001),
        ] {
            let all = factor + len;
            let middle = len.abs_diff(factor);
            for window in
                [0..all, 0..1, all - 1..all, middle..middle + factor.min(len), all / 3..all / 2 + 1]
            {
                for count in [1, 2, 5] {
                    if count > 1 && len > 2000 {
                        continue;
                    }
                    let random = (sample.number(factor), sample.number(len * count));
                    let ones = (vec![u64::MAX; factor], vec![u64::MAX; len * count]);
                    for (factor, rows) in [random, ones] {
                        let windows = Windows { factor: &factor, len, window: window.clone() };
                        let fixed = Fixed::new(&Pool::new(1), 1, &windows);
                        cyclic += usize::from(fixed.is_some_and(|fixed| fixed.is_cyclic()));
                        let mut exact = vec![0; count * window.len()];
                        windows.by_products(&FastProducts, &rows, &mut exact);
                        for multiplier in &multipliers {
                            let mut found = vec![1; exact.len()];
                            multiplier.windows(&windows, &rows, &mut found);
                            let pairs = found.chunks(window.len()).zip(exact.chunks(window.len()));
                            for (found, exact) in pairs {
                                let mut next = exact.to_vec();
                                crate::limbs::add_assign(&mut next, &[1]);
                                let is_next = found == next && window.start > 0;
                                assert!(
                                    found == exact || is_next,
                                    "{} by {len}, {window:?}",
                                    factor.len()
                                );
                            }
                        }
                    }
                }
            }
        }
        assert!(cyclic > 0, "no product was cyclic");
    }
}
