//! What is printed of a test that ended without a residue: by a factor, or by the user.

use std::fmt::{self, Display};

use serde::Serialize;
use warpint::gimps::{self, Program, ResultLine};
use warpint::mersenne::TestKind;

use crate::report::Credit;

/// A test that trial factoring made needless.
#[derive(Debug, Serialize)]
pub(crate) struct FactorReport {
    /// `F`.
    status: &'static str,
    exponent: u32,
    /// `TF`.
    worktype: &'static str,
    /// Decimal digits: a factor need not fit into a JSON number.
    factors: [String; 1],
    program: Program,
    timestamp: String,
    #[serde(skip)]
    factor: u64,
}

impl FactorReport {
    /// q = 2kp + 1 divides M_p.
    pub(crate) fn new(exponent: u32, factor: u64) -> Self {
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

    /// The line for the results file.
    pub(crate) fn result_line(&self, credit: Option<&Credit>) -> ResultLine {
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

/// A test that the user stopped.
#[derive(Debug, Serialize)]
pub(crate) struct StopReport {
    /// `stopped`.
    status: &'static str,
    exponent: u32,
    worktype: &'static str,
    iterations: u64,
    total: u64,
    saved: bool,
}

impl StopReport {
    pub(crate) fn new(kind: TestKind, exponent: u32, iterations: u64, saved: bool) -> Self {
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
