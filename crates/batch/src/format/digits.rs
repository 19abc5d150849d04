//! Lines of digits: validation of lines, and conversion of valid lines to numbers.

use std::fmt;

use num_bigint::BigUint;
use warpint_integer::{Executor, IntegerError, TextProblem, UintBatch, Width};

use super::Format;

/// The line that is written for a number without a result. In an operand, this line denotes a
/// missing number. It counts as a number even at the end of the file, where a blank line does not
/// count.
pub(crate) const NONE: &str = "none";

/// A limit on the width of the numbers of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The largest width that a number may have.
    pub width: Width,
    /// Whether the user requested this width by `--bits`. Otherwise it is the largest supported
    /// width, or the width of the file's widest number.
    pub given: bool,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given {
            true => write!(f, "at most {} bits are allowed by --bits", self.width.bits()),
            false => write!(f, "at most 2^{} bits are allowed", Width::MAX_BITS.ilog2()),
        }
    }
}

/// The reason why a line is not a valid number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineProblem {
    /// The line is not a number.
    Text(TextProblem),
    /// The line is `none`, which denotes a missing number.
    Missing,
    /// The line is a number with a sign. The value contains at most the first 40 characters of the
    /// line, followed by `…` if the line is longer.
    Signed(String),
    /// The number is wider than the limit.
    TooWide {
        /// The size of the number in bits. It is approximate if the line is too long to be stored.
        bits: u64,
        /// The limit that was exceeded.
        limit: Limit,
    },
    /// The line is too long to be stored, even without its leading zeros, and it contains
    /// characters other than digits. A long line that consists of digits only is [`Self::TooWide`].
    TooLong {
        /// The length of the line in bytes, without the prefix 0x and the leading zeros.
        bytes: u64,
        /// The limit that was exceeded.
        limit: Limit,
    },
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(problem) => problem.fmt(f),
            Self::Missing => write!(f, "'{NONE}' stands for no number"),
            Self::Signed(number) => {
                write!(f, "'{number}' is signed; batches hold unsigned integers")
            }
            Self::TooWide { bits, limit } => write!(f, "has {bits} bits; {limit}"),
            Self::TooLong { bytes, limit } => {
                write!(f, "has {bytes} characters, too many; {limit}")
            }
        }
    }
}

/// The properties of a line that is too long to be stored. The prefix 0x and the leading zeros of
/// the line are not taken into account.
#[derive(Debug, Default)]
pub(crate) struct LongLine {
    /// The number of bytes of the line, without the LF at its end.
    characters: u64,
    /// The number of bytes other than blanks.
    digits: u64,
    /// The first [`EXACT`] bytes other than blanks, or all such bytes if there are fewer.
    first: Vec<u8>,
    /// Whether the line contains a byte that is neither a blank nor a decimal digit.
    not_decimal: bool,
    /// Whether the line contains a byte that is neither a blank nor a hexadecimal digit.
    not_hex: bool,
}

impl LongLine {
    pub(crate) fn append(&mut self, some: &[u8]) {
        let graphic = || some.iter().filter(|c| !c.is_ascii_whitespace());
        let wanted = EXACT.saturating_sub(self.first.len());
        self.first.extend(graphic().take(wanted));
        self.characters += some.len() as u64;
        self.digits += graphic().count() as u64;
        self.not_decimal |= graphic().any(|c| !c.is_ascii_digit());
        self.not_hex |= graphic().any(|c| !c.is_ascii_hexdigit());
    }
}

/// The rules for lines of digits in one format, with a limited width. The rules validate lines and
/// convert them to numbers.
#[derive(Debug)]
pub(crate) struct Digits {
    hex: bool,
    pub(crate) limit: Limit,
    /// The number of digits of 2^width − 1, decimal or hexadecimal according to the format.
    most: usize,
    /// The decimal digits of 2^width − 1. `None` for the hexadecimal format, and if [`Self::rough`]
    /// created the rules.
    largest: Option<Vec<u8>>,
}

impl Digits {
    pub(crate) fn new(format: Format, limit: Limit) -> Result<Self, IntegerError> {
        let width = limit.width;
        let mut digits = Self::rough(format, limit);
        if !digits.hex {
            let ones = vec![u32::MAX; width.limbs()];
            let ones = UintBatch::from_vec(&Executor::cpu(), width, ones)?.to_decimal()?;
            digits.largest = ones.into_iter().next().map(String::into_bytes);
        }
        Ok(digits)
    }

    /// Creates the rules like [`Self::new`], but without computing 2^width − 1. These rules reject
    /// every decimal number that has as many digits as 2^width − 1 as too wide.
    pub(crate) fn rough(format: Format, limit: Limit) -> Self {
        let hex = format == Format::Hex;
        let bits = limit.width.bits();
        let most =
            if hex { bits / 4 } else { (f64::from(bits) * std::f64::consts::LOG10_2) as u32 + 1 };
        Self { hex, limit, most: most as usize, largest: None }
    }

    /// Returns whether [`Self::of`] may wrongly reject a line as too wide, because 2^width − 1 was
    /// not computed.
    pub(crate) fn may_mistake(&self, line: &[u8]) -> bool {
        !self.hex && self.largest.is_none() && line.len() >= self.most
    }

    /// Returns the length in bytes of the longest line that is stored, without leading zeros. It is
    /// twice the length of the longest valid number, plus 4,096. This suffices to describe errors.
    pub(crate) fn longest_line(&self) -> usize {
        2 * self.most + (1 << 12)
    }

    /// Returns the digits of a line, without a hexadecimal prefix. Returns an error if they are not
    /// a number within the limit.
    pub(crate) fn of<'a>(&self, line: &'a [u8]) -> Result<&'a str, LineProblem> {
        let begin = if self.hex { prefix(line) } else { 0 };
        let digits = &line[begin..];
        let (is_digit, kind): (fn(&u8) -> bool, _) = if self.hex {
            (u8::is_ascii_hexdigit, "hexadecimal")
        } else {
            (u8::is_ascii_digit, "decimal")
        };
        // Not `all`: it ends early and is therefore slower.
        let good = digits.iter().fold(true, |good, digit| good & is_digit(digit));
        let (true, Ok(text)) = (good, str::from_utf8(digits)) else {
            if line == NONE.as_bytes() {
                return Err(LineProblem::Missing);
            }
            if let Some(number) = signed(line, is_digit) {
                return Err(LineProblem::Signed(number));
            }
            let text = String::from_utf8_lossy(digits);
            let no_digit = |c: &char| !u8::try_from(*c).is_ok_and(|byte| is_digit(&byte));
            let (i, character) =
                text.chars().enumerate().find(|(_, c)| no_digit(c)).unwrap_or_default();
            let problem = TextProblem::NoDigit { character, position: begin + i, digits: kind };
            return Err(LineProblem::Text(problem));
        };
        if text.is_empty() {
            return Err(LineProblem::Text(TextProblem::Empty));
        }
        let significant = significant(digits);
        // Among texts of equal length, the larger number is the larger text; hexadecimal ones
        // always fit.
        let larger = || self.largest.as_deref().is_none_or(|largest| significant > largest);
        let length = significant.len();
        if length > self.most || (length == self.most && !self.hex && larger()) {
            let bits = bit_length(significant, self.hex);
            return Err(LineProblem::TooWide { bits, limit: self.limit });
        }
        Ok(text)
    }

    /// Returns the reason why a line that is too long to be stored is not a valid number.
    pub(crate) fn too_long(&self, line: &LongLine) -> LineProblem {
        let (limit, bytes) = (self.limit, line.characters);
        let is_number = if self.hex { !line.not_hex } else { !line.not_decimal };
        if !is_number || line.digits <= self.most as u64 {
            return LineProblem::TooLong { bytes, limit };
        }
        // The number is known to be too wide, even if these digits alone do not show it.
        let most = if limit.given { limit.width.bits() } else { Width::MAX_BITS };
        let left = line.digits - line.first.len() as u64;
        let log = log2(&line.first, left, self.hex);
        LineProblem::TooWide { bits: (log as u64 + 1).max(u64::from(most) + 1), limit }
    }

    /// Converts texts of valid digits to a batch of numbers.
    pub(crate) fn numbers(
        &self,
        executor: &Executor,
        digits: &[&str],
    ) -> Result<UintBatch, IntegerError> {
        let digits = digits.iter().copied();
        if self.hex {
            UintBatch::from_hex(executor, self.limit.width, digits)
        } else {
            UintBatch::from_decimal(executor, self.limit.width, digits)
        }
    }
}

/// Returns the length of the hexadecimal prefix of a line: 2 for 0x or 0X, and otherwise 0.
pub(crate) fn prefix(line: &[u8]) -> usize {
    if line.starts_with(b"0x") || line.starts_with(b"0X") { 2 } else { 0 }
}

/// Returns the line if it consists of a sign and digits. A long line is truncated to 40 characters
/// and followed by `…`. Returns `None` for any other line.
fn signed(line: &[u8], is_digit: fn(&u8) -> bool) -> Option<String> {
    const MOST: usize = 40;
    let line = str::from_utf8(line).ok()?;
    let number = line.strip_prefix(['-', '+', '−'])?;
    let digits = &number.as_bytes()[prefix(number.as_bytes())..];
    if digits.is_empty() || !digits.iter().all(is_digit) {
        return None;
    }
    // A sign may take several bytes, digits take one.
    Some(match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    })
}

/// The largest number of digits for which every number, decimal or hexadecimal, is represented
/// exactly by an `f64`.
const EXACT: usize = 13;

/// Returns ⌊log2 n⌋ + 1 for a number n > 0. `digits` are the digits of n, without leading zeros.
fn bit_length(digits: &[u8], hex: bool) -> u64 {
    let (first, rest) = digits.split_at(digits.len().min(EXACT));
    let log = log2(first, rest.len() as u64, hex);
    // This close to a power of two all digits count.
    if !hex
        && (log - log.round()).abs() < 1e-6
        && let Some(number) = BigUint::parse_bytes(digits, 10)
    {
        return number.bits();
    }
    log as u64 + 1
}

/// Returns the base-2 logarithm of a number. `first` contains the leading digits of the number, at
/// most [`EXACT`]. `left` is the count of the remaining digits. For hexadecimal digits, the result
/// is rounded down to an integer.
fn log2(first: &[u8], left: u64, hex: bool) -> f64 {
    let first = str::from_utf8(first).ok();
    let first = first.and_then(|text| u64::from_str_radix(text, if hex { 16 } else { 10 }).ok());
    let first = first.unwrap_or(1).max(1);
    if hex {
        return f64::from(first.ilog2()) + 4.0 * left as f64;
    }
    (first as f64).log2() + left as f64 * std::f64::consts::LOG2_10
}

/// Returns the digits without leading zeros.
pub(crate) fn significant(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(bits: u32) -> Limit {
        Limit { width: Width::new(bits).unwrap(), given: true }
    }

    #[test]
    fn the_most_digits_are_those_of_all_ones() {
        for limbs in (1..40).chain([1 << 10, (1 << 15) - 1, 1 << 15]) {
            let digits = Digits::new(Format::Decimal, limit(32 * limbs)).unwrap();
            let largest = digits.largest.as_deref().unwrap();
            assert_eq!(digits.most, largest.len(), "{limbs}");
            let rough = Digits::rough(Format::Decimal, digits.limit);
            assert!(digits.of(largest).is_ok() && rough.of(largest).is_err());
            assert!(rough.may_mistake(largest) && rough.of(&largest[1..]).is_ok());
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let [decimal, hex] =
            [Format::Decimal, Format::Hex].map(|f| Digits::new(f, limit(32)).unwrap());
        let allowed = "at most 32 bits are allowed by --bits";
        let wide = |bits| format!("has {bits} bits; {allowed}");
        let (wide_33, wide_34): (&str, &str) = (&wide(33), &wide(34));
        let signed = |number| format!("'{number}' is signed; batches hold unsigned integers");
        let minus = signed("-".to_owned() + &"1".repeat(39) + "…");
        let long_minus = format!("-{}", "1".repeat(60));
        for (digits, line, says) in [
            (&decimal, "4294967295", Ok::<&str, &str>("4294967295")),
            (&decimal, "0004294967295", Ok("0004294967295")),
            (&decimal, "4294967296", Err(wide_33)),
            (&decimal, "10000000000", Err(wide_34)),
            (&decimal, "", Err("no digits")),
            (&decimal, "0x1", Err("'x' at position 1 is not a decimal digit")),
            (&decimal, "-1", Err(&signed("-1".into()))),
            (&decimal, "+18446744073709551616", Err(&signed("+18446744073709551616".into()))),
            (&decimal, "−1", Err(&signed("−1".into()))),
            (&decimal, &long_minus, Err(&minus)),
            (&hex, "-0xF", Err(&signed("-0xF".into()))),
            (&decimal, "-", Err("'-' at position 0 is not a decimal digit")),
            (&decimal, "-x", Err("'-' at position 0 is not a decimal digit")),
            (&decimal, "1 ", Err("' ' at position 1 is not a decimal digit")),
            (&decimal, "1٣", Err("'٣' at position 1 is not a decimal digit")),
            (&hex, "ffffffff", Ok("ffffffff")),
            (&hex, "0xFFFFffff", Ok("FFFFffff")),
            (&hex, "0X00", Ok("00")),
            (&hex, "100000000", Err(wide_33)),
            (&hex, "0x", Err("no digits")),
            (&hex, "0x12g", Err("'g' at position 4 is not a hexadecimal digit")),
            (&decimal, "none", Err("'none' stands for no number")),
            (&hex, "none", Err("'none' stands for no number")),
            (&hex, "0xnone", Err("'n' at position 2 is not a hexadecimal digit")),
        ] {
            let found = digits.of(line.as_bytes()).map_err(|e| e.to_string());
            assert_eq!(found, says.map_err(str::to_owned), "{line}");
        }
        let found = decimal.of(b"1\xff").map_err(|e| e.to_string());
        assert_eq!(found, Err("'\u{fffd}' at position 1 is not a decimal digit".to_owned()));
    }

    #[test]
    fn bits_of_numbers_that_are_too_wide_are_exact() {
        let one = BigUint::from(1u8);
        for bits in [33u32, 64, 65, 100, 1000, 4096, 10_000] {
            for number in [&one << (bits - 1), (&one << bits) - &one, (&one << bits) - 2u8] {
                let (dec, hex) = (number.to_string(), format!("{number:x}"));
                assert_eq!(bit_length(dec.as_bytes(), false), u64::from(bits), "{dec}");
                assert_eq!(bit_length(hex.as_bytes(), true), u64::from(bits), "{hex}");
            }
        }
        let any = Limit { width: Width::new(Width::MAX_BITS).unwrap(), given: false };
        let digits = Digits::new(Format::Hex, any).unwrap();
        let problem = digits.of("8".repeat((1 << 18) + 1).as_bytes()).unwrap_err();
        assert_eq!(problem.to_string(), "has 1048580 bits; at most 2^20 bits are allowed");
    }
}
