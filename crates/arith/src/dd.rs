//! Double-double numbers: unevaluated sums of two `f64`, with about 106 bits.
//!
//! Tables of weights and of roots of unity are computed with double-double numbers, because their
//! entries must be the `f64` nearest to the exact value, with rare exceptions. An entry is computed
//! to 100 bits or more and rounded once.
//!
//! The algorithms are from Dekker (1971), "A floating-point technique for extending the available
//! precision". The error bounds are from Joldes, Muller and Popescu (2017), "Tight and rigorous
//! error bounds for basic building blocks of double-word arithmetic".
//!
//! Fused multiply-adds are not used, so that every CPU builds the same tables.

use core::ops::{Add, Div, Mul, Neg, Sub};

/// A double-double number hi + lo, with |lo| ≤ ulp(hi)/2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dd {
    hi: f64,
    lo: f64,
}

/// Returns (s, e), where s is a + b rounded to an `f64`, and s + e = a + b exactly (Knuth).
#[inline]
#[must_use]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let b_part = s - a;
    (s, (a - (s - b_part)) + (b - b_part))
}

/// Returns the same (s, e) as [`two_sum`], with 3 operations instead of 6 (Dekker). Requires |a| ≥
/// |b| or a = 0.
#[inline]
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, b - (s - a))
}

/// Returns (q, e), where q is a·b rounded to an `f64`, and q + e = a·b exactly (Dekker's product by
/// Veltkamp splitting). Requires |a| < 2^990, |b| < 2^990 and 2^−960 < |a·b| < 2^1023, or a·b = 0.
#[inline]
#[must_use]
pub fn two_prod(a: f64, b: f64) -> (f64, f64) {
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    let q = a * b;
    (q, ((ah * bh - q) + ah * bl + al * bh) + al * bl)
}

/// Splits a into (h, l) with a = h + l, where h and l have at most 26 significant bits each.
#[inline]
fn split(a: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let t = SPLITTER * a;
    let h = t - (t - a);
    (h, a - h)
}

impl Dd {
    /// The number 0.
    pub const ZERO: Self = Self::from_f64(0.0);
    /// The number 1.
    pub const ONE: Self = Self::from_f64(1.0);
    /// π = 3.14159265358979323846264338327950288… (OEIS A000796). `hi` is the `f64` nearest to π,
    /// and `lo` is the `f64` nearest to π − `hi`.
    pub const PI: Self = Self { hi: core::f64::consts::PI, lo: 1.224_646_799_147_353_2e-16 };
    /// ln 2 = 0.693147180559945309417232121458176568… (OEIS A002162), split into `hi` and `lo` like
    /// [`Self::PI`].
    pub const LN_2: Self = Self { hi: core::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };
    /// √½ = 0.707106781186547524400844362104849039… (OEIS A010503), split into `hi` and `lo` like
    /// [`Self::PI`].
    pub const FRAC_1_SQRT_2: Self =
        Self { hi: core::f64::consts::FRAC_1_SQRT_2, lo: -4.833_646_656_726_457e-17 };

    /// Converts the `f64` number a to a double-double number, exactly.
    #[must_use]
    pub const fn from_f64(a: f64) -> Self {
        Self { hi: a, lo: 0.0 }
    }

    /// Converts the integer a to a double-double number, exactly.
    #[must_use]
    pub fn from_u64(a: u64) -> Self {
        // 32 bits in each half: both are exact.
        let (hi, lo) = ((a >> 32) as f64 * 4_294_967_296.0, (a & 0xffff_ffff) as f64);
        let (hi, lo) = quick_two_sum(hi, lo);
        Self { hi, lo }
    }

    /// Returns the `f64` nearest to this number.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.hi
    }

    /// Returns (hi, lo), where hi is the `f64` nearest to this number x, and lo = x − hi exactly.
    #[must_use]
    pub fn parts(self) -> (f64, f64) {
        (self.hi, self.lo)
    }

    /// Returns self·`power_of_two`, where `power_of_two` is 2^k for an integer k. The product is
    /// exact unless one of its two `f64` parts overflows or becomes subnormal.
    #[must_use]
    pub fn scaled(self, power_of_two: f64) -> Self {
        Self { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }

    fn times(self, b: f64) -> Self {
        let (q, e) = two_prod(self.hi, b);
        let (hi, lo) = quick_two_sum(q, e + self.lo * b);
        Self { hi, lo }
    }
}

/// Adds with a relative error of at most 3·2^−106/(1 − 2^−51), even if the operands have opposite
/// signs.
impl Add for Dd {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        let (s, e) = two_sum(self.hi, b.hi);
        let (t, f) = two_sum(self.lo, b.lo);
        let (s, e) = quick_two_sum(s, e + t);
        let (hi, lo) = quick_two_sum(s, e + f);
        Self { hi, lo }
    }
}

impl Neg for Dd {
    type Output = Self;
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

/// Subtracts with a relative error of at most 3·2^−106/(1 − 2^−51), even if the operands are nearly
/// equal.
impl Sub for Dd {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

/// Multiplies with a relative error of at most 7·2^−106.
impl Mul for Dd {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let (q, e) = two_prod(self.hi, b.hi);
        let (hi, lo) = quick_two_sum(q, e + (self.hi * b.lo + self.lo * b.hi));
        Self { hi, lo }
    }
}

/// Divides with a relative error below 2^−101, by long division with three quotient digits. Each
/// quotient digit is an `f64`.
impl Div for Dd {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let q1 = self.hi / b.hi;
        let r = self - b.times(q1);
        let q2 = r.hi / b.hi;
        let r = r - b.times(q2);
        let q3 = r.hi / b.hi;
        let (hi, lo) = quick_two_sum(q1, q2);
        Self { hi, lo } + Self::from_f64(q3)
    }
}

/// Returns 2^(num/den) for 0 ≤ num < den < 2^53, with a relative error below 2^−100.
///
/// For num ≤ den/2, the power is exp(x) with x = ln 2·num/den. Otherwise, it is 2·exp(x) with x =
/// −ln 2·(den − num)/den. In each case |x| < 0.347. The Taylor series of exp(x) is summed up to the
/// term x^26/26!; the remainder is below 2^−120.
///
/// # Panics
/// Panics unless num < den.
#[must_use]
pub fn exp2_ratio(num: u64, den: u64) -> Dd {
    assert!(num < den, "the exponent {num}/{den} is not below 1");
    let upper_half = num > den / 2;
    let distance = if upper_half { den - num } else { num };
    let x = Dd::LN_2 * (Dd::from_u64(distance) / Dd::from_u64(den));
    let x = if upper_half { -x } else { x };
    let series =
        (1..=26u32).rev().fold(Dd::ONE, |sum, k| Dd::ONE + x * sum / Dd::from_f64(f64::from(k)));
    if upper_half { series.scaled(2.0) } else { series }
}

/// Returns (cos 2πk/n, sin 2πk/n) for n < 2^60, each with a relative error below 2^−100.
///
/// The results are exact for angles on the axes. For angles on the diagonals, cos = ±sin exactly.
///
/// The angle is reduced to the range from 0 to π/4 with integer arithmetic. In this range, 15 terms
/// after the first suffice for each Taylor series (the remainder is below 2^−110).
///
/// # Panics
/// Panics if n is zero.
#[must_use]
pub fn cos_sin_2pi(k: u64, n: u64) -> (Dd, Dd) {
    assert!(n > 0, "an angle of k/0 turns");
    // a is in units of 1/(8n) of a turn: 8n is the whole turn.
    let mut a = 8 * (k % n);
    let below = a > 4 * n;
    if below {
        a = 8 * n - a;
    }
    let left = a > 2 * n;
    if left {
        a = 4 * n - a;
    }
    let steep = a > n;
    if steep {
        a = 2 * n - a;
    }
    let (mut cos, mut sin) = if a == n {
        (Dd::FRAC_1_SQRT_2, Dd::FRAC_1_SQRT_2)
    } else {
        first_octant(Dd::PI.scaled(0.25) * (Dd::from_u64(a) / Dd::from_u64(n)))
    };
    if steep {
        (cos, sin) = (sin, cos);
    }
    (if left { -cos } else { cos }, if below { -sin } else { sin })
}

/// Returns (cos x, sin x) for 0 ≤ x ≤ π/4, computed by Taylor series.
fn first_octant(x: Dd) -> (Dd, Dd) {
    let square = x * x;
    // 1 − x²/(m(m+1))·(1 − x²/((m+2)(m+3))·…), from the innermost term outwards.
    let nested = |first: u32| {
        (0..15u32)
            .rev()
            .map(|i| first + 2 * i)
            .fold(Dd::ONE, |sum, m| Dd::ONE - square * sum / Dd::from_f64(f64::from(m * (m + 1))))
    };
    (nested(1), x * nested(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs::{self, oracle};
    use proptest::prelude::*;

    /// Returns ⌊|x|·2^120⌋ for |x| < 128, with an error of at most 1.
    fn fixed(x: Dd) -> u128 {
        let part = |f: f64| (f * 2f64.powi(120)) as i128;
        let v = part(x.hi) + part(x.lo);
        v.unsigned_abs()
    }

    /// Asserts in exact arithmetic that |Π factors − value·2^s| < 2^(s − bits), where s =
    /// 120·`factors.len()`.
    ///
    /// Each factor is the number x·2^120 that [`fixed`] returns for some x. So the assertion says
    /// that the product of all x differs from `value` by less than 2^(−bits).
    fn assert_product(factors: &[u128], value: u64, bits: usize) {
        let mut product = vec![1u64];
        for f in factors {
            product = oracle::mul(&product, &[*f as u64, (*f >> 64) as u64]);
        }
        let shift = 120 * factors.len();
        let mut expected = vec![0u64; product.len()];
        expected[shift / 64] = value << (shift % 64);
        let difference = if limbs::compare(&product, &expected).is_gt() {
            limbs::sub_assign(&mut product, &expected);
            product
        } else {
            limbs::sub_assign(&mut expected, &product);
            expected
        };
        let mut tolerance = vec![0u64; difference.len()];
        tolerance[(shift - bits) / 64] = 1 << ((shift - bits) % 64);
        assert!(limbs::compare(&difference, &tolerance).is_lt(), "{difference:x?}");
    }

    fn assert_close(a: Dd, b: Dd, bits: i32) {
        let difference = (a - b).to_f64().abs();
        assert!(difference <= 2f64.powi(-bits), "{a:?} − {b:?} = {difference:e}");
    }

    #[test]
    fn roots_of_two_in_integers() {
        assert_product(&[fixed(exp2_ratio(1, 2)); 2], 2, 100);
        assert_product(&[fixed(exp2_ratio(1, 3)); 3], 2, 100);
        assert_product(&[fixed(exp2_ratio(2, 3)); 3], 4, 99);
        assert_product(&[fixed(exp2_ratio(1, 5)); 5], 2, 99);
        assert_product(&[fixed(exp2_ratio(4, 5)); 5], 16, 97);
        let half = [fixed(Dd::FRAC_1_SQRT_2); 2];
        assert_product(&[half[0], half[1], fixed(Dd::from_f64(2.0))], 1, 102);
        assert_eq!(exp2_ratio(0, 7), Dd::ONE);
    }

    #[test]
    fn the_constants_agree_with_their_decimals() {
        // The first 34 decimals as an integer, compared with ⌊x·2^110⌋ in exact arithmetic: x·10^34
        // differs from it by at most 1.
        let check = |x: Dd, decimals: u128| {
            let scaled = Dd::from_u64(10u64.pow(17)) * Dd::from_u64(10u64.pow(17)) * x;
            let value = scaled.hi as i128 + scaled.lo as i128;
            let error = value - decimals as i128;
            // 3·10^34 < 2^115, of which 106 bits are kept.
            assert!(error.abs() < 1 << 13, "{value} − {decimals}");
        };
        check(Dd::PI, 31_415_926_535_897_932_384_626_433_832_795_028);
        check(Dd::LN_2, 6_931_471_805_599_453_094_172_321_214_581_765);
        check(Dd::FRAC_1_SQRT_2, 7_071_067_811_865_475_244_008_443_621_048_490);
    }

    #[test]
    fn pentagon_and_dodecagon() {
        // cos 72° = (√5 − 1)/4: (4c + 1)² = 5. cos 60° = 1/2. cos 30° = √3/2.
        let four = Dd::from_f64(4.0);
        let (c, _) = cos_sin_2pi(1, 5);
        assert_product(&[fixed(four * c + Dd::ONE); 2], 5, 99);
        assert_close(cos_sin_2pi(1, 6).0, Dd::from_f64(0.5), 104);
        let (c, s) = cos_sin_2pi(1, 12);
        assert_product(&[fixed(c + c); 2], 3, 99);
        assert_close(s, Dd::from_f64(0.5), 104);
    }

    #[test]
    fn axes_and_diagonals_are_exact() {
        for n in [8u64, 24, 56, 1 << 30] {
            let at = |eighth: u64| {
                let (c, s) = cos_sin_2pi(eighth * (n / 8), n);
                (c.parts(), s.parts())
            };
            let (zero, one) = ((0.0, 0.0), (1.0, 0.0));
            let r = Dd::FRAC_1_SQRT_2.parts();
            let minus = |(h, l): (f64, f64)| (-h, -l);
            assert_eq!(at(0), (one, zero));
            assert_eq!(at(1), (r, r));
            assert_eq!(at(2), (zero, one));
            assert_eq!(at(3), (minus(r), r));
            assert_eq!(at(4), (minus(one), zero));
            assert_eq!(at(5), (minus(r), minus(r)));
            assert_eq!(at(6), (zero, minus(one)));
            assert_eq!(at(7), (r, minus(r)));
        }
    }

    #[test]
    fn error_free_transformations() {
        let (a, b) = (1.0 + 2f64.powi(-52), 1.0 - 2f64.powi(-53));
        // a·b = 1 + 2^−53 − 2^−105.
        let (q, e) = two_prod(a, b);
        assert_eq!(q, 1.0);
        assert_eq!(e, 2f64.powi(-53) - 2f64.powi(-105));
        let (s, e) = two_sum(1e16, 1.0 + 2f64.powi(-50));
        assert_eq!((s, e), (1e16 + 2.0, -1.0 + 2f64.powi(-50)));
    }

    proptest! {
        #[test]
        fn products_of_53_bits_are_exact(a in 1u64..1 << 53, b in 1u64..1 << 53) {
            let (q, e) = two_prod(a as f64, b as f64);
            prop_assert_eq!(q as i128 + e as i128, i128::from(a) * i128::from(b));
            let d = Dd::from_u64(a) * Dd::from_u64(b);
            prop_assert_eq!(d.hi as i128 + d.lo as i128, i128::from(a) * i128::from(b));
        }

        #[test]
        fn division_undoes_multiplication(a in 1u64.., b in 1u64..) {
            let (x, y) = (Dd::from_u64(a), Dd::from_u64(b));
            let back = x / y * y / x;
            assert_close(back, Dd::ONE, 100);
        }

        #[test]
        fn exponents_add(a in 0u64..1 << 31, b in 0u64..1 << 31, den in 1u64..1 << 32) {
            let (a, b) = (a % den, b % den);
            let sum = if a + b < den {
                exp2_ratio(a + b, den)
            } else {
                exp2_ratio(a + b - den, den).scaled(2.0)
            };
            let quotient = exp2_ratio(a, den) * exp2_ratio(b, den) / sum;
            assert_close(quotient, Dd::ONE, 100);
        }

        #[test]
        fn on_the_unit_circle(k in any::<u64>(), n in 1u64..1 << 32) {
            let (c, s) = cos_sin_2pi(k, n);
            assert_close(c * c + s * s, Dd::ONE, 100);
        }

        #[test]
        fn angles_add(a in 0u64..1 << 30, b in 0u64..1 << 30, n in 1u64..1 << 30) {
            let ((ca, sa), (cb, sb)) = (cos_sin_2pi(a, n), cos_sin_2pi(b, n));
            let (c, s) = cos_sin_2pi(a + b, n);
            assert_close(ca * cb - sa * sb, c, 100);
            assert_close(sa * cb + ca * sb, s, 100);
        }
    }
}
