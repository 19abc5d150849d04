//! Formats quantities for people.

use std::time::Duration;

/// Formats a transform length in words: `12K` (12·2^10), `4M` (4·2^20), or plain digits.
#[must_use]
pub fn words(n: usize) -> String {
    match n {
        0 => "0".into(),
        n if n.is_multiple_of(1 << 20) => format!("{}M", n >> 20),
        n if n.is_multiple_of(1 << 10) => format!("{}K", n >> 10),
        n => n.to_string(),
    }
}

/// Formats an elapsed time: `1.23 ms`, `35.2 s`, `12 min 5 s`, `3 h 12 min`, `2 d 3 h`.
#[must_use]
pub fn elapsed(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0 => format!("{:.2} ms", time.as_secs_f64() * 1e3),
        1..=99 => format!("{:.1} s", time.as_secs_f64()),
        100..=5_999 => format!("{} min {} s", s / 60, s % 60),
        6_000..=359_999 => format!("{} h {} min", s / 3600, s / 60 % 60),
        _ => format!("{} d {} h", s / 86_400, s / 3600 % 24),
    }
}

/// Formats a remaining time as a clock: `0:19`, `1:02:03`, `3 d 4:05:06`.
#[must_use]
pub fn clock(time: Duration) -> String {
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

/// Formats an amount of memory: `139.8 GiB`, `512.0 MiB`, `333.7 KiB`.
#[must_use]
pub fn memory(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    match bytes {
        0..0x10_0000 => format!("{kib:.1} KiB"),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", kib / 1024.0),
        _ => format!("{:.1} GiB", kib / 1024.0 / 1024.0),
    }
}

/// Formats the size of a file: in bytes below 1 KiB (`17 bytes`), otherwise like [`memory`].
#[must_use]
pub fn bytes(bytes: u64) -> String {
    if bytes < 1 << 10 { count(bytes, "byte") } else { memory(bytes) }
}

/// Formats a count with its noun: `1 thread`, `2 threads`.
#[must_use]
pub fn count(n: impl Into<u64>, thing: &str) -> String {
    match n.into() {
        1 => format!("1 {thing}"),
        n => format!("{n} {thing}s"),
    }
}

/// Formats a count of words: `1 word`, `12K words`.
#[must_use]
pub fn count_words(n: usize) -> String {
    if n == 1 { "1 word".into() } else { format!("{} words", words(n)) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
