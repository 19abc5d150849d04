//! Reports of tests that have no final residue, because a factor was found or the user stopped the
//! test.

use std::fmt::{self, Display};

use serde::Serialize;
use warpint_gimps::{self as gimps, Program, ResultLine};
use warpint_mersenne::TestKind;

use super::Credit;

/// The report of a factor that made a test unnecessary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactorReport {
    /// The text `F`: a factor was found.
    status: &'static str,
    exponent: u32,
    /// The work type `TF`, trial factoring.
    worktype: &'static str,
    /// The factor in decimal digits, because it may not fit in a JSON number.
    factors: [String; 1],
    program: Program,
    timestamp: String,
    #[serde(skip)]
    factor: u64,
}

impl FactorReport {
    /// Creates the report that the factor q = 2kp + 1 divides M_p.
    #[must_use]
    pub fn new(exponent: u32, factor: u64) -> Self {
        Self {
            status: "F",
            exponent,
            worktype: "TF",
            factors: [factor.to_string()],
            program: Program::warpint(),
            timestamp: gimps::utc_now(),
            factor,
        }
    }

    /// Returns the line for the results file, with the assignment and the user of `credit`.
    #[must_use]
    pub fn result_line(&self, credit: Option<&Credit>) -> ResultLine {
        let [factor] = &self.factors;
        ResultLine {
            timestamp: self.timestamp.clone(),
            aid: credit.and_then(|c| c.aid.clone()),
            user: credit.and_then(|c| c.user.clone()),
            computer: credit.and_then(|c| c.computer.clone()),
            ..ResultLine::factor(self.exponent, factor.clone())
        }
    }
}

impl Display for FactorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p, q) = (self.exponent, self.factor);
        let k = (q - 1) / (2 * u64::from(p));
        write!(f, "M{p} is composite: it has the factor {q} = 2·{k}·{p} + 1")
    }
}

/// The report of a test that the user stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopReport {
    /// The text `stopped`.
    status: &'static str,
    exponent: u32,
    worktype: &'static str,
    iterations: u64,
    total: u64,
    saved: bool,
}

impl StopReport {
    /// Creates the report that a test of M_p was stopped after `iterations` iterations. `saved` is
    /// true if a checkpoint of this iteration is on disk.
    #[must_use]
    pub fn new(kind: TestKind, exponent: u32, iterations: u64, saved: bool) -> Self {
        let total = kind.iterations(exponent);
        let worktype = kind.work_type();
        Self { status: "stopped", exponent, worktype, iterations, total, saved }
    }
}

impl Display for StopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exponent, worktype, iterations, total, .. } = self;
        write!(f, "M{exponent} {worktype} stopped after {iterations} of {total} squarings: ")?;
        f.write_str(if self.saved {
            "saved; the same command goes on from there"
        } else {
            "not saved; the same command goes on from the last checkpoint, if there is one"
        })
    }
}
