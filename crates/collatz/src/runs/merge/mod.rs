//! The union of the numbers that the unit files of several directories cover, and the
//! contradictions between the files.

mod audit;
mod cover;
mod files;
mod overlap;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::Highest;
use crate::runs::{RegionText, Unit};

pub use audit::{Audit, AuditOutcome};
pub use cover::Missing;
use cover::{Classes, gaps, union};
pub use files::Files;
use overlap::Compared;
pub use overlap::Overlap;

/// The largest number of gaps and missing classes that are listed; all are counted.
const MOST_LISTED: usize = 10;

/// Two files that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// The path of one of the two files.
    pub first: PathBuf,
    /// The path of the other file, which has numbers in common with the first.
    pub second: PathBuf,
    /// The name of the quantity that differs.
    pub what: &'static str,
}

/// A file that does not count for the union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason why the file does not count.
    pub reason: String,
}

/// The union of the numbers that the unit files of several directories cover, and everything that
/// casts doubt on this union.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    /// The number of sound files.
    pub units: u64,
    /// The number of sound files that repeat the numbers of another sound file. Of k files with the
    /// same numbers, k − 1 are counted.
    pub duplicates: u64,
    /// The files that cannot be read or do not contain a valid unit.
    pub unusable: Vec<Rejected>,
    /// The well-formed files whose samples, evidence or other contents are wrong. They do not count
    /// for the union.
    pub refused: Vec<Rejected>,
    /// The sound files without evidence. They count for the union. Empty if nothing was checked.
    pub lacking: Vec<PathBuf>,
    /// Whether samples and evidence were recomputed.
    pub is_checked: bool,
    /// The pairs of sound files that have common numbers and contradict each other.
    pub disagreements: Vec<Disagreement>,
    /// The pairs of layouts whose units have common numbers, but cannot be compared.
    pub overlaps: Vec<Overlap>,
    /// The number of comparisons between units of two layouts. One comparison includes all units
    /// that overlap each other, directly or through further units.
    pub compared: u64,
    /// The maximal intervals [from, to) of verified numbers, ascending, disjoint and not adjacent.
    /// Complete sets of residue classes are included.
    pub covered: Vec<(u128, u128)>,
    /// The number of gaps, which are the maximal intervals outside `covered`. They are counted
    /// between the smallest start and the largest end of two kinds of intervals: the intervals in
    /// `covered`, and the ranges of the files with intervals.
    pub gaps: u64,
    /// The first gaps, at most ten, as intervals [from, to), ascending.
    pub first_gaps: Vec<(u128, u128)>,
    /// The missing residue classes, with one element for each range [0, 2^bits) whose set of
    /// classes is incomplete. Ranges that intervals cover are left out.
    pub missing: Vec<Missing>,
    /// The highest value in the sound files; `None` if no file contains one.
    pub highest: Option<Highest>,
    /// The unresolved numbers, whose paths did not fall below their starts: ascending, each once.
    pub unresolved: Vec<u128>,
    /// The number of sound files by method, version and parameters.
    pub methods: BTreeMap<(String, u32, String), u64>,
    /// The computing time of all sound files, in seconds.
    pub seconds: f64,
}

impl Merged {
    /// Returns the interval that the files cover together, if it is a single interval and nothing
    /// is in doubt. Requires that no gap, missing class, disagreement, incomparable overlap,
    /// unusable or refused file, file without evidence, or unresolved number exists.
    #[must_use]
    pub fn complete(&self) -> Option<(u128, u128)> {
        self.covers().filter(|_| self.lacking.is_empty() && self.overlaps.is_empty())
    }

    /// Like [`Self::complete`], but units may lack evidence and overlaps may be incomparable.
    #[must_use]
    pub fn covers(&self) -> Option<(u128, u128)> {
        let trouble = self.gaps > 0
            || !self.missing.is_empty()
            || !self.disagreements.is_empty()
            || !self.unusable.is_empty()
            || !self.refused.is_empty()
            || !self.unresolved.is_empty();
        match self.covered[..] {
            [all] if !trouble => Some(all),
            _ => None,
        }
    }
}

impl Files {
    /// Returns the union of the numbers of all files that were read, and everything that casts
    /// doubt on this union.
    #[must_use]
    pub fn merged(self) -> Merged {
        let lacking = self.lacking.iter().map(|&place| self.units[place].0.clone()).collect();
        let compared = Compared::of(&self.units, plain);
        let mut merged = Merged {
            unusable: self.unusable,
            refused: self.refused,
            unresolved: self.unresolved,
            is_checked: self.is_checked,
            lacking,
            ..Merged::default()
        };
        let mut known = Known::default();
        for (path, unit) in self.units {
            known.add(path, unit, &mut merged);
        }
        merged.disagreements.extend(compared.disagreements);
        merged.overlaps = compared.overlaps;
        merged.compared = compared.places;
        known.cover(&mut merged);
        merged
    }
}

/// The units added so far.
#[derive(Default)]
struct Known {
    /// For each set of numbers, the first file of each combination of method, version and
    /// parameters.
    units: HashMap<RegionText, Vec<(PathBuf, Unit)>>,
    /// The smallest start and the largest end of the ranges to which the files with intervals
    /// belong. `None` if no file has an interval.
    meant: Option<(u128, u128)>,
}

impl Known {
    fn add(&mut self, path: PathBuf, unit: Unit, merged: &mut Merged) {
        merged.units += 1;
        merged.seconds += unit.seconds;
        *merged.methods.entry(unit.how()).or_default() += 1;
        merged.unresolved.extend(&unit.unresolved);
        let highest = unit.highest.clone();
        let highest = highest.map(|h| Highest { value: h.value, start: h.start });
        merged.highest = Highest::of(merged.highest.take(), highest);
        let region = plain(unit.region);
        if let RegionText::Interval { .. } = region {
            let (first, last) = self.meant.unwrap_or((unit.from, unit.to));
            self.meant = Some((first.min(unit.from), last.max(unit.to)));
        }
        let known = self.units.entry(region).or_default();
        merged.duplicates += u64::from(!known.is_empty());
        let differs = |(first, other): &(PathBuf, Unit)| {
            let what = other.disagreement(&unit)?;
            Some(Disagreement { first: first.clone(), second: path.clone(), what })
        };
        merged.disagreements.extend(known.iter().filter_map(differs));
        if known.iter().all(|(_, other)| other.how() != unit.how()) {
            known.push((path, unit));
        }
    }

    fn cover(self, merged: &mut Merged) {
        merged.unresolved.sort_unstable();
        merged.unresolved.dedup();
        let mut intervals = vec![];
        let mut classes: BTreeMap<u32, Classes> = BTreeMap::new();
        for region in self.units.keys() {
            match *region {
                RegionText::Interval { from, to } => intervals.push((from, to)),
                RegionText::Class { bits, low_bits, residue } => {
                    let of_bits = classes.entry(bits).or_insert_with(|| Classes::new(bits));
                    of_bits.add(low_bits, residue);
                }
            }
        }
        let mut incomplete = vec![];
        for classes in classes.into_values() {
            match classes.missing(MOST_LISTED) {
                None => intervals.push((0, 1 << classes.bits())),
                Some(missing) => incomplete.push(missing),
            }
        }
        merged.covered = union(intervals);
        merged.missing = incomplete;
        // A class is not missing where intervals cover its numbers.
        let from_zero = merged.covered.first().filter(|(from, _)| *from == 0);
        let known = from_zero.map_or(0, |(_, to)| *to);
        merged.missing.retain(|missing| 1 << missing.bits > known);
        let ends = [self.meant, merged.covered.first().copied(), merged.covered.last().copied()];
        let ends = ends.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        if let Some((from, to)) = ends {
            let all = gaps(&merged.covered, from, to);
            merged.gaps = all.len() as u64;
            merged.first_gaps = all.into_iter().take(MOST_LISTED).collect();
        }
    }
}

/// Returns the region. The class of all numbers below a power of two is returned as an interval.
fn plain(region: RegionText) -> RegionText {
    match region {
        RegionText::Class { bits, low_bits: 0, .. } => {
            RegionText::Interval { from: 0, to: 1 << bits }
        }
        other => other,
    }
}
