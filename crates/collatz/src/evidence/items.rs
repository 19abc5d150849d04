//! The items of a region for a method, as [`crate::evidence`] defines them.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use std::sync::Arc;

use super::Share;
use super::nodes::SlowNodes;
use super::recurrence::Counts;
use super::tables::TableItems;
use crate::sieve::{Looking, Node, Piece, Shape, Tree, pieces};
use crate::table::{TableMethod, TableOptions};
use crate::walk::Walker;
use crate::{CollatzError, Method, Plain, Region, Unwatched, Verified, Verifier};

/// The items of a region for a method: the parts of its work, in a fixed order.
#[derive(Debug, Clone)]
pub(crate) enum Items {
    /// The nodes of the last level of the sieve's trees.
    Sieve(SieveItems),
    /// The numbers that the table method walks.
    Table(Box<TableItems>),
    /// All numbers of the region.
    Plain {
        /// The region whose numbers are the items.
        region: Region,
        /// The walker that walks the numbers.
        walker: Walker,
    },
}

impl Items {
    /// Returns the items for a method of this program; `None` for an unknown method, version or
    /// parameters.
    pub(super) fn of(
        method: &str,
        version: u32,
        parameters: &str,
        region: &Region,
    ) -> Option<Result<Self, CollatzError>> {
        let method = Method::ALL.into_iter().find(|known| known.name() == method)?;
        let walker = Walker::default();
        match (method, version) {
            (Method::Plain, 1) if parameters == "none" => {
                Some(Ok(Self::Plain { region: *region, walker }))
            }
            (Method::Table, 1) => {
                let method = TableMethod::new(TableOptions::parse(parameters)?).ok()?;
                let items = TableItems::new(&method, region);
                Some(items.map(|items| Self::Table(Box::new(items))))
            }
            (Method::Sieve, 1) => {
                let (shape, most) = crate::sieve::parse(parameters)?;
                Some(SieveItems::new(region, shape, most, &walker).map(Self::Sieve))
            }
            _ => None,
        }
    }

    /// Returns the number of items.
    pub(crate) fn count(&self) -> u128 {
        match self {
            Self::Sieve(items) => items.count(),
            Self::Table(items) => items.count(),
            Self::Plain { region, .. } => region.numbers(),
        }
    }

    /// Returns whether each item is one number that is walked.
    pub(super) fn are_numbers(&self) -> bool {
        !matches!(self, Self::Sieve(_))
    }

    /// Returns the contribution of item `index`. It is computed by single steps of T, without the
    /// tables of the method. Returns `None` if `index` is not below the number of items.
    pub(crate) fn share(&self, index: u128) -> Option<Share> {
        match self {
            Self::Sieve(items) => {
                let (tree, node) = items.node(index)?;
                Some(SlowNodes::new(tree, &items.walker).walks(&node).share())
            }
            Self::Table(items) => items.item(index).map(|item| items.share(&item)),
            Self::Plain { region, walker } => {
                let checksum = super::numbers::steps(region.nth(index)?, walker).unwrap_or(0);
                Some(Share { walked: 1, checksum })
            }
        }
    }

    /// Returns the contribution of all numbers that belong to no item.
    pub(super) fn besides(&self) -> Result<Share, CollatzError> {
        match self {
            Self::Sieve(items) => items.besides(),
            Self::Table(_) | Self::Plain { .. } => Ok(Share::default()),
        }
    }
}

/// The nodes of the last level of a region's trees, in the order that [`crate::evidence`] defines.
#[derive(Debug, Clone)]
pub(crate) struct SieveItems {
    trees: Vec<(Tree, Arc<Counts>)>,
    /// The parts of the region whose numbers are walked one by one and belong to no item. The flag
    /// says whether the numbers of the part are counted here; it is false if they also belong to a
    /// tree, which counts them.
    plain: Vec<(Region, bool)>,
    walker: Walker,
}

impl SieveItems {
    fn new(
        region: &Region,
        shape: Shape,
        most: Looking,
        walker: &Walker,
    ) -> Result<Self, CollatzError> {
        Ok(Self::of(&pieces(region, shape, most)?, walker, None))
    }

    /// Returns the items of a region that is divided into `pieces`. `known` has the counts of an
    /// earlier tree. They are reused for trees with the same last level and rules.
    pub(crate) fn of(pieces: &[Piece], walker: &Walker, known: Option<Arc<Counts>>) -> Self {
        let mut items = Self { trees: vec![], plain: vec![], walker: walker.clone() };
        let mut known = known;
        for piece in pieces {
            match piece {
                Piece::Tree(tree) => {
                    let suiting = known.take().filter(|counts| counts.suits(tree));
                    let counts = suiting.unwrap_or_else(|| Arc::new(Counts::of(tree)));
                    known = Some(counts.clone());
                    items.trees.push((tree.clone(), counts));
                }
                &Piece::Plain { region, counted } => items.plain.push((region, counted)),
            }
        }
        items
    }

    /// Returns the trees, each with the number of nodes of its last level.
    pub(crate) fn trees(&self) -> impl Iterator<Item = (&Tree, u128)> {
        self.trees.iter().map(|(tree, counts)| (tree, counts.below(&tree.root, tree.root_level)))
    }

    pub(crate) fn walker(&self) -> &Walker {
        &self.walker
    }

    /// Returns the counts of the last tree, for reuse in other regions. Returns `None` if there is
    /// no tree.
    pub(crate) fn counts(&self) -> Option<Arc<Counts>> {
        self.trees.last().map(|(_, counts)| counts.clone())
    }

    pub(crate) fn count(&self) -> u128 {
        self.trees().map(|(_, nodes)| nodes).sum()
    }

    /// Finds node `index` of the region, counted from 0. Returns the index of its tree, and the
    /// node. Returns `None` if the region has at most `index` nodes.
    pub(crate) fn place(&self, mut index: u128) -> Option<(usize, Node)> {
        for (i, (tree, counts)) in self.trees.iter().enumerate() {
            let here = counts.below(&tree.root, tree.root_level);
            if index < here {
                return counts.node(tree, index).map(|node| (i, node));
            }
            index -= here;
        }
        None
    }

    fn node(&self, index: u128) -> Option<(&Tree, Node)> {
        let (tree, node) = self.place(index)?;
        self.trees.get(tree).map(|(tree, _)| (tree, node))
    }

    fn besides(&self) -> Result<Share, CollatzError> {
        let mut share = Share::default();
        for (region, counted) in &self.plain {
            let mut plain = Plain { walker: self.walker.clone(), ..Plain::default() };
            let Some(Verified { walked, checksum, .. }) = plain.verify(region, &Unwatched)? else {
                continue;
            };
            share.add(Share { walked: if *counted { walked } else { 0 }, checksum });
        }
        Ok(share)
    }
}
