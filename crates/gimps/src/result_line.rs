//! One line of `results.txt`, in the JSON format of the GIMPS server.

use serde::{Deserialize, Serialize};

/// One line of `results.txt`, with the field names of the JSON format of the GIMPS server.
///
/// Fields that do not apply to a work type are omitted from the line. They are never written as
/// null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ResultLine {
    /// The verdict: prime (for PRP: a probable prime), composite, or a factor found. `None` for a
    /// certification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The exponent p of the number M_p = 2^p − 1.
    pub exponent: u32,
    /// The work type: `PRP-3`, `LL`, `Cert` (certification of a proof) or `TF` (trial factoring).
    pub worktype: String,
    /// For TF: the factors found, in decimal digits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<String>,
    /// For LL and PRP: the low 64 bits of the final residue, as 16 upper-case hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub res64: Option<String>,
    /// For PRP: the residue type. It is 1 for a test of M_p, and 5 for a test of a cofactor of M_p.
    /// For either type, the final residue is 3^(M_p − 1) mod M_p.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residue_type: Option<u8>,
    /// For PRP: the low 2048 bits of the final residue, as 512 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub res2048: Option<String>,
    /// For PRP of a cofactor: the known factors of M_p in decimal digits. The cofactor is M_p
    /// divided by these factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_factors: Vec<String>,
    /// For Cert: the SHA3-256 hash of the final residue, as 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha3_hash: Option<String>,
    /// For Cert: the number of squarings applied to the start residue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub squarings: Option<u64>,
    /// For LL and Cert: the error code, as eight hexadecimal digits. `00000000` means that the run
    /// had no unresolved errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// The names of the two engines if two engines have computed the whole run and agreed.
    /// Otherwise empty. This field is specific to this program; other programs ignore it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<String>,
    /// The transform length in words; absent for TF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fft_length: Option<usize>,
    /// The shift count at the start of the test, in bits; absent for TF. With a shift count s, the
    /// stored residue is x·2^s mod M_p. This program writes 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift_count: Option<u32>,
    /// For PRP: the numbers of errors that were detected and corrected, by kind of check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorTally>,
    /// For PRP: the description of the proof of the test. The proof is a separate file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofInfo>,
    /// The name and version of the program that computed the result.
    pub program: Program,
    /// The time of the result in UTC, as `YYYY-MM-DD HH:MM:SS` (see [`utc_now`]).
    pub timestamp: String,
    /// The ID of the assignment, as 32 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aid: Option<String>,
    /// The user's name on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The computer's name on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
}

/// The verdict of a result line: `P`, `C` or `F` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The number is prime or, for PRP, a probable prime.
    #[serde(rename = "P")]
    Prime,
    /// The number is composite.
    #[serde(rename = "C")]
    Composite,
    /// The number is composite, and a factor was found.
    #[serde(rename = "F")]
    Factor,
}

/// The numbers of errors that were detected and corrected in a run, by kind of check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorTally {
    /// The number of Gerbicz checks that failed.
    pub gerbicz: u32,
}

/// The description of a proof file in a result line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofInfo {
    /// The version of the file format: 2 for Mersenne numbers, 1 for other numbers.
    pub version: u8,
    /// The power of the proof, which is its number of middle residues.
    pub power: u32,
    /// The number of bits of the exponents that are derived from hashes when the proof is
    /// verified: 64.
    pub hashsize: u32,
    /// The MD5 hash of the whole file, as 32 lower-case hexadecimal digits.
    pub md5: String,
    /// The name of the test in the proof file, such as `proth-3`; absent for Mersenne numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

impl ProofInfo {
    /// Creates the description of a proof in the format of this program, which is version 2 with a
    /// hash size of 64 bits. `md5` is the MD5 hash of the file, as 32 lower-case hexadecimal
    /// digits.
    #[must_use]
    pub fn version_2(power: u32, md5: String) -> Self {
        Self { version: 2, power, hashsize: 64, md5, test: None }
    }

    /// Creates the description of a proof of a number other than a Mersenne number. `test` is the name of the
    /// test in the file, and `md5` as for [`ProofInfo::version_2`].
    #[must_use]
    pub fn of_number(power: u32, md5: String, test: String) -> Self {
        Self { version: 1, power, hashsize: 64, md5, test: Some(test) }
    }
}

/// The name and version of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The name of the program.
    pub name: String,
    /// The version of the program.
    pub version: String,
}

impl Program {
    /// Returns the name `warpint` and the version of this workspace.
    #[must_use]
    pub fn warpint() -> Self {
        Self { name: "warpint".into(), version: env!("CARGO_PKG_VERSION").into() }
    }
}

impl ResultLine {
    /// Creates the line of a finished Lucas–Lehmer test with the starting value 4, shift count 0
    /// and the current time. `res64` has 16 upper-case hexadecimal digits. `fft_length` is the
    /// transform length in words.
    #[must_use]
    pub fn ll(exponent: u32, status: Status, res64: String, fft_length: usize) -> Self {
        Self {
            status: Some(status),
            exponent,
            worktype: "LL".into(),
            factors: vec![],
            res64: Some(res64),
            residue_type: None,
            res2048: None,
            known_factors: vec![],
            sha3_hash: None,
            squarings: None,
            error_code: Some("00000000".into()),
            engines: vec![],
            fft_length: Some(fft_length),
            shift_count: Some(0),
            errors: None,
            proof: None,
            program: Program::warpint(),
            timestamp: utc_now(),
            aid: None,
            user: None,
            computer: None,
        }
    }

    /// Creates the line of a finished Fermat test to base 3 with residue type 1, shift count 0 and
    /// the current time.
    ///
    /// `res64` and `res2048` are hexadecimal, as in [`ResultLine`]. `fft_length` is the transform
    /// length in words. `gerbicz` is the number of Gerbicz checks that failed. The line states that
    /// the run used Gerbicz checks and recovered from each failure, so the caller must ensure this.
    #[must_use]
    pub fn prp(
        exponent: u32,
        status: Status,
        res64: String,
        res2048: String,
        fft_length: usize,
        gerbicz: u32,
    ) -> Self {
        Self {
            worktype: "PRP-3".into(),
            residue_type: Some(1),
            res2048: Some(res2048),
            error_code: None,
            errors: Some(ErrorTally { gerbicz }),
            ..Self::ll(exponent, status, res64, fft_length)
        }
    }

    /// Creates the line of a finished certification with shift count 0 and the current time.
    /// `sha3_hash` is the SHA3-256 hash of the final residue, as 64 hexadecimal digits.
    /// `fft_length` is the transform length in words. The line has no verdict and no res64.
    #[must_use]
    pub fn cert(exponent: u32, squarings: u64, sha3_hash: String, fft_length: usize) -> Self {
        Self {
            status: None,
            worktype: "Cert".into(),
            res64: None,
            sha3_hash: Some(sha3_hash),
            squarings: Some(squarings),
            ..Self::ll(exponent, Status::Composite, String::new(), fft_length)
        }
    }

    /// Creates the line of a factor found by trial division, with the current time. `factor` is in
    /// decimal digits.
    ///
    /// The line states only that this number is a factor. The fields by which programs for trial
    /// factoring report a searched range (`bitlo`, `bithi`, `rangecomplete`) are absent.
    #[must_use]
    pub fn factor(exponent: u32, factor: String) -> Self {
        Self {
            worktype: "TF".into(),
            factors: vec![factor],
            res64: None,
            error_code: None,
            fft_length: None,
            shift_count: None,
            ..Self::ll(exponent, Status::Factor, String::new(), 0)
        }
    }
}

/// Returns the current time as `YYYY-MM-DD HH:MM:SS` in UTC.
#[must_use]
pub fn utc_now() -> String {
    jiff::Timestamp::now().strftime(TIME_FORM).to_string()
}

/// The form of times in results and logs, in UTC.
const TIME_FORM: &str = "%Y-%m-%d %H:%M:%S";

/// Parses a time in the form of [`utc_now`]. Returns the seconds since 1970-01-01 00:00:00 UTC, or
/// `None` for any other text.
#[must_use]
pub fn parse_utc(text: &str) -> Option<i64> {
    let time = jiff::civil::DateTime::strptime(TIME_FORM, text).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
}

/// Formats a time as [`utc_now`] does. `seconds` is the time since 1970-01-01 00:00:00 UTC. Returns
/// an empty text for a time before the year -9999 or after the year 9999.
#[must_use]
pub fn utc_text(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds)
        .map_or_else(|_| String::new(), |time| time.strftime(TIME_FORM).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read_back() {
        // From `date -u -d '2026-01-02 03:04:05' +%s`.
        assert_eq!(parse_utc("2026-01-02 03:04:05"), Some(1_767_323_045));
        assert_eq!(utc_text(1_767_323_045), "2026-01-02 03:04:05");
        let now = utc_now();
        assert_eq!(parse_utc(&now).map(utc_text), Some(now));
        for wrong in ["", "2026-13-02 03:04:05", "2026-01-02", "2026-01-02 03:04:05 UTC"] {
            assert_eq!(parse_utc(wrong), None, "{wrong}");
        }
        assert_eq!(utc_text(i64::MAX), "");
    }
}
