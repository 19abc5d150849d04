//! Division of a range into units of work.
//!
//! A layout depends only on the range and the size of the units, so that unit i is the same on all
//! machines.
//!
//! * [0, 2^N) is divided into residue classes: with units of 2^m numbers, m ≤ N, there are 2^(N−m)
//!   units, and unit i is the class n ≡ i mod 2^(N−m). For m > N, the whole range is one unit. A
//!   class alone proves a statement only on the assumption that all smaller numbers reach 1. All
//!   classes together contain every n below 2^N.
//! * Any other [A, B) is divided into the windows [H·2^m, (H+1)·2^m) that it contains, in ascending
//!   order. The numbers before and after the windows are divided into aligned intervals. Their
//!   lengths are powers of two, as large as possible, and at least 2^20 (or 2^m if that is
//!   smaller). Numbers next to A or B that fill no such interval form one shorter interval at each
//!   end. So a range has at most (B − A)/2^m + 2·max(m − 20, 0) + 4 units.

use warpint_files::ErrorKind;

use super::Selection;
use crate::Region;

/// log2 of the length of the smallest aligned intervals into which the ends of a range are divided.
const GRAIN_BITS: u32 = 20;

/// The reason why a range cannot be divided into units.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The interval is empty.
    #[error("the range from {from} to {to} is empty: its end must be larger than its start")]
    Empty {
        /// The first number of the interval.
        from: u128,
        /// The number after the last number of the interval.
        to: u128,
    },
    /// The range ends beyond 2^127.
    #[error("{to} is too large: the end of a range is at most 2^127")]
    TooLarge {
        /// The number after the last number of the range.
        to: u128,
    },
    /// The requested units are too large.
    #[error("units of 2^{bits} numbers are too large: use at most 127 bits")]
    UnitBits {
        /// The requested size of units, as log2 of their count of numbers.
        bits: u32,
    },
    /// The range has more residue classes or windows than [`Layout::MOST_UNITS`].
    #[error(
        "the range from {from} to {to} has more than {} units of 2^{bits} numbers: use more bits per unit",
        Layout::MOST_UNITS
    )]
    TooMany {
        /// The requested size of units, as log2 of their count of numbers.
        bits: u32,
        /// The first number of the range.
        from: u128,
        /// The number after the last number of the range.
        to: u128,
    },
}

impl LayoutError {
    /// Returns the kind of the error: always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// The division of a range into units, which are numbered from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    from: u128,
    to: u128,
    unit_bits: u32,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// The units are the classes of n < 2^bits by residue mod 2^`low_bits`.
    Classes { bits: u32, low_bits: u32 },
    /// The units are `windows` windows, the first of which begins with the number `first`, and the
    /// smaller intervals before them (`head`) and after them (`tail`). A smaller interval is the
    /// pair of its first number and its end, which does not belong to it.
    Windows { head: Vec<(u128, u128)>, first: u128, windows: u64, tail: Vec<(u128, u128)> },
}

impl Layout {
    /// The largest number of residue classes or windows of a layout. The smaller units at the ends
    /// of a range are not counted.
    pub const MOST_UNITS: u64 = 1 << 24;

    /// Divides [from, to) into units of 2^`unit_bits` numbers each. Units at the ends may have
    /// fewer numbers.
    ///
    /// # Errors
    /// [`LayoutError`] if from ≥ to, to > 2^127, `unit_bits` > 127, or there are more than
    /// [`Self::MOST_UNITS`] residue classes or windows.
    pub fn new(from: u128, to: u128, unit_bits: u32) -> Result<Self, LayoutError> {
        if from >= to {
            return Err(LayoutError::Empty { from, to });
        }
        if to > 1 << 127 {
            return Err(LayoutError::TooLarge { to });
        }
        if unit_bits > 127 {
            return Err(LayoutError::UnitBits { bits: unit_bits });
        }
        let too_many = LayoutError::TooMany { bits: unit_bits, from, to };
        let shape = if from == 0 && to.is_power_of_two() {
            let bits = to.trailing_zeros();
            let low_bits = bits.saturating_sub(unit_bits);
            if 1 << low_bits > u128::from(Self::MOST_UNITS) {
                return Err(too_many);
            }
            Shape::Classes { bits, low_bits }
        } else {
            let first = from.div_ceil(1 << unit_bits) << unit_bits;
            let end = to >> unit_bits << unit_bits;
            let windows = end.saturating_sub(first) >> unit_bits;
            let windows = u64::try_from(windows).ok().filter(|&n| n <= Self::MOST_UNITS);
            let windows = windows.ok_or(too_many)?;
            if windows == 0 {
                let head = pieces(from, to, unit_bits);
                Shape::Windows { head, first: to, windows, tail: vec![] }
            } else {
                let (head, tail) = (pieces(from, first, unit_bits), pieces(end, to, unit_bits));
                Shape::Windows { head, first, windows, tail }
            }
        };
        Ok(Self { from, to, unit_bits, shape })
    }

    /// Returns log2 of the size of units for a range of `numbers` numbers: at most `unit_bits`, and at most log2(`numbers`)
    /// rounded up. With several devices, units are also small enough that each device gets at least eight, if the range has
    /// enough numbers.
    #[must_use]
    pub fn unit_bits_for(unit_bits: u32, devices: usize, numbers: u128) -> u32 {
        const UNITS_EACH: usize = 8;
        let all = u128::BITS - numbers.saturating_sub(1).leading_zeros();
        if devices <= 1 {
            return unit_bits.min(all);
        }
        let fewest = (UNITS_EACH * devices).next_power_of_two().ilog2();
        unit_bits.min(all.saturating_sub(fewest))
    }

    /// Returns the first number of the range.
    #[must_use]
    pub fn from(&self) -> u128 {
        self.from
    }

    /// Returns the number after the last number of the range.
    #[must_use]
    pub fn to(&self) -> u128 {
        self.to
    }

    /// Returns log2 of the count of numbers in a unit.
    #[must_use]
    pub fn unit_bits(&self) -> u32 {
        self.unit_bits
    }

    /// Returns the number of units of the range.
    #[must_use]
    pub fn units(&self) -> u64 {
        match &self.shape {
            Shape::Classes { low_bits, .. } => 1 << low_bits,
            Shape::Windows { head, windows, tail, .. } => {
                head.len() as u64 + windows + tail.len() as u64
            }
        }
    }

    /// Returns the regions of the selected units that are the hardest to support. A method that
    /// supports these regions supports the regions of all selected units.
    #[must_use]
    pub fn hardest(&self, selection: Selection) -> Vec<Region> {
        let corners = self.corners().into_iter().filter(|unit| selection.contains(*unit));
        let ends = [selection.units().next(), selection.units().last()];
        corners.chain(ends.into_iter().flatten()).filter_map(|unit| self.region(unit)).collect()
    }

    /// Returns the indices of the first and the last unit and, if the range is divided into
    /// windows, of the first and the last window. A method that supports these units supports all
    /// units of the layout.
    #[must_use]
    pub fn corners(&self) -> Vec<u64> {
        let last = self.units().saturating_sub(1);
        match &self.shape {
            Shape::Classes { .. } => vec![0, last],
            Shape::Windows { head, windows, .. } => {
                let head = head.len() as u64;
                let ends = [0, head, (head + windows).saturating_sub(1), last];
                ends.into_iter().filter(|unit| *unit <= last).collect()
            }
        }
    }

    /// Returns the set of numbers of unit `unit`, counted from 0. Returns `None` if `unit` ≥
    /// [`Self::units`].
    #[must_use]
    pub fn region(&self, unit: u64) -> Option<Region> {
        match &self.shape {
            &Shape::Classes { bits, low_bits } => {
                Region::class(bits, low_bits, u128::from(unit)).ok()
            }
            Shape::Windows { head, first, windows, tail } => {
                let after_head = unit.checked_sub(head.len() as u64);
                let (from, to) = match after_head {
                    None => *head.get(usize::try_from(unit).ok()?)?,
                    Some(window) if window < *windows => {
                        let from = first + (u128::from(window) << self.unit_bits);
                        (from, from + (1 << self.unit_bits))
                    }
                    Some(later) => *tail.get(usize::try_from(later - windows).ok()?)?,
                };
                Region::interval(from, to).ok()
            }
        }
    }
}

/// Divides the range of all n with `from` ≤ n < `to` into aligned intervals. Their lengths are
/// powers of two from 2^g to 2^`most`, as large as possible, where g is the smaller of 20 and
/// `most`. The numbers before the first multiple of 2^g in the range form one further interval, and
/// so do the numbers after the last multiple. Returns the pair (first number, end) of each
/// interval, in ascending order. The end does not belong to the interval.
fn pieces(from: u128, to: u128, most: u32) -> Vec<(u128, u128)> {
    let grain = most.min(GRAIN_BITS);
    let (mut pieces, mut at) = (vec![], from);
    while at < to {
        let aligned = at.trailing_zeros().min(127);
        let bits = aligned.min((to - at).ilog2()).min(most);
        let next =
            if bits < grain { to.min(((at >> grain) + 1) << grain) } else { at + (1 << bits) };
        pieces.push((at, next));
        at = next;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn regions(layout: &Layout) -> Vec<Region> {
        let regions: Vec<_> = (0..).map_while(|unit| layout.region(unit)).collect();
        assert_eq!(regions.len() as u64, layout.units());
        regions
    }

    #[test]
    fn corners_are_units_of_each_kind() {
        assert_eq!(Layout::new(0, 1 << 10, 7).unwrap().corners(), [0, 7]);
        // 100, 512, 1024, …, 4608 to 5000.
        assert_eq!(Layout::new(100, 5000, 9).unwrap().corners(), [0, 1, 8, 9]);
        for (from, to) in [(512, 5000), (512, 1024), (513, 600), (512, 1025)] {
            let layout = Layout::new(from, to, 9).unwrap();
            let corners = layout.corners();
            assert!(corners.iter().all(|unit| layout.region(*unit).is_some()), "{corners:?}");
            assert!(corners.contains(&0) && corners.contains(&(layout.units() - 1)));
        }
    }

    #[test]
    fn powers_of_two_are_cut_into_classes() {
        let layout = Layout::new(0, 1 << 10, 7).unwrap();
        let regions = regions(&layout);
        assert_eq!(regions.len(), 8);
        assert_eq!(regions[3], Region::class(10, 3, 3).unwrap());
        for n in 0..1 << 10 {
            assert_eq!(regions.iter().filter(|region| region.contains(n)).count(), 1, "{n}");
        }
        // Not more units than numbers, and one for a range that is smaller than a unit.
        assert_eq!(Layout::new(0, 8, 0).unwrap().units(), 8);
        assert_eq!(Layout::new(0, 8, 40).unwrap().units(), 1);
        assert_eq!(Layout::new(0, 1, 0).unwrap().units(), 1);
        let largest = Layout::new(0, 1 << 127, 103).unwrap();
        assert_eq!((largest.units(), largest.region(1 << 24)), (1 << 24, None));
    }

    #[test]
    fn windows_are_aligned_and_ends_are_not_cut_small() {
        let interval = |from, to| Region::interval(from, to).unwrap();
        let layout = Layout::new(5, (3 << 24) + (5 << 20) + 7, 24).unwrap();
        let m = |n: u128| n << 20;
        assert_eq!(
            regions(&layout),
            [
                interval(5, m(1)),
                interval(m(1), m(2)),
                interval(m(2), m(4)),
                interval(m(4), m(8)),
                interval(m(8), m(16)),
                interval(m(16), m(32)),
                interval(m(32), m(48)),
                interval(m(48), m(52)),
                interval(m(52), m(53)),
                interval(m(53), m(53) + 7),
            ]
        );
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        for (from, to, bits, says) in [
            (7, 7, 20, "the range from 7 to 7 is empty"),
            (8, 7, 20, "the range from 8 to 7 is empty"),
            (0, (1 << 127) + 1, 100, "the end of a range is at most 2^127"),
            (0, 1 << 127, 128, "at most 127 bits"),
            (0, 1 << 127, 102, "more than 16777216 units"),
            (1, 1 << 127, 102, "use more bits per unit"),
            (1, 1 << 127, 0, "use more bits per unit"),
        ] {
            let error = Layout::new(from, to, bits).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    proptest! {
        #[test]
        fn units_cover_the_range_exactly(
            a in 0u128..1 << 127, b in 1u128..1 << 127, shift in 0u32..127, bits in 0u32..=127
        ) {
            let (a, b) = (a >> shift, b >> shift);
            let (from, to) = (a.min(b), a.max(b) + 1);
            let size = (to - from).ilog2();
            let bits = bits.max(size.saturating_sub(10));
            let layout = Layout::new(from, to, bits).unwrap();
            prop_assert!(layout.units() <= (1 << 12) + 2 * u64::from(bits));
            let mut numbers = 0;
            let mut at = from;
            for region in regions(&layout) {
                numbers += region.numbers();
                if let Region::Interval { from, to } = region {
                    prop_assert_eq!(from, at);
                    at = to;
                    // A window, or shorter than the grain and within one.
                    let length = to - from;
                    let grain = bits.min(GRAIN_BITS);
                    let window = length.is_power_of_two() && from % length == 0
                        && length <= 1 << bits;
                    prop_assert!(window || from >> grain == (to - 1) >> grain);
                }
            }
            prop_assert_eq!(numbers, to - from);
        }
    }
}
