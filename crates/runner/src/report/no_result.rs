//! Reports of tests that have no final residue, because a factor was found or the user stopped the
//! test.

use std::fmt::{self, Display};

use serde::Serialize;
use warpint_gimps::{self as gimps, Program, ResultLine};
use warpint_mersenne::{Factor, Number, TestKind};

use super::{Credit, text_of};

/// The report of a factor that made a test unnecessary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactorReport {
    /// The text `F`: a factor was found.
    status: &'static str,
    /// The number k·b^n ± 1; absent for a Mersenne number.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    exponent: u32,
    /// The work type `TF`, trial factoring.
    worktype: &'static str,
    /// The factor in decimal digits, because it may not fit in a JSON number, or as an expression.
    factors: [String; 1],
    program: Program,
    timestamp: String,
    /// The assignment, if it is a candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    credit: Option<Box<Credit>>,
    #[serde(skip)]
    factor: Factor,
}

impl FactorReport {
    /// Creates the report that the factor divides the number.
    #[must_use]
    pub fn new(number: impl Into<Number>, factor: Factor) -> Self {
        let number = number.into();
        Self {
            status: "F",
            number: text_of(number),
            exponent: number.exponent(),
            worktype: "TF",
            factors: [factor.to_string()],
            program: Program::warpint(),
            timestamp: gimps::utc_now(),
            credit: None,
            factor,
        }
    }

    /// Returns the report with its credit replaced.
    #[must_use]
    pub(crate) fn credited(self, credit: Option<Credit>) -> Self {
        Self { credit: credit.map(Box::new), ..self }
    }

    /// Returns the factor.
    pub(super) fn found(&self) -> &Factor {
        &self.factor
    }

    /// Returns the line for the results file, with the assignment and the user of `credit`. Returns
    /// `None` for a number that is not a Mersenne number, and for an algebraic factor.
    #[must_use]
    pub fn result_line(&self, credit: Option<&Credit>) -> Option<ResultLine> {
        if self.number.is_some() || matches!(self.factor, Factor::Algebraic(_)) {
            return None;
        }
        let [factor] = &self.factors;
        Some(ResultLine {
            timestamp: self.timestamp.clone(),
            aid: credit.and_then(|c| c.aid.clone()),
            user: credit.and_then(|c| c.user.clone()),
            computer: credit.and_then(|c| c.computer.clone()),
            ..ResultLine::factor(self.exponent, factor.clone())
        })
    }
}

impl Display for FactorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.exponent;
        match (&self.number, &self.factor) {
            (Some(number), factor) => {
                write!(f, "{number} is composite: it has the factor {factor}")
            }
            (None, Factor::Small(q)) => {
                let k = (q - 1) / (2 * u64::from(p));
                write!(f, "M{p} is composite: it has the factor {q} = 2·{k}·{p} + 1")
            }
            (None, factor) => write!(f, "M{p} is composite: it has the factor {factor}"),
        }
    }
}

/// The report of a test that the user stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopReport {
    /// The text `stopped`.
    status: &'static str,
    /// The number k·b^n ± 1; absent for a Mersenne number.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    exponent: u32,
    worktype: String,
    iterations: u64,
    total: u64,
    saved: bool,
}

impl StopReport {
    /// Creates the report that a test of a number was stopped after `iterations` iterations. `saved` is
    /// true if a checkpoint of this iteration is on disk.
    #[must_use]
    pub fn new(kind: TestKind, number: impl Into<Number>, iterations: u64, saved: bool) -> Self {
        let number = number.into();
        let total = kind.iterations(number);
        let (worktype, exponent) = (kind.work_type().into_owned(), number.exponent());
        let number = text_of(number);
        Self { status: "stopped", number, exponent, worktype, iterations, total, saved }
    }
}

impl Display for StopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exponent, worktype, iterations, total, .. } = self;
        match &self.number {
            Some(number) => f.write_str(number),
            None => write!(f, "M{exponent}"),
        }?;
        write!(f, " {worktype} stopped after {iterations} of {total} squarings: ")?;
        f.write_str(if self.saved {
            "saved; the same command goes on from there"
        } else {
            "not saved; the same command goes on from the last checkpoint, if there is one"
        })
    }
}
