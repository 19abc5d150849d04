//! Numbers k·b^n ± 1: the numbers that are tested.
//!
//! | module | subject |
//! |---|---|
//! | `parse` | the text form, with its errors |
//! | `size` | the number of bits, without computing the number |
//! | `modulus` | arithmetic modulo a number |
//! | `factor` | small factors and algebraic factors |

mod factor;
mod modulus;
mod parse;
mod size;

use std::fmt;

use warpint_arith::primes;
use warpint_natural::euclid::jacobi_binary;
use warpint_natural::limbs::{add_assign, mul_small_assign, shifted_left, sub_assign, trim};
use warpint_natural::product::{FastProducts, Multiplier};

use crate::Exponent;
pub use factor::{AlgebraicFactor, Factor};
pub(crate) use modulus::Modulus;
pub use parse::NumberError;
use size::bits_of_power;

/// The term c of a number k·b^n + c.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    /// c = −1.
    Minus,
    /// c = 1.
    Plus,
}

/// A number N = k·b^n + c with c = ±1. The Mersenne number M_p = 2^p − 1 is the case 1·2^p − 1.
///
/// A number is stored in its normal form: b is not a power of a smaller integer, and does not divide
/// k. So equal numbers with equal c compare equal, except for numbers such as 128·3^6 + 1 = 2·6^6 + 1.
///
/// | | bounds |
/// |---|---|
/// | k | 1 ≤ k < 2^63 |
/// | b | 2 ≤ b < 2^32 |
/// | n | 1 ≤ n < 2^31 |
/// | N | 2 ≤ N < 2^(2^31) |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number {
    k: u64,
    b: u32,
    n: u32,
    sign: Sign,
}

impl Number {
    /// Returns whether k = 1 and all prime factors of `a` divide b. Then a divides a power of b, and b^n ≡
    /// ∓1 modulo N. The powers of b's root, among others, pass Fermat's test whether N is prime or not.
    #[must_use]
    pub fn is_trivial_for(self, a: u32) -> bool {
        let mut rest = u64::from(a.max(1));
        while let common @ 2.. = factor::gcd(rest, self.base().into()) {
            rest /= common;
        }
        self.multiplier() == 1 && rest == 1
    }

    /// The upper bound on k, exclusive: 2^63.
    pub const MULTIPLIER_LIMIT: u64 = 1 << 63;

    /// The upper bound on n, exclusive, and the upper bound on [`Number::bits`]: 2^31.
    pub const LIMIT: u32 = 1 << 31;

    /// Creates the number k·b^n + c in its normal form.
    ///
    /// # Errors
    /// Returns an error if a bound of the type is not kept.
    pub fn new(k: u64, b: u32, n: u32, sign: Sign) -> Result<Self, NumberError> {
        let too_large = |what| NumberError::TooLarge { text: format!("{k}*{b}^{n}"), what };
        if k == 0 || b < 2 || n == 0 {
            return Err(NumberError::Zero { text: format!("{k}*{b}^{n}") });
        }
        if k >= Self::MULTIPLIER_LIMIT {
            return Err(too_large("k is not below 2^63"));
        }
        let (root, power) = perfect_power(b);
        let (mut k, mut n) = (k, u64::from(n) * u64::from(power));
        while k.is_multiple_of(u64::from(root)) {
            k /= u64::from(root);
            n += 1;
        }
        let Some(n) = u32::try_from(n).ok().filter(|&n| n < Self::LIMIT) else {
            return Err(too_large("it has more than 2^31 bits"));
        };
        let number = Self { k, b: root, n, sign };
        if number.exact_bits() > u64::from(Self::LIMIT) {
            return Err(too_large("it has more than 2^31 bits"));
        }
        if number.small().is_some_and(|v| v < 2) {
            return Err(NumberError::TooSmall { text: number.to_string() });
        }
        Ok(number)
    }

    /// Returns the Mersenne number M_p = 2^p − 1.
    #[must_use]
    pub fn mersenne(p: u32) -> Self {
        Self { k: 1, b: 2, n: p, sign: Sign::Minus }
    }

    /// Returns the multiplier k.
    #[must_use]
    pub fn multiplier(self) -> u64 {
        self.k
    }

    /// Returns the base b.
    #[must_use]
    pub fn base(self) -> u32 {
        self.b
    }

    /// Returns the exponent n.
    #[must_use]
    pub fn exponent(self) -> u32 {
        self.n
    }

    /// Returns whether c is 1 or −1.
    #[must_use]
    pub fn sign(self) -> Sign {
        self.sign
    }

    /// Returns whether the number has the form 2^n − 1.
    #[must_use]
    pub fn is_mersenne(self) -> bool {
        self.k == 1 && self.b == 2 && self.sign == Sign::Minus
    }

    /// Returns the exponent p if the number is M_p with prime p.
    #[must_use]
    pub fn mersenne_exponent(self) -> Option<Exponent> {
        let exponent = Exponent::new(self.n.into()).ok();
        exponent.filter(|_| self.is_mersenne())
    }

    /// Returns whether b = 2 and k < 2^n, as the theorems of Proth and Riesel require.
    #[must_use]
    pub fn has_short_multiplier(self) -> bool {
        self.b == 2 && self.has_multiplier_below_power()
    }

    /// Returns whether k < b^n, as Pocklington's theorem requires of k·b^n + 1.
    #[must_use]
    pub fn has_multiplier_below_power(self) -> bool {
        // A power that does not fit in 64 bits is above k.
        u64::from(self.b).checked_pow(self.n).is_none_or(|power| self.k < power)
    }

    /// Returns whether the number is even.
    #[must_use]
    pub fn is_even(self) -> bool {
        self.k % 2 == 1 && self.b % 2 == 1
    }

    /// Returns the number of bits of N, or one more: 2^(`bits`) > N. The exact number is returned for
    /// b = 2, and for other b unless N is even or k·b^n is within a relative distance of 2^−30 of a
    /// power of two. Cost: O(log n).
    #[must_use]
    pub fn bits(self) -> u32 {
        // `new` has checked that the number is not above the limit.
        self.exact_bits() as u32
    }

    fn exact_bits(self) -> u64 {
        if self.is_mersenne() {
            return self.n.into();
        }
        // k·b^n + 1 may be a power of two if it is even.
        let carry = u64::from(self.sign == Sign::Plus && self.is_even());
        bits_of_power(self.k, self.b, self.n) + carry
    }

    /// Returns the number of limbs of a residue modulo N, ⌈`bits`/64⌉.
    #[must_use]
    pub fn limbs(self) -> usize {
        (self.bits() as usize).div_ceil(64)
    }

    /// Returns N if N and k·b^n are below 2^64.
    #[must_use]
    pub fn small(self) -> Option<u64> {
        let power = u64::from(self.b).checked_pow(self.n)?.checked_mul(self.k)?;
        match self.sign {
            Sign::Minus => Some(power - 1),
            Sign::Plus => power.checked_add(1),
        }
    }

    /// Returns N in little-endian limbs, without leading zero limbs. Cost: O(1) products of the length
    /// of N; O(n/64) for b = 2.
    #[must_use]
    pub fn value(self) -> Vec<u64> {
        self.value_by(&FastProducts)
    }

    /// Returns [`Self::value`] with products by `multiplier`.
    pub(crate) fn value_by(self, multiplier: &dyn Multiplier) -> Vec<u64> {
        let mut value = power(multiplier, self.b, self.n);
        let carry = mul_small_assign(&mut value, self.k);
        value.extend([carry, 0]);
        match self.sign {
            Sign::Minus => sub_assign(&mut value, &[1]),
            Sign::Plus => add_assign(&mut value, &[1]),
        };
        trim(&mut value);
        value
    }

    /// Returns N mod m. Cost: O(log n).
    ///
    /// # Panics
    /// Panics if m is zero.
    #[must_use]
    pub fn modulo(self, m: u64) -> u64 {
        let power = primes::pow_mod(self.b.into(), self.n.into(), m);
        let product = primes::mul_mod(self.k % m, power, m);
        match self.sign {
            Sign::Minus => {
                if product == 0 {
                    m - 1
                } else {
                    product - 1
                }
            }
            Sign::Plus => {
                if product + 1 == m {
                    0
                } else {
                    product + 1
                }
            }
        }
    }

    /// Returns the Jacobi symbol (a | N) for odd N, by the law of quadratic reciprocity (Cohen 1993,
    /// *A Course in Computational Algebraic Number Theory*, §1.4.2). Cost: O(log n).
    ///
    /// # Panics
    /// Panics if a is zero. The result has no meaning for even N.
    #[must_use]
    pub fn jacobi_of(self, a: u64) -> i8 {
        assert!(a > 0, "the symbol of zero");
        let twos = a.trailing_zeros();
        let odd = a >> twos;
        let of_twos = twos % 2 == 1 && matches!(self.modulo(8), 3 | 5);
        let reciprocal = odd % 4 == 3 && self.modulo(4) == 3;
        let symbol = if odd == 1 { 1 } else { jacobi_binary(&[self.modulo(odd)], &[odd]) };
        if of_twos == reciprocal { symbol } else { -symbol }
    }

    /// Returns whether N and a have no common factor, for a > 0. Cost: O(log n).
    #[must_use]
    pub fn is_coprime_to(self, a: u64) -> bool {
        let (mut x, mut y) = (a, self.modulo(a));
        while y > 0 {
            (x, y) = (y, x % y);
        }
        x == 1
    }

    /// Returns a name for directories and files: `M127` for 2^127 − 1, otherwise `k_b_n+1` or
    /// `k_b_n-1`.
    #[must_use]
    pub fn file_name(self) -> String {
        if self.is_mersenne() {
            return self.to_string();
        }
        format!("{}_{}_{}{}", self.k, self.b, self.n, self.sign)
    }
}

impl From<u32> for Number {
    /// Returns the Mersenne number M_p for p.
    fn from(p: u32) -> Self {
        Self::mersenne(p)
    }
}

impl From<Exponent> for Number {
    fn from(exponent: Exponent) -> Self {
        Self::mersenne(exponent.get())
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Minus => "-1",
            Self::Plus => "+1",
        })
    }
}

/// Formats the number as `M127`, `2^64+1` or `3*2^189+1`. The parser reads all of these.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { k, b, n, sign } = self;
        if self.is_mersenne() {
            return f.pad(&format!("M{n}"));
        }
        let multiplier = if *k == 1 { String::new() } else { format!("{k}*") };
        f.pad(&format!("{multiplier}{b}^{n}{sign}"))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns r and the largest j with b = r^j.
fn perfect_power(b: u32) -> (u32, u32) {
    let root = |j: &u32| {
        let near = f64::from(b).powf(1.0 / f64::from(*j)).round() as u32;
        (near.checked_pow(*j) == Some(b)).then_some((near, *j))
    };
    (2..32).rev().find_map(|j| root(&j)).unwrap_or((b, 1))
}

/// Returns b^n without leading zero limbs, by squaring for each bit of n after the factor 2 of b is
/// taken out.
pub(crate) fn power(multiplier: &dyn Multiplier, b: u32, n: u32) -> Vec<u64> {
    let twos = b.trailing_zeros();
    let odd = u64::from(b >> twos);
    let mut power = vec![1];
    if odd > 1 {
        for bit in (0..u32::BITS - n.leading_zeros()).rev() {
            power = multiplier.mul(&power, &power);
            trim(&mut power);
            if n >> bit & 1 == 1 {
                let carry = mul_small_assign(&mut power, odd);
                power.push(carry);
                trim(&mut power);
            }
        }
    }
    shifted_left(&power, twos as usize * n as usize)
}

#[cfg(test)]
mod tests;
