//! Recursive division in place (Burnikel and Ziegler 1998; see the parent module).

use std::cmp::Ordering;

use super::reciprocal::TwoLimbs;
use super::schoolbook::schoolbook;
use crate::limbs::{add_assign, at_least, sub_assign};
use crate::product::{Multiplier, Products};

/// The smallest number of 64-bit limbs of the divisor for which recursive division is faster than
/// the schoolbook method. Quotients of fewer than half this number of limbs are computed by the
/// schoolbook method too. Measured by `cargo test --release -p warpint-natural division_crossover
/// -- --ignored --nocapture` on an AMD EPYC with AVX2.
const RECURSIVE_FROM: usize = 48;

/// The method by which recursive division multiplies parts of the quotient by parts of the divisor.
pub(super) trait ProductsTo {
    /// Computes out ← a·b, where `out` has exactly `a.len() + b.len()` limbs.
    fn mul_to(&mut self, out: &mut [u64], a: &[u64], b: &[u64]);
}

impl ProductsTo for Products {
    fn mul_to(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        self.mul(out, a, b);
    }
}

impl ProductsTo for &dyn Multiplier {
    fn mul_to(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        out.copy_from_slice(&self.mul(a, b));
    }
}

/// Divides in place, by the schoolbook method or recursively.
#[derive(Debug, Default)]
pub(super) struct Blocks<P> {
    /// Memory for one product, reused.
    pub(super) product: Vec<u64>,
    /// Computes the products.
    pub(super) products: P,
}

impl<P: ProductsTo> Blocks<P> {
    /// Computes q ← ⌊u/d⌋ mod 2^(64·k), where q has k limbs, d has m ≥ 2 limbs, and u has k + m
    /// limbs. Returns true if ⌊u/d⌋ is q + 2^(64·k), and false if it is q. The lowest m limbs of u
    /// become u mod d; the k limbs above have no meaning afterwards.
    ///
    /// `top` contains the two top limbs of d and their reciprocal. Requires that the top bit of d
    /// is set, and u < 2^(64·k + 1)·d.
    pub(super) fn divide(
        &mut self,
        q: &mut [u64],
        u: &mut [u64],
        d: &[u64],
        top: TwoLimbs,
    ) -> bool {
        let (k, m) = (q.len(), d.len());
        if 2 * k < RECURSIVE_FROM || m < RECURSIVE_FROM {
            return schoolbook(q, u, d, top);
        }
        match k.cmp(&m) {
            Ordering::Less => self.by_top(q, u, d, top),
            Ordering::Equal => self.pieces(q, u, d, top, k.div_ceil(2)),
            Ordering::Greater => self.pieces(q, u, d, top, m),
        }
    }

    /// Computes [`Self::divide`] by several divisions, for the highest limbs of the quotient first.
    /// Each division yields at most `piece` limbs of the quotient.
    fn pieces(
        &mut self,
        q: &mut [u64],
        u: &mut [u64],
        d: &[u64],
        top: TwoLimbs,
        piece: usize,
    ) -> bool {
        let mut beyond = false;
        let pieces = q.len().div_ceil(piece);
        for i in (0..pieces).rev() {
            let q = &mut q[i * piece..];
            let q = if i + 1 == pieces { q } else { &mut q[..piece] };
            let more = self.divide(q, &mut u[i * piece..][..q.len() + d.len()], d, top);
            debug_assert!(i + 1 == pieces || !more, "a part of the quotient has too many limbs");
            beyond |= more;
        }
        beyond
    }

    /// Computes [`Self::divide`] for a quotient of k limbs and a divisor of m > k limbs. The
    /// quotient is estimated from the k top limbs of d. The product of the estimate and the other
    /// limbs of d is then subtracted from u. While the difference is negative, the quotient is
    /// decreased by 1, and d is added to the difference.
    fn by_top(&mut self, q: &mut [u64], u: &mut [u64], d: &[u64], top: TwoLimbs) -> bool {
        let (k, m) = (q.len(), d.len());
        let (low, high) = d.split_at(m - k);
        let mut beyond = self.divide(q, &mut u[m - k..], high, top);
        let product = at_least(&mut self.product, m);
        self.products.mul_to(product, q, low);
        let u = &mut u[..m];
        let mut borrows = u32::from(sub_assign(u, product));
        if beyond {
            borrows += u32::from(sub_assign(&mut u[k..], low));
        }
        while borrows > 0 {
            beyond ^= sub_assign(q, &[1]);
            borrows -= u32::from(add_assign(u, d));
        }
        beyond
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::sample::Sample;

    /// Prints the times of divisions of 2n limbs by n limbs, by the schoolbook method and by
    /// recursive division.
    #[test]
    #[ignore = "a measurement"]
    fn division_crossover() {
        let mut blocks = Blocks::<Products>::default();
        println!("us for 2n limbs by n: n, schoolbook, one level of recursion at least");
        for n in [32, 40, 48, 56, 64, 80, 96, 128, 160, 192, 256, 384, 512, 1024, 4096] {
            let mut sample = Sample::new(n as u64);
            let (a, mut d) = (sample.number(2 * n), sample.number(n));
            d[n - 1] |= 1 << 63;
            let mut a = a;
            a[2 * n - 1] >>= 1;
            let top = TwoLimbs::new(d[n - 1], d[n - 2]);
            let (mut q, mut u) = (vec![0; n], a.clone());
            let mut time = |work: &mut dyn FnMut(&mut [u64], &mut [u64]) -> bool| {
                let once = |_| {
                    u.copy_from_slice(&a);
                    let start = Instant::now();
                    work(&mut q, &mut u);
                    start.elapsed().as_secs_f64() * 1e6
                };
                (0..(4_000_000 / n / n).clamp(3, 2000)).map(once).fold(f64::MAX, f64::min)
            };
            let school = time(&mut |q, u| schoolbook(q, u, &d, top));
            let halves = time(&mut |q, u| {
                let (low, high) = q.split_at_mut(n / 2);
                blocks.by_top(high, &mut u[n / 2..], &d, top);
                blocks.by_top(low, &mut u[..n / 2 + n], &d, top)
            });
            println!("{n:5} {school:9.2} {halves:9.2}");
        }
    }
}
