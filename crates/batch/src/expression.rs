//! Parsing of natural numbers in the notation of users, such as `1_000_000`, `0x10001`, `10^12`,
//! `2^70+5` or `3*2^41-1`.
//!
//! A text consists of sums and differences of products of powers. The numbers in it are decimal, or
//! hexadecimal after `0x`. A `_` may separate two digits. Spaces are ignored.

use num_bigint::BigUint;

/// The largest number of bits of a power or a product. A number of this size has about 40 million
/// decimal digits.
const MOST_BITS: u64 = 1 << 27;

/// The reason why a text is not accepted as a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// The text is not a number in a supported notation. The value is the text.
    #[error("'{0}' is not a number: write it like 123456, 10^12 or 2^70+5")]
    NoNumber(String),
    /// The number is negative. The value is the text.
    #[error("'{0}' is below 0")]
    Negative(String),
    /// A power or a product in the text has too many bits.
    #[error("'{text}' is too large: it has more than {most_bits} bits")]
    TooLarge {
        /// The text that was parsed.
        text: String,
        /// The largest number of bits allowed.
        most_bits: u64,
    },
    /// The number has more than 128 bits. The value is the text.
    #[error("'{0}' is too large: numbers are below 2^128")]
    TooLargeFor128(String),
}

/// Parses a number below 2^128 in the notation described in the module's documentation. Powers and
/// products in the text may have at most 256 bits.
///
/// # Errors
/// Returns an error if the text is not a number, or if the number is negative or too large.
pub fn natural(text: &str) -> Result<u128, ExpressionError> {
    let n = evaluate(text, 256)?;
    n.try_into().map_err(|_| ExpressionError::TooLargeFor128(text.to_owned()))
}

/// Parses a number in the notation described in the module's documentation. Powers and products in
/// the text may have at most 2^27 bits (134,217,728).
///
/// # Errors
/// Returns an error if the text is not a number, or if the number is negative or too large.
pub fn large_natural(text: &str) -> Result<BigUint, ExpressionError> {
    evaluate(text, MOST_BITS)
}

/// Evaluates sums and differences of products of powers. A power or a product of more than
/// `most_bits` bits is an error.
fn evaluate(text: &str, most_bits: u64) -> Result<BigUint, ExpressionError> {
    let below_zero = || ExpressionError::Negative(text.to_owned());
    let compact: String = text.chars().filter(|c| *c != ' ').collect();
    if compact.starts_with(['-', '−']) {
        return Err(below_zero());
    }
    let (mut plus, mut minus) = (BigUint::ZERO, BigUint::ZERO);
    let mut rest = compact.as_str();
    let mut negative = false;
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let value = match product(&rest[..end], most_bits) {
            Ok(value) => value,
            Err(Wrong::NoNumber) => return Err(ExpressionError::NoNumber(text.to_owned())),
            Err(Wrong::TooLarge) => {
                return Err(ExpressionError::TooLarge { text: text.to_owned(), most_bits });
            }
        };
        *(if negative { &mut minus } else { &mut plus }) += value;
        let Some(sign) = rest[end..].chars().next() else { break };
        negative = sign == '-';
        rest = &rest[end + 1..];
    }
    if minus > plus { Err(below_zero()) } else { Ok(plus - minus) }
}

enum Wrong {
    NoNumber,
    TooLarge,
}

fn product(text: &str, most_bits: u64) -> Result<BigUint, Wrong> {
    let mut value = BigUint::from(1u32);
    for factor in text.split('*') {
        let factor = power(factor, most_bits)?;
        if value.bits() + factor.bits() > most_bits + 1 {
            return Err(Wrong::TooLarge);
        }
        value *= factor;
    }
    if value.bits() > most_bits {
        return Err(Wrong::TooLarge);
    }
    Ok(value)
}

fn power(text: &str, most_bits: u64) -> Result<BigUint, Wrong> {
    let Some((base, exponent)) = text.split_once('^') else { return digits(text) };
    let (base, exponent) = (digits(base)?, digits(exponent)?);
    if base.bits() <= 1 {
        return Ok(if exponent == BigUint::ZERO { 1u32.into() } else { base });
    }
    // base^exponent ≥ 2^((bits − 1)·exponent).
    let exponent = u32::try_from(exponent).map_err(|_| Wrong::TooLarge)?;
    if (base.bits() - 1) * u64::from(exponent) > most_bits {
        return Err(Wrong::TooLarge);
    }
    Ok(base.pow(exponent))
}

/// Parses decimal digits, or hexadecimal digits after 0x or 0X. A `_` may separate two digits.
fn digits(text: &str) -> Result<BigUint, Wrong> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (text, radix) = hex.map_or((text, 10), |text| (text, 16));
    let good = |b: u8| char::from(b).is_digit(radix) || b == b'_';
    if text.is_empty()
        || text.starts_with('_')
        || text.ends_with('_')
        || text.contains("__")
        || !text.bytes().all(good)
    {
        return Err(Wrong::NoNumber);
    }
    BigUint::parse_bytes(text.replace('_', "").as_bytes(), radix).ok_or(Wrong::NoNumber)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read() {
        for (text, value) in [
            ("0", 0),
            ("007", 7),
            ("123_456", 123_456),
            ("2^40", 1 << 40),
            ("10^12", 1_000_000_000_000),
            ("2^70+5", (1 << 70) + 5),
            ("3*2^41-1", 3 * (1 << 41) - 1),
            ("2^128-1", u128::MAX),
            ("5-7+3", 1),
            ("0^0", 1),
            ("0^5", 0),
            ("1^99999999999999999999", 1),
            (" 2 ^ 3 ", 8),
            ("2*3*4+1", 25),
            ("0x10001", 65_537),
            ("0XfF_fF", 65_535),
            ("0x10^0x2-1", 255),
        ] {
            assert_eq!(natural(text), Ok(value), "{text}");
            assert_eq!(large_natural(text), Ok(value.into()), "{text}");
        }
        let expected: BigUint = (BigUint::from(1u32) << 100_000u32) - 1u32;
        assert_eq!(large_natural("2^100000-1"), Ok(expected));
    }

    #[test]
    fn what_is_no_number_is_said() {
        for (text, says) in [
            ("", "'' is not a number: write it like 123456, 10^12 or 2^70+5"),
            ("12x", "'12x' is not a number"),
            ("2^", "is not a number"),
            ("^2", "is not a number"),
            ("2^3^4", "is not a number"),
            ("1+", "is not a number"),
            ("1__0", "is not a number"),
            ("_1", "is not a number"),
            ("1.5", "is not a number"),
            ("0x", "is not a number"),
            ("0x_1", "is not a number"),
            ("0xg", "is not a number"),
            ("ff", "is not a number"),
            ("x10", "is not a number"),
            ("٣", "is not a number"),
            ("-5", "'-5' is below 0"),
            ("−5", "is below 0"),
            ("5-7", "'5-7' is below 0"),
            ("2^128", "'2^128' is too large: numbers are below 2^128"),
            ("2^1000", "is too large"),
            ("2^99999999999", "is too large"),
            ("9^999999999", "is too large"),
        ] {
            let error = natural(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(
            large_natural("2^999999999")
                .unwrap_err()
                .to_string()
                .contains("more than 134217728 bits")
        );
    }

    proptest! {
        #[test]
        fn anything_is_answered(text in "[-+*^_0-9 x]{0,12}") {
            let (short, long) = (natural(&text), evaluate(&text, 1000));
            if let (Ok(short), Ok(long)) = (short, long) {
                prop_assert_eq!(BigUint::from(short), long);
            }
        }

        #[test]
        fn digits_are_a_number(n: u128) {
            prop_assert_eq!(natural(&n.to_string()), Ok(n));
        }
    }
}
