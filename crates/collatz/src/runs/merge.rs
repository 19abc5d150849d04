//! What the unit files of several directories cover together.

mod cover;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::Highest;
use crate::runs::{Folder, FolderError, RegionText, Unit, UnitError};

pub use cover::Missing;
use cover::{Classes, gaps, union};

/// At most so many gaps and missing classes are listed; all are counted.
const MOST_LISTED: usize = 10;

/// Two files that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// Of the same numbers.
    pub first: PathBuf,
    /// As the first.
    pub second: PathBuf,
    /// What differs.
    pub what: &'static str,
}

/// A file that says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What several directories cover together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    /// Files that are sound.
    pub units: u64,
    /// Those among them whose numbers another file has too.
    pub duplicates: u64,
    /// Files that cannot be read or are no units.
    pub unusable: Vec<Unusable>,
    /// Sound files of the same numbers that contradict each other.
    pub disagreements: Vec<Disagreement>,
    /// Maximal intervals [from, to) of verified numbers, ascending, disjoint and not adjacent. Residue classes
    /// are in them if they are complete.
    pub covered: Vec<(u128, u128)>,
    /// Gaps between these, and up to the ends of the ranges that were meant.
    pub gaps: u64,
    /// The first of them.
    pub first_gaps: Vec<(u128, u128)>,
    /// Ranges [0, 2^bits) whose residue classes are not complete, and that no intervals cover.
    pub missing: Vec<Missing>,
    /// The highest value.
    pub highest: Option<Highest>,
    /// Numbers that did not come below their starts: ascending, each once.
    pub unresolved: Vec<u128>,
    /// Sound files by method, version and parameters.
    pub methods: BTreeMap<(String, u32, String), u64>,
    /// Computing time of all sound files.
    pub seconds: f64,
}

impl Merged {
    /// Reads all files `….json` of these directories, each file once.
    ///
    /// # Errors
    /// A directory is none, or cannot be listed.
    pub fn of(folders: &[Folder]) -> Result<Self, FolderError> {
        let mut reading = Reading::default();
        for folder in folders {
            for path in folder.files()? {
                // One directory may be given twice, and have several names.
                let file = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                if reading.read.insert(file) {
                    reading.add(&path);
                }
            }
        }
        Ok(reading.merged())
    }

    /// The one interval that all files make up, if they do: no gap, no missing class, no disagreement, no
    /// unusable file and no unresolved number.
    #[must_use]
    pub fn complete(&self) -> Option<(u128, u128)> {
        let trouble = self.gaps > 0
            || !self.missing.is_empty()
            || !self.disagreements.is_empty()
            || !self.unusable.is_empty()
            || !self.unresolved.is_empty();
        match self.covered[..] {
            [all] if !trouble => Some(all),
            _ => None,
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    merged: Merged,
    /// Files, by their one true path.
    read: HashSet<PathBuf>,
    /// Of each set of numbers, the first file of each method, version and parameters.
    units: HashMap<RegionText, Vec<(PathBuf, Unit)>>,
    /// The ends of what was meant by intervals.
    meant: Option<(u128, u128)>,
}

impl Reading {
    fn add(&mut self, path: &Path) {
        let merged = &mut self.merged;
        let read = Folder::read(path).map_err(|error| match error {
            FolderError::Read { source, .. } => source.to_string(),
            other => other.to_string(),
        });
        let unit = match read.and_then(|read| read.map_err(|e: UnitError| e.to_string())) {
            Ok(unit) => unit,
            Err(reason) => return merged.unusable.push(Unusable { path: path.into(), reason }),
        };
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
            Some(Disagreement { first: first.clone(), second: path.into(), what })
        };
        merged.disagreements.extend(known.iter().filter_map(differs));
        if known.iter().all(|(_, other)| other.how() != unit.how()) {
            known.push((path.into(), unit));
        }
    }

    fn merged(self) -> Merged {
        let mut merged = self.merged;
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
        // What intervals cover, no class need cover.
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
        merged
    }
}

/// All numbers below a power of two are an interval.
fn plain(region: RegionText) -> RegionText {
    match region {
        RegionText::Class { bits, low_bits: 0, .. } => {
            RegionText::Interval { from: 0, to: 1 << bits }
        }
        other => other,
    }
}
