//! The known answers in `crates/selftest/vectors`. The files are compiled into the program.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The content of `crates/selftest/vectors/mersenne_primes.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MersennePrimes {
    /// Where the list was taken from, and up to which exponent it is known to be complete.
    pub source: String,
    /// The exponents p of the known Mersenne primes 2^p − 1, ascending.
    pub exponents: Vec<u32>,
}

/// The content of `crates/selftest/vectors/small_residues.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallResidues {
    /// The program that computed the answers.
    pub source: String,
    /// One entry for every odd prime p < 2,000, for 4,423 and for 4,441, ascending.
    pub residues: Vec<SmallResidue>,
}

/// The final residues of the LL and PRP tests of one exponent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallResidue {
    /// The exponent p of M_p = 2^p − 1.
    pub p: u32,
    /// The low 64 bits of the Lucas–Lehmer residue s_(p−2), with s_0 = 4, as 16 upper-case
    /// hexadecimal digits.
    pub ll: String,
    /// The low 64 bits of 3^(M_p − 1) mod M_p, as 16 upper-case hexadecimal digits.
    pub prp: String,
}

/// The content of `crates/selftest/vectors/residues.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterimResidues {
    /// The program that computed the answers.
    pub source: String,
    /// The residues, one entry for each exponent.
    pub residues: Vec<InterimResidue>,
}

/// The residue of a sequence modulo M_p after some iterations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterimResidue {
    /// The exponent p of M_p = 2^p − 1.
    pub p: u32,
    /// The sequence that is iterated.
    pub test: Sequence,
    /// The number of iterations.
    pub iterations: u64,
    /// The low 64 bits of the residue, as 16 upper-case hexadecimal digits.
    pub res64: String,
}

/// The sequence that a test of M_p = 2^p − 1 iterates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sequence {
    /// The Lucas–Lehmer sequence s_(n+1) = s_n² − 2 mod M_p from s_0 = 4.
    Ll,
    /// The sequence 3^(2^n) mod M_p of a PRP test.
    Prp,
}

/// The content of `crates/selftest/vectors/fermat_residues.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FermatResidues {
    /// The program that computed the answers.
    pub source: String,
    /// The residues.
    pub residues: Vec<FermatResidue>,
}

/// The residue of 3^(2^i) modulo a Fermat number F_m = 2^(2^m) + 1.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FermatResidue {
    /// The index m.
    pub m: u32,
    /// The number i of squarings.
    pub iterations: u64,
    /// The low 64 bits of the residue, as 16 upper-case hexadecimal digits.
    pub res64: String,
}

/// The content of `crates/selftest/vectors/proof_layout.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofLayout {
    /// The program that computed the answers.
    pub source: String,
    /// The known proof files.
    pub proofs: Vec<KnownProof>,
}

/// A proof file of version 2, with its known properties.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownProof {
    /// The exponent p of M_p = 2^p − 1.
    pub p: u32,
    /// The power of the proof: the number of middle residues in the file.
    pub power: u32,
    /// The known factors in the header of the file, in decimal digits.
    pub factors: Vec<String>,
    /// Whether M_p divided by the known factors is a probable prime to base 3.
    pub prime: bool,
    /// The low 64 bits of 3^(M_p − 1) mod M_p, as 16 upper-case hexadecimal digits.
    pub res64: String,
    /// The size of the file, in bytes.
    pub bytes: usize,
    /// The MD5 of the file, in lower-case hexadecimal digits.
    pub md5: String,
    /// The SHA-256 of the file, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The whole file in lower-case hexadecimal digits. `None` for larger files, whose content is
    /// not included.
    pub hex: Option<String>,
}

impl KnownProof {
    /// Returns the bytes of the file. Returns `None` if the content of the file is not included.
    #[must_use]
    pub fn file(&self) -> Option<Vec<u8>> {
        let digits = self.hex.as_ref()?;
        let byte = |i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok();
        (0..digits.len()).step_by(2).map(byte).collect()
    }
}

/// A file of known answers cannot be parsed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("crates/selftest/vectors/{file}: {source}")]
pub struct VectorError {
    /// The name of the file.
    file: &'static str,
    /// The underlying error.
    source: toml::de::Error,
}

macro_rules! vector_file {
    ($file:literal) => {
        ($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/", $file)))
    };
}

/// Returns the exponents of the known Mersenne primes.
pub fn mersenne_primes() -> Result<MersennePrimes, VectorError> {
    parse(vector_file!("mersenne_primes.toml"))
}

/// Returns the LL and PRP residues of the odd primes p < 2,000, of 4,423 and of 4,441.
pub fn small_residues() -> Result<SmallResidues, VectorError> {
    parse(vector_file!("small_residues.toml"))
}

/// Returns the residues of large exponents after 10,000 iterations.
pub fn interim_residues() -> Result<InterimResidues, VectorError> {
    parse(vector_file!("residues.toml"))
}

/// Returns the residues modulo Fermat numbers after 100, 1,000 and 10,000 squarings.
pub fn fermat_residues() -> Result<FermatResidues, VectorError> {
    parse(vector_file!("fermat_residues.toml"))
}

/// Returns the known proof files of small exponents.
pub fn proof_layout() -> Result<ProofLayout, VectorError> {
    parse(vector_file!("proof_layout.toml"))
}

fn parse<T: DeserializeOwned>((file, text): (&'static str, &str)) -> Result<T, VectorError> {
    toml::from_str(text).map_err(|source| VectorError { file, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_arith::primes;

    fn is_res64(text: &str) -> bool {
        text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'))
    }

    #[test]
    fn every_file_parses_and_is_complete() {
        let known = mersenne_primes().unwrap();
        assert!(known.exponents.is_sorted_by(|a, b| a < b));
        assert!(known.exponents.iter().all(|&p| primes::is_prime(u64::from(p))));

        let small = small_residues().unwrap().residues;
        let exponents: Vec<u64> = small.iter().map(|r| u64::from(r.p)).collect();
        let expected = primes::primes_between(3, 1_999).chain([4_423, 4_441]);
        assert_eq!(exponents, expected.collect::<Vec<_>>());
        for r in &small {
            assert!(is_res64(&r.ll) && is_res64(&r.prp), "M{}", r.p);
            let prime = known.exponents.contains(&r.p);
            assert_eq!(r.ll == "0000000000000000", prime, "M{}", r.p);
            assert_eq!(r.prp == "0000000000000001", prime, "M{}", r.p);
        }

        for r in interim_residues().unwrap().residues {
            assert!(is_res64(&r.res64) && r.iterations < u64::from(r.p), "M{}", r.p);
        }

        let fermat = fermat_residues().unwrap().residues;
        assert_eq!(fermat.len(), 50);
        for r in &fermat {
            assert!(is_res64(&r.res64) && (14..=30).contains(&r.m), "F_{}", r.m);
            assert!([100, 1_000, 10_000].contains(&r.iterations), "F_{}", r.m);
        }

        let proofs = proof_layout().unwrap().proofs;
        assert!(proofs.iter().filter(|proof| proof.hex.is_some()).count() >= 3);
        for proof in proofs {
            assert!(is_res64(&proof.res64), "M{}", proof.p);
            assert_eq!((proof.md5.len(), proof.sha256.len()), (32, 64), "M{}", proof.p);
            let whole = proof.file();
            assert_eq!(whole.is_some(), proof.hex.is_some(), "M{}", proof.p);
            assert!(whole.is_none_or(|bytes| bytes.len() == proof.bytes), "M{}", proof.p);
        }
    }

    #[test]
    fn says_which_file_is_wrong() {
        let error = parse::<SmallResidues>(("some.toml", "source = 3")).unwrap_err();
        assert!(error.to_string().starts_with("crates/selftest/vectors/some.toml: "), "{error}");
    }
}
