//! Conversion from and to decimal digits.

use warpint_natural::limbs::trimmed;
pub(super) use warpint_natural::radix::decimal::Powers;
use warpint_natural::radix::decimal::{format, parse};

use super::check;
use crate::cpu::{limbs_of, store};
use crate::{TextProblem, Width};

/// Returns the powers of ten that are needed to write numbers of `width` in decimal.
pub(super) fn powers_for_width(width: Width) -> Powers {
    Powers::new(most_digits(width))
}

/// Returns the powers of ten that are needed to read decimal numbers of up to `digits` digits that
/// fit in `width`.
pub(super) fn powers_for_digits(digits: usize, width: Width) -> Powers {
    Powers::new(digits.min(most_digits(width)))
}

/// Returns an upper bound on the number of decimal digits of numbers of `width`, derived from log10
/// 2 < 0.30103.
fn most_digits(width: Width) -> usize {
    (u64::from(width.bits()) * 30_103 / 100_000 + 1) as usize
}

/// Reads the number with the decimal digits `text` and stores its 32-bit limbs in `row`, the lowest
/// first. `width` is the width of `row`.
pub(super) fn read(
    text: &str,
    row: &mut [u32],
    width: Width,
    powers: &Powers,
) -> Result<(), TextProblem> {
    check(text, "decimal", |c| c.is_ascii_digit())?;
    let too_wide = TextProblem::TooWide { width };
    let digits = text.trim_start_matches('0').as_bytes();
    if digits.len() > most_digits(width) {
        return Err(too_wide);
    }
    let mut number = parse(digits, powers);
    let limbs = trimmed(&number).len();
    let bits = match trimmed(&number).last() {
        Some(top) => 64 * limbs - top.leading_zeros() as usize,
        None => 0,
    };
    if bits > 32 * row.len() {
        return Err(too_wide);
    }
    number.resize(row.len().div_ceil(2), 0);
    store(row, &number);
    Ok(())
}

/// Returns the decimal digits of the number with the 32-bit limbs `row`, the highest digit first.
pub(super) fn write(row: &[u32], powers: &Powers) -> String {
    format(&limbs_of(row), powers)
}
