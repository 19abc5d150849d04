//! The hashes that determine the exponents of a proof.

use sha3::{Digest, Sha3_256};

use super::Subject;
use crate::Residue;

/// Returns SHA3-256 (FIPS 202) of the ⌈p/8⌉ little-endian bytes of a residue. Cost: one pass over
/// p/8 bytes.
#[must_use]
pub fn sha3_256_of(x: &Residue) -> [u8; 32] {
    digest(&[], x)
}

/// Returns the hash of a residue ([`sha3_256_of`]) in the form of GIMPS certificates. The 32 bytes
/// are read as one little-endian number, which is written in 64 upper-case hexadecimal digits. So
/// the last byte comes first.
#[must_use]
pub fn sha3_256_text(x: &Residue) -> String {
    sha3_256_of(x).iter().rev().map(|byte| format!("{byte:02X}")).collect()
}

/// The source of the exponents h_1, h_2, … of a proof with the last residue B and the middles M_1,
/// M_2, …. The exponents come from a chain of hashes: g_0 = SHA3-256(S ‖ B) and g_i = SHA3-256(g_(i−1)
/// ‖ M_i). S is empty for M_p; for other numbers it names the test and the number
/// ([`Subject::statement`]). The exponent h_i is the first 8 bytes of g_i, read as a little-endian number.
///
/// So a middle cannot be chosen after its exponent is known (Fiat and Shamir 1986).
pub(super) struct Exponents([u8; 32]);

impl Exponents {
    /// Creates the source for a proof with this last residue. The chain of hashes starts with the
    /// hash of the statement and of this residue.
    pub(super) fn new(subject: Subject, last: &Residue) -> Self {
        Self(digest(&subject.statement(), last))
    }

    /// Returns the exponent that belongs to the next middle of the proof.
    pub(super) fn next(&mut self, middle: &Residue) -> u64 {
        self.0 = digest(&self.0, middle);
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

fn digest(before: &[u8], x: &Residue) -> [u8; 32] {
    let mut hasher = Sha3_256::new();
    hasher.update(before);
    hasher.update(x.to_le_bytes());
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn it_is_the_hash_of_the_bytes_of_the_residue() {
        // Computed with python3: hashlib.sha3_256(bytes([0xef, 0x1e])).hexdigest(), and the hash of
        // that ‖ bytes([9, 0]).
        let x = Residue::from_u64(13u32, 0x1eef);
        assert_eq!(hex(&sha3_256_of(&x)), X_HASH);
        let text = sha3_256_text(&x);
        assert!(text.starts_with("7E9CD5B0") && text.ends_with("DE34BB8B"), "{text}");
        let mut exponents = Exponents::new(13.into(), &x);
        assert_eq!(exponents.next(&Residue::from_u64(13u32, 9)), NEXT);
    }

    const X_HASH: &str = "8bbb34de9224f428a9bf7fe8030bf59f7ead495c2655d34d138a7f26b0d59c7e";
    const NEXT: u64 = 0x9e18_51c8_2a56_fda0;
}
