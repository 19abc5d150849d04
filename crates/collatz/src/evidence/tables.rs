//! The numbers that the table method walks: their count, their order, and the table steps of each.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use super::Share;
use super::nodes::Value;
use crate::table::{Blocks, Cover, LOW_BITS, MOST_STEPS, Part, Residue, TableMethod, descendants};
use crate::table::{powers, width};
use crate::walk::Walker;
use crate::{CollatzError, Region};

/// A region, divided into parts as the table method divides it.
#[derive(Debug, Clone)]
pub(crate) struct TableItems {
    cover: Cover,
    table_bits: u32,
    walker: Walker,
    root: Option<Residue>,
    powers: [u64; 41],
}

/// A number that the table method walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableItem {
    /// The number n, which is walked by single steps of T.
    Plain { n: u128 },
    /// The number `residue.low` + `high`·2^b, which is walked by table steps. Here b is
    /// `blocks.bits`, and 2^b is the length of a block.
    OfBlocks { blocks: Blocks, residue: Residue, high: u128 },
}

impl TableItems {
    pub(crate) fn new(method: &TableMethod, region: &Region) -> Result<Self, CollatzError> {
        let (cover, powers) = (method.cover(region)?, powers());
        Ok(Self {
            root: cover.root(&powers),
            cover,
            table_bits: method.tables.bits(),
            walker: method.options.walker.clone(),
            powers,
        })
    }

    /// Returns the number of mandatory residues modulo 2^bits in the region's class.
    fn residues(&self, bits: u32) -> u128 {
        let count = |root: Residue| descendants(self.cover.class.bits, bits)[root.odd as usize];
        self.root.map_or(0, count).into()
    }

    fn of_part(&self, part: &Part) -> u128 {
        match *part {
            Part::Plain { from, to } => self.cover.class.count(from, to),
            Part::Blocks(blocks) => self.residues(blocks.bits) * blocks.count,
        }
    }

    /// Returns the count of numbers that are walked.
    pub(crate) fn count(&self) -> u128 {
        self.cover.parts.iter().map(|part| self.of_part(part)).sum()
    }

    /// Returns number `index` of the walked numbers, counted from 0; `None` if at most `index`
    /// numbers are walked. The parts of the region are in ascending order, and so are the numbers
    /// of a plain part. In blocks, the numbers of one residue are consecutive and ascend. The
    /// residues form a tree, with one more bit at each level. The residues below the child whose
    /// last step was even precede the residues below its sibling.
    pub(crate) fn item(&self, index: u128) -> Option<TableItem> {
        self.place(index).map(|(.., item)| item)
    }

    /// Finds number `index` of the walked numbers of the region, counted from 0. Returns the index
    /// of the part that contains the number, its index in this part, and the number itself. Returns
    /// `None` if at most `index` numbers are walked.
    pub(crate) fn place(&self, mut index: u128) -> Option<(usize, u128, TableItem)> {
        for (i, part) in self.cover.parts.iter().enumerate() {
            let here = self.of_part(part);
            if index < here {
                let item = match *part {
                    Part::Plain { from, .. } => {
                        TableItem::Plain { n: self.cover.class.nth(from, index) }
                    }
                    Part::Blocks(blocks) => {
                        let residue = self.residue(blocks.bits, index / blocks.count)?;
                        let high = blocks.first + index % blocks.count;
                        TableItem::OfBlocks { blocks, residue, high }
                    }
                };
                return Some((i, index, item));
            }
            index -= here;
        }
        None
    }

    fn residue(&self, bits: u32, mut index: u128) -> Option<Residue> {
        let mut residue = self.root?;
        for k in self.cover.class.bits..bits {
            let below = descendants(k + 1, bits);
            let mut chosen = None;
            residue.children(k, &self.powers, |child| {
                let here = u128::from(below[child.odd as usize]);
                if chosen.is_none() {
                    if index < here {
                        chosen = Some(child);
                    } else {
                        index -= here;
                    }
                }
            });
            residue = chosen?;
        }
        (index == 0).then_some(residue)
    }

    /// Returns the contribution of a number, computed step by step.
    pub(crate) fn share(&self, item: &TableItem) -> Share {
        let checksum = match *item {
            TableItem::Plain { n } => super::numbers::steps(n, &self.walker).unwrap_or(0),
            TableItem::OfBlocks { blocks, residue, high } => {
                self.walk(u128::from(residue.low) + (high << blocks.bits), blocks).0
            }
        };
        Share { walked: 1, checksum }
    }

    /// Walks the number n of `blocks`: first `blocks.bits` single steps of T, then table steps. The
    /// walk ends after the first table step whose result is below n, or is 2^w or more, where w is
    /// [`width`] of `blocks.words`. It ends at the latest after [`MOST_STEPS`] table steps. For
    /// three and more words, the comparison with n ignores the [`LOW_BITS`] low bits. Returns the
    /// count of table steps, and whether the walker must walk n: this is so unless the last result
    /// is below n.
    pub(crate) fn walk(&self, n: u128, blocks: Blocks) -> (u64, bool) {
        let without = if blocks.words >= 3 { LOW_BITS } else { 0 };
        let width = width(blocks.words);
        let steps = |value: Value, count: u32| (0..count).fold(value, |value, _| value.step());
        let mut value = steps(Value::Short(n), blocks.bits);
        for taken in 1..=MOST_STEPS {
            value = steps(value, self.table_bits);
            if value.above(width) != Some(0) {
                return (taken, true);
            }
            if value.above(without).is_some_and(|value| value < n >> without) {
                return (taken, false);
            }
        }
        (MOST_STEPS, true)
    }
}
