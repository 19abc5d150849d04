//! The report of `warpint calc`.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;

use warpint::batch::OperandKind;
use warpint::batch::calculation::{
    Calculation, CalculationJob, CalculationTimes, OperandInfo, Written, WrittenFile,
};
use warpint::integer::huge::PRIMES;

use crate::units;

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct CalcReport {
    calculation: &'static str,
    /// Always `done`: a calculation that was stopped has no report.
    status: &'static str,
    operands: Vec<Operand>,
    /// The result and, with --rem, the remainder.
    results: Vec<Output>,
    /// The memory that the calculation was expected to need, in bytes.
    memory_needed: u64,
    /// The memory that was available at the start, in bytes; `null` if the system does not report it.
    memory_available: Option<u64>,
    /// Where long products were computed: `cpu`, or a device such as `cuda:0`.
    device: String,
    threads: usize,
    /// The total time in seconds.
    seconds: f64,
    read_seconds: f64,
    /// The time in seconds of the conversion of the operands from digits.
    convert_operands_seconds: f64,
    compute_seconds: f64,
    /// The time in seconds of the conversion of the results to digits.
    convert_results_seconds: f64,
    check_seconds: f64,
    /// The time in seconds of writing, including the flush to disk.
    write_seconds: f64,
    /// What was checked: `result`, `conversion` or `none`.
    checked: &'static str,
    /// The primes modulo which was checked, as decimal digits; empty if nothing was checked.
    check_primes: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Operand {
    name: String,
    /// The kind of operand: `file`, `pipe` or `number`.
    kind: &'static str,
    /// The format: `dec`, `hex` or `raw`; `null` for a number on the command line.
    format: Option<String>,
    /// Whether the format was detected from the content of the file.
    detected: bool,
    bytes: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Output {
    name: String,
    format: String,
    /// The number of bits of the number; 0 for the number 0.
    bits: u64,
    bytes: u64,
}

impl CalcReport {
    pub(crate) fn new(
        job: &CalculationJob,
        written: &Written,
        available: Option<u64>,
        (device, threads): (String, usize),
        time: Duration,
    ) -> Self {
        let CalculationTimes { read, convert_operands, compute, convert_results, check, write } =
            written.times;
        let checked = match job.calculation() {
            _ if !job.is_checked() => "none",
            Calculation::Gcd | Calculation::Primorial => "conversion",
            _ => "result",
        };
        Self {
            calculation: job.calculation().name(),
            status: "done",
            operands: job.operands().map(Operand::from).collect(),
            results: written.files.iter().map(Output::from).collect(),
            memory_needed: job.memory(),
            memory_available: available,
            device,
            threads,
            seconds: time.as_secs_f64(),
            read_seconds: read.as_secs_f64(),
            convert_operands_seconds: convert_operands.as_secs_f64(),
            compute_seconds: compute.as_secs_f64(),
            convert_results_seconds: convert_results.as_secs_f64(),
            check_seconds: check.as_secs_f64(),
            write_seconds: write.as_secs_f64(),
            checked,
            check_primes: if job.is_checked() {
                PRIMES.map(|p| p.to_string()).to_vec()
            } else {
                vec![]
            },
        }
    }
}

impl From<OperandInfo> for Operand {
    fn from(info: OperandInfo) -> Self {
        Self {
            name: info.name,
            kind: match info.kind {
                OperandKind::File => "file",
                OperandKind::Pipe => "pipe",
                OperandKind::Number => "number",
            },
            format: info.format.map(|format| format.to_string()),
            detected: info.is_detected,
            bytes: info.bytes,
        }
    }
}

impl From<&WrittenFile> for Output {
    fn from(file: &WrittenFile) -> Self {
        let WrittenFile { name, format, bits, bytes } = file.clone();
        Self { name, format: format.to_string(), bits, bytes }
    }
}

/// Formats the report as one line: `q.txt (1000001 bits, dec, 294.0 KiB) and r.txt (…): divrem in 1.2 s
/// (reading 0.10 ms, converting operands 0.3 s, computing 0.2 s, converting results 0.5 s, checking
/// 3.1 ms, writing 4.2 ms) on cpu, 2 threads, checked modulo 2^61 − c for c = 1, 31, 45, 229, 259`.
impl Display for CalcReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Output { name, format, bits, bytes }) in self.results.iter().enumerate() {
            let (and, bits, bytes) = (
                if i > 0 { " and " } else { "" },
                units::count(*bits, "bit"),
                units::bytes(*bytes),
            );
            write!(f, "{and}{name} ({bits}, {format}, {bytes})")?;
        }
        write!(f, ": {}", self.calculation)?;
        for Operand { name, format, .. } in self.operands.iter().filter(|a| a.detected) {
            write!(f, ", {name} read as {}", format.as_deref().unwrap_or_default())?;
        }
        let time =
            |seconds| units::elapsed(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        write!(
            f,
            " in {} (reading {}, converting operands {}, computing {}, converting results {}, \
             checking {}, writing {}) on {}, {}",
            time(self.seconds),
            time(self.read_seconds),
            time(self.convert_operands_seconds),
            time(self.compute_seconds),
            time(self.convert_results_seconds),
            time(self.check_seconds),
            time(self.write_seconds),
            self.device,
            units::count(self.threads as u64, "thread"),
        )?;
        let what = match self.checked {
            "none" => return Ok(()),
            "conversion" => "conversion checked",
            _ => "checked",
        };
        let below = PRIMES.map(|p| ((1 << 61) - p).to_string());
        write!(f, ", {what} modulo the primes 2^61 − c for c = {}", below.join(", "))
    }
}
