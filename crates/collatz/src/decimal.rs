//! Serialization of numbers as strings of decimal digits.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<T: Display, S: Serializer>(n: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(n)
}

pub(crate) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    parse(&String::deserialize(from)?)
}

fn parse<T: FromStr, E: Error>(text: &str) -> Result<T, E> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number.ok_or_else(|| E::custom("not a number of decimal digits, or too large"))
}

/// Serialization of lists of numbers as lists of strings of decimal digits.
pub(crate) mod list {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(numbers: &[u128], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(numbers.iter().map(ToString::to_string))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u128>, D::Error> {
        Vec::<String>::deserialize(from)?.iter().map(|text| super::parse(text)).collect()
    }
}
