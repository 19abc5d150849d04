//! The report of the verification of a proof file.

use std::fmt::{self, Display};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use warpint_device::CPU;
use warpint_gimps::{Program, SavedProof};
use warpint_mersenne::Verdict;
use warpint_mersenne::proof::{Proof, Verification};
use warpint_progress::units;

/// The result of the verification of a proof file: the proof is right, or it is wrong for a stated
/// reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProofReport {
    file: String,
    exponent: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known_factors: Vec<String>,
    power: u32,
    md5: String,
    valid: bool,
    /// The verdict that is proven: `P` for a probable prime, `C` for a composite number; absent if
    /// the proof is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    /// The reason why the proof is refused; absent if it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Refused>,
    /// The low 64 bits of the residue that the file claims as the result of the test, in
    /// hexadecimal digits.
    res64: String,
    residue_type: u8,
    engine: &'static str,
    /// The device, such as `cuda:0`; absent on the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'static str>,
    fft_length: usize,
    /// The largest round-off; absent for engines that compute in integers.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_off: Option<f64>,
    seconds: f64,
    program: Program,
}

/// The reason why a proof is refused, as a code and as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The code of the reason, such as `equation` or `small-order`.
    pub code: &'static str,
    /// The reason as text.
    pub reason: String,
}

impl ProofReport {
    /// Returns whether the proof is right.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.valid
    }

    pub(crate) fn new(
        path: &Path,
        on_disk: SavedProof,
        proof: &Proof,
        verified: &Verification,
        time: Duration,
    ) -> Self {
        Self {
            file: path.display().to_string(),
            exponent: proof.exponent().get(),
            known_factors: proof.factors().texts().to_vec(),
            power: proof.power(),
            md5: on_disk.md5,
            valid: verified.is_valid(),
            status: verified.finding.ok().map(|verdict| match verdict {
                Verdict::Prime | Verdict::ProbablePrime => "P",
                Verdict::Composite | Verdict::Interim | Verdict::Certified => "C",
            }),
            refusal: verified
                .finding
                .err()
                .map(|refusal| Refused { code: refusal.code(), reason: refusal.to_string() }),
            res64: proof.residue().res64_hex(),
            residue_type: if proof.factors().is_empty() { 1 } else { 5 },
            engine: verified.engine,
            device: (verified.place != CPU).then_some(verified.place),
            fft_length: verified.length,
            round_off: verified.round_off.map(|r| r.max),
            seconds: time.as_secs_f64(),
            program: Program::warpint(),
        }
    }
}

/// Formats the report as `M216091 is a probable prime: the proof of power 8 is right, res64
/// 0000000000000001, md5 …`.
impl Display for ProofReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number: String = self.known_factors.iter().map(|factor| format!("/{factor}")).collect();
        write!(f, "M{}{number}", self.exponent)?;
        match self.status {
            Some("P") => f.write_str(" is a probable prime: the proof")?,
            Some(_) => f.write_str(" is composite: the proof")?,
            None => f.write_str(": the proof")?,
        }
        write!(f, " of power {} is ", self.power)?;
        match &self.refusal {
            None => f.write_str("right")?,
            Some(refusal) => write!(f, "WRONG ({})", refusal.reason)?,
        }
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        write!(
            f,
            ", res64 {}, md5 {}, {}, {}{} {}",
            self.res64,
            self.md5,
            units::elapsed(time),
            self.device.map(|device| format!("{device} ")).unwrap_or_default(),
            self.engine,
            units::count_words(self.fft_length),
        )?;
        match self.round_off {
            Some(max) => write!(f, ", round-off max {max:.4}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpint_mersenne::proof::Refusal;

    use super::*;

    fn report(status: Option<&'static str>) -> ProofReport {
        ProofReport {
            file: "f".into(),
            exponent: 131,
            known_factors: vec![],
            power: 3,
            md5: "abc".into(),
            valid: status.is_some(),
            status,
            refusal: status.is_none().then(|| Refused {
                code: Refusal::Equation.code(),
                reason: Refusal::Equation.to_string(),
            }),
            res64: "0000000000000001".into(),
            residue_type: 1,
            engine: "fp64",
            device: None,
            fft_length: 8192,
            round_off: Some(0.125),
            seconds: 0.5,
            program: Program::warpint(),
        }
    }

    #[test]
    fn a_wrong_proof_says_nothing_of_the_number() {
        let rest =
            ", res64 0000000000000001, md5 abc, 500.00 ms, fp64 8K words, round-off max 0.1250";
        for (status, expected) in [
            (Some("P"), "M131 is a probable prime: the proof of power 3 is right"),
            (Some("C"), "M131 is composite: the proof of power 3 is right"),
            (None, "M131: the proof of power 3 is WRONG (its equation does not hold)"),
        ] {
            assert_eq!(report(status).to_string(), format!("{expected}{rest}"));
        }
        let with_factor = ProofReport { known_factors: vec!["263".into()], ..report(Some("P")) };
        assert!(with_factor.to_string().starts_with("M131/263 is a probable prime"));
        let json = serde_json::to_value(report(None)).unwrap();
        assert!(json.get("status").is_none());
        assert_eq!(json["refusal"]["code"], "equation");
        assert!(serde_json::to_value(report(Some("C"))).unwrap().get("refusal").is_none());
    }
}
