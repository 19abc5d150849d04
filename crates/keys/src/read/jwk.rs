//! JSON web keys (RFC 7517, RFC 7518).

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::Value;

use super::{Entry, Problem, PublicKey, from_big_endian, printable};

/// Returns the keys in a JSON value: the elements of an array, the keys of a JWK set, or the value
/// itself.
pub(super) fn keys(value: Value) -> Vec<Value> {
    match value {
        Value::Array(keys) => keys,
        Value::Object(mut object) => match object.remove("keys") {
            Some(Value::Array(keys)) => keys,
            Some(other) => vec![other],
            None => vec![Value::Object(object)],
        },
        other => vec![other],
    }
}

/// Reads one key.
pub(super) fn entry(value: &Value) -> Result<Entry, Problem> {
    let bad = |reason: &str| Problem::Jwk(reason.into());
    // An algorithm in reports.
    let name = |text: &str| printable(text).chars().take(20).collect::<String>();
    let object = value.as_object().ok_or_else(|| bad("it is not an object"))?;
    match object.get("kty").and_then(Value::as_str) {
        None => return Err(bad("it has no \"kty\"")),
        Some("RSA") => {}
        Some("OKP") => {
            let curve = object.get("crv").and_then(Value::as_str).unwrap_or("OKP");
            return Ok(Entry::Other(name(curve)));
        }
        Some("oct") => return Ok(Entry::Other("symmetric key".into())),
        Some(other) => return Ok(Entry::Other(name(other))),
    }
    let number = |name: &str| {
        let text = object.get(name).and_then(Value::as_str);
        let text = text.ok_or_else(|| bad(&format!("it has no \"{name}\"")))?;
        let bytes = Base64UrlUnpadded::decode_vec(text.trim_end_matches('='));
        let bytes = bytes.map_err(|_| bad(&format!("its \"{name}\" is not Base64url")))?;
        Ok(from_big_endian(&bytes))
    };
    Ok(Entry::Rsa(PublicKey { modulus: number("n")?, exponent: Some(number("e")?) }))
}
