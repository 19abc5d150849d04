//! The report of `warpint collatz merge`.

use std::fmt::{self, Display};
use std::time::Duration;

use warpint::collatz::names::{claim, list, number, unresolved};
use warpint::collatz::runs::{Audit, AuditOutcome, Missing};

use super::Findings;
use crate::commands::collatz::numbers::highest;
use crate::commands::collatz::text::{self, printable};
use crate::units;

/// The report of a merge as text, in several lines.
pub(super) struct Report<'a>(pub(super) &'a Findings);

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Findings { folders, merged, audits, .. } = self.0;
        let folders: Vec<_> =
            folders.iter().map(|folder| printable(&folder.display().to_string())).collect();
        let folders = folders.join(", ");
        let lacking = lacking(merged.lacking.len() as u64);
        match (self.0.complete(), merged.covers(), &lacking) {
            (Some((from, to)), ..) => {
                let word = if merged.is_checked { "verified" } else { "claimed, not checked" };
                writeln!(f, "{word}: {}", claim(from, to))?;
            }
            _ if merged.units == 0 => return write!(f, "no sound units in {folders}"),
            _ if !merged.unresolved.is_empty() => {
                writeln!(f, "{}", unresolved(&merged.unresolved))?;
            }
            (None, Some((from, to)), Some(lacking)) => {
                writeln!(f, "not proven: {}: {lacking}", claim(from, to))?;
            }
            (None, Some(_), None) => writeln!(f, "one range, but not all of it can be confirmed")?,
            _ => writeln!(f, "not one complete range")?,
        }
        let count = units::count(merged.units, "unit");
        writeln!(f, "{count} in {folders}: {}", text::by(&merged.methods))?;
        for &(from, to) in &merged.covered {
            writeln!(f, "covered: {} to below {}", number(from), number(to))?;
        }
        for missing in &merged.missing {
            writeln!(f, "{}", missing_line(missing))?;
        }
        for &(from, to) in &merged.first_gaps {
            writeln!(f, "gap: {} to below {}", number(from), number(to))?;
        }
        let more = merged.gaps - merged.first_gaps.len() as u64;
        if more > 0 {
            writeln!(f, "… and {}", units::count(more, "more gap"))?;
        }
        writeln!(
            f,
            "{}, {}, {}, {} that cannot be used",
            units::count(merged.gaps, "gap"),
            units::count(merged.duplicates, "duplicate"),
            units::count(merged.disagreements.len() as u64, "disagreement"),
            units::count((merged.unusable.len() + merged.refused.len()) as u64, "file"),
        )?;
        match (merged.is_checked, &lacking) {
            (false, _) => writeln!(f, "samples and evidence were not checked")?,
            (true, Some(lacking)) => writeln!(f, "{lacking}")?,
            (true, None) => writeln!(f, "samples and evidence are right")?,
        }
        if merged.compared > 0 {
            let places = units::count(merged.compared, "place");
            writeln!(f, "units cut differently were compared in {places}")?;
        }
        if let Some(seed) = self.0.audit_seed {
            writeln!(f, "{}, seed {seed}", units::count(audits.len() as u64, "audit"))?;
        }
        for audit in audits {
            writeln!(f, "{}", audit_line(audit))?;
        }
        let time = Duration::try_from_secs_f64(merged.seconds).unwrap_or_default();
        writeln!(f, "computing time {}", units::elapsed(time))?;
        match &merged.highest {
            Some(peak) => f.write_str(&highest(peak)),
            None => f.write_str("highest value unknown"),
        }
    }
}

/// Formats the number of units without evidence as `3 units lack evidence: …`. Returns `None` if
/// `count` is 0.
fn lacking(count: u64) -> Option<String> {
    let (verb, them) = if count == 1 { ("lacks", "it") } else { ("lack", "them") };
    let units = units::count(count, "unit");
    (count > 0).then(|| {
        format!("{units} {verb} evidence: verify {them} again, or audit {them} with --audit")
    })
}

/// Formats an audit as `audited unit.json by method table, all 65536 numbers: the same …`.
fn audit_line(audit: &Audit) -> String {
    let (path, method) = (audit.path.display(), audit.method.name());
    let numbers = number(audit.region.numbers());
    let part = match audit.is_whole {
        true => format!("all {numbers} numbers"),
        false => format!("{numbers} numbers of it, {}", audit.region),
    };
    let outcome = match &audit.outcome {
        AuditOutcome::Planned => "not done",
        AuditOutcome::Agrees if audit.is_whole => "the same unresolved numbers and sample",
        AuditOutcome::Agrees => {
            "the same unresolved numbers; sums of the whole unit cannot be compared with those of a part"
        }
        AuditOutcome::Differs(_) => "it DISAGREES",
        AuditOutcome::Failed(_) => "not possible",
    };
    printable(&format!("audited {path} by method {method}, {part}: {outcome}"))
}

/// Formats missing classes as `below 2^40: 2 of 256 residue classes are missing: 3, 6 modulo 2^8`.
fn missing_line(missing: &Missing) -> String {
    let Missing { bits, low_bits, classes, some } = missing;
    let more = if some.len() as u128 == *classes { "" } else { ", …" };
    let (below, all) = (number(1 << bits), 1u128 << low_bits);
    let verb = if *classes == 1 { "is" } else { "are" };
    format!(
        "below {below}: {classes} of {all} residue classes {verb} missing: {}{more} modulo 2^{low_bits}",
        list(some)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_classes_are_one_line() {
        let missing = Missing { bits: 40, low_bits: 8, classes: 2, some: vec![3, 6] };
        assert_eq!(
            missing_line(&missing),
            "below 2^40: 2 of 256 residue classes are missing: 3, 6 modulo 2^8"
        );
        let one = Missing { classes: 1, some: vec![3], ..missing.clone() };
        assert!(missing_line(&one).contains("1 of 256 residue classes is missing: 3 modulo"));
        let many = Missing { classes: 12, ..missing };
        assert!(missing_line(&many).ends_with("3, 6, … modulo 2^8"));
    }
}
