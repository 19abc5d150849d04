//! Conversion from and to hexadecimal digits.

use warpint_natural::radix::hex::{of_words, words};

use super::check;
use crate::{TextProblem, Width};

/// Reads the number with the hexadecimal digits `text` and stores its 32-bit limbs in `row`, the
/// lowest first. `width` is the width of `row`.
pub(super) fn read(text: &str, row: &mut [u32], width: Width) -> Result<(), TextProblem> {
    check(text, "hexadecimal", |c| c.is_ascii_hexdigit())?;
    let digits = text.trim_start_matches('0').as_bytes();
    if digits.len() > 8 * row.len() {
        return Err(TextProblem::TooWide { width });
    }
    for (limb, word) in row.iter_mut().zip(words(digits)) {
        *limb = word;
    }
    Ok(())
}

/// Returns the hexadecimal digits of the number with the 32-bit limbs `row`, the highest digit
/// first.
pub(super) fn write(row: &[u32]) -> String {
    of_words(row.iter().copied())
}
