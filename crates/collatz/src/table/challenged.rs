//! The challenges of a region, by part.

use super::{Blocks, Cover, Residue, TableMethod};
use crate::evidence::asked::Asked;
use crate::evidence::tables::{TableItem, TableItems};
use crate::evidence::{Evidence, Items, NUMBERS, secret};
use crate::{CollatzError, Region, Verified};

/// The challenges of a region, and their distribution over its parts.
#[derive(Debug)]
pub(crate) struct Challenged {
    pub(crate) asked: Asked,
    items: TableItems,
    parts: Vec<OfPart>,
}

/// The challenges of a part, ascending; a number may occur several times.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfPart {
    /// The indices of challenged numbers in a plain part.
    pub(crate) plain: Vec<u128>,
    /// The challenged numbers of blocks: pairs of the residue and the multiple of 2^bits.
    pub(crate) blocks: Vec<(Residue, u128)>,
}

impl Challenged {
    /// Draws one challenge per about `every` numbers, from the method's seed or from a new one.
    pub(crate) fn new(
        method: &TableMethod,
        place: String,
        region: &Region,
        cover: &Cover,
        every: u64,
    ) -> Result<Self, CollatzError> {
        let seed = match method.seed {
            Some(seed) => seed,
            None => secret()?,
        };
        let items = TableItems::new(method, region)?;
        let every = every.min(NUMBERS);
        let asked = Asked::new(place, *region, Items::Table(Box::new(items.clone())), seed, every);
        let mut parts = vec![OfPart::default(); cover.parts.len()];
        for index in asked.indices() {
            let Some((part, index, item)) = items.place(index) else { continue };
            match item {
                TableItem::Plain { .. } => parts[part].plain.push(index),
                TableItem::OfBlocks { residue, high, .. } => {
                    parts[part].blocks.push((residue, high));
                }
            }
        }
        Ok(Self { asked, items, parts })
    }

    /// Returns the challenges of a part.
    pub(crate) fn of(&self, part: usize) -> &OfPart {
        &self.parts[part]
    }

    /// Returns the number of steps of T of a number of a plain part, by the slow rules.
    pub(crate) fn plain_steps(&self, n: u128) -> u64 {
        self.items.share(&TableItem::Plain { n }).checksum
    }

    /// Returns the number of table steps of a number of blocks, by the slow rules.
    pub(crate) fn table_steps(&self, residue: &Residue, high: u128, blocks: Blocks) -> u64 {
        self.walk(u128::from(residue.low) + (high << blocks.bits), blocks).0
    }

    /// Returns the number of table steps of a number of blocks, by the slow rules, and whether the
    /// number is left to the walker.
    pub(crate) fn walk(&self, n: u128, blocks: Blocks) -> (u64, bool) {
        self.items.walk(n, blocks)
    }

    /// Returns the evidence if all challenges were answered rightly; otherwise an error.
    pub(crate) fn end(self, verified: &Verified) -> Result<Evidence, CollatzError> {
        self.asked.end(verified)
    }
}
