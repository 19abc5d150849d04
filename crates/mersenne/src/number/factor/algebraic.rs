//! Factors that follow from the form of the number.

use std::fmt;

use warpint_arith::primes::prime_factors;
use warpint_natural::limbs::{add_assign, mul, mul_small_assign, sub_assign, trim};

use super::super::{Number, Sign};

/// A proper factor of k·b^n + c, as an expression in a root of k·b^n.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlgebraicFactor {
    /// The prime factors of the root x with their exponents, ascending.
    root: Vec<(u64, u64)>,
    form: Form,
}

/// The factor as a polynomial in the root x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// x − 1.
    Minus,
    /// x + 1.
    Plus,
    /// 2x² − 2x + 1.
    Germain,
}

impl Number {
    /// Returns a proper factor of N that follows from its form, or `None` if there is none of the
    /// following kinds.
    ///
    /// Let k·b^n = s^g with the largest possible g.
    ///
    /// * c = −1 and g > 1: s − 1 divides s^g − 1. For s = 2 and g = d·e with d, e > 1, 2^e − 1 does.
    /// * c = 1 and an odd d > 1 divides g: s^(g/d) + 1 divides s^g + 1.
    /// * c = 1 and k·b^n = 4x⁴: 4x⁴ + 1 = (2x² − 2x + 1)(2x² + 2x + 1) (Sophie Germain; the only
    ///   Aurifeuillean factorisation of x² + 1).
    /// * b = 2, c = 1 and k = 2^(n−2) ± 1: N = (2^(n−1) ± 1)².
    ///
    /// Other factorisations of s^g ± 1 over the integers or of Aurifeuillean kind exist only together
    /// with one of these (Brillhart and others 1988, *Factorizations of b^n ± 1*, §III). Cost: the
    /// factorisation of k and b.
    #[must_use]
    pub fn algebraic_factor(self) -> Option<AlgebraicFactor> {
        let square = || {
            // k·2^n + 1 = r² with r = 2^(n−1) ± 1 has the multiplier 2^(n−2) ± 1.
            let n = self.n;
            let power = 1u64.checked_shl(n.checked_sub(2)?)?;
            let form = match self.k {
                k if k == power + 1 => Form::Plus,
                k if k + 1 == power => Form::Minus,
                _ => return None,
            };
            let is_square = self.b == 2 && self.sign == Sign::Plus;
            is_square.then(|| AlgebraicFactor { root: vec![(2, u64::from(n) - 1)], form })
        };
        let factor = square().or_else(|| self.factor_of_power())?;
        (!factor.is_one()).then_some(factor)
    }

    fn factor_of_power(self) -> Option<AlgebraicFactor> {
        let power = self.prime_powers();
        let g = power.iter().fold(0, |g, &(_, e)| gcd(g, e));
        let root = |d: u64| power.iter().map(|&(q, e)| (q, e / d)).collect::<Vec<_>>();
        match self.sign {
            Sign::Minus if g > 1 && power == [(2, g)] => {
                let d = *prime_factors(g).first()?;
                (d < g).then(|| AlgebraicFactor { root: root(d), form: Form::Minus })
            }
            Sign::Minus if g > 1 => Some(AlgebraicFactor { root: root(g), form: Form::Minus }),
            Sign::Minus => None,
            Sign::Plus => {
                let odd = g >> g.trailing_zeros();
                if odd > 1 {
                    return Some(AlgebraicFactor { root: root(odd), form: Form::Plus });
                }
                let is_germain = power.iter().all(|&(q, e)| e % 4 == if q == 2 { 2 } else { 0 });
                (is_germain && power.first()?.0 == 2)
                    .then(|| AlgebraicFactor { root: root(4), form: Form::Germain })
            }
        }
    }

    /// Returns the prime factors of k·b^n with their exponents, ascending.
    fn prime_powers(self) -> Vec<(u64, u64)> {
        let (k, b) = (self.k, u64::from(self.b));
        let mut factors = prime_factors(k);
        factors.extend(prime_factors(b));
        factors.sort_unstable();
        factors.dedup();
        let n = u64::from(self.n);
        factors.into_iter().map(|q| (q, order_of(q, k) + n * order_of(q, b))).collect()
    }
}

impl AlgebraicFactor {
    /// Returns the factor in little-endian limbs, without leading zero limbs, by schoolbook
    /// multiplication. The cost is quadratic in the length.
    #[must_use]
    pub fn value(&self) -> Vec<u64> {
        let mut x = vec![1];
        for &(q, e) in &self.root {
            for _ in 0..e {
                let carry = mul_small_assign(&mut x, q);
                x.extend((carry > 0).then_some(carry));
            }
        }
        x.push(0);
        match self.form {
            Form::Minus => _ = sub_assign(&mut x, &[1]),
            Form::Plus => _ = add_assign(&mut x, &[1]),
            Form::Germain => {
                // 2x² − 2x + 1 = 2x(x − 1) + 1.
                let mut less = x.clone();
                sub_assign(&mut less, &[1]);
                x = mul(&x, &less);
                mul_small_assign(&mut x, 2);
                add_assign(&mut x, &[1]);
            }
        }
        trim(&mut x);
        x
    }

    /// Returns whether the factor is 1: for x = 1 or, with the form x − 1, x = 2.
    fn is_one(&self) -> bool {
        let is_unit = self.root.iter().all(|&(_, e)| e == 0);
        match self.form {
            Form::Minus => is_unit || self.root == [(2, 1)],
            Form::Plus => false,
            Form::Germain => is_unit,
        }
    }
}

/// Formats the factor as an expression in products of prime powers: `2^5*3^2-1`.
impl fmt::Display for AlgebraicFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let term = |&(q, e): &(u64, u64)| if e == 1 { q.to_string() } else { format!("{q}^{e}") };
        let terms: Vec<String> = self.root.iter().filter(|(_, e)| *e > 0).map(term).collect();
        let root = if terms.is_empty() { "1".to_owned() } else { terms.join("*") };
        match self.form {
            Form::Minus => write!(f, "{root}-1"),
            Form::Plus => write!(f, "{root}+1"),
            Form::Germain => write!(f, "2*({root})^2-2*({root})+1"),
        }
    }
}

/// Returns the exponent of the prime q in x ≥ 1.
fn order_of(q: u64, mut x: u64) -> u64 {
    let mut order = 0;
    while x.is_multiple_of(q) {
        x /= q;
        order += 1;
    }
    order
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use rug::Integer;
    use rug::integer::Order;
    use rug::ops::Pow;

    use super::*;

    fn text(number: &str) -> Option<String> {
        let number: Number = number.parse().unwrap();
        number.algebraic_factor().map(|factor| factor.to_string())
    }

    #[test]
    fn each_kind_is_found() {
        for (number, factor) in [
            ("M9", Some("2^3-1")),
            ("M11", None),
            ("10^7-1", Some("2*5-1")),
            ("27*2^9-1", Some("2^3*3-1")),
            ("9*2^10-1", Some("2^5*3-1")),
            ("9*2^11-1", None),
            ("27*2^9+1", Some("2^3*3+1")),
            ("10^12+1", Some("2^4*5^4+1")),
            ("10^8+1", None),
            ("2^64+1", None),
            ("2^66+1", Some("2^2+1")),
            ("81*2^50+1", Some("2*(2^12*3)^2-2*(2^12*3)+1")),
            ("81*2^52+1", None),
            ("4*3^40+1", Some("2*(3^10)^2-2*(3^10)+1")),
            ("8*10^9+1", Some("2^4*5^3+1")),
            ("17*2^6+1", Some("2^5+1")),
            ("15*2^6+1", Some("2^5-1")),
            ("16777217*2^26+1", Some("2^25+1")),
            ("5*2^4+1", Some("2^3+1")),
            ("3*2^3+1", Some("2^2+1")),
            // x = 1 and x = 2 give no proper factor: 4 + 1, 3 − 1.
            ("2^2+1", None),
            ("3^1-1", None),
        ] {
            assert_eq!(text(number).as_deref(), factor, "{number}");
        }
    }

    /// All numbers with small k, b and n: every factor divides properly, and a number with a known
    /// kind of factorisation is not missed.
    #[test]
    fn factors_divide_by_gmp() {
        let mut found = 0;
        for b in 2u32..20 {
            for k in 1..70u64 {
                for n in 1..40 {
                    for sign in [Sign::Minus, Sign::Plus] {
                        let Ok(number) = Number::new(k, b, n, sign) else { continue };
                        let power = Integer::from(k) * Integer::from(b).pow(n);
                        let c = if sign == Sign::Plus { 1 } else { -1 };
                        let value = Integer::from(&power + c);
                        let Some(factor) = number.algebraic_factor() else {
                            let is_power = power.is_perfect_power() && sign == Sign::Minus;
                            let germain = Integer::from(&power / 4u32);
                            let is_germain = sign == Sign::Plus
                                && power.is_divisible_u(4)
                                && germain > 1
                                && germain.clone().root(4).pow(4) == germain;
                            let is_square =
                                value.is_perfect_square() && number.has_short_multiplier();
                            let is_prime_mersenne = number.is_mersenne();
                            assert!(!is_power || is_prime_mersenne, "{number}");
                            assert!(!is_germain && !is_square, "{number}");
                            continue;
                        };
                        let factor = Integer::from_digits(&factor.value(), Order::Lsf);
                        assert!(factor > 1 && factor < value, "{number}: {factor}");
                        assert!(value.is_divisible(&factor), "{number}: {factor}");
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 5_000, "{found}");
    }
}
