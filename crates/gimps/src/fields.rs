//! Parsing of the fields of a line of `worktodo.txt`, with limits on the lengths of the fields.

use std::fmt;

use crate::refusal::Malformed;

/// The largest number of decimal digits of a known factor.
pub const MOST_FACTOR_DIGITS: usize = 2_000;

/// The largest number of characters of a decimal number, and of the value of a bound B1 or B2.
const MOST_CHARACTERS: usize = 20;

/// A text from a file, shortened for a message: the first 48 characters, with control characters
/// escaped. The character `…` follows if the text is longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// Shortens a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        const MOST: usize = 48;
        let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
        if text.chars().nth(MOST).is_some() {
            shown.push('…');
        }
        Self(shown)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn refused(field: &'static str, value: &str, wanted: &'static str) -> Malformed {
    Malformed::Field { field, value: Shown::new(value), wanted }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Parses a whole number below 2^64 that consists of digits only. `field` is the name of the field
/// in error messages.
pub(crate) fn whole(field: &'static str, text: &str) -> Result<u64, Malformed> {
    let value = if all_digits(text) { text.parse().ok() } else { None };
    value.ok_or_else(|| refused(field, text, "a whole number"))
}

/// Parses a whole number below 2^32 that consists of digits only. `field` is the name of the field
/// in error messages.
pub(crate) fn whole_u32(field: &'static str, text: &str) -> Result<u32, Malformed> {
    whole(field, text)?.try_into().map_err(|_| refused(field, text, "a whole number below 2^32"))
}

/// Parses a whole number from −2^63 to 2^63 − 1: digits with an optional sign. `field` is the name
/// of the field in error messages.
pub(crate) fn signed(field: &'static str, text: &str) -> Result<i64, Malformed> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = if all_digits(digits) { text.parse().ok() } else { None };
    value.ok_or_else(|| refused(field, text, "a whole number"))
}

/// Parses a decimal number of at most 20 characters, with an optional sign and an optional decimal
/// point: `77`, `1.3`, `+1.`. `field` is the name of the field in error messages.
pub(crate) fn decimal(field: &'static str, text: &str) -> Result<f64, Malformed> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = text.len() <= MOST_CHARACTERS
        && (all_digits(before) || all_digits(after))
        && [before, after].iter().all(|part| part.is_empty() || all_digits(part));
    let value = if is_number { text.parse().ok() } else { None };
    value.ok_or_else(|| refused(field, text, "a number"))
}

/// Splits a line into the prefix `B1=…,B2=…;` and the rest, which begins with the keyword. The
/// prefix is returned without its semicolon. It is `None` if the line has no prefix.
pub(crate) fn split_bounds(text: &str) -> Result<(Option<String>, &str), Malformed> {
    let starts = |name: &str| text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if !starts("B1=") && !starts("B2=") {
        return Ok((None, text));
    }
    let (prefix, rest) =
        text.split_once(';').ok_or_else(|| Malformed::Bounds { prefix: Shown::new(text) })?;
    let mut names = ["B1", "B2"].into_iter();
    let sound = prefix.split(',').all(|bound| {
        let (name, value) = bound.split_once('=').unwrap_or((bound, ""));
        names.any(|known| name.trim().eq_ignore_ascii_case(known))
            && all_digits(value.trim())
            && value.len() <= MOST_CHARACTERS
    });
    if !sound {
        return Err(Malformed::Bounds { prefix: Shown::new(prefix) });
    }
    Ok((Some(prefix.trim().to_owned()), rest.trim_start()))
}

/// Splits a line into the text before the known factors, and the list of known factors in decimal
/// digits. The list is at the end of the line, in quotation marks. If the line has no quotation
/// marks, the list is empty.
pub(crate) fn split_factors(text: &str) -> Result<(&str, Vec<String>), Malformed> {
    let Some((before, quoted)) = text.split_once('"') else { return Ok((text, vec![])) };
    let list = quoted.trim_end().strip_suffix('"').ok_or(Malformed::Quotes)?;
    let before = before.trim_end().strip_suffix(',').ok_or(Malformed::Quotes)?;
    if list.contains('"') {
        return Err(Malformed::Quotes);
    }
    let factor = |text: &str| {
        let text = text.trim();
        let sound = all_digits(text)
            && text.len() <= MOST_FACTOR_DIGITS
            && !text.starts_with('0')
            && text != "1";
        let wanted = "a whole number above 1 of at most 2000 digits";
        if sound { Ok(text.to_owned()) } else { Err(refused("a known factor", text, wanted)) }
    };
    Ok((before, list.split(',').map(factor).collect::<Result<_, _>>()?))
}
