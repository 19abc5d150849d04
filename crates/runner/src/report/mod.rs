//! Reports of jobs, as one line of text (`Display`) or one JSON object (`Serialize`).

mod credit;
mod finished;
mod llr;
mod no_result;
mod proof;
#[cfg(test)]
mod tests;
mod text;

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warpint_device::CPU;
use warpint_gimps::{self as gimps, Program, ProofFile, ProofInfo, ProofTest, ResultLine};
use warpint_mersenne::proof::sha3_256_text;
use warpint_mersenne::{ErrorCounts, LlStart, Number, Outcome, TestKind, Verdict};

pub use credit::Credit;
pub use finished::{Finding, FinishedTest};
pub use no_result::{FactorReport, StopReport};
pub use proof::{ProofReport, Refused};

use crate::proofs::PROOFS;

/// The report of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// The residue of a test, with a verdict if the test is finished.
    Test(Box<TestReport>),
    /// A factor of the number, which made the test unnecessary.
    Factor(FactorReport),
    /// The job was stopped on request and has no result.
    Stopped(StopReport),
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Test(report) => report.fmt(f),
            Self::Factor(report) => report.fmt(f),
            Self::Stopped(report) => report.fmt(f),
        }
    }
}

/// The result of a test, with all fields that are printed and stored.
///
/// `Deserialize` reads the output of `Serialize`, of this version and of earlier versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TestReport {
    status: Status,
    /// The number k·b^n ± 1, such as `3*2^189+1`; absent for a Mersenne number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    /// The exponent n of k·b^n ± 1, which is p for M_p.
    exponent: u32,
    /// The work type ([`TestKind::work_type`]).
    worktype: String,
    /// For Pocklington's test: the bases of its powers, in the order of their computation. For Morrison's
    /// test: the numbers t of its sequences. The residue is that of the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bases: Vec<u32>,
    /// The theorem by which a number is proven prime; absent for Mersenne numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    theorem: Option<String>,
    /// For Lucas–Lehmer: the starting value, `4`, `10` or `2/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    iterations: u64,
    /// The number of iterations of the whole test.
    total: u64,
    /// The iteration from which the last run of the test continued; absent if that run computed the
    /// whole test, and in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resumed_at: Option<u64>,
    /// The low 64 bits of the residue; absent if no residue was computed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    res64: String,
    /// The low 2048 bits of the residue in hexadecimal digits; for PRP only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    res2048: Option<String>,
    /// The name of the engine; absent if no engine was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    /// The device, such as `cuda:0`; absent on the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    fft_length: usize,
    /// The round-off; absent for engines that measure none, because their products are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round_off: Option<RoundOff>,
    shift_count: u32,
    /// For Lucas–Lehmer: the number of squarings that the last run of the program has checked;
    /// absent if it has checked none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checked_squarings: Option<u64>,
    errors: Errors,
    /// The computing time in seconds, summed over all runs of the program on this test.
    seconds: f64,
    program: Program,
    timestamp: String,
    /// For PRP: the known factors of M_p in decimal digits. If the list is not empty, the cofactor
    /// is tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    known_factors: Vec<String>,
    /// The proof that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<ProofInfo>,
    /// For Lucas–Lehmer: the name of the second engine, which recomputed the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    second_engine: Option<String>,
    /// For certifications: the SHA3-256 digest of the final residue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha3_hash: Option<String>,
    /// The assignment for which the test was done, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credit: Option<Credit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Status {
    /// The number is prime or, for PRP of a Mersenne number, a probable prime.
    #[serde(rename = "P")]
    Prime,
    /// The number, which is not a Mersenne number, is a probable prime.
    #[serde(rename = "PRP")]
    Probable,
    #[serde(rename = "C")]
    Composite,
    /// The test is a certification, which has no verdict on the number.
    #[serde(rename = "certified")]
    Certified,
    /// The test is not finished: the residue is that of an iteration before the last.
    #[serde(rename = "interim")]
    Interim,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct RoundOff {
    max: f64,
    mean: f64,
    products: u64,
    /// Z = (½ − μ)/β, where μ is the mode and β the scale of the distribution of the largest
    /// round-off of a product. Absent if the test has computed too few products to estimate it, and
    /// in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    z: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Errors {
    gerbicz: u32,
    #[serde(default)]
    jacobi: u32,
    #[serde(default)]
    double_check: u32,
    #[serde(default)]
    squarings: u32,
    /// Present in Morrison's test only, after such an error.
    #[serde(default, skip_serializing_if = "is_zero")]
    lucas: u32,
    round_off: u32,
}

/// Returns whether n is zero.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl From<ErrorCounts> for Errors {
    fn from(counts: ErrorCounts) -> Self {
        let ErrorCounts { gerbicz, jacobi, double_check, squarings, lucas, round_off } = counts;
        Self { gerbicz, jacobi, double_check, squarings, lucas, round_off }
    }
}

impl TestReport {
    /// Creates the report of the outcome of a test, with the current time.
    #[must_use]
    pub fn new(outcome: &Outcome) -> Self {
        let number = text_of(outcome.number);
        let theorem = (number.is_some() && outcome.verdict == Verdict::Prime)
            .then(|| outcome.kind.theorem(outcome.number));
        Self {
            status: match outcome.verdict {
                Verdict::ProbablePrime if number.is_some() => Status::Probable,
                Verdict::Prime | Verdict::ProbablePrime => Status::Prime,
                Verdict::Composite => Status::Composite,
                Verdict::Certified => Status::Certified,
                Verdict::Interim => Status::Interim,
            },
            number,
            exponent: outcome.number.exponent(),
            worktype: outcome.kind.work_type().into(),
            bases: outcome.bases.clone(),
            theorem: theorem.flatten().map(str::to_owned),
            start: start(outcome.kind),
            iterations: outcome.iterations,
            total: total(outcome),
            resumed_at: Some(outcome.resumed_at).filter(|&k| k > 0),
            res64: outcome.residue.res64_hex(),
            res2048: matches!(outcome.kind, TestKind::Prp).then(|| outcome.residue.res2048_hex()),
            engine: Some(outcome.engine.into()),
            device: (outcome.place != CPU).then(|| outcome.place.into()),
            fft_length: outcome.length,
            round_off: outcome.round_off.map(|r| RoundOff {
                max: r.max,
                mean: r.mean,
                products: r.products,
                z: r.z(),
            }),
            shift_count: outcome.shift,
            checked_squarings: Some(outcome.checked_squarings).filter(|&n| n > 0),
            errors: outcome.errors.into(),
            seconds: outcome.elapsed.as_secs_f64(),
            program: Program::warpint(),
            timestamp: gimps::utc_now(),
            known_factors: outcome.known_factors.clone(),
            proof: None,
            second_engine: None,
            sha3_hash: matches!(outcome.kind, TestKind::Cert(_))
                .then(|| sha3_256_text(&outcome.residue)),
            credit: None,
        }
    }

    /// Returns the report for M_2 = 3, which is prime. Neither the PRP test nor the Lucas–Lehmer
    /// test applies to it: p = 2 is even, the base 3 of a PRP test is 0 modulo 3, and the start 2/3
    /// of a Lucas–Lehmer test does not exist modulo 3. By convention the report has the res64 of a
    /// prime.
    #[must_use]
    pub fn of_m2(kind: TestKind) -> Self {
        let prp = matches!(kind, TestKind::Prp);
        Self {
            exponent: 2,
            worktype: kind.work_type().into(),
            start: start(kind),
            res64: format!("{:016X}", u64::from(prp)),
            res2048: prp.then(|| format!("{:0512x}", 1)),
            ..Self::untested()
        }
    }

    /// Returns the report of a prime below 2^63 that is not a Mersenne number; `None` for all other
    /// numbers. No residue is computed: the primality is proven by strong tests in machine words.
    pub(crate) fn of_small(number: Number) -> Option<Self> {
        let report = Self {
            number: text_of(number),
            exponent: number.exponent(),
            worktype: "MR".into(),
            theorem: Some("Sorenson–Webster".into()),
            ..Self::untested()
        };
        let wanted = number.is_small_prime() && !number.is_mersenne();
        wanted.then_some(report)
    }

    /// Returns the report of a prime for which no engine computed anything, without its number.
    fn untested() -> Self {
        Self {
            status: Status::Prime,
            number: None,
            exponent: 0,
            worktype: String::new(),
            bases: vec![],
            theorem: None,
            start: None,
            iterations: 0,
            total: 0,
            resumed_at: None,
            res64: String::new(),
            res2048: None,
            engine: None,
            device: None,
            fft_length: 0,
            round_off: None,
            shift_count: 0,
            checked_squarings: None,
            errors: ErrorCounts::default().into(),
            seconds: 0.0,
            program: Program::warpint(),
            timestamp: gimps::utc_now(),
            known_factors: vec![],
            proof: None,
            second_engine: None,
            sha3_hash: None,
            credit: None,
        }
    }

    /// Returns whether the test is finished and has this kind, this number and these known factors.
    #[must_use]
    pub fn is_of(
        &self,
        kind: TestKind,
        number: impl Into<Number>,
        known_factors: &[String],
    ) -> bool {
        let number = number.into();
        self.exponent == number.exponent()
            && self.number == text_of(number)
            && self.known_factors == known_factors
            && self.is_of_type(kind, number)
            && self.start == start(kind)
            && self.is_final()
    }

    /// Returns whether a test of this kind reports this work type. Morrison's test reports that of Fermat's
    /// test if that shows that the number is composite.
    fn is_of_type(&self, kind: TestKind, number: Number) -> bool {
        let by_fermat = matches!(kind, TestKind::Morrison { .. })
            && self.status == Status::Composite
            && self.worktype == TestKind::fermat(number).work_type();
        by_fermat || self.worktype == kind.work_type()
    }

    /// Returns the report with its credit replaced.
    #[must_use]
    pub fn credited(self, credit: Option<Credit>) -> Self {
        Self { credit, ..self }
    }

    /// Returns the report with a proof added.
    #[must_use]
    pub fn proven(self, proof: ProofInfo) -> Self {
        Self { proof: Some(proof), ..self }
    }

    /// Returns the report with the name of the second engine that recomputed the test, if any.
    #[must_use]
    pub fn doubled_by(self, engine: Option<&str>) -> Self {
        Self { second_engine: engine.map(str::to_owned), ..self }
    }

    /// Returns the shift of the residue at the start of the test, in bits.
    #[must_use]
    pub fn shift_count(&self) -> u32 {
        self.shift_count
    }

    /// Returns the exponent n of the number k·b^n ± 1, which is p for M_p.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// Returns the number of iterations done.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Returns whether the tested number is prime or, for PRP, a probable prime. The number is the
    /// number of the test, or the cofactor of M_p if factors are known. Returns `None` for a test that
    /// is not finished, and for a certification.
    #[must_use]
    pub fn is_prime(&self) -> Option<bool> {
        match self.status {
            Status::Prime | Status::Probable => Some(true),
            Status::Composite => Some(false),
            Status::Certified | Status::Interim => None,
        }
    }

    /// Returns the low 64 bits of the residue as 16 upper-case hexadecimal digits. The text is empty if
    /// no residue was computed.
    #[must_use]
    pub fn res64(&self) -> &str {
        &self.res64
    }

    /// Returns whether a proof was made.
    #[must_use]
    pub fn has_proof(&self) -> bool {
        self.proof.is_some()
    }

    /// Returns the path of the proof file, where `dir` is the directory of the job; `None` if no
    /// proof was made.
    #[must_use]
    pub fn proof_path(&self, dir: &Path) -> Option<PathBuf> {
        let proof = self.proof.as_ref()?;
        let test = match (&proof.test, &self.number) {
            (Some(test), Some(number)) => {
                ProofTest::Number { test: test.clone(), number: number.clone() }
            }
            _ => {
                ProofTest::Mersenne { exponent: self.exponent, factors: self.known_factors.clone() }
            }
        };
        let name = ProofFile::name_of(&test, proof.power);
        Some(dir.join(PROOFS).join(name))
    }

    /// Returns whether two engines computed the test and `engine` is one of the two.
    #[must_use]
    pub fn is_doubled_with(&self, engine: &str) -> bool {
        let second = self.second_engine.as_deref();
        second.is_some() && [self.engine.as_deref(), second].contains(&Some(engine))
    }

    /// Returns the assignment, user and computer to which the result is credited; `None` for a test
    /// without an assignment.
    #[must_use]
    pub fn credit(&self) -> Option<&Credit> {
        self.credit.as_ref()
    }

    /// Returns whether the test was done for the assignment of `credit`.
    #[must_use]
    pub fn is_for(&self, credit: &Credit) -> bool {
        self.credit.as_ref().is_some_and(|own| own.is_for(credit))
    }

    /// Returns whether the number needed no test.
    pub(crate) fn is_untested(&self) -> bool {
        self.engine.is_none()
    }

    /// Returns whether the test is finished.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.status != Status::Interim
    }

    /// Returns the line for the results file. Returns `None` for an interim residue, and for a
    /// Lucas–Lehmer test with a start other than 4, because the line does not contain the start, and
    /// for a number that is not a Mersenne number.
    #[must_use]
    pub fn result_line(&self) -> Option<ResultLine> {
        if self.number.is_some() {
            return None;
        }
        let status = match self.status {
            Status::Prime | Status::Probable => gimps::Status::Prime,
            Status::Composite => gimps::Status::Composite,
            // A certification has no verdict, and its line has no status.
            Status::Certified => gimps::Status::Composite,
            Status::Interim => return None,
        };
        let (p, res64, n) = (self.exponent, self.res64.clone(), self.fft_length);
        let line = match (&self.sha3_hash, &self.res2048, self.start.as_deref()) {
            (Some(hash), ..) => ResultLine::cert(p, self.iterations, hash.clone(), n),
            (None, Some(res2048), _) => {
                ResultLine::prp(p, status, res64, res2048.clone(), n, self.errors.gerbicz)
            }
            (None, None, Some("4")) => ResultLine::ll(p, status, res64, n),
            (None, None, _) => return None,
        };
        let credit = self.credit.as_ref();
        let of_cofactor = !self.known_factors.is_empty();
        let both = self.engine.iter().chain(&self.second_engine);
        Some(ResultLine {
            engines: if self.second_engine.is_some() { both.cloned().collect() } else { vec![] },
            residue_type: if of_cofactor { Some(5) } else { line.residue_type },
            known_factors: self.known_factors.clone(),
            proof: self.proof.clone(),
            aid: credit.and_then(|c| c.aid.clone()),
            user: credit.and_then(|c| c.user.clone()),
            computer: credit.and_then(|c| c.computer.clone()),
            shift_count: Some(self.shift_count),
            program: self.program.clone(),
            timestamp: self.timestamp.clone(),
            ..line
        })
    }
}

/// Returns whether the results of tests of this kind are written to the results file.
pub(crate) fn is_recorded(kind: TestKind) -> bool {
    matches!(kind, TestKind::Prp | TestKind::Ll(LlStart::Four) | TestKind::Cert(_))
}

/// Returns the text of a number in reports; `None` for M_p with prime p, which its exponent names.
pub(crate) fn text_of(number: Number) -> Option<String> {
    number.mersenne_exponent().is_none().then(|| number.to_string())
}

/// Returns the number of iterations of the whole test: the sum over all powers and sequences.
fn total(outcome: &Outcome) -> u64 {
    let number = outcome.number;
    let each = outcome.kind.iterations(number) * outcome.bases.len().max(1) as u64;
    match outcome.kind {
        TestKind::Morrison { .. } => each + TestKind::fermat(number).iterations(number),
        _ => each,
    }
}

/// Returns the starting value of a Lucas–Lehmer test as text; `None` for other tests.
fn start(kind: TestKind) -> Option<String> {
    let start = match kind {
        TestKind::Ll(LlStart::Four) => "4",
        TestKind::Ll(LlStart::Ten) => "10",
        TestKind::Ll(LlStart::TwoThirds) => "2/3",
        _ => return None,
    };
    Some(start.into())
}
