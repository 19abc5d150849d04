//! What came of it.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;

use super::pipeline::{Job, Tally};
use crate::units;

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct BatchReport {
    operation: &'static str,
    /// Of results, missing ones too.
    count: u64,
    a_bits: u32,
    /// `null` for squares.
    b_bits: Option<u32>,
    out_bits: u32,
    /// Without a result.
    malformed: u64,
    /// Everything, from the first look at the files.
    seconds: f64,
    numbers_per_second: f64,
    device: String,
    /// Computed once more by slow arithmetic; they agreed.
    checked: u64,
    /// That drew them; `null` without a check.
    seed: Option<u64>,
    #[serde(skip)]
    out: String,
}

impl BatchReport {
    pub(crate) fn new(
        job: &Job,
        out: String,
        tally: Tally,
        time: Duration,
        device: String,
        seed: Option<u64>,
    ) -> Self {
        let seconds = time.as_secs_f64();
        Self {
            operation: job.operation.name(),
            count: job.count,
            a_bits: job.a.width.bits(),
            b_bits: job.b.as_ref().map(|b| b.width.bits()),
            out_bits: job.form.width.bits(),
            malformed: tally.malformed,
            seconds,
            numbers_per_second: job.count as f64 / seconds.max(1e-9),
            device,
            checked: tally.checked,
            seed,
            out,
        }
    }
}

/// `products.txt: 1000000 results of 4096 bits (mul, 2048 × 2048 bits) in 12.3 s, 81000/s on cpu`
impl Display for BatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let results = units::count(self.count - self.malformed, "result");
        write!(f, "{}: {results} of {} bits ({}, ", self.out, self.out_bits, self.operation)?;
        match self.b_bits {
            Some(bits) => write!(f, "{} and {bits} bits", self.a_bits)?,
            None => write!(f, "{} bits", self.a_bits)?,
        }
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        let rate = self.numbers_per_second;
        write!(f, ") in {}, {rate:.0}/s on {}", units::elapsed(time), self.device)?;
        match self.seed {
            Some(seed) => write!(f, ", {} checked (seed {seed})", self.checked),
            None => Ok(()),
        }
    }
}
