//! What came of it.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;

use super::pipeline::{Job, Tally, Times};
use super::source::Source;
use crate::units;

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct BatchReport {
    operation: &'static str,
    /// `done` or `stopped`.
    status: &'static str,
    /// Of results, missing ones too.
    count: u64,
    /// Of these are done.
    done: u64,
    /// Of these were done by earlier runs of the same command.
    resumed_from: u64,
    operands: Vec<Operand>,
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
    /// Reading, computing and writing work at the same time, each in a thread of its own; these are
    /// the seconds that each worked, without those that it waited for another.
    read_seconds: f64,
    /// Conversion between digits and limbs included.
    compute_seconds: f64,
    write_seconds: f64,
    /// Of all operands.
    read_bytes: u64,
    /// Of all results, those of earlier runs too.
    written_bytes: u64,
    numbers_per_second: f64,
    device: String,
    /// Computed once more by slow arithmetic; they agreed.
    checked: u64,
    /// That drew them; `null` without a check.
    seed: Option<u64>,
    #[serde(skip)]
    out: String,
}

/// How an operand was read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Operand {
    name: String,
    /// `file`, `pipe` or `number`.
    kind: &'static str,
    /// `dec`, `hex`, `npy` or `raw`; `null` for a number of the command line.
    format: Option<String>,
    /// The content told the format.
    detected: bool,
    numbers: u64,
}

impl Operand {
    fn new(source: &Source) -> Self {
        let (name, format) = (source.operand.name.clone(), source.format.to_string());
        let is_number = source.operand.is_number();
        let kind = match source.operand.path() {
            Some(_) => "file",
            None if is_number => "number",
            None => "pipe",
        };
        let (detected, numbers) = (source.detected, source.count);
        Self { name, kind, format: (!is_number).then_some(format), detected, numbers }
    }
}

impl BatchReport {
    pub(crate) fn new(
        job: &Job,
        out: String,
        tally: Tally,
        device: String,
        seed: Option<u64>,
    ) -> Self {
        let read = |i: usize| job.operands.get(i).map(|source| source.width.bits());
        let written = |i: usize| job.forms.get(i).map(|form| form.width.bits());
        Self {
            operation: job.operation.name(),
            status: if tally.done < job.count { "stopped" } else { "done" },
            count: job.count,
            done: tally.done,
            resumed_from: 0,
            operands: job.operands.iter().map(Operand::new).collect(),
            a_bits: read(0).unwrap_or(0),
            b_bits: read(1),
            m_bits: read(2),
            out_bits: written(0).unwrap_or(0),
            rem_bits: written(1),
            malformed: tally.malformed,
            seconds: 0.0,
            read_seconds: 0.0,
            compute_seconds: 0.0,
            write_seconds: 0.0,
            read_bytes: job.operands.iter().map(|source| source.operand.bytes).sum(),
            written_bytes: 0,
            numbers_per_second: 0.0,
            device,
            checked: tally.checked,
            seed,
            out,
        }
    }

    /// Goes on from this.
    pub(crate) fn begun(&mut self, tally: Tally) {
        self.resumed_from = tally.done;
    }

    /// How long everything took, and each stage, and how much was written.
    pub(crate) fn took(&mut self, time: Duration, stages: Times, written: u64) {
        self.seconds = time.as_secs_f64();
        self.read_seconds = stages.read.as_secs_f64();
        self.compute_seconds = stages.compute.as_secs_f64();
        self.write_seconds = stages.write.as_secs_f64();
        self.written_bytes = written;
        let done = self.done - self.resumed_from;
        self.numbers_per_second = done as f64 / self.seconds.max(1e-9);
    }
}

/// `products.txt: 1000000 results of 4096 bits (mul, 2048 and 2048 bits) in 12.3 s (reading 3.2 s,
/// 1.2 GiB; computing 11.8 s; writing 6.4 s, 1.1 GiB; at the same time), 81000/s on cpu`
impl Display for BatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let results = units::count(self.count - self.malformed, "result");
        write!(f, "{}: {results} of {} bits ({}, ", self.out, self.out_bits, self.operation)?;
        match (self.b_bits, self.m_bits) {
            (Some(bits), Some(m)) => write!(f, "{}, {bits} and {m} bits", self.a_bits)?,
            (Some(bits), None) => write!(f, "{} and {bits} bits", self.a_bits)?,
            (None, _) => write!(f, "{} bits", self.a_bits)?,
        }
        for Operand { name, format, .. } in self.operands.iter().filter(|a| a.detected) {
            write!(f, "; {name} read as {}", format.as_deref().unwrap_or_default())?;
        }
        let time =
            |seconds| units::elapsed(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        write!(
            f,
            ") in {} (reading {}, {}; computing {}; writing {}, {}; at the same time), {:.0}/s on {}",
            time(self.seconds),
            time(self.read_seconds),
            units::bytes(self.read_bytes),
            time(self.compute_seconds),
            time(self.write_seconds),
            units::bytes(self.written_bytes),
            self.numbers_per_second,
            self.device
        )?;
        match self.seed {
            Some(seed) => write!(f, ", {} checked (seed {seed})", self.checked),
            None => Ok(()),
        }
    }
}
