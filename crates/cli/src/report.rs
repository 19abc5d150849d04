//! Output on standard output and standard error.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;

use crate::exit::OutputError;

/// Prints a report as text or as one line of JSON.
pub(crate) fn print(report: &(impl Display + Serialize), json: bool) -> anyhow::Result<()> {
    write_out((report_line(report, json)? + "\n").as_bytes())
}

/// Formats a report as text or JSON, without a final newline.
pub(crate) fn report_line(
    report: &(impl Display + Serialize),
    json: bool,
) -> anyhow::Result<String> {
    Ok(if json { serde_json::to_string(report)? } else { report.to_string() })
}

/// Writes to standard output. An error says that standard output cannot be written.
pub(crate) fn write_out(bytes: &[u8]) -> anyhow::Result<()> {
    Ok(put(bytes)?)
}

/// Writes to standard output. An error has the type [`OutputError`], from which the exit code
/// follows.
pub(crate) fn put(bytes: &[u8]) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(OutputError)
}

/// Writes a line to standard error. Failures are ignored, so that a test does not end because
/// nobody reads standard error.
pub(crate) fn notice(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints warnings on standard error, one line each.
pub(crate) fn warn(warnings: Vec<String>) {
    for warning in warnings {
        notice(&format!("warning: {warning}"));
    }
}
