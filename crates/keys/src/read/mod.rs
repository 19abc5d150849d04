//! Reading of public RSA keys.
//!
//! The content of a file decides its format:
//!
//! | content | format |
//! |---|---|
//! | begins with the byte 0x30 and contains bytes that are not text | DER: a certificate, a certificate request, a SubjectPublicKeyInfo or a PKCS#1 key |
//! | begins with `{` or `[` | JSON: JWKs, lists of them and JWK sets (RFC 7517), one after the other |
//! | has a line `-----BEGIN …-----` within its first 64 KiB | PEM: blocks of the same objects. Keys on lines outside blocks are read, too. Other lines outside blocks are counted |
//! | anything else | lines: SSH public keys, as in `authorized_keys` and `known_hosts`, and moduli in decimal or hexadecimal digits. PEM blocks among them are read too |
//!
//! Moduli as bytes have no mark of their own. They are read if the caller asks for it ([`Raw`]).
//!
//! Files of lines and of PEM blocks are read piece by piece. A file of DER is read as a whole, and of
//! JSON one value at a time.
//!
//! | file | subject |
//! |---|---|
//! | `reader` | files, formats, and lines |
//! | `der` | certificates and keys in DER |
//! | `pem` | PEM blocks |
//! | `ssh` | SSH public keys |
//! | `jwk` | JSON web keys |
//! | `modulus` | moduli in digits |
//! | `raw` | moduli as bytes |
//! | `pending` | entries that several threads decode |
//! | `list` | the keys that were read |
//! | `problem` | why an entry is not a key |

mod der;
mod jwk;
mod list;
mod modulus;
mod pem;
mod pending;
mod problem;
mod raw;
mod reader;
mod ssh;
#[cfg(test)]
mod tests;

pub use list::{KeyList, Place, Position};
pub use problem::{BadEntry, Problem};
pub use raw::Raw;
pub use reader::{Reader, files};

/// The largest number of bits of a modulus that is read.
pub const MOST_BITS: u64 = 1 << 16;

/// A public RSA key (n, e). Both numbers have no leading zero limbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// The modulus n.
    pub modulus: Vec<u64>,
    /// The exponent e; `None` if the entry is a modulus only.
    pub exponent: Option<Vec<u64>>,
}

/// What an entry of a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// A public RSA key.
    Rsa(PublicKey),
    /// Something else that is well-formed, for example a key of another algorithm. The value is its
    /// name in reports.
    Other(String),
    /// A line of text beside PEM blocks.
    Text,
}

/// Returns the number with these big-endian bytes, without leading zero limbs.
fn from_big_endian(bytes: &[u8]) -> Vec<u64> {
    let limb = |bytes: &[u8]| bytes.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
    let mut limbs: Vec<u64> = bytes.rchunks(8).map(limb).collect();
    warpint_natural::limbs::trim(&mut limbs);
    limbs
}

/// Returns the text with a replacement for each control character, which a file from elsewhere could
/// use to change what a terminal shows.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Returns the number of bits of a number: 0 for 0, otherwise ⌊log2(x)⌋ + 1.
pub(crate) fn bits(x: &[u64]) -> u64 {
    let x = warpint_natural::limbs::trimmed(x);
    x.last().map_or(0, |top| 64 * x.len() as u64 - u64::from(top.leading_zeros()))
}
