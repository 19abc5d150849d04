//! The report of a merge.

use serde::Serialize;

use super::{MethodObject, Peak, methods, texts};
use crate::names::claim;
use crate::runs::{Audit, AuditOutcome, Disagreement, Merged, Missing, Overlap, Rejected};

/// The union of the numbers of unit files, and everything that casts doubt on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MergeReport {
    /// Whether the files verify one range, nothing is in doubt, and all audits agree.
    pub complete: bool,
    /// The statement that is proven; `None` unless the files are complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The number of sound files.
    pub units: u64,
    /// The number of sound files that repeat the numbers of another one.
    pub duplicates: u64,
    /// The intervals of verified numbers.
    pub covered: Vec<Interval>,
    /// The number of gaps between the intervals.
    pub gaps: u64,
    /// The first gaps.
    pub first_gaps: Vec<Interval>,
    /// The missing residue classes.
    pub missing: Vec<MissingObject>,
    /// The pairs of files that contradict each other.
    pub disagreements: Vec<DisagreementObject>,
    /// The pairs of layouts that cannot be compared.
    pub overlaps: Vec<OverlapObject>,
    /// The number of comparisons between units of two layouts. A layout is a range and its division
    /// into units. One comparison includes all units that overlap each other, directly or through
    /// further units.
    pub compared: u64,
    /// Whether samples and evidence were recomputed.
    pub checked: bool,
    /// The files that cannot be read or contain no valid unit.
    pub unusable: Vec<RejectedObject>,
    /// The well-formed files whose contents are wrong.
    pub refused: Vec<RejectedObject>,
    /// The sound files without evidence.
    pub lacking_evidence: Vec<String>,
    /// The seed from which the units to audit were drawn; `None` if none were audited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_seed: Option<String>,
    /// The audits.
    pub audits: Vec<AuditObject>,
    /// The unresolved numbers.
    pub unresolved: Vec<String>,
    /// The highest value in the sound files; `None` if no file contains one.
    pub highest: Option<Peak>,
    /// The methods of the sound files, with their counts.
    pub methods: Vec<MethodObject>,
    /// The computing time of all sound files, in seconds.
    pub seconds: f64,
}

/// The numbers from `from` to `to` − 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Interval {
    /// The first number.
    pub from: String,
    /// The number after the last.
    pub to: String,
}

/// Missing residue classes: the fields of [`Missing`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingObject {
    /// log2 of the end of the range.
    pub bits: u32,
    /// log2 of the modulus of the classes.
    pub low_bits: u32,
    /// The number of missing classes.
    pub classes: String,
    /// Some of the missing classes.
    pub some: Vec<String>,
}

/// Two files that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisagreementObject {
    /// The path of the first file.
    pub first: String,
    /// The path of the second file.
    pub second: String,
    /// What differs.
    pub what: &'static str,
}

/// Files of two layouts that have common numbers, but cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverlapObject {
    /// The path of a file of the first layout.
    pub first: String,
    /// The path of a file of the second layout.
    pub second: String,
    /// The number of such places.
    pub places: u64,
}

/// A file that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectedObject {
    /// The path of the file.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
}

/// An audit of a unit, or of a part of it, by another method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditObject {
    /// The path of the unit's file.
    pub path: String,
    /// The method of the audit.
    pub method: &'static str,
    /// The audited region.
    pub region: String,
    /// The count of its numbers.
    pub numbers: String,
    /// Whether the region is the whole unit.
    pub whole: bool,
    /// Whether the audit agrees with the file.
    pub agrees: bool,
    /// Why it does not; `None` if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MergeReport {
    /// Creates the report of a merge, with the audits of units that were drawn from `audit_seed`.
    #[must_use]
    pub fn new(merged: &Merged, audit_seed: Option<u64>, audits: &[Audit]) -> Self {
        let complete = Self::complete(merged, audits);
        let intervals = |list: &[(u128, u128)]| list.iter().map(Interval::from).collect();
        let rejected = |files: &[Rejected]| files.iter().map(RejectedObject::from).collect();
        let lacking = merged.lacking.iter().map(|path| path.display().to_string());
        Self {
            complete: complete.is_some(),
            claim: complete.map(|(from, to)| claim(from, to)),
            units: merged.units,
            duplicates: merged.duplicates,
            covered: intervals(&merged.covered),
            gaps: merged.gaps,
            first_gaps: intervals(&merged.first_gaps),
            missing: merged.missing.iter().map(MissingObject::from).collect(),
            disagreements: merged.disagreements.iter().map(DisagreementObject::from).collect(),
            overlaps: merged.overlaps.iter().map(OverlapObject::from).collect(),
            compared: merged.compared,
            checked: merged.is_checked,
            unusable: rejected(&merged.unusable),
            refused: rejected(&merged.refused),
            lacking_evidence: lacking.collect(),
            audit_seed: audit_seed.map(|seed| seed.to_string()),
            audits: audits.iter().map(AuditObject::from).collect(),
            unresolved: texts(&merged.unresolved),
            highest: merged.highest.as_ref().map(Peak::from),
            methods: methods(&merged.methods),
            seconds: merged.seconds,
        }
    }

    /// Returns the range that the units verify: its first number, and the number after its last.
    /// Returns `None` if they do not cover one range, if anything is in doubt, or if an audit does not
    /// agree.
    #[must_use]
    pub fn complete(merged: &Merged, audits: &[Audit]) -> Option<(u128, u128)> {
        let agree = audits.iter().all(|audit| audit.outcome == AuditOutcome::Agrees);
        merged.complete().filter(|_| agree)
    }
}

impl From<&(u128, u128)> for Interval {
    fn from((from, to): &(u128, u128)) -> Self {
        Self { from: from.to_string(), to: to.to_string() }
    }
}

impl From<&Missing> for MissingObject {
    fn from(missing: &Missing) -> Self {
        Self {
            bits: missing.bits,
            low_bits: missing.low_bits,
            classes: missing.classes.to_string(),
            some: texts(&missing.some),
        }
    }
}

impl From<&Disagreement> for DisagreementObject {
    fn from(disagreement: &Disagreement) -> Self {
        Self {
            first: disagreement.first.display().to_string(),
            second: disagreement.second.display().to_string(),
            what: disagreement.what,
        }
    }
}

impl From<&Overlap> for OverlapObject {
    fn from(overlap: &Overlap) -> Self {
        Self {
            first: overlap.first.display().to_string(),
            second: overlap.second.display().to_string(),
            places: overlap.places,
        }
    }
}

impl From<&Rejected> for RejectedObject {
    fn from(file: &Rejected) -> Self {
        Self { path: file.path.display().to_string(), reason: file.reason.clone() }
    }
}

impl From<&Audit> for AuditObject {
    fn from(audit: &Audit) -> Self {
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
