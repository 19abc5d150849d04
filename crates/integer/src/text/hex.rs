//! Hexadecimal digits.

use super::check;
use crate::{TextProblem, Width};

/// row ← the number.
pub(super) fn read(text: &str, row: &mut [u32], width: Width) -> Result<(), TextProblem> {
    check(text, "hexadecimal", |c| c.is_ascii_hexdigit())?;
    let digits = text.trim_start_matches('0').as_bytes();
    if digits.len() > 8 * row.len() {
        return Err(TextProblem::TooWide { width });
    }
    for (limb, digits) in row.iter_mut().zip(digits.rchunks(8)) {
        let digit = |&c: &u8| char::from(c).to_digit(16).unwrap_or(0);
        *limb = digits.iter().map(digit).fold(0, |limb, digit| limb << 4 | digit);
    }
    Ok(())
}

/// The digits of a number.
pub(super) fn write(row: &[u32]) -> String {
    let nibbles =
        row.iter().rev().flat_map(|&limb| (0..8).rev().map(move |j| limb >> (4 * j) & 15));
    let digits = nibbles.skip_while(|&digit| digit == 0);
    let mut text = String::with_capacity(8 * row.len());
    text.extend(digits.filter_map(|digit| char::from_digit(digit, 16)));
    if text.is_empty() {
        text.push('0');
    }
    text
}
