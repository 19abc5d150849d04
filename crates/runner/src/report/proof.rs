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
    /// The number k·b^n ± 1, such as `3*2^189+1`; absent for a Mersenne number.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    /// The exponent n of k·b^n ± 1, which is p for M_p.
    exponent: u32,
    /// The work type of the test; absent for a Mersenne number.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktype: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known_factors: Vec<String>,
    power: u32,
    md5: String,
    valid: bool,
    /// The verdict that is proven: `C` for a composite number, `P` for a probable prime M_p, and for other
    /// numbers `P` for a prime and `PRP` for a probable prime; absent if the proof is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    /// The theorem by which a number is prime; absent for Mersenne numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    theorem: Option<&'static str>,
    /// The reason why the proof is refused; absent if it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Refused>,
    /// The low 64 bits of the residue of the test, in hexadecimal digits. For M_p this is the residue that
    /// the file claims; for other numbers the residue that the verification has computed, and absent if
    /// the proof is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    res64: Option<String>,
    /// The type of the residue in GIMPS; absent for other numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    residue_type: Option<u8>,
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
        let (subject, number) = (proof.subject(), proof.number());
        let is_of_mersenne = subject.is_of_mersenne();
        let is_prime = verified.finding == Ok(Verdict::Prime);
        let residue = proof.claimed().or_else(|| verified.residue.clone());
        Self {
            file: path.display().to_string(),
            number: (!is_of_mersenne).then(|| number.to_string()),
            exponent: number.exponent(),
            worktype: (!is_of_mersenne).then(|| subject.kind().work_type().into()),
            known_factors: proof.factors().texts().to_vec(),
            power: proof.power(),
            md5: on_disk.md5,
            valid: verified.is_valid(),
            status: verified.finding.ok().map(|verdict| match verdict {
                Verdict::ProbablePrime if !is_of_mersenne => "PRP",
                Verdict::Prime | Verdict::ProbablePrime => "P",
                Verdict::Composite | Verdict::Interim | Verdict::Certified => "C",
            }),
            theorem: is_prime.then(|| subject.kind().theorem(number)).flatten(),
            refusal: verified
                .finding
                .err()
                .map(|refusal| Refused { code: refusal.code(), reason: refusal.to_string() }),
            res64: residue.map(|residue| residue.res64_hex()),
            residue_type: is_of_mersenne.then_some(match proof.factors().is_empty() {
                true => 1,
                false => 5,
            }),
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
/// 0000000000000001, md5 …`, for other numbers as `7*2^2256+1 is prime (Proth): the proof of Proth-3, power 5,
/// is right, …`.
impl Display for ProofReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number: String = self.known_factors.iter().map(|factor| format!("/{factor}")).collect();
        match &self.number {
            Some(number) => f.write_str(number)?,
            None => write!(f, "M{}{number}", self.exponent)?,
        }
        match (self.status, self.theorem) {
            (Some(_), Some(theorem)) => write!(f, " is prime ({theorem}): the proof")?,
            (Some("C"), None) => f.write_str(" is composite: the proof")?,
            (Some(_), None) => f.write_str(" is a probable prime: the proof")?,
            (None, _) => f.write_str(": the proof")?,
        }
        match &self.worktype {
            Some(worktype) => write!(f, " of {worktype}, power {}, is ", self.power)?,
            None => write!(f, " of power {} is ", self.power)?,
        }
        match &self.refusal {
            None => f.write_str("right")?,
            Some(refusal) => write!(f, "WRONG ({})", refusal.reason)?,
        }
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        let length = match self.fft_length {
            1 => String::new(),
            n => format!(" {}", units::count_words(n)),
        };
        if let Some(res64) = &self.res64 {
            write!(f, ", res64 {res64}")?;
        }
        write!(
            f,
            ", md5 {}, {}, {}{}{}",
            self.md5,
            units::elapsed(time),
            self.device.map(|device| format!("{device} ")).unwrap_or_default(),
            self.engine,
            length,
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
            number: None,
            exponent: 131,
            worktype: None,
            known_factors: vec![],
            power: 3,
            md5: "abc".into(),
            valid: status.is_some(),
            status,
            theorem: None,
            refusal: status.is_none().then(|| Refused {
                code: Refusal::Equation.code(),
                reason: Refusal::Equation.to_string(),
            }),
            res64: Some("0000000000000001".into()),
            residue_type: Some(1),
            engine: "fp64",
            device: None,
            fft_length: 8192,
            round_off: Some(0.125),
            seconds: 0.5,
            program: Program::warpint(),
        }
    }

    #[test]
    fn the_proof_of_another_number_names_its_test_and_its_theorem() {
        let of = |status: Option<&'static str>, theorem| ProofReport {
            number: Some("7*2^2256+1".into()),
            exponent: 2256,
            worktype: Some("Proth-3".into()),
            res64: status.map(|_| "0000000000000000".into()),
            residue_type: None,
            engine: "plain",
            fft_length: 1,
            round_off: None,
            theorem,
            ..report(status)
        };
        for (status, theorem, expected) in [
            (
                Some("P"),
                Some("Proth"),
                " is prime (Proth): the proof of Proth-3, power 3, is right, res64",
            ),
            (
                Some("PRP"),
                None,
                " is a probable prime: the proof of Proth-3, power 3, is right, res64",
            ),
            (Some("C"), None, " is composite: the proof of Proth-3, power 3, is right, res64"),
            (
                None,
                None,
                ": the proof of Proth-3, power 3, is WRONG (its equation does not hold), md5",
            ),
        ] {
            let text = of(status, theorem).to_string();
            assert!(text.starts_with(&format!("7*2^2256+1{expected} ")), "{text}");
            assert!(text.ends_with("500.00 ms, plain"), "{text}");
        }
        let json = serde_json::to_value(of(None, None)).unwrap();
        assert!(json.get("res64").is_none() && json.get("residue-type").is_none());
        assert_eq!((&json["number"], &json["worktype"]), (&"7*2^2256+1".into(), &"Proth-3".into()));
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
