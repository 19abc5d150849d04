//! Comparison of units of the same numbers from different layouts.
//!
//! Units of one layout, that is, of one range and unit size, have no common numbers. Units of
//! different layouts may overlap. Two units are at the same *place* if they overlap directly or
//! through further units. Suppose that, at a place, the units of one layout contain the same
//! numbers as the units of another. If the totals of units do not depend on the layout, their sums
//! over the units of the two layouts must then be equal. Only the totals of the plain method do not
//! depend on the layout: the other methods use trees and blocks whose sizes depend on the size of
//! the unit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::Disagreement;
use super::cover::{reversed, union};
use crate::runs::{HighestText, RegionText, Unit};
use crate::{Highest, Method};

/// Overlapping units of two layouts whose totals cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// The file of a unit of one layout.
    pub first: PathBuf,
    /// The file of a unit of the other layout. The two units have common numbers.
    pub second: PathBuf,
    /// The number of places where units of the two layouts overlap. Units that overlap directly or
    /// through further units are at one place.
    pub places: u64,
}

/// The result of the comparison of units of different layouts.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) overlaps: Vec<Overlap>,
    pub(super) disagreements: Vec<Disagreement>,
    /// The number of places where totals were compared.
    pub(super) places: u64,
}

/// A layout: the first number of the range, the number after its last number, and log2 of the count
/// of numbers in a unit.
type Cut = (u128, u128, u32);

/// The meaning of the elements of an interval: either numbers, or numbers below 2^bits with their
/// bits in reverse order, so that a residue class is an interval. [`Space::Residues`] contains
/// `bits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Space {
    Numbers,
    Residues(u32),
}

/// A region of a layout, and the files with this region.
#[derive(Debug, Clone)]
struct Piece<'a> {
    cut: Cut,
    region: RegionText,
    /// The first element of the region's interval in its [`Space`].
    from: u128,
    /// The element after the last element of the region's interval in its [`Space`].
    to: u128,
    files: Vec<&'a (PathBuf, Unit)>,
}

impl Compared {
    pub(super) fn of(units: &[(PathBuf, Unit)], plain: impl Fn(RegionText) -> RegionText) -> Self {
        let mut pieces: BTreeMap<(Space, u128, u128, Cut), Piece> = BTreeMap::new();
        for file in units {
            let unit = &file.1;
            let cut = (unit.from, unit.to, unit.unit_bits);
            let region = plain(unit.region);
            let (space, from, to) = place(region);
            let new = || Piece { cut, region, from, to, files: vec![] };
            pieces.entry((space, from, to, cut)).or_insert_with(new).files.push(file);
        }
        let mut spaces: BTreeMap<Space, Vec<Piece>> = BTreeMap::new();
        for ((space, ..), piece) in pieces {
            spaces.entry(space).or_default().push(piece);
        }
        let mut found = Found::default();
        for pieces in spaces.values() {
            // Ascending by start.
            let mut end = 0;
            let mut together: Vec<&Piece> = vec![];
            for piece in pieces {
                if piece.from >= end {
                    found.in_place(&together);
                    together.clear();
                }
                end = end.max(piece.to);
                together.push(piece);
            }
            found.in_place(&together);
        }
        found.across(&spaces);
        found.unresolved(units);
        Self {
            overlaps: found.overlaps.into_values().collect(),
            disagreements: found.disagreements,
            places: found.places,
        }
    }
}

/// Returns the [`Space`] of a region, and the region's interval [from, to) in this space.
fn place(region: RegionText) -> (Space, u128, u128) {
    match region {
        RegionText::Interval { from, to } => (Space::Numbers, from, to),
        RegionText::Class { bits, low_bits, residue } => {
            let from = reversed(residue, low_bits) << (bits - low_bits);
            (Space::Residues(bits), from, from + (1 << (bits - low_bits)))
        }
    }
}

#[derive(Default)]
struct Found {
    overlaps: BTreeMap<(Cut, Cut), Overlap>,
    disagreements: Vec<Disagreement>,
    places: u64,
}

impl Found {
    /// Compares units of different layouts at one place: in `pieces`, all units overlap, directly
    /// or through further units.
    fn in_place(&mut self, pieces: &[&Piece]) {
        let cuts = by_cut(pieces.iter().copied());
        let cuts: Vec<_> = cuts.into_values().collect();
        for (i, a) in cuts.iter().enumerate() {
            for b in &cuts[i + 1..] {
                let meet = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
                let mut meet = meet.filter(|(x, y)| x.from < y.to && y.from < x.to);
                let Some((x, y)) = meet.next() else { continue };
                let same = a.len() == 1 && b.len() == 1 && x.region == y.region;
                // Equal sets are compared as duplicates.
                if !same {
                    self.pair((x, y), (a, b), ends(a) == ends(b));
                }
            }
        }
    }

    /// Compares units of different [`Space`]s: residue classes of numbers below 2^bits with
    /// intervals, and with residue classes for smaller values of `bits`. The totals of two layouts
    /// are compared if one has all classes of the numbers below 2^bits, and the other has intervals
    /// that contain the same numbers. Otherwise only the overlap is recorded.
    fn across(&mut self, spaces: &BTreeMap<Space, Vec<Piece>>) {
        for (&space, pieces) in spaces {
            let Space::Residues(bits) = space else { continue };
            let classes = by_cut(pieces);
            for (&other, others) in spaces.range(..space) {
                for b in by_cut(others).values() {
                    for a in classes.values() {
                        let b: Vec<&Piece> = match other {
                            Space::Numbers => {
                                b.iter().filter(|piece| piece.from >> bits == 0).copied().collect()
                            }
                            Space::Residues(_) => b.clone(),
                        };
                        let Some((x, y)) = common(a, &b) else { continue };
                        let all = [(0, 1 << bits)];
                        let equal = other == Space::Numbers && ends(a) == all && ends(&b) == all;
                        self.pair((x, y), (a, &b), equal);
                    }
                }
            }
        }
    }

    /// Compares the units `a` of one layout with the units `b` of another. `meet` is a unit of `a`
    /// and a unit of `b` that overlap. `equal` says whether `a` and `b` contain the same numbers.
    fn pair(&mut self, meet: (&Piece, &Piece), (a, b): (&[&Piece], &[&Piece]), equal: bool) {
        let names = |(x, y): (&Piece, &Piece)| (x.files[0].0.clone(), y.files[0].0.clone());
        let (first, second) = names(meet);
        let totals = Totals::of(a).zip(Totals::of(b)).filter(|_| equal);
        match totals {
            Some((x, y)) => {
                self.places += 1;
                if let Some(what) = x.disagreement(&y) {
                    self.disagreements.push(Disagreement { first, second, what });
                }
            }
            None => {
                let overlap = Overlap { first, second, places: 0 };
                let (x, y) = (meet.0.cut, meet.1.cut);
                self.overlaps.entry((x.min(y), x.max(y))).or_insert(overlap).places += 1;
            }
        }
    }

    /// Checks each number that is listed as unresolved in some file: all files whose units contain
    /// the number must list it. Files with the same region as the first file that lists the number
    /// are not checked here.
    fn unresolved(&mut self, units: &[(PathBuf, Unit)]) {
        let numbers: BTreeSet<u128> =
            units.iter().flat_map(|(_, unit)| unit.unresolved.iter().copied()).collect();
        for n in numbers {
            let region = |unit: &Unit| unit.layout().ok()?.region(unit.unit);
            let has = |unit: &Unit| region(unit).is_some_and(|region| region.contains(n));
            let files = units.iter().filter(|(_, unit)| has(unit));
            let (with, without): (Vec<_>, Vec<_>) =
                files.partition(|(_, unit)| unit.unresolved.binary_search(&n).is_ok());
            let Some((first, unit)) = with.first() else { continue };
            // Files of exactly the same numbers are compared as duplicates.
            for (second, _) in without.iter().filter(|(_, other)| other.region != unit.region) {
                let (first, second) = (first.clone(), second.clone());
                let what = "the unresolved numbers";
                self.disagreements.push(Disagreement { first, second, what });
            }
        }
    }
}

fn by_cut<'a>(
    pieces: impl IntoIterator<Item = &'a Piece<'a>>,
) -> BTreeMap<Cut, Vec<&'a Piece<'a>>> {
    let mut cuts: BTreeMap<Cut, Vec<&Piece>> = BTreeMap::new();
    for piece in pieces {
        cuts.entry(piece.cut).or_default().push(piece);
    }
    cuts
}

/// Returns the union of the intervals of pieces of one [`Space`].
fn ends(pieces: &[&Piece]) -> Vec<(u128, u128)> {
    union(pieces.iter().map(|piece| (piece.from, piece.to)).collect())
}

/// Returns a unit of `classes` and a unit of `others` that have a common number. Returns `None` if
/// no two units have a common number. `classes` are classes of one layout, and `others` are units
/// of another [`Space`].
fn common<'a>(
    classes: &[&'a Piece<'a>],
    others: &[&'a Piece<'a>],
) -> Option<(&'a Piece<'a>, &'a Piece<'a>)> {
    let class = |piece: &Piece| match piece.region {
        RegionText::Class { bits, low_bits, residue } => Some((bits, low_bits, residue)),
        RegionText::Interval { .. } => None,
    };
    // All classes of a layout have the same bits.
    let (bits, low_bits, _) = class(classes.first()?)?;
    let mask = |low_bits: u32| (1u128 << low_bits) - 1;
    let residues = |low_bits: u32, below: u32| -> BTreeMap<u128, &'a Piece<'a>> {
        let all = classes.iter().filter_map(|piece| Some((class(piece)?.2, *piece)));
        let all = all.filter(|(residue, _)| residue >> below == 0);
        all.map(|(residue, piece)| (residue & mask(low_bits), piece)).collect()
    };
    if let Some((other_bits, other_low, _)) = class(others.first()?) {
        // The smallest common number is the larger residue.
        let (low, most) = (low_bits.min(other_low), bits.min(other_bits));
        let known = residues(low, most);
        return others.iter().find_map(|other| {
            let (.., residue) = class(other).filter(|(.., residue)| residue >> most == 0)?;
            Some((*known.get(&(residue & mask(low)))?, *other))
        });
    }
    let known = residues(low_bits, bits);
    others.iter().find_map(|other| {
        let to = other.to.min(1 << bits);
        let (first, last) = (other.from & mask(low_bits), (to - 1) & mask(low_bits));
        let whole = to - other.from > mask(low_bits);
        let mut found = match first <= last && !whole {
            true => known.range(first..=last).next(),
            false => known.range(first..).next().or_else(|| known.range(..=last).next()),
        };
        if whole {
            found = known.iter().next();
        }
        found.map(|(_, piece)| (*piece, *other))
    })
}

/// The sums of the totals of units of the plain method.
struct Totals {
    walked: u128,
    checksum: u64,
    highest: Option<Highest>,
}

impl Totals {
    /// Returns the sums over the units of `pieces`. Returns `None` if, for some piece, no file is
    /// from the plain method.
    fn of(pieces: &[&Piece]) -> Option<Self> {
        let mut totals = Self { walked: 0, checksum: 0, highest: None };
        for piece in pieces {
            let is_plain = |file: &&&(PathBuf, Unit)| file.1.method == Method::Plain.name();
            let (_, unit) = piece.files.iter().find(is_plain)?;
            totals.walked += u128::from(unit.walked);
            totals.checksum = totals.checksum.wrapping_add(unit.checksum);
            let highest =
                unit.highest.clone().map(|HighestText { value, start }| Highest { value, start });
            totals.highest = Highest::of(totals.highest.take(), highest);
        }
        Some(totals)
    }

    fn disagreement(&self, other: &Self) -> Option<&'static str> {
        if self.checksum != other.checksum {
            Some("the checksums, summed over units cut differently,")
        } else if self.walked != other.walked {
            Some("the counts of numbers walked, summed over units cut differently,")
        } else if self.highest != other.highest {
            Some("the highest values, over units cut differently,")
        } else {
            None
        }
    }
}
