//! Quantities as people read and write them.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A transform length: `12K` (12·2^10), `4M` (4·2^20), or plain digits.
pub(crate) fn words(n: usize) -> String {
    match n {
        0 => "0".into(),
        n if n.is_multiple_of(1 << 20) => format!("{}M", n >> 20),
        n if n.is_multiple_of(1 << 10) => format!("{}K", n >> 10),
        n => n.to_string(),
    }
}

/// The inverse of [`words`].
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

/// A range of lengths, both ends included: `64K..36M`.
pub(crate) fn parse_word_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let ends =
        text.split_once("..").ok_or_else(|| format!("'{text}' is no range: give 64K..36M"))?;
    let range = parse_words(ends.0)?..=parse_words(ends.1)?;
    if range.is_empty() { Err(format!("'{text}' ends before it begins")) } else { Ok(range) }
}

/// A time interval in seconds, decimals allowed, at most a day.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    const DAY: Duration = Duration::from_secs(86_400);
    text.parse()
        .ok()
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .filter(|d| !d.is_zero() && *d <= DAY)
        .ok_or_else(|| format!("'{text}' is not a number of seconds above 0 and up to a day"))
}

/// How long something took: `1.23 ms`, `35.2 s`, `12 min 5 s`, `3 h 12 min`, `2 d 3 h`.
pub(crate) fn elapsed(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0 => format!("{:.2} ms", time.as_secs_f64() * 1e3),
        1..=99 => format!("{:.1} s", time.as_secs_f64()),
        100..=5_999 => format!("{} min {} s", s / 60, s % 60),
        6_000..=359_999 => format!("{} h {} min", s / 3600, s / 60 % 60),
        _ => format!("{} d {} h", s / 86_400, s / 3600 % 24),
    }
}

/// What is left to do, as a clock: `0:19`, `1:02:03`, `3 d 4:05:06`.
pub(crate) fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0..=3_599 => format!("{}:{:02}", s / 60, s % 60),
        3_600..=86_399 => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
        _ => format!("{} d {}", s / 86_400, clock_of_a_day(s % 86_400)),
    }
}

fn clock_of_a_day(s: u64) -> String {
    format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

/// An amount of memory: `139.8 GiB`, `512.0 MiB`, `333.7 KiB`.
pub(crate) fn memory(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    match bytes {
        0..0x10_0000 => format!("{kib:.1} KiB"),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", kib / 1024.0),
        _ => format!("{:.1} GiB", kib / 1024.0 / 1024.0),
    }
}

/// How large a file is: `17 bytes`, or as [`memory`].
pub(crate) fn bytes(bytes: u64) -> String {
    if bytes < 1 << 10 { count(bytes, "byte") } else { memory(bytes) }
}

/// `1 thread`, `2 threads`.
pub(crate) fn count(n: impl Into<u64>, thing: &str) -> String {
    match n.into() {
        1 => format!("1 {thing}"),
        n => format!("{n} {thing}s"),
    }
}

/// `1 word`, `12K words`.
pub(crate) fn count_words(n: usize) -> String {
    if n == 1 { "1 word".into() } else { format!("{} words", words(n)) }
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
    fn seconds_are_positive_and_at_most_a_day() {
        assert_eq!(parse_seconds("0.25"), Ok(Duration::from_millis(250)));
        for text in ["0", "-1", "nan", "inf", "86401", "1e300", "", "x"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_is_in_binary_units() {
        assert_eq!(memory(341_700), "333.7 KiB");
        assert_eq!(memory(512 << 20), "512.0 MiB");
        assert_eq!([bytes(1), bytes(1023), bytes(1024)], ["1 byte", "1023 bytes", "1.0 KiB"]);
        assert_eq!(memory(150_121_545_728), "139.8 GiB");
    }

    #[test]
    fn times_are_short() {
        let said = |ms: u64| (elapsed(Duration::from_millis(ms)), clock(Duration::from_millis(ms)));
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(said(12), pair("12.00 ms", "0:00"));
        assert_eq!(said(35_240), pair("35.2 s", "0:35"));
        assert_eq!(said(725_000), pair("12 min 5 s", "12:05"));
        assert_eq!(said(11_523_000), pair("3 h 12 min", "3:12:03"));
        assert_eq!(said(1_000_000_000), pair("11 d 13 h", "11 d 13:46:40"));
    }
}
