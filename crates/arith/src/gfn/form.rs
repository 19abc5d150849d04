//! The type [`Form`] of the numbers r^k + 1 with a sparse radix r, and a list of known primes among
//! these numbers.

use std::fmt;
use std::str::FromStr;

use crate::limbs;

/// A number p = r^k + 1 with a radix r = 2^w + 2^u or r = 2^w − 2^u. The literature calls p a
/// sparse-radix generalized Fermat number (Chen et al. 2018, appendix).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Form {
    w: u32,
    u: u32,
    sum: bool,
    k: usize,
}

/// The reason why a [`Form`] cannot be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoForm {
    /// The radix r = 2^w ± 2^u is invalid: r ≥ 2^64, or w > u ≥ 1 does not hold.
    #[error("2^{w} {} 2^{u} is not a valid radix: it must be less than 2^64, with w > u >= 1", if *.sum { '+' } else { '-' })]
    Radix {
        /// The exponent w of the larger power of two.
        w: u32,
        /// The exponent u of the smaller power of two.
        u: u32,
        /// Whether the radix is the sum of the two powers of two; otherwise it is their difference.
        sum: bool,
    },
    /// The number of digits k, stored here, is not a power of two from 2 to 128.
    #[error("{0} is not a valid number of digits: use a power of two from 2 to 128")]
    Digits(usize),
    /// The text is neither (2^w+2^u)^k+1 nor (2^w-2^u)^k+1 with decimal numbers w, u and k.
    #[error("expected (2^w+2^u)^k+1 or (2^w-2^u)^k+1, such as (2^63+2^34)^8+1")]
    Text,
}

impl Form {
    /// Creates the form (2^w + 2^u)^k + 1.
    ///
    /// # Errors
    /// Returns an error unless w > u ≥ 1, 2^w + 2^u < 2^64, and k is a power of two from 2 to 128.
    pub const fn plus(w: u32, u: u32, k: usize) -> Result<Self, NoForm> {
        Self::new(w, u, true, k)
    }

    /// Creates the form (2^w − 2^u)^k + 1.
    ///
    /// # Errors
    /// Returns an error unless 64 ≥ w > u ≥ 1, and k is a power of two from 2 to 128.
    pub const fn minus(w: u32, u: u32, k: usize) -> Result<Self, NoForm> {
        Self::new(w, u, false, k)
    }

    const fn new(w: u32, u: u32, sum: bool, k: usize) -> Result<Self, NoForm> {
        if u < 1 || w <= u || w > 64 - sum as u32 {
            return Err(NoForm::Radix { w, u, sum });
        }
        if !k.is_power_of_two() || k < 2 || k > 128 {
            return Err(NoForm::Digits(k));
        }
        Ok(Self { w, u, sum, k })
    }

    /// Returns the radix r = 2^w ± 2^u.
    #[must_use]
    pub const fn radix(&self) -> u64 {
        let (high, low) = (1u128 << self.w, 1u128 << self.u);
        (if self.sum { high + low } else { high - low }) as u64
    }

    /// Returns the exponent w of the radix 2^w ± 2^u.
    #[must_use]
    pub const fn w(&self) -> u32 {
        self.w
    }

    /// Returns the exponent u of the radix 2^w ± 2^u.
    #[must_use]
    pub const fn u(&self) -> u32 {
        self.u
    }

    /// Returns whether the radix is 2^w + 2^u; otherwise it is 2^w − 2^u.
    #[must_use]
    pub const fn is_sum(&self) -> bool {
        self.sum
    }

    /// Returns k, the exponent of p = r^k + 1. An element of Z/pZ has k digits in radix r.
    #[must_use]
    pub const fn digits(&self) -> usize {
        self.k
    }

    /// Returns p = r^k + 1 in little-endian limbs. The highest limb is not 0.
    #[must_use]
    pub fn modulus(&self) -> Vec<u64> {
        let mut power = vec![1];
        for _ in 0..self.k {
            let carry = limbs::mul_small_assign(&mut power, self.radix());
            if carry > 0 {
                power.push(carry);
            }
        }
        // r is even.
        power[0] += 1;
        power
    }

    /// Returns the number of bits of p = r^k + 1, without leading zeros.
    #[must_use]
    pub fn bits(&self) -> u32 {
        {
            let modulus = self.modulus();
            64 * modulus.len() as u32 - modulus.last().map_or(0, |top| top.leading_zeros())
        }
    }

    /// Returns the largest m such that 2^m divides p − 1 = r^k. The result is u·k, because r =
    /// 2^u·(2^(w−u) ± 1).
    #[must_use]
    pub const fn two_adicity(&self) -> u32 {
        self.u * self.k as u32
    }

    /// Returns whether the form is one of [`PRIMES`].
    #[must_use]
    pub fn is_known(&self) -> bool {
        PRIMES.contains(self)
    }
}

/// Parses the output of `Display`, for example `(2^63+2^34)^8+1`. White space is ignored. The minus
/// sign − (U+2212) is accepted in place of the hyphen.
impl FromStr for Form {
    type Err = NoForm;

    fn from_str(text: &str) -> Result<Self, NoForm> {
        let text: String = text
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(|c| if c == '−' { '-' } else { c })
            .collect();
        let parts = || {
            let (radix, k) = text.strip_prefix("(2^")?.strip_suffix("+1")?.split_once(")^")?;
            let (sum, powers) = match radix.split_once("+2^") {
                Some(powers) => (true, powers),
                None => (false, radix.split_once("-2^")?),
            };
            Some((number(powers.0)?, number(powers.1)?, sum, number(k)?))
        };
        let (w, u, sum, k) = parts().ok_or(NoForm::Text)?;
        Self::new(w, u, sum, k as usize)
    }
}

/// Parses a decimal number without a sign. Returns `None` if a character is not a digit, if there
/// are no digits, or if the number has more than 32 bits.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Formats a form like the example `(2^63+2^34)^8+1`.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.sum { '+' } else { '-' };
        write!(f, "(2^{}{sign}2^{})^{}+1", self.w, self.u, self.k)
    }
}

const fn known(form: Result<Form, NoForm>) -> Form {
    match form {
        Ok(form) => form,
        Err(_) => unreachable!(),
    }
}

/// Known primes r^k + 1, one for each k = 2, 4, 8, …, 128 in this order (Chen et al. 2018).
pub const PRIMES: [Form; 7] = [
    known(Form::plus(63, 53, 2)),
    known(Form::minus(64, 50, 4)),
    known(Form::plus(63, 34, 8)),
    known(Form::plus(62, 36, 16)),
    known(Form::plus(62, 56, 32)),
    known(Form::minus(63, 40, 64)),
    known(Form::minus(64, 28, 128)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minus_is_read_as_it_is_typed_or_printed() {
        assert_eq!("(2^64−2^50)^4+1".parse(), Ok(PRIMES[1]));
        assert_eq!("(2^64 - 2^50)^4 + 1".parse(), Ok(PRIMES[1]));
        assert_eq!("(2^64−−2^50)^4+1".parse::<Form>(), Err(NoForm::Text));
    }
}
