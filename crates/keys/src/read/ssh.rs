//! SSH public keys (RFC 4253, section 6.6), alone or in lines of `authorized_keys` and `known_hosts`.

use base64ct::{Base64, Encoding};
use ssh_encoding::{Decode, Mpint};

use super::{Entry, Problem, PublicKey, from_big_endian};

/// The key types of RSA keys and of OpenSSH certificates for RSA keys.
const RSA: &str = "ssh-rsa";
const RSA_CERTIFICATES: [&str; 3] = [
    "ssh-rsa-cert-v01@openssh.com",
    "rsa-sha2-256-cert-v01@openssh.com",
    "rsa-sha2-512-cert-v01@openssh.com",
];

/// The beginnings of the names of other key types, and their names in reports.
const OTHERS: [(&str, &str); 5] = [
    ("ssh-ed25519", "Ed25519"),
    ("ecdsa-sha2-", "EC"),
    ("ssh-dss", "DSA"),
    ("sk-ssh-ed25519", "Ed25519"),
    ("sk-ecdsa-sha2-", "EC"),
];

/// Returns the SSH public key in a line. Returns `None` if the line has none. Options, host names
/// and comments around the key are skipped.
pub(super) fn entry(line: &str) -> Option<Result<Entry, Problem>> {
    let mut words = line.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        let is_rsa = word == RSA || RSA_CERTIFICATES.contains(&word);
        let other = OTHERS.iter().find(|(prefix, _)| word.starts_with(prefix));
        if !is_rsa && other.is_none() {
            continue;
        }
        match (words.peek(), other) {
            // The Base64 of the length of a name of fewer than 2^16 bytes.
            (Some(base64), None) if base64.starts_with("AAAA") => return Some(rsa(base64, word)),
            (Some(base64), Some((_, name))) if base64.starts_with("AAAA") => {
                return Some(Ok(Entry::Other((*name).into())));
            }
            // A word of an option or of a comment.
            _ => {}
        }
    }
    None
}

fn rsa(base64: &str, key_type: &str) -> Result<Entry, Problem> {
    let damaged = |e: ssh_encoding::Error| Problem::Ssh(e.to_string());
    // The padding is missing in some files.
    let blob = Base64::decode_vec(base64)
        .or_else(|_| base64ct::Base64Unpadded::decode_vec(base64.trim_end_matches('=')))
        .map_err(|_| Problem::Ssh("it is not Base64".into()))?;
    let reader = &mut &blob[..];
    let name = String::decode(reader).map_err(damaged)?;
    if name != key_type {
        return Err(Problem::Ssh(format!("its type is {name:?}, not {key_type}")));
    }
    if key_type != RSA {
        // The nonce of a certificate.
        Vec::<u8>::decode(reader).map_err(damaged)?;
    }
    let exponent = Mpint::decode(reader).map_err(damaged)?;
    let modulus = Mpint::decode(reader).map_err(damaged)?;
    let number = |x: &Mpint| match x.as_bytes() {
        [] => Ok(vec![]),
        _ => x.as_positive_bytes().map(from_big_endian).ok_or(Problem::Negative),
    };
    Ok(Entry::Rsa(PublicKey { modulus: number(&modulus)?, exponent: Some(number(&exponent)?) }))
}
