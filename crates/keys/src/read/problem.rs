//! Entries that are not readable.

use std::fmt;

use super::{MOST_BITS, Position};

/// The reason why an entry is not readable. Each message is one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A line is neither a number nor an SSH public key. The value is the beginning of the line.
    #[error("'{0}' is neither a modulus in decimal or hexadecimal digits nor an SSH public key")]
    NotANumber(String),
    /// A line is longer than any key.
    #[error("the line has more than {0} bytes")]
    LongLine(usize),
    /// A PEM block does not end.
    #[error("the block of {0} has no line -----END {0}-----")]
    Unended(String),
    /// The body of a PEM block is not Base64.
    #[error("the block of {0} is not Base64")]
    Base64(String),
    /// Bytes in DER are not a well-formed object.
    #[error("not a valid {what} in DER: {reason}")]
    Der {
        /// The expected object.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// An SSH public key is damaged.
    #[error("damaged SSH public key: {0}")]
    Ssh(String),
    /// A JSON value is not a web key.
    #[error("not a JWK: {0}")]
    Jwk(String),
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// A file of bytes is no DER object.
    #[error("the file is binary, but not DER")]
    Binary,
    /// The modulus is 0 or 1.
    #[error("the modulus is 0 or 1")]
    Trivial,
    /// The modulus is longer than any RSA modulus in use.
    #[error("the modulus has {0} bits; at most {MOST_BITS} are read")]
    TooLong(u64),
    /// A number of the key is negative.
    #[error("a number of the key is negative")]
    Negative,
    /// The file ends inside a number. The value is the number of bytes of that number.
    #[error("the file ends inside a number of {0} bytes: check the format of the file")]
    Cut(usize),
}

/// An entry that is not readable, with its place.
#[derive(Debug)]
pub struct BadEntry<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The place of the entry in the file.
    pub position: Position,
    /// What is wrong with the entry.
    pub problem: Problem,
}

impl fmt::Display for BadEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.file, self.position, self.problem)
    }
}
