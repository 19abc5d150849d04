//! Parses the assembler's report on each compiled kernel.

use anyhow::{Context, Result};

/// The resources that a kernel uses, according to the compiler's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Usage {
    /// The kernel's name.
    pub(crate) kernel: String,
    pub(crate) limits: Limits,
}

/// The registers and the local memory that a thread of a kernel uses, or may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Limits {
    /// The number of 32-bit registers.
    pub(crate) registers: u32,
    /// The number of bytes of local memory per thread, for arrays that are not in registers and for
    /// spilled registers.
    pub(crate) stack_bytes: u32,
    /// The total number of bytes that a thread stores and loads because registers did not suffice.
    pub(crate) spill_bytes: u32,
}

impl Limits {
    /// Returns, for each field, the larger of its values in `self` and `other`.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            registers: self.registers.max(other.registers),
            stack_bytes: self.stack_bytes.max(other.stack_bytes),
            spill_bytes: self.spill_bytes.max(other.spill_bytes),
        }
    }

    /// Returns whether no field exceeds the same field of `other`.
    pub(crate) fn within(self, other: Self) -> bool {
        self.max(other) == other
    }
}

/// Parses the report on every kernel in a log of `ptxas --verbose`.
pub(crate) fn parse(log: &str) -> Result<Vec<Usage>> {
    let mut found: Vec<Usage> = vec![];
    for line in log.lines() {
        if let Some(rest) = after(line, "Compiling entry function '") {
            let kernel = rest.split('\'').next().unwrap_or(rest).to_owned();
            found.push(Usage { kernel, limits: Limits::default() });
            continue;
        }
        let Some(Usage { limits, .. }) = found.last_mut() else { continue };
        if line.contains("bytes stack frame") {
            let number = |unit: &str| before(line, unit).with_context(|| unread(line));
            limits.stack_bytes = number(" bytes stack frame")?;
            limits.spill_bytes = number(" bytes spill stores")? + number(" bytes spill loads")?;
        } else if line.contains("Used ") && line.contains(" registers") {
            limits.registers = before(line, " registers").with_context(|| unread(line))?;
        }
    }
    for Usage { kernel, limits } in &found {
        anyhow::ensure!(limits.registers > 0, "the compiler tells no registers of `{kernel}`");
    }
    Ok(found)
}

fn unread(line: &str) -> String {
    format!("the compiler's line is not understood: {}", line.trim())
}

fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).map(|(_, rest)| rest)
}

/// Returns the decimal number immediately before the first `mark` in a line. Returns `None` if the
/// line has no `mark` or no number before it.
fn before(line: &str, mark: &str) -> Option<u32> {
    line.split_once(mark)?.0.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'columns' for 'sm_90'
ptxas info    : Function properties for columns
    40 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 40 bytes cumulative stack size
ptxas info    : Compiling entry function 'rows' for 'sm_90'
ptxas info    : Function properties for rows
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 96 registers, used 1 barriers, 400 bytes cmem[0]";

    #[test]
    fn every_kernel_of_a_log_is_read() {
        let [columns, rows] = &parse(LOG).unwrap()[..] else { panic!() };
        let limits = Limits { registers: 128, stack_bytes: 40, spill_bytes: 32 };
        assert_eq!(*columns, Usage { kernel: "columns".into(), limits });
        let limits = Limits { registers: 96, ..Limits::default() };
        assert_eq!(*rows, Usage { kernel: "rows".into(), limits });
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn a_log_that_lacks_something_is_an_error() {
        let without = |part: &str| {
            let lines: Vec<_> = LOG.lines().filter(|line| !line.contains(part)).collect();
            parse(&lines.join("\n"))
        };
        let error = without("Used 96").unwrap_err().to_string();
        assert!(error.contains("`rows`"), "{error}");
        assert!(parse(&LOG.replace("12 bytes spill stores", "some bytes")).is_err());
    }
}
