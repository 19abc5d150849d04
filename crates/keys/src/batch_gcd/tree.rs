//! The product tree, with derivatives, on several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use warpint_natural::limbs::add_assign;
use warpint_natural::product::{Multiplier, Products, TransformMultiplier};
use warpint_progress::Watch;
use warpint_transform::cpu::f50::is_fast;

/// The number of subtrees for each thread. A subtree is computed by one thread; above the subtrees,
/// all threads compute one product after the other.
const SUBTREES_PER_THREAD: usize = 4;

/// A node of a product tree, with all nodes below it.
pub(super) enum Tree<'a> {
    /// A modulus and its index.
    Leaf(&'a [u64], usize),
    /// A product of as many limbs as both factors together, and the two factors.
    Node(Vec<u64>, Box<[Tree<'a>; 2]>),
}

/// The derivative of a node: Σ P/n_i over its moduli n_i, in as many limbs as their product P. It
/// fits, because each term is below B^(m − 1), where m is the number of limbs of P and B = 2^64.
/// `None` is the derivative 1 of a leaf.
pub(super) type Derivative = Option<Vec<u64>>;

/// A tree and the derivative of its root.
type Root<'a> = (Tree<'a>, Derivative);

/// Returns the node of a range of moduli with this number of limbs, if it is known. The inner result is
/// `None` after a request to stop.
type Known<'k, 'a> = dyn FnMut(&Range<usize>, usize) -> Option<Option<Root<'a>>> + 'k;

impl Tree<'_> {
    /// Returns the product of the moduli.
    pub(super) fn product(&self) -> &[u64] {
        match self {
            Self::Leaf(modulus, _) => modulus,
            Self::Node(product, _) => product,
        }
    }

    /// Returns the product, and drops the nodes below.
    pub(super) fn into_product(self) -> Vec<u64> {
        match self {
            Self::Leaf(modulus, _) => modulus.to_vec(),
            Self::Node(product, _) => product,
        }
    }
}

/// A method to multiply: on the caller's thread, with working memory that is reused or, on CPUs
/// without fast transforms over 50-bit primes, by other transforms; or on all threads.
pub(super) enum By<'w> {
    One(Products),
    Other(TransformMultiplier),
    All(&'w TransformMultiplier),
}

impl By<'_> {
    /// Returns the method for one thread.
    pub(super) fn one() -> Self {
        if is_fast() {
            Self::One(Products::default())
        } else {
            Self::Other(TransformMultiplier::new(1))
        }
    }

    pub(super) fn mul(&mut self, a: &[u64], b: &[u64]) -> Vec<u64> {
        match self {
            Self::One(products) => {
                let mut product = vec![0; a.len() + b.len()];
                products.mul(&mut product, a, b);
                product
            }
            Self::Other(multiplier) => multiplier.mul(a, b),
            Self::All(multiplier) => multiplier.mul(a, b),
        }
    }
}

/// The context of a computation: threads, progress, and requests to stop. Functions return `None` if
/// the watch requests a stop.
pub(super) struct Work<'w> {
    pub(super) multiplier: &'w TransformMultiplier,
    threads: usize,
    watch: &'w dyn Watch,
    done: AtomicU64,
    total: u64,
}

impl<'w> Work<'w> {
    /// `total` is the work of all trees and descents, in the unit of [`work`], of which `done` is done
    /// before.
    pub(super) fn new(
        multiplier: &'w TransformMultiplier,
        threads: usize,
        watch: &'w dyn Watch,
        done: u64,
        total: u64,
    ) -> Self {
        Self { multiplier, threads, watch, done: AtomicU64::new(done), total }
    }

    /// Returns whether the watch requests a stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    /// Reports a node of `limbs` limbs as done. Returns `None` if the watch requests a stop.
    pub(super) fn node(&self, limbs: usize, what: &'static str) -> Option<()> {
        if self.watch.is_stopped() {
            return None;
        }
        let before = self.done.fetch_add(limbs as u64, Ordering::Relaxed);
        // Small nodes are reported now and then.
        let (step, after) = (self.total / 1000 + 1, before + limbs as u64);
        if before / step != after / step {
            self.watch.step(after.min(self.total), self.total, &what);
        }
        Some(())
    }

    /// Returns the largest number of limbs of a subtree that one thread computes.
    pub(super) fn alone(&self, limbs: usize) -> usize {
        if self.threads == 1 { limbs } else { limbs / (self.threads * SUBTREES_PER_THREAD) }
    }

    /// Returns the product tree of the moduli, of which there is at least one. With `derive`, also
    /// returns its derivative; otherwise, the second result is meaningless.
    pub(super) fn tree<'a>(
        &self,
        moduli: &[&'a [u64]],
        derive: bool,
    ) -> Option<(Tree<'a>, Vec<u64>)> {
        let alone = self.alone(limbs(moduli));
        let mut ranges = vec![];
        cut(moduli, 0..moduli.len(), alone, &mut ranges);
        let subtrees = self.multiplier.pool().each(ranges.len(), |i| {
            let mut by = By::one();
            self.node_of(moduli, ranges[i].clone(), derive, &mut by, &mut |_, _| None)
        });
        let mut subtrees = subtrees.into_iter();
        let mut by = By::All(self.multiplier);
        let mut take = |range: &Range<usize>, limbs: usize| {
            (range.len() == 1 || limbs <= alone).then(|| subtrees.next().flatten())
        };
        let (tree, derivative) =
            self.node_of(moduli, 0..moduli.len(), derive, &mut by, &mut take)?;
        let derivative = derivative.unwrap_or_else(|| one(tree.product().len()));
        Some((tree, derivative))
    }

    /// Returns the node of a range of moduli. A node that `known` returns is not computed.
    fn node_of<'a>(
        &self,
        moduli: &[&'a [u64]],
        range: Range<usize>,
        derive: bool,
        by: &mut By,
        known: &mut Known<'_, 'a>,
    ) -> Option<Root<'a>> {
        let size = limbs(&moduli[range.clone()]);
        if let Some(node) = known(&range, size) {
            return node;
        }
        if range.len() == 1 {
            return Some((Tree::Leaf(moduli[range.start], range.start), None));
        }
        let middle = range.start + middle(&moduli[range.clone()]);
        let (left, dl) = self.node_of(moduli, range.start..middle, derive, by, known)?;
        let (right, dr) = self.node_of(moduli, middle..range.end, derive, by, known)?;
        self.node(size, "product tree")?;
        let product = by.mul(left.product(), right.product());
        let derivative = derive.then(|| {
            let mut sum = times(by, dl, right.product(), size);
            add_assign(&mut sum, &times(by, dr, left.product(), size));
            sum
        });
        Some((Tree::Node(product, Box::new([left, right])), derivative))
    }
}

/// Returns d·p in `size` limbs.
fn times(by: &mut By, d: Derivative, p: &[u64], size: usize) -> Vec<u64> {
    let mut product = match d {
        Some(d) => by.mul(&d, p),
        None => p.to_vec(),
    };
    product.resize(size, 0);
    product
}

/// Returns the number 1 in `limbs` limbs.
fn one(limbs: usize) -> Vec<u64> {
    let mut one = vec![0; limbs];
    one[0] = 1;
    one
}

/// Returns the number of limbs of all moduli.
pub(super) fn limbs(moduli: &[&[u64]]) -> usize {
    moduli.iter().map(|n| n.len()).sum()
}

/// Returns the number of moduli of the left child of a node: at least one, and fewer than all. Both
/// children have about the same number of limbs. There must be two moduli or more.
fn middle(moduli: &[&[u64]]) -> usize {
    let half = limbs(moduli) / 2;
    let mut left = 0;
    let reaches = |n: &&[u64]| {
        left += n.len();
        left >= half
    };
    let position = moduli.iter().position(reaches).unwrap_or(0);
    (position + 1).min(moduli.len() - 1)
}

/// Cuts a range of moduli into the ranges of the subtrees with at most `alone` limbs, in order.
fn cut(moduli: &[&[u64]], range: Range<usize>, alone: usize, ranges: &mut Vec<Range<usize>>) {
    if range.len() == 1 || limbs(&moduli[range.clone()]) <= alone {
        ranges.push(range);
        return;
    }
    let middle = range.start + middle(&moduli[range.clone()]);
    cut(moduli, range.start..middle, alone, ranges);
    cut(moduli, middle..range.end, alone, ranges);
}

/// Returns the work of a product tree: the number of limbs of its inner nodes.
pub(super) fn work(moduli: &[&[u64]]) -> u64 {
    if moduli.len() < 2 {
        return 0;
    }
    let (left, right) = moduli.split_at(middle(moduli));
    limbs(moduli) as u64 + work(left) + work(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_cut_near_its_middle() {
        let limbs = [7; 9];
        let of = |lengths: &[usize]| {
            let moduli: Vec<&[u64]> = lengths.iter().map(|&n| &limbs[..n]).collect();
            middle(&moduli)
        };
        assert_eq!(of(&[1, 1]), 1);
        assert_eq!(of(&[1, 1, 1]), 1);
        assert_eq!(of(&[1, 1, 1, 1]), 2);
        assert_eq!(of(&[1, 9]), 1);
        assert_eq!(of(&[9, 1]), 1);
        assert_eq!(of(&[1, 1, 9]), 2);
    }
}
