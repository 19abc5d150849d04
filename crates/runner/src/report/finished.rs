//! Finished tests, read back from the files that record them.

use serde::Deserialize;
use serde_json::Value;
use warpint_gimps::{self as gimps, ResultLine};

use super::{Credit, Errors, RoundOff, Status, TestReport};

/// A finished test, as a file records it. A value that the file does not have is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedTest {
    /// The number: `M216091`, `M216091/1296547` for a cofactor, or `3*2^189+1`.
    pub number: String,
    /// The work type, such as `PRP-3`, `LL`, `Cert`, `TF` or `Proth-5`.
    pub worktype: String,
    /// What the test has found.
    pub finding: Finding,
    /// The low 64 bits of the residue; for a certification the SHA3-256 hash of the residue.
    pub residue: Option<String>,
    /// The computing time in seconds, summed over all runs.
    pub seconds: Option<f64>,
    /// The name of the engine.
    pub engine: Option<String>,
    /// The device, such as `cuda:0` or `cpu`.
    pub device: Option<String>,
    /// The transform length in words.
    pub fft_length: Option<usize>,
    /// The largest and the mean round-off.
    pub round_off: Option<(f64, f64)>,
    /// The number of errors from which the test has recovered.
    pub errors: Option<u32>,
    /// The power of the proof, if a proof was made.
    pub proof_power: Option<u32>,
    /// The time of the result in seconds since 1970-01-01 00:00:00 UTC.
    pub time: Option<i64>,
    /// The user to whom the result is credited.
    pub user: Option<String>,
    /// The computer to which the result is credited.
    pub computer: Option<String>,
}

/// What a finished test has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The number is prime.
    Prime,
    /// The number is a probable prime.
    ProbablePrime,
    /// The number is composite.
    Composite,
    /// These numbers are factors, in decimal digits or as expressions.
    Factors(Vec<String>),
    /// The test is a certification, which has no verdict.
    Certified,
}

impl Finding {
    /// Returns whether the number is prime or a probable prime.
    #[must_use]
    pub fn is_prime(&self) -> bool {
        matches!(self, Self::Prime | Self::ProbablePrime)
    }
}

/// The result of a candidate for which a factor was found.
#[derive(Deserialize)]
struct Factored {
    number: Option<String>,
    exponent: u32,
    worktype: String,
    factors: Vec<String>,
    timestamp: String,
    credit: Option<Credit>,
}

impl FinishedTest {
    /// Parses a line of `results.txt`. Returns `None` for a line of another form.
    #[must_use]
    pub fn of_result_line(line: &[u8]) -> Option<Self> {
        let line: ResultLine = serde_json::from_slice(line).ok()?;
        let by_prp = line.worktype.starts_with("PRP");
        let finding = match line.status {
            _ if !line.factors.is_empty() => Finding::Factors(line.factors),
            Some(gimps::Status::Prime) if by_prp => Finding::ProbablePrime,
            Some(gimps::Status::Prime) => Finding::Prime,
            Some(gimps::Status::Composite) => Finding::Composite,
            Some(gimps::Status::Factor) => Finding::Factors(vec![]),
            None => Finding::Certified,
        };
        Some(Self {
            number: name(None, line.exponent, &line.known_factors),
            worktype: line.worktype,
            finding,
            residue: line.res64.or(line.sha3_hash),
            seconds: None,
            engine: Some(line.engines.join(" and ")).filter(|engines| !engines.is_empty()),
            device: None,
            fft_length: line.fft_length,
            round_off: None,
            errors: line.errors.map(|errors| errors.gerbicz),
            proof_power: line.proof.map(|proof| proof.power),
            time: gimps::parse_utc(&line.timestamp),
            user: line.user,
            computer: line.computer,
        })
    }

    /// Parses a line of `candidates.jsonl`. Returns `None` for a line of another form, and for a test that
    /// is not finished.
    #[must_use]
    pub fn of_candidate_line(line: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(line).ok()?;
        if value.get("status").and_then(Value::as_str) != Some("F") {
            return serde_json::from_value::<TestReport>(value).ok()?.finished();
        }
        let factored: Factored = serde_json::from_value(value).ok()?;
        let (user, computer) = factored.credit.map_or((None, None), |c| (c.user, c.computer));
        Some(Self {
            number: name(factored.number, factored.exponent, &[]),
            worktype: factored.worktype,
            finding: Finding::Factors(factored.factors),
            residue: None,
            seconds: None,
            engine: None,
            device: None,
            fft_length: None,
            round_off: None,
            errors: None,
            proof_power: None,
            time: gimps::parse_utc(&factored.timestamp),
            user,
            computer,
        })
    }
}

impl TestReport {
    /// Returns the finished test of the report; `None` for a test that is not finished.
    pub(crate) fn finished(self) -> Option<FinishedTest> {
        let by_prp = self.start.is_none() && self.number.is_none();
        let finding = match self.status {
            Status::Prime if by_prp => Finding::ProbablePrime,
            Status::Prime => Finding::Prime,
            Status::Probable => Finding::ProbablePrime,
            Status::Composite => Finding::Composite,
            Status::Certified => Finding::Certified,
            Status::Interim => return None,
        };
        let Errors { gerbicz, jacobi, double_check, squarings, lucas, round_off } = self.errors;
        let errors = [gerbicz, jacobi, double_check, squarings, lucas, round_off];
        // Without an engine, nothing was computed.
        let tested = self.engine.is_some();
        let (user, computer) = self.credit.map_or((None, None), |c| (c.user, c.computer));
        let residue = self.sha3_hash.or(Some(self.res64)).filter(|text| !text.is_empty());
        let device = self.device.or_else(|| tested.then(|| warpint_device::CPU.into()));
        Some(FinishedTest {
            number: name(self.number, self.exponent, &self.known_factors),
            worktype: self.worktype,
            finding,
            residue,
            seconds: tested.then_some(self.seconds),
            engine: match (self.engine, self.second_engine) {
                (Some(first), Some(second)) => Some(format!("{first} and {second}")),
                (engine, _) => engine,
            },
            device,
            fft_length: tested.then_some(self.fft_length),
            round_off: self.round_off.map(|RoundOff { max, mean, .. }| (max, mean)),
            errors: tested.then(|| errors.into_iter().fold(0, u32::saturating_add)),
            proof_power: self.proof.map(|proof| proof.power),
            time: gimps::parse_utc(&self.timestamp),
            user,
            computer,
        })
    }
}

/// Returns the name of a number, or of the cofactor that known factors leave.
fn name(number: Option<String>, exponent: u32, known_factors: &[String]) -> String {
    let name = number.unwrap_or_else(|| format!("M{exponent}"));
    known_factors.iter().fold(name, |name, factor| name + "/" + factor)
}
