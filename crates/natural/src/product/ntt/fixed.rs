//! Windows of products by one factor, whose transform is computed once.

use std::ops::Range;

use warpint_transform::cpu::f50::{Operands, Prime, Second, multiply, transform};
use warpint_transform::cpu::goldilocks::Pool;

use super::plan::{Plan, digits};
use super::{MAX_LIMBS, cut_on};
use crate::limbs::at_least;
use crate::product::windows::Windows;

/// The limbs of a cyclic product above its ring: those of the highest coefficients and of carries.
const ABOVE: usize = 8;

/// A factor of many products, with its transform.
pub(in super::super) struct Fixed {
    plan: Plan,
    /// The transform, for each prime.
    rows: Vec<f64>,
    /// The numbers of limbs of both factors, and of digits of the other factors.
    limbs: usize,
    len: usize,
    digits: [usize; 2],
    window: Range<usize>,
    is_cyclic: bool,
}

impl Fixed {
    /// Transforms the factor on a pool, for products that take `threads` threads. Returns `None` if there is no
    /// plan for products of these lengths.
    ///
    /// *Cyclic products.* Let L be the least number of limbs with L ≥ window.end and L ≥ l −
    /// window.start, where l is the number of limbs of a whole product P, and not below the number of
    /// limbs of a factor. Let b·N ≥ 64·L. Then P = A + 2^(b·N)·B, where A is the sum of the terms of
    /// the coefficients below N, and B is that of the others. A product modulo x^N − 1 gives A + B. The
    /// window of A is that of P, because 64·window.end ≤ b·N. B ≤ P/2^(b·N) is below
    /// 2^(64·window.start), so the window of A + B is that of P, or this number plus 1. A may exceed
    /// 2^(b·N) by a few limbs.
    pub(in super::super) fn new(
        pool: &Pool,
        threads: usize,
        windows: &Windows<'_>,
    ) -> Option<Self> {
        let Windows { factor, len, ref window } = *windows;
        let whole = factor.len() + len;
        let (long, short) = (len.max(factor.len()), len.min(factor.len()));
        if whole > MAX_LIMBS {
            return None;
        }
        let ring = window.end.max(whole - window.start).max(long);
        let linear = Plan::new(long, short, threads).map(|plan| (plan, false));
        let cyclic = Plan::cyclic(short, ring, threads).map(|plan| (plan, true));
        let cost = |(plan, _): &(Plan, bool)| plan.cost(threads, 2);
        let plans = linear.into_iter().chain(cyclic);
        let (plan, is_cyclic) = plans.min_by(|x, y| cost(x).total_cmp(&cost(y)))?;
        let Plan { primes: k, bits, shape } = plan;
        let primes = &Prime::all()[..k];
        let mut rows = vec![];
        cut_on(pool, factor, plan, &mut rows);
        let digits = [digits(factor.len(), bits), digits(len, bits)];
        transform(pool, primes, shape, &mut rows, digits[0]);
        Some(Self {
            plan,
            rows,
            limbs: factor.len(),
            len,
            digits,
            window: window.clone(),
            is_cyclic,
        })
    }

    /// Returns whether products are cyclic.
    #[cfg(test)]
    pub(in super::super) fn is_cyclic(&self) -> bool {
        self.is_cyclic
    }

    /// Computes the window of the product of the factor and x, on a pool.
    ///
    /// # Panics
    /// If x or `out` have another number of limbs than `new` was told.
    pub(in super::super) fn multiply(
        &self,
        pool: &Pool,
        space: &mut FixedSpace,
        x: &[u64],
        out: &mut [u64],
    ) {
        let Plan { primes: k, bits, shape } = self.plan;
        assert_eq!(x.len(), self.len, "a number of another length");
        let n = shape.points();
        cut_on(pool, x, self.plan, &mut space.rows);
        let operands = Operands {
            a: &mut space.rows[..k * n],
            b: Second::Transformed(&self.rows),
            used: self.digits[1],
        };
        multiply(pool, &Prime::all()[..k], shape, operands);
        let rows: Vec<&[f64]> = space.rows[..k * n].chunks_exact(n).collect();
        let (count, limbs) = if self.is_cyclic {
            (n, (bits * n).div_ceil(64) + ABOVE)
        } else {
            (self.digits[0] + self.digits[1] - 1, self.limbs + self.len)
        };
        let whole = at_least(&mut space.whole, limbs);
        super::recombine::digits(pool, &rows, shape.scale(), count, bits, whole);
        out.copy_from_slice(&whole[self.window.clone()]);
    }
}

/// The working memory of products by fixed factors.
#[derive(Debug, Default)]
pub(in super::super) struct FixedSpace {
    rows: Vec<f64>,
    whole: Vec<u64>,
}
