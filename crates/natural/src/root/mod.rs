//! Square roots by recursion (`square_root`), and roots of any degree by Newton's iteration.
//!
//! The root ⌊a^(1/k)⌋ is computed by steps x ← f(x) with f(x) = ⌊((k − 1)·x + ⌊a/x^(k−1)⌋)/k⌋. By
//! the inequality of the arithmetic and the geometric mean, f(x) ≥ ⌊a^(1/k)⌋ for every x > 0, and
//! f(x) < x for x > ⌊a^(1/k)⌋. So one step from any x > 0, and further steps as long as x
//! decreases, lead to the root. For a of up to 2^22 bits, the initial estimate has about 30 correct
//! bits. Each step doubles their number.

mod square_root;

use std::num::NonZeroU32;

use crate::division::Divider;
use crate::limbs::{
    add_assign, at_least, compare, copy_to, div_rem_small, mul_small_assign, trim, trimmed,
};
use crate::product::Products;
pub use square_root::{SquareRoot, sqrt_rem_by};

/// Computes roots of any degree, and reuses its working memory from one root to the next.
#[derive(Debug, Default)]
pub struct Root {
    x: Vec<u64>,
    next: Vec<u64>,
    power: Vec<u64>,
    product: Vec<u64>,
    remainder: Vec<u64>,
    divider: Divider,
    products: Products,
}

impl Root {
    /// Computes root ← ⌊a^(1/k)⌋. `root` must be long enough for the result; limbs above the result
    /// are set to 0.
    ///
    /// # Panics
    /// Panics if the result does not fit in `root`.
    ///
    /// Cost O(M(n)·log n) for n limbs, where M(n) is the cost of a product and a division of n
    /// limbs.
    pub fn root(&mut self, root: &mut [u64], a: &[u64], k: NonZeroU32) {
        let (a, k) = (trimmed(a), u64::from(k.get()));
        let Some(top) = a.last() else { return root.fill(0) };
        let bits = 64 * a.len() as u64 - u64::from(top.leading_zeros());
        if k >= bits {
            return copy_to(root, &[1]);
        }
        if k == 1 {
            return copy_to(root, a);
        }
        self.estimate(a, k);
        self.step(a, k);
        std::mem::swap(&mut self.x, &mut self.next);
        loop {
            self.step(a, k);
            if compare(&self.next, &self.x).is_ge() {
                return copy_to(root, &self.x);
            }
            std::mem::swap(&mut self.x, &mut self.next);
        }
    }

    /// Sets `self.x` to a positive estimate of a^(1/k), for a > 0.
    fn estimate(&mut self, a: &[u64], k: u64) {
        let below = a.iter().rev().nth(1).map_or(0.0, |&limb| limb as f64);
        let leading = a.last().map_or(0.0, |&limb| limb as f64) + below * 0.5f64.powi(64);
        // For a of up to 2^22 bits, `log` is at most 2^21, and its error is below 2^(−31). For
        // longer a the estimate is less accurate, so more steps are needed.
        let log = (leading.log2() + 64.0 * (a.len() - 1) as f64) / k as f64;
        let (whole, part) = (log.floor(), log - log.floor());
        // 2^part, as a multiple of 2^(−52).
        let mantissa = (part.exp2() * 2.0f64.powi(52)) as u64;
        let whole = whole as u64;
        self.x.clear();
        if whole < 52 {
            self.x.push((mantissa >> (52 - whole)) + 1);
            return;
        }
        let (limbs, shift) = (((whole - 52) / 64) as usize, (whole - 52) % 64);
        self.x.resize(limbs, 0);
        let value = u128::from(mantissa) << shift;
        self.x.extend([value as u64, (value >> 64) as u64]);
        trim(&mut self.x);
    }

    /// Computes `self.next` ← ⌊((k − 1)·x + ⌊a/x^(k−1)⌋)/k⌋, one step of Newton's iteration, where
    /// x is `self.x`.
    fn step(&mut self, a: &[u64], k: u64) {
        self.raise(k - 1);
        let Self { x, next, power, remainder, divider, .. } = self;
        divider.set(power);
        next.clear();
        next.resize(a.len(), 0);
        divider.div_rem(next, at_least(remainder, power.len()), a);
        // x·(k − 1), with one limb more.
        power.clear();
        power.extend_from_slice(x);
        let carry = mul_small_assign(power, k - 1);
        power.push(carry);
        next.resize(next.len().max(power.len()) + 1, 0);
        add_assign(next, power);
        div_rem_small(next, k);
        trim(next);
    }

    /// Computes `self.power` ← x^e for e > 0, where x is `self.x`. Cost: one square for each bit of
    /// e except the highest, and one product for each of these bits that is set.
    fn raise(&mut self, e: u64) {
        let Self { x, power, product, products, .. } = self;
        power.clear();
        power.extend_from_slice(x);
        for bit in (0..e.ilog2()).rev() {
            product.resize(2 * power.len(), 0);
            products.square(product, power);
            trim(product);
            std::mem::swap(power, product);
            if e >> bit & 1 == 1 {
                product.resize(power.len() + x.len(), 0);
                products.mul(product, power, x);
                trim(product);
                std::mem::swap(power, product);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::sample::Sample;

    #[track_caller]
    fn check(roots: &mut Root, a: &[u64], k: u32) {
        let mut root = vec![3; a.len()];
        roots.root(&mut root, a, NonZeroU32::new(k).unwrap());
        assert!(trimmed(&root) == limbs::root(a, k), "root {k} of {a:x?} is not {root:x?}");
    }

    /// Tests roots of exact powers, of the numbers one less and one more, and of other numbers.
    /// Some degrees are larger than the number of bits.
    #[test]
    fn powers_and_their_neighbours() {
        let mut roots = Root::default();
        let mut sample = Sample::new(11);
        for k in (1..40).chain([63, 64, 65, 127, 128, 191, 192, 193, 255, 256, 257, 1000]) {
            for round in 0..12 {
                let a = sample.number(1 + round % 4);
                check(&mut roots, &a, k);
                let mut x = vec![sample.limb() >> (round * 5)];
                trim(&mut x);
                let mut power = vec![1];
                for _ in 0..k {
                    if power.len() < 5 {
                        power = limbs::mul(&power, &x);
                        trim(&mut power);
                    }
                }
                power.push(0);
                check(&mut roots, &power, k);
                add_assign(&mut power, &[1]);
                check(&mut roots, &power, k);
                limbs::sub_assign(&mut power, &[2]);
                check(&mut roots, &power, k);
            }
        }
        check(&mut roots, &[0, 0], 3);
        check(&mut roots, &vec![u64::MAX; 60], 3);
        check(&mut roots, &vec![u64::MAX; 60], 1919);
        check(&mut roots, &vec![u64::MAX; 60], 3839);
    }
}
