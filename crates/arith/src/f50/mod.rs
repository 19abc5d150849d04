//! Fields Z/pZ for primes p, 2^46 < p < 2^50, whose elements are numbers of type `f64`.
//!
//! On GPUs with FP64 at full rate, a product mod p takes six operations, and a sum takes one
//! operation. The products use fused multiply-adds (van der Hoeven, Lecerf and Quintin 2016,
//! *Modular SIMD arithmetic in Mathemagix*). The library FLINT uses such fields for its fast
//! products of integers and polynomials. With a smaller p, an element holds fewer bits, but sums of
//! more terms are possible before a reduction.
//!
//! # Representation
//!
//! An element is represented by any congruent integer, as an `f64` of absolute value at most 2^53.
//! Sums and differences of such numbers are plain `+` and `-`. They are exact as long as their
//! absolute value is at most 2^53, which is more than 8p.
//!
//! # Why every step is exact
//!
//! All roundings are to nearest, ties to even. RN(x) is x rounded to an `f64`. All numbers are
//! integers or quotients of integers below 2^53, so nothing underflows. Let M = 3·2^51.
//!
//! *The nearest integer.* For |x| ≤ 2^51, the sum x + M lies between 2^52 and 2^53, where the `f64`
//! numbers are the integers. So for any two numbers a and u with |a·u| ≤ 2^51, the difference
//! fma(a, u, M) − M is an integer within ½ of a·u.
//!
//! *A product with a fixed w* ([`F50::mul_by`]). Let |a| ≤ 2^52 and |w| ≤ p/2. Let u = RN(w/p), h =
//! RN(a·w), q = fma(a, u, M) − M and r = a·w − q·p.
//!
//! The bound on r: As p is odd, |w/p| < ½, hence |u| ≤ ½ and |a·u| ≤ 2^51. The error of u is at
//! most 2^−54·(1 − 1/p) < 2^−54, so the error of a·u is less than |a|·2^−54. Therefore |r| ≤ p/2 +
//! |a|·p·2^−54. For |a| = kp, this bound is at most (½ + k/16)·p if p < 2^50, and at most (½ +
//! k/128)·p if p < 2^47.
//!
//! The computation of r: The error e = a·w − h is an integer, and |e| ≤ 2^47, because |a·w| <
//! 2^101. So fma(a, w, −h) is exactly e. The number h − q·p = r − e is an integer of absolute value
//! below 2^53, because |r| < 3p/4. So fma(−q, p, h) is exactly h − q·p. The sum of the two results
//! is r.
//!
//! *Any product* ([`F50::mul`]). Let |a·b| ≤ (2^51 − 2)·p. Let P = RN(1/p), h = RN(a·b), q = fma(h,
//! P, M) − M and r = a·b − q·p.
//!
//! The bound on r: The error of h·P is at most |a·b/p|·(2^−52 + 2^−106), which is below ½, so
//! |h·P| ≤ 2^51. Therefore |r| ≤ p/2 + |a·b|·(2^−52 + 2^−106). For |a·b| = kp², this bound is at
//! most (½ + k/4)·p if p < 2^50 and k ≤ 2, and at most (½ + k/32)·p if p < 2^47 and k ≤ 15. The
//! computation of r is exact for the same reasons as with a fixed w.
//!
//! *A sum* ([`F50::reduce`]). Let |x| ≤ 2^53 and q = fma(x, P, M) − M. The error of x·P is at most
//! |x/p|·2^−53 ≤ 1/p. So r = x − q·p satisfies |r| ≤ p/2 + 1, and fma(−q, p, x) is exactly r.

mod field;
#[cfg(test)]
mod tests;
mod vector;

use crate::primes;

/// The number 3·2^51. For |x| ≤ 2^51, the value (x + `MAGIC`) − `MAGIC` is x rounded to the nearest
/// integer.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Primes p = k·2^m + 1 below 2^50 with odd k and m ≥ 34, as (p, m, smallest generator). The
/// multiplicative group of Z/pZ is cyclic and contains roots of unity of order 2^m.
pub const PRIMES: [(u64, u32, u64); 12] = [
    (1_125_281_431_552_001, 36, 3),
    (1_124_044_480_970_753, 36, 3),
    (1_122_532_652_482_561, 36, 13),
    (1_120_883_385_040_897, 36, 5),
    (1_119_508_995_506_177, 36, 3),
    (1_124_130_380_316_673, 34, 5),
    (1_124_027_301_101_569, 34, 11),
    (1_123_718_063_456_257, 34, 5),
    (1_125_625_028_935_681, 38, 11),
    (1_125_487_589_982_209, 37, 3),
    (1_125_178_352_336_897, 35, 3),
    (1_124_903_474_429_953, 35, 5),
];

/// Primes p = k·2^m + 1 below 2^49.5 with odd k and m ≥ 34, as (p, m, smallest generator). In the
/// fields of these primes, [`F50::mul_by`] accepts any a with |a| ≤ 5.65p, and its result is at
/// most (½ + k/22)·p for |a| = k·p. So sums of more terms are possible before a reduction than with
/// [`PRIMES`].
pub const MEDIUM: [(u64, u32, u64); 8] = [
    (795_943_339_294_721, 35, 6),
    (795_118_705_573_889, 35, 3),
    (794_861_007_536_129, 34, 3),
    (794_706_388_713_473, 35, 3),
    (794_637_669_236_737, 35, 5),
    (794_551_769_890_817, 34, 5),
    (794_534_590_021_633, 37, 5),
    (794_379_971_198_977, 34, 15),
];

/// Primes p = k·2^m + 1 below 2^47 with odd k and m ≥ 30, as (p, m, smallest generator). In the
/// fields of these primes, [`F50::mul_by`] accepts any a with |a| ≤ 32p.
pub const NARROW: [(u64, u32, u64); 3] =
    [(140_713_866_035_201, 31, 3), (140_700_981_133_313, 31, 3), (140_674_137_587_713, 30, 13)];

/// A field Z/pZ for a prime p, 2^46 < p < 2^50.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct F50 {
    p: f64,
    /// P = RN(1/p), which is 1/p rounded to an `f64`.
    inverse: f64,
}

/// A fixed factor w for many products mod p by [`F50::mul_by`]. The type stores w, with |w| ≤ p/2,
/// and RN(w/p), which is w/p rounded to an `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    w: f64,
    ratio: f64,
}

/// The reason why an [`F50`] cannot be created: the number stored here is not a prime between 2^46
/// and 2^50.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a prime between 2^46 and 2^50")]
pub struct NoField(pub u64);

impl F50 {
    /// Creates the field Z/pZ. The cost is a primality test, which takes some microseconds.
    ///
    /// # Errors
    /// Returns an error if p is not a prime between 2^46 and 2^50.
    pub fn new(p: u64) -> Result<Self, NoField> {
        if !(1 << 46..1 << 50).contains(&p) || !primes::is_prime(p) {
            return Err(NoField(p));
        }
        // Below 2^53: exact.
        let p = p as f64;
        Ok(Self { p, inverse: 1.0 / p })
    }

    /// Returns the prime p.
    #[must_use]
    pub fn modulus(&self) -> u64 {
        self.p as u64
    }

    /// Returns p and RN(1/p), which is 1/p rounded to an `f64`. Kernels compute in the field with
    /// these two constants.
    #[must_use]
    pub fn constants(&self) -> [f64; 2] {
        [self.p, self.inverse]
    }

    /// Converts the integer x to an element, given as a number r ≡ x mod p with |r| ≤ p/2 + 2.
    #[inline]
    #[must_use]
    pub fn from_u64(&self, x: u64) -> f64 {
        // Below p, hence exact.
        self.reduce((x % self.modulus()) as f64)
    }

    /// Returns the integer from 0 to p − 1 that is congruent to x mod p. Requires |x| ≤ 2^53.
    #[inline]
    #[must_use]
    pub fn to_u64(&self, x: f64) -> u64 {
        let r = self.reduce(x);
        // |r| ≤ p/2 + 2 < p.
        (if r < 0.0 { r + self.p } else { r }) as u64
    }

    /// Returns r ≡ x mod p with |r| ≤ p/2 + 2. Requires |x| ≤ 2^53.
    #[inline]
    #[must_use]
    pub fn reduce(&self, x: f64) -> f64 {
        let q = x.mul_add(self.inverse, MAGIC) - MAGIC;
        (-q).mul_add(self.p, x)
    }

    /// Returns r ≡ a·b mod p. Requires |a·b| ≤ (2^51 − 2)·p.
    ///
    /// The result satisfies |r| ≤ p/2 + |a·b|·(2^−52 + 2^−106). For |a·b| ≤ k·p² with k ≤ 2, this
    /// bound is at most (½ + k/4)·p.
    #[inline]
    #[must_use]
    pub fn mul(&self, a: f64, b: f64) -> f64 {
        let h = a * b;
        let q = h.mul_add(self.inverse, MAGIC) - MAGIC;
        (-q).mul_add(self.p, h) + a.mul_add(b, -h)
    }

    /// Converts an integer w with |w| ≤ 2^53 to a factor for [`F50::mul_by`]. The factor stores a
    /// number congruent to w mod p.
    #[inline]
    #[must_use]
    pub fn factor(&self, w: f64) -> Factor {
        let mut w = self.reduce(w);
        // It may exceed p/2 by up to two.
        if w > self.p / 2.0 {
            w -= self.p;
        } else if w < -self.p / 2.0 {
            w += self.p;
        }
        Factor { w, ratio: w / self.p }
    }

    /// Returns r ≡ a·w mod p, where w is the number of `factor`. Requires |a| ≤ 2^52.
    ///
    /// The result satisfies |r| ≤ p/2 + |a|·p·2^−54. For |a| ≤ k·p with k ≤ 4, this bound is at
    /// most (½ + k/16)·p.
    #[inline]
    #[must_use]
    pub fn mul_by(&self, a: f64, factor: Factor) -> f64 {
        let h = a * factor.w;
        let q = a.mul_add(factor.ratio, MAGIC) - MAGIC;
        (-q).mul_add(self.p, h) + a.mul_add(factor.w, -h)
    }

    /// Returns a number congruent to x^e mod p, of absolute value at most p. Requires |x| ≤ p.
    /// Cost: at most 2·log2(e) + 2 products.
    #[must_use]
    pub fn pow(&self, x: f64, mut e: u64) -> f64 {
        let (mut power, mut result) = (x, 1.0);
        while e > 0 {
            if e & 1 == 1 {
                result = self.mul(result, power);
            }
            power = self.mul(power, power);
            e >>= 1;
        }
        result
    }

    /// Returns a number congruent to 1/x mod p, of absolute value at most p. It is computed as
    /// x^(p−2). If x is a multiple of p, the result is congruent to 0. Requires |x| ≤ p.
    #[must_use]
    pub fn inverse(&self, x: f64) -> f64 {
        self.pow(x, self.modulus() - 2)
    }

    /// Returns a root of unity of order 2^log2, as a number of absolute value at most p. Returns
    /// `None` if 2^log2 does not divide p − 1.
    ///
    /// Every call returns the same root, a power of the smallest quadratic non-residue. Cost: some
    /// hundred products.
    #[must_use]
    pub fn root_of_unity(&self, log2: u32) -> Option<f64> {
        let order = self.modulus() - 1;
        if log2 > order.trailing_zeros() {
            return None;
        }
        // A non-residue has a power of order exactly 2^m, m = trailing_zeros(p − 1).
        let is_minus_one = |x: &f64| self.to_u64(self.pow(*x, order / 2)) == order;
        let x = (2u32..).map(f64::from).find(is_minus_one)?;
        Some(self.pow(x, order >> log2))
    }

    /// Returns ω_n, a root of unity of order n = f·2^k with f = 1, 3 or 5, as a number of absolute
    /// value at most p. Returns `None` if n has another form, or does not divide p − 1.
    ///
    /// ω_n is the element of order n with ω_n^f = [`root_of_unity`](Self::root_of_unity)(k) and
    /// ω_n^(2^k) = x^((p − 1)/f), where x is the smallest positive integer of which this power is
    /// not 1. The roots are compatible: ω_(mn)^m = ω_n. Cost: some hundred products.
    #[must_use]
    pub fn root_of_order(&self, n: u64) -> Option<f64> {
        let group = self.modulus() - 1;
        if n == 0 || !group.is_multiple_of(n) {
            return None;
        }
        let k = n.trailing_zeros();
        let even = self.root_of_unity(k)?;
        let odd = n >> k;
        if odd == 1 {
            return Some(even);
        }
        if odd != 3 && odd != 5 {
            return None;
        }
        let root = |x| self.pow(x, group / odd);
        let root = (2u32..).map(|x| root(f64::from(x))).find(|&root| self.to_u64(root) != 1)?;
        // u·odd ≡ 1 mod 2^k and v·2^k ≡ 1 mod odd. An odd number is its own inverse modulo 8, and each
        // step of Newton's method doubles the number of bits.
        let step = |u: u64| u.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(u)));
        let u = step(step(step(step(odd)))) & ((1 << k) - 1);
        let v = (1..odd).find(|v| (v << k) % odd == 1)?;
        Some(self.mul(self.pow(even, u), self.pow(root, v)))
    }
}

impl Factor {
    /// Creates a factor from w and RN(w/p), as stored in tables of factors. The pair must be a
    /// result of [`constants`](Self::constants). For other pairs, the bounds of [`F50::mul_by`] do
    /// not hold.
    #[inline]
    #[must_use]
    pub fn from_constants([w, ratio]: [f64; 2]) -> Self {
        Self { w, ratio }
    }

    /// Returns w and RN(w/p), which is w/p rounded to an `f64`. Kernels use these two constants to
    /// multiply by w.
    #[must_use]
    pub fn constants(&self) -> [f64; 2] {
        [self.w, self.ratio]
    }
}
