//! Long products by number-theoretic transforms over two to eight primes below 2^49.5.
//!
//! # The product as a product of polynomials
//!
//! Both factors are split into digits of b bits, which are the coefficients of two polynomials in
//! x. Let c be the product of these polynomials. The product of the factors is the value of c at
//! x = 2^b. The coefficients satisfy 0 ≤ c_j ≤ m·(2^b − 1)², where m is the number of digits of the
//! shorter factor. Transforms ([`warpint_transform::cpu::f50`]) compute c modulo each of k primes.
//! The product of these primes exceeds the largest c_j (`plan`), so the k residues determine c_j
//! (`recombine`).
//!
//! A digit has about 24.7·k − log2(m)/2 bits. So the cost of the transforms per bit of the factors
//! depends little on k. With more primes, transforms are shorter, and the conversions between
//! digits and residues take longer. The number of points N of a transform is a power of two, or
//! three times a power of two. Therefore different k suit different lengths. The k with the least
//! estimated time is chosen.
//!
//! A product takes 16·k·N bytes of working memory, about 6 times the size of the result. A square
//! takes 8·k·N bytes. The tables of roots of unity are shared by all products, and are kept until
//! the program ends. If no transform had more than N points, they have at most 32·k·N bytes.
//!
//! | file | subject |
//! |---|---|
//! | `plan` | the choice of k, b and N |
//! | `cut` | digits and their residues |
//! | `fixed` | windows of products by a factor that is transformed once |
//! | `recombine` | coefficients from residues, and the carries |

mod cut;
mod fixed;
mod plan;
mod recombine;

pub(super) use fixed::{Fixed, FixedSpace};
use plan::{Plan, digits};
pub(super) use warpint_transform::cpu::f50::is_fast;
use warpint_transform::cpu::f50::{Operands, Prime, Second, multiply};
use warpint_transform::cpu::goldilocks::{Pool, Shared};

/// The largest number of limbs of a product that is computed by transforms over 50-bit primes.
pub(super) const MAX_LIMBS: usize = 1 << 26;

/// The number of digits that a thread cuts at a time.
const RANGE: usize = 1 << 13;

/// The working memory of products, which is reused from one product to the next.
#[derive(Debug, Default)]
pub(super) struct Space {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Space {
    /// Computes out ← a·b, or out ← a² if b is `None`, on the caller's thread. Each factor must
    /// have at least one limb. `out` must have as many limbs as both factors together. Returns
    /// `false`, without changing `out`, if `out` has more than [`MAX_LIMBS`] limbs or no plan
    /// exists.
    pub(super) fn mul(&mut self, out: &mut [u64], a: &[u64], b: Option<&[u64]>) -> bool {
        self.mul_on(&Pool::new(1), 1, out, a, b)
    }

    /// Computes the same as [`mul`](Self::mul), on a pool of `threads` threads.
    pub(super) fn mul_on(
        &mut self,
        pool: &Pool,
        threads: usize,
        out: &mut [u64],
        a: &[u64],
        b: Option<&[u64]>,
    ) -> bool {
        let (long, short) = match b {
            Some(b) => (a.len().max(b.len()), a.len().min(b.len())),
            None => (a.len(), a.len()),
        };
        if out.len() > MAX_LIMBS {
            return false;
        }
        Plan::new(long, short, threads).is_some_and(|plan| {
            self.by(plan, pool, out, a, b);
            true
        })
    }

    /// Computes out ← a·b, or out ← a² if b is `None`, by a plan for factors of these lengths.
    fn by(&mut self, plan: Plan, pool: &Pool, out: &mut [u64], a: &[u64], b: Option<&[u64]>) {
        let Plan { primes: k, bits, shape } = plan;
        let (n, primes) = (shape.points(), &Prime::all()[..k]);
        cut_on(pool, a, plan, &mut self.a);
        if let Some(b) = b {
            cut_on(pool, b, plan, &mut self.b);
        }
        let used = digits(a.len().max(b.map_or(0, <[u64]>::len)), bits);
        let second = if b.is_some() { Second::Polynomial(&mut self.b) } else { Second::Same };
        let operands = Operands { a: &mut self.a, b: second, used };
        multiply(pool, primes, shape, operands);
        let rows: Vec<&[f64]> = self.a.chunks_exact(n).collect();
        let count = digits(a.len(), bits) + digits(b.unwrap_or(a).len(), bits) - 1;
        recombine::digits(pool, &rows, shape.scale(), count, bits, out);
    }
}

/// Cuts a number into digits by a plan, on a pool. Writes N residues for each prime to `to`.
fn cut_on(pool: &Pool, number: &[u64], plan: Plan, to: &mut Vec<f64>) {
    let Plan { primes: k, bits, shape } = plan;
    let (n, primes) = (shape.points(), &Prime::all()[..k]);
    to.resize(k * n, 0.0);
    let to = Shared::new(&mut to[..]);
    pool.each(n.div_ceil(RANGE), |r| {
        let first = r * RANGE;
        let len = RANGE.min(n - first);
        // SAFETY: `to` has k·n entries. Row i has entries i·n to i·n + n − 1, of which
        // range r has `first` to `first` + `len` − 1. So no two of these pieces overlap,
        // and all are in `to`.
        let mut rows: Vec<&mut [f64]> =
            (0..k).map(|i| unsafe { to.piece(i * n + first, len) }).collect();
        cut::residues(number, bits, first, primes, &mut rows);
    });
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

    /// Returns (X^i − 1)·(X^j − 1) = X^(i+j) − X^i − X^j + 1 for X = 2^64. All digits of both
    /// factors are as large as possible.
    fn of_ones(i: usize, j: usize) -> Vec<u64> {
        let (short, long) = (i.min(j), i.max(j));
        let mut product = vec![0; i + j];
        product[0] = 1;
        product[short..].fill(u64::MAX);
        product[long] -= 1;
        product
    }

    fn check_ones(space: &mut Space, plan: Plan, pool: &Pool, i: usize, j: usize) {
        let mut product = vec![1; i + j];
        space.by(plan, pool, &mut product, &vec![u64::MAX; i], Some(&vec![u64::MAX; j]));
        assert!(product == of_ones(i, j), "{i} limbs by {j}, {plan:?}");
        if i == j {
            space.by(plan, pool, &mut product, &vec![u64::MAX; i], None);
            assert!(product == of_ones(i, i), "{i} limbs squared, {plan:?}");
        }
    }

    /// Checks products of numbers without zero bits by every number of primes, at the lengths where
    /// the shape or the size of the digits changes, and one limb before and after.
    #[test]
    fn ones_around_each_change_of_a_plan() {
        let (mut space, pool) = (Space::default(), Pool::new(1));
        for primes in plan::PRIMES {
            let mut before = None;
            for n in 1..2_000 {
                let plan = Plan::with(primes, n, n);
                let parameters = plan.map(|plan| (plan.bits, plan.shape));
                if parameters != before {
                    before = parameters;
                    for n in n.max(2) - 1..=n + 1 {
                        let Some(plan) = Plan::with(primes, n, n) else { continue };
                        check_ones(&mut space, plan, &pool, n, n);
                    }
                }
                if n % 97 == 0 {
                    for m in [1, n / 10 + 1, n / 2, n - 1] {
                        let Some(plan) = Plan::with(primes, n, m) else { continue };
                        check_ones(&mut space, plan, &pool, n, m);
                    }
                }
            }
        }
    }

    /// Checks long products by every number of primes on several threads: numbers without zero
    /// bits, and random numbers modulo 2^61 − 1.
    fn long_products(lengths: &[usize]) {
        let pools = [1, 2, 3].map(Pool::new);
        let mut space = Space::default();
        for &n in lengths {
            for primes in plan::PRIMES {
                let m = n - n / 3 * (primes % 2);
                let Some(plan) = Plan::with(primes, n, m) else { continue };
                let (a, b) = (Sample::new(n as u64).number(n), Sample::new(1).number(m));
                let mut results = pools.each_ref().map(|pool| {
                    check_ones(&mut space, plan, pool, n, m);
                    let mut product = vec![1; n + m];
                    space.by(plan, pool, &mut product, &a, Some(&b));
                    product
                });
                assert!(results.iter().all(|result| *result == results[0]), "{plan:?}");
                assert_eq!(modulo(&results[0]), modulo(&limbs::mul(&[modulo(&a)], &[modulo(&b)])));
                space.by(plan, &pools[1], &mut results[0][..2 * m], &b, None);
                assert_eq!(
                    modulo(&results[0][..2 * m]),
                    modulo(&limbs::mul(&[modulo(&b)], &[modulo(&b)]))
                );
            }
        }
    }

    /// Returns `number` modulo 2^61 − 1.
    fn modulo(number: &[u64]) -> u64 {
        let p = (1u128 << 61) - 1;
        number.iter().rev().fold(0, |sum, &x| ((u128::from(sum) << 64 | u128::from(x)) % p) as u64)
    }

    #[test]
    fn long_products_on_threads() {
        long_products(&[3_000, 12_289, 50_001]);
    }

    #[test]
    #[ignore = "some minutes"]
    fn the_longest_products_on_threads() {
        long_products(&[196_608, 393_217, 1_500_000, 4_194_304]);
    }

    /// Prints the time of products by each number of primes, and the number that a plan chooses.
    #[test]
    #[ignore = "a measurement"]
    fn plans() {
        let (mut space, pool) = (Space::default(), Pool::new(1));
        println!("us: limbs, chosen number of primes, times by 2 to 8 primes (points)");
        let lengths = (7..=16).flat_map(|k| [4usize << k, 5 << k, 6 << k, 7 << k]);
        for n in lengths {
            let (a, b) = (Sample::new(1).number(n), Sample::new(2).number(n));
            let mut out = vec![0; 2 * n];
            print!("{n:7} {}", Plan::new(n, n, 1).map_or(0, |plan| plan.primes));
            for plan in plan::PRIMES.filter_map(|primes| Plan::with(primes, n, n)) {
                let mut best = f64::INFINITY;
                for _ in 0..(2_000_000 / n).clamp(3, 50) {
                    let start = std::time::Instant::now();
                    space.by(plan, &pool, &mut out, &a, Some(&b));
                    best = best.min(start.elapsed().as_secs_f64() * 1e6);
                }
                print!(" {best:9.1} ({:6})", plan.shape.points());
            }
            println!();
        }
    }

    #[test]
    fn too_long_a_product_is_refused() {
        let mut out = vec![7; MAX_LIMBS + 1];
        assert!(!Space::default().mul(&mut out, &vec![1; MAX_LIMBS], Some(&[1])));
        assert_eq!(out[0], 7);
    }

    #[track_caller]
    fn check(space: &mut Space, a: &[u64], b: &[u64]) {
        let mut product = vec![1; a.len() + b.len()];
        assert!(space.mul(&mut product, a, Some(b)));
        assert_eq!(product, limbs::mul(a, b), "{} limbs by {}", a.len(), b.len());
    }
}
