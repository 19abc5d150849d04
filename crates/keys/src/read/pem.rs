//! PEM blocks (RFC 7468, in the lax form of its section 3: lines of any length).

use base64ct::{Base64, Encoding};

use super::{Entry, Problem, der};

/// Returns the label of a line `-----BEGIN LABEL-----`.
pub(super) fn begins(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches('\u{feff}');
    line.strip_prefix("-----BEGIN ")?.strip_suffix("-----")
}

/// Returns whether a line is `-----END …-----`. The label of a damaged file may be another than
/// that of its first line.
pub(super) fn ends(line: &str) -> bool {
    line.trim().strip_prefix("-----END ").is_some_and(|rest| rest.ends_with("-----"))
}

/// Reads the block with this label. `body` is the text between its first and its last line, without
/// white space.
pub(super) fn entry(label: &str, body: &str) -> Result<Entry, Problem> {
    if label.ends_with("PRIVATE KEY") {
        return Ok(Entry::Other("private key".into()));
    }
    let object = match label {
        "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE" => der::Object::Certificate,
        "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => der::Object::Request,
        "PUBLIC KEY" => der::Object::Spki,
        "RSA PUBLIC KEY" => der::Object::Pkcs1,
        _ => return Ok(Entry::Other(format!("PEM block of {label}"))),
    };
    let bytes = Base64::decode_vec(body).map_err(|_| Problem::Base64(label.into()))?;
    object.read(&bytes)
}
