//! Standard output and standard error.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;

use crate::exit::OutputError;

/// Prints a report as a line for people or as one line of JSON.
pub(crate) fn print(report: &(impl Display + Serialize), json: bool) -> anyhow::Result<()> {
    write_out((report_line(report, json)? + "\n").as_bytes())
}

/// A report as one line, without its end.
pub(crate) fn report_line(
    report: &(impl Display + Serialize),
    json: bool,
) -> anyhow::Result<String> {
    Ok(if json { serde_json::to_string(report)? } else { report.to_string() })
}

/// Writes to standard output; an error says so.
pub(crate) fn write_out(bytes: &[u8]) -> anyhow::Result<()> {
    Ok(put(bytes)?)
}

/// The same, with an error of just that type.
pub(crate) fn put(bytes: &[u8]) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(OutputError)
}

/// Writes a line to standard error. Nobody may be listening there, and a test
/// must not end for that: failures are ignored.
pub(crate) fn notice(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Says on standard error what was found wrong beside the work, a line each.
pub(crate) fn warn(warnings: Vec<String>) {
    for warning in warnings {
        notice(&format!("warning: {warning}"));
    }
}
