//! Numbers and times as text.

use std::time::Duration;

use warpint_gimps as gimps;
use warpint_progress::units;

/// Formats a time with its zone: `2026-01-02 03:04:05 UTC`.
pub(crate) fn time(seconds: i64) -> String {
    gimps::utc_text(seconds) + " UTC"
}

/// Formats a count with a comma after each group of three digits: `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a measured value with four significant digits, or as an integer if it has more digits:
/// `0.05612`, `68.40`, `5,100`. Values of 10^7 or more and of less than 10^-3 have an exponent.
pub(crate) fn measured(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e7).contains(&size) {
        return format!("{x:.3e}");
    }
    let digits = (3 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    match text.parse::<u64>() {
        Ok(n) => grouped(n),
        Err(_) => text,
    }
}

/// Formats an elapsed time in seconds.
pub(crate) fn elapsed(seconds: f64) -> String {
    units::elapsed(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([0, 12, 1_234, 1_234_567].map(grouped), ["0", "12", "1,234", "1,234,567"]);
        let said = [0.0, 0.056_123, 68.4, 5_100.4, -2.5, 5.9e14, 1e-9, f64::NAN].map(measured);
        let expected = ["0", "0.05612", "68.40", "5,100", "-2.500", "5.900e14", "1.000e-9", "NaN"];
        assert_eq!(said, expected);
        assert_eq!(time(0), "1970-01-01 00:00:00 UTC");
    }
}
