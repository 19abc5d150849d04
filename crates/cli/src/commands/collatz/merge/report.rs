//! The report of `warpint collatz merge`.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;
use warpint::collatz::names::{claim, list, number, unresolved};
use warpint::collatz::runs::{Audit, AuditOutcome, Missing, Rejected};

use super::Findings;
use crate::commands::collatz::numbers::highest;
use crate::commands::collatz::text::{self, MethodObject, printable};
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

/// The report of a merge as JSON. Numbers that may exceed 2^53 are strings of digits.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Object {
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    units: u64,
    duplicates: u64,
    covered: Vec<Interval>,
    gaps: u64,
    first_gaps: Vec<Interval>,
    missing: Vec<MissingObject>,
    disagreements: Vec<DisagreementObject>,
    overlaps: Vec<OverlapObject>,
    /// The number of comparisons between units of two layouts. A layout is a range and its division
    /// into units. One comparison includes all units that overlap each other, directly or through
    /// further units.
    compared: u64,
    checked: bool,
    unusable: Vec<RejectedObject>,
    refused: Vec<RejectedObject>,
    lacking_evidence: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit_seed: Option<String>,
    audits: Vec<AuditObject>,
    unresolved: Vec<String>,
    highest: Option<Peak>,
    methods: Vec<MethodObject>,
    seconds: f64,
}

#[derive(Serialize)]
struct Interval {
    from: String,
    to: String,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MissingObject {
    bits: u32,
    low_bits: u32,
    classes: String,
    some: Vec<String>,
}

#[derive(Serialize)]
struct DisagreementObject {
    first: String,
    second: String,
    what: &'static str,
}

#[derive(Serialize)]
struct OverlapObject {
    first: String,
    second: String,
    places: u64,
}

#[derive(Serialize)]
struct RejectedObject {
    path: String,
    reason: String,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct AuditObject {
    path: String,
    method: &'static str,
    region: String,
    numbers: String,
    whole: bool,
    agrees: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl AuditObject {
    fn new(audit: &Audit) -> Self {
        Self {
            path: audit.path.display().to_string(),
            method: audit.method.name(),
            region: audit.region.to_string(),
            numbers: audit.region.numbers().to_string(),
            whole: audit.is_whole,
            agrees: audit.outcome == AuditOutcome::Agrees,
            reason: match &audit.outcome {
                AuditOutcome::Differs(what) => Some(format!("{what} differ")),
                AuditOutcome::Failed(reason) => Some(reason.clone()),
                AuditOutcome::Planned | AuditOutcome::Agrees => None,
            },
        }
    }
}

#[derive(Serialize)]
struct Peak {
    value: String,
    start: String,
}

impl Object {
    pub(super) fn new(findings: &Findings) -> Self {
        let merged = &findings.merged;
        let texts = |numbers: &[u128]| numbers.iter().map(ToString::to_string).collect();
        let intervals = |list: &[(u128, u128)]| {
            list.iter()
                .map(|(from, to)| Interval { from: from.to_string(), to: to.to_string() })
                .collect()
        };
        let missing = merged.missing.iter().map(|missing| MissingObject {
            bits: missing.bits,
            low_bits: missing.low_bits,
            classes: missing.classes.to_string(),
            some: texts(&missing.some),
        });
        let disagreements = merged.disagreements.iter().map(|disagreement| DisagreementObject {
            first: disagreement.first.display().to_string(),
            second: disagreement.second.display().to_string(),
            what: disagreement.what,
        });
        let overlaps = merged.overlaps.iter().map(|overlap| OverlapObject {
            first: overlap.first.display().to_string(),
            second: overlap.second.display().to_string(),
            places: overlap.places,
        });
        let rejected = |files: &[Rejected]| {
            let object = |file: &Rejected| RejectedObject {
                path: file.path.display().to_string(),
                reason: file.reason.clone(),
            };
            files.iter().map(object).collect()
        };
        let lacking = merged.lacking.iter().map(|path| path.display().to_string());
        Self {
            complete: findings.complete().is_some(),
            claim: findings.complete().map(|(from, to)| claim(from, to)),
            units: merged.units,
            duplicates: merged.duplicates,
            covered: intervals(&merged.covered),
            gaps: merged.gaps,
            first_gaps: intervals(&merged.first_gaps),
            missing: missing.collect(),
            disagreements: disagreements.collect(),
            overlaps: overlaps.collect(),
            compared: merged.compared,
            checked: merged.is_checked,
            unusable: rejected(&merged.unusable),
            refused: rejected(&merged.refused),
            lacking_evidence: lacking.collect(),
            audit_seed: findings.audit_seed.map(|seed| seed.to_string()),
            audits: findings.audits.iter().map(AuditObject::new).collect(),
            unresolved: texts(&merged.unresolved),
            highest: merged.highest.as_ref().map(|highest| Peak {
                value: highest.value.to_string(),
                start: highest.start.to_string(),
            }),
            methods: text::objects(&merged.methods),
            seconds: merged.seconds,
        }
    }
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
