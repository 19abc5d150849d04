//! Moduli in decimal or hexadecimal digits, one a line.

use warpint_natural::radix::decimal::{self, Powers};
use warpint_natural::radix::hex;

use super::{Entry, Problem, PublicKey, printable};

/// The largest number of characters of a line that a message quotes.
const QUOTED: usize = 40;

/// Reads a line as a modulus. Digits after 0x, after `Modulus=` (as `openssl x509 -modulus` prints
/// it), or with a letter among them are hexadecimal. Other digits are decimal.
pub(super) fn entry(line: &str, powers: &Powers) -> Result<Entry, Problem> {
    let bad = || {
        let mut text: String = printable(line).chars().take(QUOTED).collect();
        if line.chars().nth(QUOTED).is_some() {
            text.push('…');
        }
        Problem::NotANumber(text)
    };
    let marked = line.strip_prefix("Modulus=").or_else(|| line.strip_prefix("0x"));
    let digits = marked.or_else(|| line.strip_prefix("0X")).unwrap_or(line);
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let is_hex = digits.len() < line.len() || !digits.bytes().all(|c| c.is_ascii_digit());
    let modulus = if is_hex {
        hex::parse(digits.as_bytes())
    } else {
        decimal::parse(digits.as_bytes(), powers)
    };
    Ok(Entry::Rsa(PublicKey { modulus, exponent: None }))
}
