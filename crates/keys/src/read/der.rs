//! Keys, certificates and certificate requests in DER.

use der::{Decode, Reader, SliceReader};
use pkcs1::RsaPublicKeyRef;
use spki::{ObjectIdentifier, SubjectPublicKeyInfoRef};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::request::CertReq;

use super::{Entry, Problem, PublicKey, from_big_endian};

/// The objects that contain a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    /// An X.509 certificate (RFC 5280).
    Certificate,
    /// A certificate request (RFC 2986).
    Request,
    /// A SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
    Spki,
    /// An RSAPublicKey (RFC 8017, appendix A.1.1).
    Pkcs1,
}

/// The algorithms whose keys are RSAPublicKeys: rsaEncryption, RSAES-OAEP and RSASSA-PSS (RFC 8017,
/// appendix C).
const RSA: [ObjectIdentifier; 3] = [
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.7"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10"),
];

/// Other algorithms, and their names in reports (RFC 5480, RFC 8410, RFC 3279).
const OTHERS: [(ObjectIdentifier, &str); 7] = [
    (ObjectIdentifier::new_unwrap("1.2.840.10045.2.1"), "EC"),
    (ObjectIdentifier::new_unwrap("1.3.101.110"), "X25519"),
    (ObjectIdentifier::new_unwrap("1.3.101.111"), "X448"),
    (ObjectIdentifier::new_unwrap("1.3.101.112"), "Ed25519"),
    (ObjectIdentifier::new_unwrap("1.3.101.113"), "Ed448"),
    (ObjectIdentifier::new_unwrap("1.2.840.10040.4.1"), "DSA"),
    (ObjectIdentifier::new_unwrap("1.2.840.10046.2.1"), "DH"),
];

impl Object {
    fn name(self) -> &'static str {
        match self {
            Self::Certificate => "certificate",
            Self::Request => "certificate request",
            Self::Spki => "public key (SubjectPublicKeyInfo)",
            Self::Pkcs1 => "RSA public key (PKCS#1)",
        }
    }

    /// Reads an object of this kind.
    pub(super) fn read(self, bytes: &[u8]) -> Result<Entry, Problem> {
        let bad = |error: der::Error| Problem::Der { what: self.name(), reason: error.to_string() };
        match self {
            Self::Certificate => {
                // OpenSSL appends its own data to a certificate in a block of TRUSTED CERTIFICATE.
                let mut reader = SliceReader::new(bytes).map_err(bad)?;
                let certificate: CertificateInner<Raw> = reader.decode().map_err(bad)?;
                let key = certificate.tbs_certificate().subject_public_key_info();
                let bits = key.subject_public_key.as_bytes();
                of_algorithm(key.algorithm.oid, bits)
            }
            Self::Request => {
                let request = CertReq::from_der(bytes).map_err(bad)?;
                let key = &request.info.public_key;
                of_algorithm(key.algorithm.oid, key.subject_public_key.as_bytes())
            }
            Self::Spki => {
                let key = SubjectPublicKeyInfoRef::from_der(bytes).map_err(bad)?;
                of_algorithm(key.algorithm.oid, key.subject_public_key.as_bytes())
            }
            Self::Pkcs1 => {
                let key = RsaPublicKeyRef::from_der(bytes).map_err(bad)?;
                Ok(Entry::Rsa(PublicKey {
                    modulus: from_big_endian(key.modulus.as_bytes()),
                    exponent: Some(from_big_endian(key.public_exponent.as_bytes())),
                }))
            }
        }
    }
}

/// Reads the bits of a public key of an algorithm.
fn of_algorithm(algorithm: ObjectIdentifier, bits: Option<&[u8]>) -> Result<Entry, Problem> {
    if RSA.contains(&algorithm) {
        let reason = || "its bits are not whole bytes".into();
        let what = Object::Pkcs1.name();
        return Object::Pkcs1.read(bits.ok_or_else(|| Problem::Der { what, reason: reason() })?);
    }
    let known = OTHERS.iter().find(|(id, _)| *id == algorithm);
    Ok(Entry::Other(known.map_or_else(|| algorithm.to_string(), |(_, name)| (*name).into())))
}

/// Reads an object of an unknown kind. If it is none, the error is that of a certificate, unless it
/// has the form of another object.
pub(super) fn entry(bytes: &[u8]) -> Result<Entry, Problem> {
    let others = [Object::Pkcs1, Object::Spki, Object::Request];
    if let Some(entry) = others.iter().find_map(|object| object.read(bytes).ok()) {
        return Ok(entry);
    }
    Object::Certificate.read(bytes)
}
