//! Parsers and formats of quantities in readable form.

use std::ops::RangeInclusive;
use std::time::Duration;

pub(crate) use warpint::progress::units::{
    bytes, clock, count, count_words, elapsed, memory, words,
};

/// Parses a transform length in words, such as `393216`, `384K` or `4M`: the format that [`words`]
/// writes.
pub(crate) fn parse_words(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M']);
    let unit = match text.get(digits.len()..) {
        Some("") => 1,
        Some("k" | "K") => 1 << 10,
        Some("m" | "M") => 1 << 20,
        _ => 0,
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || unit == 0 {
        return Err(format!("'{text}' is not a length: give words like 393216, 384K or 4M"));
    }
    match digits.parse::<usize>().ok().and_then(|n| n.checked_mul(unit)) {
        Some(0) => Err("a length has at least one word".into()),
        Some(n) => Ok(n),
        None => Err(format!("{text} is too large a length")),
    }
}

/// Parses an amount of memory in bytes, such as `500M`, `4G` or `1T`: binary multiples of a byte.
pub(crate) fn parse_memory(text: &str) -> Result<u64, String> {
    let bad =
        || format!("'{text}' is not an amount of memory: give bytes, or a number like 500M or 4G");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..) {
        Some("") => 0,
        Some("k" | "K") => 10,
        Some("m" | "M") => 20,
        Some("g" | "G") => 30,
        Some("t" | "T") => 40,
        _ => return Err(bad()),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number = digits.parse::<u64>().ok().filter(|&n| is_number && n > 0);
    number.and_then(|n| n.checked_mul(1 << shift)).ok_or_else(bad)
}

/// Parses a range of transform lengths in words, such as `64K..36M`. The range includes both ends.
pub(crate) fn parse_word_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let ends =
        text.split_once("..").ok_or_else(|| format!("'{text}' is not a range: give 64K..36M"))?;
    let range = parse_words(ends.0)?..=parse_words(ends.1)?;
    if range.is_empty() { Err(format!("'{text}' ends before it begins")) } else { Ok(range) }
}

/// Parses a time interval in seconds, with or without decimals. It must be above 0 and at most a
/// day.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    const DAY: Duration = Duration::from_secs(86_400);
    text.parse()
        .ok()
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .filter(|d| !d.is_zero() && *d <= DAY)
        .ok_or_else(|| format!("'{text}' is not a number of seconds above 0 and up to a day"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_back() {
        for (n, text) in [(1, "1"), (1000, "1000"), (1024, "1K"), (2560, "2560"), (393_216, "384K")]
        {
            assert_eq!((words(n).as_str(), parse_words(text)), (text, Ok(n)));
        }
        assert_eq!(words(9 << 19), "4608K");
        assert_eq!(parse_words("2m"), Ok(2 << 20));
        for text in [
            "",
            "K",
            "12x",
            "-1",
            "1.5K",
            "1KM",
            "1 K",
            "0",
            "0K",
            "99999999999999999999",
            "18446744073709551615M",
            "é",
        ] {
            assert!(parse_words(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_is_read_in_binary_units() {
        for (text, bytes) in [("1", 1), ("500M", 500 << 20), ("4g", 4 << 30), ("2T", 2 << 40)] {
            assert_eq!(parse_memory(text), Ok(bytes));
        }
        for text in ["", "G", "0", "0G", "-1", "1.5G", "4GB", "4 G", "é", "16777216T", "+1"] {
            assert!(parse_memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_are_positive_and_at_most_a_day() {
        assert_eq!(parse_seconds("0.25"), Ok(Duration::from_millis(250)));
        for text in ["0", "-1", "nan", "inf", "86401", "1e300", "", "x"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }
}
