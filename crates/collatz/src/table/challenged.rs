//! The challenges of a region, grouped by its parts.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use super::{Blocks, Cover, Residue, TableMethod};
use crate::evidence::asked::Asked;
use crate::evidence::tables::{TableItem, TableItems};
use crate::evidence::{Evidence, Items, NUMBERS, secret};
use crate::{CollatzError, Region, Verified};

/// The challenges of a region, grouped by its parts.
#[derive(Debug)]
pub(crate) struct Challenged {
    pub(crate) asked: Asked,
    items: TableItems,
    parts: Vec<OfPart>,
}

/// The challenged numbers of one part of a region, in the order of the region's items. A number may
/// occur several times.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfPart {
    /// The challenged numbers of a part that is walked one by one, as indices within the part.
    pub(crate) plain: Vec<u128>,
    /// The challenged numbers of a part that consists of blocks: the pair (r, h) stands for r +
    /// h·2^bits, where r is a residue modulo 2^bits.
    pub(crate) blocks: Vec<(Residue, u128)>,
}

impl Challenged {
    /// Draws about one challenge per `every` numbers. Uses the seed of the method. If the method
    /// has no seed, uses a new random one.
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

    /// Returns the challenges of the part with index `part`.
    pub(crate) fn of(&self, part: usize) -> &OfPart {
        &self.parts[part]
    }

    /// Returns the number of steps of T from n to the first value below n, computed step by step.
    /// Returns 0 if n is unresolved.
    pub(crate) fn plain_steps(&self, n: u128) -> u64 {
        self.items.share(&TableItem::Plain { n }).checksum
    }

    /// Returns the number of table steps of the number residue + high·2^bits, computed by single
    /// steps of T.
    pub(crate) fn table_steps(&self, residue: &Residue, high: u128, blocks: Blocks) -> u64 {
        self.walk(u128::from(residue.low) + (high << blocks.bits), blocks).0
    }

    /// Returns the number of table steps of n, computed by single steps of T, and whether the
    /// method must leave n to the walker.
    pub(crate) fn walk(&self, n: u128, blocks: Blocks) -> (u64, bool) {
        self.items.walk(n, blocks)
    }

    /// Returns the evidence if all challenges were answered correctly. Otherwise returns an error.
    pub(crate) fn end(self, verified: &Verified) -> Result<Evidence, CollatzError> {
        self.asked.end(verified)
    }
}
