//! Products of two numbers. The method depends on the size.
//!
//! | file | method |
//! |---|---|
//! | `short` | products and squares of two limbs |
//! | `rows` | products and squares of all rows of an array |
//! | `schoolbook` | low and high parts, limb by limb; whole products are in `kernels` |
//! | `karatsuba` | three products of halves instead of four |
//! | `ntt` | long products, by transforms over 50-bit primes, on one thread or several |
//! | `goldilocks` | products and sums of products of any length, by transforms modulo 2^64 − 2^32 + 1, on one thread or several |
//! | `windows` | windows of the products of one factor and many numbers |
//! | `multiplier` | the interface to products for half-gcds and long divisions |

mod goldilocks;
mod karatsuba;
mod multiplier;
mod ntt;
mod rows;
mod schoolbook;
mod short;
mod windows;

pub use goldilocks::TransformMultiplier;
pub use multiplier::{FastProducts, Matrix2, Multiplier, Schoolbook};
pub use rows::Rows;
pub use windows::Windows;

use warpint_arith::simd::{Cpu, Level};

use crate::kernels;
use crate::limbs::at_least;
pub(crate) use short::{mul_2, square_2};

// Crossovers between methods, in limbs of 64 bits of the shorter factor. Measured by `cargo test
// --release -p warpint-natural crossovers -- --ignored --nocapture` on an AMD EPYC (Zen 4), with AVX-512
// and with AVX2. On an Intel Xeon those of transforms differ by at most a tenth.

/// The smallest number of limbs of the shorter factor for which Karatsuba's method is faster than
/// the schoolbook method.
const KARATSUBA_FROM: usize = 32;
/// The smallest number of limbs of a number whose square is computed faster by Karatsuba's method
/// than by the schoolbook method. A schoolbook square needs half of the limb products of a
/// schoolbook product.
const KARATSUBA_SQUARE_FROM: usize = 60;
/// The smallest number of limbs of the shorter factor for which the low or high half of a product
/// is computed faster by way of the whole product than by the schoolbook method.
const HALF_FROM: usize = 152;
/// The smallest number of limbs of a number for which the low or high half of its square is
/// computed faster by way of the whole square than by the schoolbook method.
const HALF_SQUARE_FROM: usize = 192;
/// The smallest number of limbs of the shorter factor for which a product by transforms is faster
/// than by Karatsuba's method, with vectors of 256 and of 512 bits.
const NTT_FROM: [usize; 2] = [256, 208];
/// The smallest number of limbs of a number whose square is computed faster by transforms than by
/// Karatsuba's method, with vectors of 256 and of 512 bits.
const NTT_SQUARE_FROM: [usize; 2] = [320, 256];

/// Returns whether a product by transforms is faster than by Karatsuba's method if the shorter
/// factor has this many limbs. `from` is [`NTT_FROM`] or [`NTT_SQUARE_FROM`].
fn transforms_pay(limbs: usize, from: [usize; 2]) -> bool {
    ntt::is_fast() && limbs >= from[usize::from(Cpu::get().level >= Level::Avx512)]
}

/// Multiplies numbers in little-endian limbs of 64 bits, and reuses its working memory from one
/// product to the next. All work runs on the caller's thread.
///
/// The cost of a product of two numbers of n limbs is O(n²) by the schoolbook method, O(n^1.59) by
/// Karatsuba's method, and O(n·log n) by transforms.
#[derive(Debug, Default)]
pub struct Products {
    scratch: Vec<u64>,
    whole: Vec<u64>,
    ntt: ntt::Space,
}

impl Products {
    /// Computes out ← a·b, where `out` has exactly `a.len() + b.len()` limbs.
    #[inline]
    pub fn mul(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        if let (&[a], &[b], [low, high]) = (a, b, &mut *out) {
            let product = u128::from(a) * u128::from(b);
            (*low, *high) = (product as u64, (product >> 64) as u64);
        } else if let (&[a0, a1], &[b0, b1], [_, _, _, _]) = (a, b, &*out) {
            out.copy_from_slice(&mul_2([a0, a1], [b0, b1]));
        } else if !kernels::mul_short(out, a, b) {
            self.mul_more(out, a, b);
        }
    }

    /// Computes [`Self::mul`] for all other lengths. It is not inlined, and marked as cold, so that
    /// callers are compiled for short products; for others a call takes no noticeable time.
    #[cold]
    #[inline(never)]
    fn mul_more(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        if a.len().min(b.len()) < KARATSUBA_FROM {
            kernels::mul(out, a, b);
        } else {
            self.mul_long(out, a, b);
        }
    }

    /// Computes [`Self::mul`] for factors of at least [`KARATSUBA_FROM`] limbs.
    #[inline(never)]
    fn mul_long(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        let short = a.len().min(b.len());
        if !(transforms_pay(short, NTT_FROM) && self.ntt.mul(out, a, Some(b))) {
            let scratch = at_least(&mut self.scratch, karatsuba::mul_scratch(short));
            karatsuba::mul(out, a, b, scratch, KARATSUBA_FROM);
        }
    }

    /// Computes out ← a², where `out` has exactly 2·`a.len()` limbs.
    #[inline]
    pub fn square(&mut self, out: &mut [u64], a: &[u64]) {
        if a.len() > 2 {
            if !kernels::square_short(out, a) {
                self.square_more(out, a);
            }
        } else if let (&[a], [low, high]) = (a, &mut *out) {
            let square = u128::from(a) * u128::from(a);
            (*low, *high) = (square as u64, (square >> 64) as u64);
        } else if let (&[a0, a1], [_, _, _, _]) = (a, &*out) {
            out.copy_from_slice(&square_2([a0, a1]));
        } else {
            self.square_more(out, a);
        }
    }

    /// Computes [`Self::square`] for all other lengths, in a function of its own for the same reason
    /// as `mul_more`.
    #[cold]
    #[inline(never)]
    fn square_more(&mut self, out: &mut [u64], a: &[u64]) {
        if a.len() < KARATSUBA_SQUARE_FROM {
            kernels::square(out, a);
        } else {
            self.square_long(out, a);
        }
    }

    /// Computes [`Self::square`] for a of at least [`KARATSUBA_SQUARE_FROM`] limbs.
    #[inline(never)]
    fn square_long(&mut self, out: &mut [u64], a: &[u64]) {
        if !(transforms_pay(a.len(), NTT_SQUARE_FROM) && self.ntt.mul(out, a, None)) {
            let scratch = at_least(&mut self.scratch, karatsuba::square_scratch(a.len()));
            karatsuba::square(out, a, scratch, KARATSUBA_SQUARE_FROM);
        }
    }

    /// Computes out ← a·b mod 2^(64·l), where `out` has l limbs. Neither factor may be longer than
    /// `out`.
    pub fn mul_low(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        if a.len().min(b.len()) < HALF_FROM {
            schoolbook::mul_low(out, a, b);
        } else {
            self.low(out, a.len() + b.len(), |this, whole| this.mul(whole, a, b));
        }
    }

    /// Computes out ← a² mod 2^(64·l), where `out` has l limbs. a may not be longer than `out`.
    pub fn square_low(&mut self, out: &mut [u64], a: &[u64]) {
        if a.len() < HALF_SQUARE_FROM {
            schoolbook::square_low(out, a);
        } else {
            self.low(out, 2 * a.len(), |this, whole| this.square(whole, a));
        }
    }

    /// Computes out ← ⌊a·b/2^(64·from)⌋, where `from` is at most `a.len() + b.len()`, and `out` has
    /// exactly `a.len() + b.len() − from` limbs.
    pub fn mul_high(&mut self, out: &mut [u64], a: &[u64], b: &[u64], from: usize) {
        let short = a.len().min(b.len()) < HALF_FROM;
        if !(short && schoolbook::mul_high(out, a, b, from, &mut self.whole)) {
            self.cut(out, from, a.len() + b.len(), |this, whole| this.mul(whole, a, b));
        }
    }

    /// Computes out ← ⌊a²/2^(64·from)⌋, where `from` is at most 2·`a.len()`, and `out` has exactly
    /// 2·`a.len()` − `from` limbs.
    pub fn square_high(&mut self, out: &mut [u64], a: &[u64], from: usize) {
        let short = a.len() < HALF_SQUARE_FROM;
        if !(short && schoolbook::square_high(out, a, from, &mut self.whole)) {
            self.cut(out, from, 2 * a.len(), |this, whole| this.square(whole, a));
        }
    }

    /// Sets `out` to the lowest `out.len()` limbs of a product. The function `product` computes the
    /// whole product in `limbs` limbs. If `out` has more than `limbs` limbs, the limbs above the
    /// product are set to 0.
    fn low(&mut self, out: &mut [u64], limbs: usize, product: impl FnOnce(&mut Self, &mut [u64])) {
        if limbs <= out.len() {
            let (whole, top) = out.split_at_mut(limbs);
            product(self, whole);
            top.fill(0);
        } else {
            self.cut(out, 0, limbs, product);
        }
    }

    /// Sets `out` to `out.len()` limbs of a product, beginning with limb `from`. The function
    /// `product` computes the whole product in `limbs` limbs.
    fn cut(
        &mut self,
        out: &mut [u64],
        from: usize,
        limbs: usize,
        product: impl FnOnce(&mut Self, &mut [u64]),
    ) {
        let mut whole = std::mem::take(&mut self.whole);
        whole.resize(limbs, 0);
        product(self, &mut whole);
        out.copy_from_slice(&whole[from..][..out.len()]);
        self.whole = whole;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::limbs;

    /// Returns lengths in limbs on both sides of every crossover between methods, and some others.
    fn lengths() -> impl Iterator<Item = usize> {
        let crossovers = [KARATSUBA_FROM, KARATSUBA_SQUARE_FROM, HALF_FROM, HALF_SQUARE_FROM];
        let crossovers = crossovers.into_iter().chain(NTT_FROM).chain(NTT_SQUARE_FROM);
        let around = crossovers.flat_map(|n| n - 1..=n + 1);
        (1..=40).chain(around).chain([100, 200])
    }

    /// Returns positions from which the high part of a product with factors of `n` limbs is tested.
    /// These are all positions up to `n` if `n` is below 250.
    fn positions(n: usize) -> impl Iterator<Item = usize> {
        let step = if n < 250 { 1 } else { 37 };
        (0..n).step_by(step).chain([n])
    }

    /// Compares products by every method with the schoolbook method.
    #[test]
    fn all_methods_agree() {
        let mut products = Products::default();
        for n in lengths() {
            for m in [1, n / 3 + 1, n / 2 + 1, n] {
                let a: Vec<u64> = (0..n as u64).map(|i| !i.wrapping_mul(i << 40)).collect();
                let b: Vec<u64> = (0..m as u64).map(|i| u64::MAX << (i % 64)).collect();
                let want = limbs::mul(&a, &b);
                let mut out = vec![3; n + m];
                products.mul(&mut out, &a, &b);
                assert_eq!(out, want, "{n} by {m} limbs");
                products.mul(&mut out, &b, &a);
                assert_eq!(out, want, "{m} by {n} limbs");
                let mut scratch = vec![3; karatsuba::mul_scratch(m)];
                karatsuba::mul(&mut out, &a, &b, &mut scratch, 4);
                assert_eq!(out, want, "{n} by {m} limbs by Karatsuba's method");
                let mut low = vec![3; n];
                products.mul_low(&mut low, &a, &b);
                assert_eq!(low, want[..n], "{n} by {m} limbs, low");
                let mut all = vec![3; n + m + 2];
                products.mul_low(&mut all, &a, &b);
                assert_eq!(all, [&want[..], &[0, 0]].concat(), "{n} by {m} limbs, all of them");
                for from in positions(n) {
                    let mut high = vec![3; n + m - from];
                    products.mul_high(&mut high, &a, &b, from);
                    assert_eq!(high, want[from..], "{n} by {m} limbs from {from}");
                }
            }
        }
    }

    /// Compares squares by every method with the schoolbook method. The high part of a short square
    /// is computed without the lowest columns of limb products (see `schoolbook`). For some of the
    /// numbers, these columns carry, or nearly carry, into the result.
    #[test]
    fn all_squares_agree() {
        let mut products = Products::default();
        for n in lengths() {
            let ones = vec![u64::MAX; n];
            let sparse: Vec<u64> = (0..n).map(|i| 1u64.rotate_left(i as u32 * 63)).collect();
            let mut top = vec![0; n];
            top[n - 1] = u64::MAX;
            top[0] = u64::MAX;
            for a in [ones, sparse, top] {
                let want = limbs::mul(&a, &a);
                let mut out = vec![3; 2 * n];
                products.square(&mut out, &a);
                assert_eq!(out, want, "{n} limbs");
                let mut scratch = vec![3; karatsuba::square_scratch(n)];
                karatsuba::square(&mut out, &a, &mut scratch, 4);
                assert_eq!(out, want, "{n} limbs by Karatsuba's method");
                products.square_low(&mut out[..n], &a);
                assert_eq!(out[..n], want[..n], "{n} limbs, low");
                let mut all = vec![3; 2 * n + 2];
                products.square_low(&mut all, &a);
                assert_eq!(all, [&want[..], &[0, 0]].concat(), "{n} limbs, all of them");
                for from in positions(n) {
                    let mut high = vec![3; 2 * n - from];
                    products.square_high(&mut high, &a, from);
                    assert_eq!(high, want[from..], "{n} limbs from {from}");
                }
            }
        }
    }

    /// Returns the shortest of many measured times of `work`, in microseconds.
    fn time(mut work: impl FnMut()) -> f64 {
        let mut once = || {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e6
        };
        let first = once();
        let times = ((20_000.0 / first) as usize).clamp(3, 2000);
        (0..times).map(|_| once()).fold(first, f64::min)
    }

    /// Prints the time of products and squares by each method, for many lengths.
    #[test]
    #[ignore = "a measurement"]
    fn crossovers() {
        let mut products = Products::default();
        let any_length = goldilocks::TransformMultiplier::without_primes(1);
        println!(
            "us: limbs; products: school, Karatsuba, NTT, low, high; squares: the same; Goldilocks"
        );
        let lengths = (12..=80).step_by(4).chain((96..=256).step_by(16));
        for n in lengths.chain([320, 384, 448, 512, 640, 768, 1024, 2048, 4096]) {
            let a: Vec<u64> =
                (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let b: Vec<u64> = a.iter().map(|x| x.rotate_left(31)).collect();
            let mut out = vec![0; 2 * n];
            let mut scratch = vec![0; karatsuba::mul_scratch(n)];
            // At least one level of Karatsuba's method. Below it, the usual crossover applies.
            let (from, square_from) = (KARATSUBA_FROM.min(n), KARATSUBA_SQUARE_FROM.min(n));
            let mul = [
                time(|| kernels::mul(&mut out, &a, &b)),
                time(|| karatsuba::mul(&mut out, &a, &b, &mut scratch, from)),
                time(|| assert!(products.ntt.mul(&mut out, &a, Some(&b)))),
                time(|| schoolbook::mul_low(&mut out[..n], &a, &b)),
                time(|| {
                    schoolbook::mul_high(&mut out[..n], &a, &b, n, &mut products.whole);
                }),
            ];
            let square = [
                time(|| kernels::square(&mut out, &a)),
                time(|| karatsuba::square(&mut out, &a, &mut scratch, square_from)),
                time(|| assert!(products.ntt.mul(&mut out, &a, None))),
                time(|| schoolbook::square_low(&mut out[..n], &a)),
                time(|| {
                    schoolbook::square_high(&mut out[..n], &a, n, &mut products.whole);
                }),
            ];
            let any_length = time(|| drop(any_length.mul(&a, &b)));
            let row = |times: [f64; 5]| times.map(|t| format!("{t:9.2}")).concat();
            println!("{n:5} {}   {}   {any_length:9.2}", row(mul), row(square));
        }
    }
}
