//! Long products by number-theoretic transforms over three 50-bit primes.
//!
//! # The product as a product of polynomials
//!
//! The limbs of a and b are the coefficients of two polynomials. a·b is the value of the product c
//! of these polynomials at x = 2^64. c has `a.len() + b.len() − 1` coefficients
//! 0 ≤ c_k ≤ m·(2^64 − 1)², where m is the number of limbs of the shorter factor. Transforms
//! ([`warpint_transform::cpu::f50`]) compute c modulo each of three primes of
//! [`warpint_arith::f50`]. The product of the primes is above 2^149. For m ≤ 2^16,
//! c_k < 2^128·m ≤ 2^144. So the three residues determine c_k (`recombine`).
//!
//! The transforms have N points, where N is a power of two M, or 3·M/2. The cost is O(N·log N). The
//! memory is 40·N bytes, and 144·M bytes of tables for each M. The whole program shares the tables.

mod recombine;

use std::sync::OnceLock;

use recombine::Garner;
use warpint_arith::f50::{F50, PRIMES};
pub(super) use warpint_transform::cpu::f50::is_fast;
use warpint_transform::cpu::f50::{Prime, Scratch, Shape};

/// The largest number of limbs of a product that transforms over 50-bit primes support.
pub(super) const MAX_LIMBS: usize = 1 << MAX_LOG2;
const MAX_LOG2: u32 = 16;

/// The data that all products with transforms of M or 3·M/2 points share: three primes with their
/// roots of unity, and the constants with which residues are combined. M is a power of two.
struct Tables {
    primes: [Prime; 3],
    garner: Garner,
}

/// Returns the tables for transforms of M or 3·M/2 points, where M = 2^log2. Returns `None` if
/// `log2` is above 16. The tables are computed at the first call for each M.
fn tables(log2: u32) -> Option<&'static Tables> {
    static TABLES: [OnceLock<Option<Tables>>; MAX_LOG2 as usize + 1] =
        [const { OnceLock::new() }; MAX_LOG2 as usize + 1];
    let make = || {
        let [p, q, r] = [0, 1, 2].map(|i| Prime::new(F50::new(PRIMES[i].0).ok()?, log2));
        let primes = [p?, q?, r?];
        Some(Tables { garner: Garner::new(primes.each_ref().map(Prime::field)), primes })
    };
    TABLES.get(log2 as usize)?.get_or_init(make).as_ref()
}

/// The working memory of products, which is reused from one product to the next.
#[derive(Debug, Default)]
pub(super) struct Space {
    residues: [Vec<f64>; 3],
    scratch: Scratch,
}

impl Space {
    /// Computes out ← a·b, or out ← a² if b is `None`. Each factor must have at least one limb.
    /// `out` must have as many limbs as both factors together. Returns `false`, without changing
    /// `out`, if `out` has more than [`MAX_LIMBS`] limbs.
    pub(super) fn mul(&mut self, out: &mut [u64], a: &[u64], b: Option<&[u64]>) -> bool {
        if out.len() > MAX_LIMBS {
            return false;
        }
        // Coefficients: one fewer than limbs of the product.
        let shape = Shape::of(out.len() - 1);
        let Some(tables) = tables(shape.log2()) else { return false };
        for (prime, residues) in tables.primes.iter().zip(&mut self.residues) {
            residues.resize(shape.points(), 0.0);
            prime.product(shape, a, b, residues, &mut self.scratch);
        }
        tables.garner.digits(self.residues.each_ref().map(|r| &r[..]), out);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::sample::Sample;

    /// Returns numbers of `len` limbs: all ones, zero, a random number, and a number with few bits
    /// set.
    fn numbers(len: usize) -> Vec<Vec<u64>> {
        let mut sample = Sample::new(len as u64);
        let random = (0..len).map(|_| sample.word()).collect();
        let sparse = (0..len).map(|i| u64::from(i % 7 == 3) << (i % 64)).collect();
        vec![vec![u64::MAX; len], vec![0; len], random, sparse]
    }

    #[test]
    fn products_are_those_of_the_schoolbook() {
        let mut space = Space::default();
        let lengths = [1, 2, 15, 16, 17, 24, 25, 31, 32, 33, 48, 49, 64, 65, 96, 97, 130, 200];
        for a_len in lengths {
            for b_len in lengths {
                for (a, b) in numbers(a_len).iter().zip(numbers(b_len).iter().rev()) {
                    check(&mut space, a, b);
                }
                check(&mut space, &numbers(a_len)[0], &numbers(b_len)[0]);
            }
            for a in numbers(a_len) {
                let mut square = vec![1; 2 * a_len];
                assert!(space.mul(&mut square, &a, None));
                assert_eq!(square, limbs::mul(&a, &a), "{a_len} limbs squared");
            }
        }
    }

    #[test]
    fn the_longest_product() {
        let ones = vec![u64::MAX; MAX_LIMBS / 2];
        let mut product = vec![0; MAX_LIMBS];
        let mut space = Space::default();
        assert!(space.mul(&mut product, &ones, Some(&ones)));
        // (X − 1)² = X² − 2X + 1.
        let (low, high) = product.split_at(ones.len());
        assert!(low[0] == 1 && low[1..].iter().all(|&x| x == 0));
        assert!(high[0] == u64::MAX - 1 && high[1..].iter().all(|&x| x == u64::MAX));
        assert!(!space.mul(&mut vec![0; MAX_LIMBS + 2], &ones, Some(&[1; MAX_LIMBS / 2 + 2])));
    }

    #[track_caller]
    fn check(space: &mut Space, a: &[u64], b: &[u64]) {
        let mut product = vec![1; a.len() + b.len()];
        assert!(space.mul(&mut product, a, Some(b)));
        assert_eq!(product, limbs::mul(a, b), "{} limbs by {}", a.len(), b.len());
    }
}
