//! Digests, which files contain so that changes to the files are detected.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 digest of a text, as 64 lower-case hexadecimal digits.
#[must_use]
pub fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::sha256;

    /// The message and its digest come from FIPS 180-2, appendix B.1.
    #[test]
    fn the_digest_is_that_of_the_standard() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256("abc"), abc);
    }
}
