//! The report of an audit: a table, or one JSON object for each finding; and the file of factors.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use warpint::keys::KeyList;
use warpint::keys::audit::{Finding, FindingObject, Kind};
use warpint::natural::division::div_rem_by;
use warpint::natural::limbs::bit_length;
use warpint::natural::product::FastProducts;
use warpint::natural::radix::hex;
use warpint_files::FileError;

use crate::report::{notice, write_out};
use crate::units;

/// The largest count of places that a row of the table names.
const MOST_PLACES: usize = 3;
/// The largest number of digits of a modulus that a row of the table shows in full.
const MOST_DIGITS: usize = 17;

/// The number of bytes after which findings are written.
const PIECE: usize = 1 << 16;

/// The findings of an audit, with the keys to which they belong.
pub(super) struct Report<'a> {
    list: &'a KeyList,
    findings: &'a [Finding],
    counts: Counts,
}

/// The numbers of moduli of an audit.
pub(super) struct Counts {
    /// Distinct moduli.
    pub(super) distinct: usize,
    /// Those of them that the store had before. `None` without a store.
    pub(super) known: Option<usize>,
}

/// A line of the file of factors: a modulus and two factors, whose product it is, in lower-case
/// hexadecimal digits.
#[derive(Serialize)]
struct Factors {
    kind: Kind,
    modulus: String,
    factors: [String; 2],
}

impl<'a> Report<'a> {
    pub(super) fn new(list: &'a KeyList, findings: &'a [Finding], counts: Counts) -> Self {
        Self { list, findings, counts }
    }

    /// Prints the findings on standard output, and the summary below the table or, with JSON, on
    /// standard error.
    pub(super) fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            let mut text = String::new();
            for finding in self.findings {
                text += &serde_json::to_string(&FindingObject::new(self.list, finding))?;
                text.push('\n');
                if text.len() >= PIECE {
                    write_out(text.as_bytes())?;
                    text.clear();
                }
            }
            write_out(text.as_bytes())?;
            notice(&self.summary());
            return Ok(());
        }
        let mut rows = self.findings.iter().filter(|finding| !finding.kind.is_notice()).peekable();
        if rows.peek().is_some() {
            write_out(row("kind", "bits", "modulus", "place").as_bytes())?;
        }
        let mut text = String::new();
        for finding in rows {
            text += &self.row(finding);
            if text.len() >= PIECE {
                write_out(text.as_bytes())?;
                text.clear();
            }
        }
        text += &self.summary();
        text.push('\n');
        write_out(text.as_bytes())
    }

    /// Writes a line of JSON for each finding with a known factor.
    pub(super) fn write_factors(
        &self,
        write: &mut dyn FnMut(&str) -> Result<(), FileError>,
    ) -> anyhow::Result<()> {
        for finding in self.findings {
            let Some(factor) = &finding.factor else { continue };
            let modulus = self.modulus(finding);
            let (cofactor, _) = div_rem_by(&FastProducts, modulus, factor);
            let line = serde_json::to_string(&Factors {
                kind: finding.kind,
                modulus: hex::format(modulus),
                factors: [hex::format(factor), hex::format(&cofactor)],
            })?;
            write(&(line + "\n"))?;
        }
        Ok(())
    }

    fn modulus(&self, finding: &Finding) -> &'a [u64] {
        finding.keys.first().map_or(&[], |&key| self.list.modulus(key))
    }

    fn row(&self, finding: &Finding) -> String {
        let modulus = self.modulus(finding);
        let digits = hex::format(modulus);
        let short = match (digits.get(..8), digits.get(digits.len().saturating_sub(8)..)) {
            (Some(first), Some(last)) if digits.len() > MOST_DIGITS => format!("{first}…{last}"),
            _ => digits,
        };
        let mut places = self.places(&finding.keys);
        if !finding.shared_with.is_empty() {
            places += "; shared with ";
            places += &self.places(&finding.shared_with);
        }
        row(finding.kind.name(), &bit_length(modulus).to_string(), &short, &places)
    }

    /// Names the first places of keys, and counts the others.
    fn places(&self, keys: &[usize]) -> String {
        let named = keys.iter().take(MOST_PLACES).map(|&key| self.list.place(key).to_string());
        let mut text = named.collect::<Vec<_>>().join(", ");
        if let Some(more) = keys.len().checked_sub(MOST_PLACES).filter(|&more| more > 0) {
            let _ = write!(text, " and {more} more");
        }
        text
    }

    /// Formats the counts as `5 keys, 4 distinct moduli in 2 files (1 EC skipped, 1 unreadable): 2
    /// findings (1 duplicate, 1 roca)`.
    fn summary(&self) -> String {
        let list = self.list;
        let mut text = units::count(list.len() as u64, "key");
        let Counts { distinct, known } = self.counts;
        let moduli = if distinct == 1 { "modulus" } else { "moduli" };
        let _ = write!(text, ", {distinct} distinct {moduli}");
        if let Some(known) = known {
            let _ = write!(text, " ({known} in the store before)");
        }
        let _ = write!(text, " in {}", sources(list));
        let mut apart: Vec<String> =
            list.others().iter().map(|(what, count)| format!("{count} {what} skipped")).collect();
        match list.lines_of_text() {
            0 => {}
            1 => apart.push("1 line of text skipped".into()),
            lines => apart.push(format!("{lines} lines of text skipped")),
        }
        if list.unreadable() > 0 {
            apart.push(format!("{} unreadable", list.unreadable()));
        }
        if !apart.is_empty() {
            let _ = write!(text, " ({})", apart.join(", "));
        }
        let of = |notices: bool| {
            let mut counts: BTreeMap<Kind, u64> = BTreeMap::new();
            for finding in self.findings.iter().filter(|f| f.kind.is_notice() == notices) {
                *counts.entry(finding.kind).or_default() += 1;
            }
            let total: u64 = counts.values().sum();
            let kinds: Vec<String> = counts.iter().map(|(k, n)| format!("{n} {k}")).collect();
            (total, kinds.join(", "))
        };
        match of(false) {
            (0, _) => text += ": no findings",
            (total, kinds) => {
                let _ = write!(text, ": {} ({kinds})", units::count(total, "finding"));
            }
        }
        if let (total @ 1.., kinds) = of(true) {
            let _ = write!(text, "; {} ({kinds})", units::count(total, "notice"));
        }
        text
    }
}

/// Formats the number of files that were read.
pub(super) fn sources(list: &KeyList) -> String {
    units::count(list.files() as u64, "file")
}

fn row(kind: &str, bits: &str, modulus: &str, place: &str) -> String {
    format!("{kind:<15}{bits:>6}  {modulus:<17}  {place}\n")
}
