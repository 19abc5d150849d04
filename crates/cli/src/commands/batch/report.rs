//! The report of `warpint batch`.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;

use warpint::batch::{End, Job, OperandKind, Out, Outcome, Source};
use warpint::integer::Evidence;

use crate::units;

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct BatchReport {
    operation: &'static str,
    /// The outcome: `done` or `stopped`.
    status: &'static str,
    /// The count of numbers in the batch, including those without a result.
    count: u64,
    /// The count of numbers that are done, including those without a result.
    done: u64,
    /// The count of numbers that earlier, unfinished runs of the same command had done.
    resumed_from: u64,
    operands: Vec<Operand>,
    a_bits: u32,
    /// The width of the second operand, in bits; `null` for operations of one operand.
    b_bits: Option<u32>,
    /// The width of the third operand, in bits; absent for operations without a third operand.
    #[serde(skip_serializing_if = "Option::is_none")]
    m_bits: Option<u32>,
    out_bits: u32,
    /// The width of the remainders, in bits; absent if no remainders are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    rem_bits: Option<u32>,
    /// The count of numbers without a result.
    malformed: u64,
    /// The total time in seconds, including the inspection of the files.
    seconds: f64,
    /// The time in seconds that reading takes, not counting waits for the other steps. Reading,
    /// computing and writing run at the same time, each in a thread of its own.
    read_seconds: f64,
    /// The time in seconds that computing takes, not counting waits for the other steps. It
    /// includes the conversions between digits and limbs.
    compute_seconds: f64,
    write_seconds: f64,
    /// The total size of all operands in bytes.
    read_bytes: u64,
    /// The total size of all results in bytes, including the results of earlier runs.
    written_bytes: u64,
    numbers_per_second: f64,
    device: String,
    /// The count of results that were recomputed by slow arithmetic, which gave the same values.
    checked: u64,
    /// The count of results that were compared with their operands modulo 2^61 − 1. For powers, the
    /// count of results that were recomputed on the CPU instead.
    checked_by_identity: u64,
    /// The number of pieces of the batch that were computed again, because a check of results
    /// against their operands failed.
    device_errors: u64,
    /// The seed from which the results to check were drawn; `null` if none were drawn.
    seed: Option<u64>,
    #[serde(skip)]
    out: String,
    #[serde(skip)]
    evidence: Option<Evidence>,
}

/// The description of an operand and of the way it was read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Operand {
    name: String,
    /// The kind of operand: `file`, `pipe` or `number`.
    kind: &'static str,
    /// The format: `dec`, `hex`, `npy` or `raw`; `null` for a number on the command line.
    format: Option<String>,
    /// Whether the format was detected from the content of the file.
    detected: bool,
    numbers: u64,
}

impl Operand {
    fn new(source: &Source) -> Self {
        let (kind, is_of_file) = match source.kind() {
            OperandKind::File => ("file", true),
            OperandKind::Pipe => ("pipe", true),
            OperandKind::Number => ("number", false),
        };
        Self {
            name: source.name().to_owned(),
            kind,
            format: is_of_file.then(|| source.format().to_string()),
            detected: source.is_detected(),
            numbers: source.count(),
        }
    }
}

impl BatchReport {
    pub(crate) fn new(job: &Job, outcome: &Outcome, device: String, time: Duration) -> Self {
        let read = |i: usize| job.operands().get(i).map(|source| source.width().bits());
        let written = |i: usize| job.forms().get(i).map(|form| form.width.bits());
        let Outcome { tally, resumed_from, times, .. } = *outcome;
        let seconds = time.as_secs_f64();
        Self {
            operation: job.operation().name(),
            status: if matches!(outcome.end, End::Stopped(_)) { "stopped" } else { "done" },
            count: job.count(),
            done: tally.done,
            resumed_from,
            operands: job.operands().iter().map(Operand::new).collect(),
            a_bits: read(0).unwrap_or(0),
            b_bits: read(1),
            m_bits: read(2),
            out_bits: written(0).unwrap_or(0),
            rem_bits: written(1),
            malformed: tally.malformed,
            seconds,
            read_seconds: times.read.as_secs_f64(),
            compute_seconds: times.compute.as_secs_f64(),
            write_seconds: times.write.as_secs_f64(),
            read_bytes: job.operands().iter().map(Source::bytes).sum(),
            written_bytes: outcome.written_bytes,
            numbers_per_second: (tally.done - resumed_from) as f64 / seconds.max(1e-9),
            device,
            checked: tally.checked,
            checked_by_identity: tally.identities,
            device_errors: tally.device_errors,
            seed: outcome.seed,
            out: job.outs().iter().map(Out::name).collect::<Vec<_>>().join(" and "),
            evidence: job.operation().evidence(),
        }
    }
}

/// Formats the report as one line: `products.txt: 1000000 results of 4096 bits (mul, 2048 and 2048
/// bits) in 12.3 s (reading 3.2 s, 1.2 GiB; computing 11.8 s; writing 6.4 s, 1.1 GiB; at the same
/// time), 81000/s on cpu`.
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
        match (self.checked_by_identity, self.evidence) {
            (0, _) => {}
            (n, Some(Evidence::Sample)) => write!(f, ", {n} computed again on the CPU")?,
            _ => write!(f, ", all checked by identity")?,
        }
        match self.seed {
            Some(seed) => write!(f, ", {} checked (seed {seed})", self.checked),
            None => Ok(()),
        }
    }
}
