//! Findings as objects of JSON, with the fields that `docs/reference/json.md` describes: the output of
//! `warpint audit-keys --json`, and of the Python package.

use serde::Serialize;
use warpint_natural::limbs::bit_length;
use warpint_natural::radix::hex;

use super::{Finding, Kind};
use crate::{KeyList, Position};

/// A finding with the key to which it belongs, but without the factor, which is a private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FindingObject<'a> {
    /// The kind of the finding.
    pub kind: Kind,
    /// The modulus in lower-case hexadecimal digits.
    pub modulus: String,
    /// The number of bits of the modulus.
    pub bits: u64,
    /// The exponent in lower-case hexadecimal digits, for findings about exponents; otherwise `None`.
    pub exponent: Option<String>,
    /// The places of all keys that the finding concerns.
    pub places: Vec<PlaceObject<'a>>,
    /// The places of keys with which the modulus shares a prime.
    pub shared_with: Vec<PlaceObject<'a>>,
}

/// The place of a key. `line` and `key` are `None` if the file has one key; otherwise one of them is a
/// number, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceObject<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The line in the file.
    pub line: Option<u64>,
    /// The number of the key in the file.
    pub key: Option<u64>,
}

impl<'a> FindingObject<'a> {
    /// Creates the object of a finding of an audit of `list`.
    #[must_use]
    pub fn new(list: &'a KeyList, finding: &Finding) -> Self {
        let modulus = finding.keys.first().map_or(&[][..], |&key| list.modulus(key));
        let places = |keys: &[usize]| keys.iter().map(|&key| PlaceObject::new(list, key)).collect();
        let is_of_exponent = matches!(
            finding.kind,
            Kind::ExponentOne | Kind::ExponentEven | Kind::ExponentSmall | Kind::ExponentLarge
        );
        let exponent = finding.keys.first().and_then(|&key| list.exponent(key));
        Self {
            kind: finding.kind,
            modulus: hex::format(modulus),
            bits: bit_length(modulus),
            exponent: exponent.filter(|_| is_of_exponent).map(hex::format),
            places: places(&finding.keys),
            shared_with: places(&finding.shared_with),
        }
    }
}

impl<'a> PlaceObject<'a> {
    fn new(list: &'a KeyList, key: usize) -> Self {
        let place = list.place(key);
        let (line, number) = match place.position {
            Position::Whole => (None, None),
            Position::Line(line) => (Some(line), None),
            Position::Key(key) => (None, Some(key)),
        };
        Self { file: place.file, line, key: number }
    }
}
