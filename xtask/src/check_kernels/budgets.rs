//! Reads and writes the resource budgets of kernels: the file `budgets.toml` in a folder of
//! kernels.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::usage::Limits;

/// The budgets of one folder of kernels.
#[derive(Debug)]
pub(crate) struct Budgets {
    path: PathBuf,
    /// The names of the constants whose values distinguish the budgets of a kernel. A name that a
    /// kernel does not define is ignored.
    by: Vec<String>,
    rows: BTreeMap<Key, Limits>,
}

/// The key of a budget: the kernel, the constants and the architecture to which the budget applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) kernel: String,
    /// The values of the constants that distinguish budgets, as `A=1 B=2`, in the order of the
    /// field `by` of [`Budgets`].
    pub(crate) constants: String,
    /// The architecture, such as 75 or 90; `None` in the row for all architectures that have no
    /// separate row.
    pub(crate) architecture: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    by: Vec<String>,
    budgets: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kernel: String,
    #[serde(default)]
    constants: String,
    architecture: Option<u32>,
    registers: u32,
    #[serde(default)]
    stack_bytes: u32,
    #[serde(default)]
    spill_bytes: u32,
}

const HEAD: &str = "\
# What each kernel may take: registers of a thread, bytes of its stack frame, bytes spilled.
# Measured by `cargo xtask check-kernels --update`; constants that `by` does not name share a row.
# A row without an architecture is for all that have none of their own.
";

impl Budgets {
    /// Reads a file of budgets. If the file does not exist, returns budgets without rows; their
    /// field `by` has the names `by_default`.
    pub(crate) fn read(path: &Path, by_default: &[&str]) -> Result<Self> {
        let by = by_default.iter().map(|&name| name.to_owned()).collect();
        if !path.exists() {
            return Ok(Self { path: path.to_owned(), by, rows: BTreeMap::new() });
        }
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(path, &text).with_context(|| path.display().to_string())
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let File { by, budgets } = toml::from_str(text)?;
        let mut rows = BTreeMap::new();
        for row in budgets {
            let Row { kernel, constants, architecture, .. } = row;
            let limits = Limits {
                registers: row.registers,
                stack_bytes: row.stack_bytes,
                spill_bytes: row.spill_bytes,
            };
            let name = format!("{kernel} {constants}");
            let key = Key { kernel, constants, architecture };
            anyhow::ensure!(rows.insert(key, limits).is_none(), "two budgets of {name}");
        }
        Ok(Self { path: path.to_owned(), by, rows })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the constants that select a kernel's budget, as `A=1 B=2`.
    pub(crate) fn constants(&self, defines: &[(&'static str, String)]) -> String {
        let value = |by: &String| {
            let (name, value) = defines.iter().find(|(name, _)| name == by)?;
            Some(format!("{name}={value}"))
        };
        self.by.iter().filter_map(value).collect::<Vec<_>>().join(" ")
    }

    /// Returns the budget for a key: the row of its architecture, or else the row for all
    /// architectures. Returns `None` if neither row exists.
    pub(crate) fn get(&self, key: &Key) -> Option<Limits> {
        let any = Key { architecture: None, ..key.clone() };
        self.rows.get(key).or_else(|| self.rows.get(&any)).copied()
    }

    /// Replaces budgets by measured values. Architectures on which a kernel uses no stack and does
    /// not spill share a row.
    ///
    /// If `all` is true, everything was measured, and all old rows are removed. Otherwise the rows
    /// of architectures that were not measured remain, and the values in shared rows do not
    /// decrease, because other architectures may need them.
    pub(crate) fn update(&mut self, measured: &BTreeMap<Key, Limits>, all: bool) {
        self.rows.retain(|key, _| !all && !measured.contains_key(key));
        for (key, &limits) in measured {
            let clean = limits.stack_bytes == 0 && limits.spill_bytes == 0;
            let architecture = key.architecture.filter(|_| !clean);
            let row = self.rows.entry(Key { architecture, ..key.clone() }).or_default();
            *row = row.max(limits);
        }
    }

    /// Writes the budgets to their file.
    pub(crate) fn write(&self) -> Result<()> {
        fs::write(&self.path, self.text()).with_context(|| self.path.display().to_string())
    }

    fn text(&self) -> String {
        let by: Vec<_> = self.by.iter().map(|name| format!("{name:?}")).collect();
        let mut text = format!("{HEAD}by = [{}]\nbudgets = [\n", by.join(", "));
        for (Key { kernel, constants, architecture }, limits) in &self.rows {
            let mut row = format!("kernel = {kernel:?}");
            // Writing to a String cannot fail.
            let mut add = |name: &str, value: u32| write!(row, ", {name} = {value}").unwrap_or(());
            if let Some(architecture) = architecture {
                add("architecture", *architecture);
            }
            add("registers", limits.registers);
            for (name, bytes) in
                [("stack_bytes", limits.stack_bytes), ("spill_bytes", limits.spill_bytes)]
            {
                if bytes > 0 {
                    add(name, bytes);
                }
            }
            if !constants.is_empty() {
                row = format!("{row}, constants = {constants:?}");
            }
            text = format!("{text}    {{ {row} }},\n");
        }
        text + "]\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
by = ["A", "B"]
budgets = [
    { kernel = "k", registers = 64, constants = "A=1 B=2" },
    { kernel = "k", architecture = 75, registers = 80, spill_bytes = 8, constants = "A=1 B=2" },
    { kernel = "l", registers = 20 },
]
"#;

    fn budgets() -> Budgets {
        Budgets::parse(Path::new("budgets.toml"), TEXT).unwrap()
    }

    fn key(kernel: &str, constants: &str, architecture: u32) -> Key {
        let (kernel, constants) = (kernel.into(), constants.into());
        Key { kernel, constants, architecture: Some(architecture) }
    }

    fn registers(registers: u32) -> Limits {
        Limits { registers, ..Limits::default() }
    }

    #[test]
    fn an_architecture_has_its_own_budget_or_that_of_all() {
        let budgets = budgets();
        let spilled = Limits { spill_bytes: 8, ..registers(80) };
        assert_eq!(budgets.get(&key("k", "A=1 B=2", 75)), Some(spilled));
        assert_eq!(budgets.get(&key("k", "A=1 B=2", 90)), Some(registers(64)));
        assert_eq!(budgets.get(&key("l", "", 90)), Some(registers(20)));
        assert_eq!(budgets.get(&key("k", "A=1 B=3", 90)), None);
        assert_eq!(budgets.get(&key("m", "", 90)), None);
    }

    #[test]
    fn constants_are_those_that_tell_budgets_apart() {
        let defines = [("C", "3".to_owned()), ("B", "2".into()), ("A", "1".into())];
        assert_eq!(budgets().constants(&defines), "A=1 B=2");
        assert_eq!(budgets().constants(&defines[..1]), "");
    }

    #[test]
    fn what_is_written_reads_back() {
        let budgets = budgets();
        let again = Budgets::parse(Path::new(""), &budgets.text()).unwrap();
        assert_eq!((again.by, again.rows), (budgets.by, budgets.rows));
    }

    #[test]
    fn what_is_measured_replaces_what_was_written_down() {
        let spilled = Limits { spill_bytes: 4, ..registers(72) };
        let measured = BTreeMap::from([
            (key("k", "A=1 B=2", 75), registers(70)),
            (key("k", "A=1 B=2", 90), registers(60)),
            (key("k", "A=1 B=2", 120), spilled),
        ]);
        for (all, of_l) in [(false, Some(registers(20))), (true, None)] {
            let mut budgets = budgets();
            budgets.update(&measured, all);
            assert_eq!(budgets.get(&key("k", "A=1 B=2", 75)), Some(registers(70)));
            assert_eq!(budgets.get(&key("k", "A=1 B=2", 90)), Some(registers(70)));
            assert_eq!(budgets.rows.len(), if all { 2 } else { 3 });
            assert_eq!(budgets.get(&key("k", "A=1 B=2", 120)), Some(spilled));
            assert_eq!(budgets.get(&key("l", "", 90)), of_l);
        }
    }

    #[test]
    fn what_is_not_measured_keeps_its_budget() {
        let mut budgets = budgets();
        let measured = BTreeMap::from([(key("k", "A=1 B=2", 90), registers(60))]);
        budgets.update(&measured, false);
        let spilled = Limits { spill_bytes: 8, ..registers(80) };
        assert_eq!(budgets.get(&key("k", "A=1 B=2", 75)), Some(spilled));
        assert_eq!(budgets.get(&key("k", "A=1 B=2", 90)), Some(registers(64)));
        budgets.update(&measured, true);
        assert_eq!(budgets.get(&key("k", "A=1 B=2", 75)), Some(registers(60)));
        assert_eq!(budgets.get(&key("l", "", 90)), None);
    }

    #[test]
    fn a_wrong_file_is_refused() {
        let parse = |text: &str| Budgets::parse(Path::new(""), text);
        assert!(parse("").is_err());
        assert!(parse(&TEXT.replace("registers = 20", "register = 20")).is_err());
        let twice =
            parse(&TEXT.replace("kernel = \"l\"", "kernel = \"k\", constants = \"A=1 B=2\""));
        assert!(twice.unwrap_err().to_string().contains("two budgets of k A=1 B=2"));
    }
}
