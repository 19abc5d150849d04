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
    /// `null` for operations of one number.
    b_bits: Option<u32>,
    /// Of operations modulo a third number.
    #[serde(skip_serializing_if = "Option::is_none")]
    m_bits: Option<u32>,
    out_bits: u32,
    /// Of remainders that are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    rem_bits: Option<u32>,
    /// Without a result.
    malformed: u64,
    /// Everything, from the first look at the files.
    seconds: f64,
    numbers_per_second: f64,
    device: String,
    /// Computed once more by slow arithmetic; they agreed.
    checked: u64,
    /// Compared with their operands modulo 2^61 − 1; of powers, computed again on the CPU.
    checked_by_identity: u64,
    /// Times that results contradicted their operands, and were right when computed again.
    device_errors: u64,
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
        let read = |i: usize| job.operands.get(i).map(|source| source.width.bits());
        let written = |i: usize| job.forms.get(i).map(|form| form.width.bits());
        Self {
            operation: job.operation.name(),
            count: job.count,
            a_bits: read(0).unwrap_or(0),
            b_bits: read(1),
            m_bits: read(2),
            out_bits: written(0).unwrap_or(0),
            rem_bits: written(1),
            malformed: tally.malformed,
            seconds,
            numbers_per_second: job.count as f64 / seconds.max(1e-9),
            device,
            checked: tally.checked,
            checked_by_identity: tally.identities,
            device_errors: tally.device_errors,
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
        match (self.b_bits, self.m_bits) {
            (Some(bits), Some(m)) => write!(f, "{}, {bits} and {m} bits", self.a_bits)?,
            (Some(bits), None) => write!(f, "{} and {bits} bits", self.a_bits)?,
            (None, _) => write!(f, "{} bits", self.a_bits)?,
        }
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        let rate = self.numbers_per_second;
        write!(f, ") in {}, {rate:.0}/s on {}", units::elapsed(time), self.device)?;
        match (self.checked_by_identity, self.operation) {
            (0, _) => {}
            (n, "powm") => write!(f, ", {n} computed again on the CPU")?,
            _ => write!(f, ", all checked by identity")?,
        }
        match self.seed {
            Some(seed) => write!(f, ", {} checked (seed {seed})", self.checked),
            None => Ok(()),
        }
    }
}
