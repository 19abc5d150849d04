//! The moduli that share a factor with another modulus: gcd(n_i, Π_(j≠i) n_j) for all i.
//!
//! # Method
//!
//! Let P = Π n_i and D = Σ P/n_i, the derivative of Π (x + n_i) at x = 0. All terms of D but P/n_i
//! are multiples of n_i, so D ≡ P/n_i mod n_i, and gcd(n_i, D mod n_i) = gcd(n_i, P/n_i). This needs
//! no residues modulo squares n_i², with which the batch gcd is usually described (Bernstein 2004,
//! *How to find smooth parts of integers*, and Heninger, Durumeric, Wustrow and Halderman 2012,
//! *Mining your Ps and Qs*, USENIX Security, §3.1). The numbers of the tree have half the length.
//!
//! 1. *Product tree.* A node v has two children l and r, with P_v = P_l·P_r and
//!    D_v = D_l·P_r + D_r·P_l. The leaf of n_i has P = n_i and D = 1. The products P_v are kept, and
//!    each D_v only until its parent is computed (`tree`).
//! 2. *Root.* x = D/P mod 1, as a fixed-point fraction, by a reciprocal of P (`fraction`).
//! 3. *Scaled remainder tree* (Bernstein 2004, *Scaled remainder trees*). A node has the fraction
//!    x_v ≈ D/P_v mod 1. Its children have x_l = x_v·P_r mod 1 and x_r = x_v·P_l mod 1, because
//!    D/P_l = (D/P_v)·P_r. No node divides. The leaf has D mod n_i = n_i·x (`descent`).
//!
//! *Precision.* Let B = 2^64, and let P_v have m_v limbs, P_v < B^(m_v), with m_v = m_l + m_r. The
//! fraction of v is stored as the integer X_v of m_v + 1 limbs with
//! 0 ≤ D/P_v − X_v/B^(m_v+1) < e_v/B^(m_v+1) modulo 1. The child l takes the limbs of X_v·P_r with the
//! weights B^(m_r) to B^(m_v): the limbs above are integers, and the limbs below are cut off. The
//! error e_v·P_r/B^(m_v+1) is below e_v/B^(m_l+1), and cutting off adds less than 1/B^(m_l+1). So
//! e_l ≤ e_v + 1. At the root, e ≤ 2 (`fraction`), and at a leaf e ≤ 2 + depth < B. There,
//! r = D mod n_i is an integer with r − e/B < X·n_i/B^(w+1) ≤ r modulo n_i, so r is
//! ⌈X·n_i/B^(w+1)⌉ modulo n_i, exactly. The argument holds for every set of numbers n_i ≥ 2.
//!
//! # Cost
//!
//! Let n be the number of limbs of all moduli, and M(m) the cost of a product of two numbers of m
//! limbs. A node of m limbs costs three products of m/2 by m/2 limbs upwards and two of m by m/2
//! limbs downwards. The root costs about as much as five products of n by n limbs. In total
//! O(M(n)·log k) for k moduli. [`Batch::memory`] is the memory need.
//!
//! # Groups
//!
//! If the tree does not fit in the memory, the moduli are cut into g groups of about equal lengths.
//! For a group a, the tree is computed from C = D_a·Π_(b≠a) (P_b mod P_a) mod P_a instead of D_a,
//! because P/n_i = (P_a/n_i)·Π_(b≠a) P_b. This takes g·(g − 1) divisions by numbers of n/g limbs, and
//! each product P_a is computed twice.
//!
//! Moduli of which gcd(n_i, P/n_i) = n_i share all their primes with others, or divide a product of
//! others. A gcd of pairs resolves them: [`crate::audit`].

mod descent;
mod fraction;
mod memory;
mod tree;

use warpint_natural::division::div_rem_by;
use warpint_natural::limbs::{copy_to, trimmed};
use warpint_natural::product::{Multiplier, TransformMultiplier};
use warpint_progress::{Watch, units};

use crate::KeysError;
use memory::Groups;
use tree::Work;

/// The gcds of a batch of moduli.
pub struct Batch<'a> {
    moduli: &'a [&'a [u64]],
    groups: Groups,
    threads: usize,
}

/// A modulus that shares a factor with the product of the other moduli.
#[derive(Clone, PartialEq, Eq)]
pub struct Common {
    /// The index of the modulus.
    pub index: usize,
    /// gcd(n, product of the others) > 1, without leading zero limbs.
    pub gcd: Vec<u64>,
}

impl<'a> Batch<'a> {
    /// Plans the gcds of the moduli, which must be at least 2 and have no leading zero limbs, in at
    /// most `memory` bytes besides the moduli. The order does not matter, but the tree is smallest if
    /// moduli of equal lengths are neighbours.
    ///
    /// # Errors
    /// [`KeysError::Memory`] if not even the smallest groups fit in `memory`.
    ///
    /// # Panics
    /// Panics if a modulus is 0 or 1, or has leading zero limbs.
    pub fn new(moduli: &'a [&'a [u64]], memory: u64, threads: usize) -> Result<Self, KeysError> {
        let is_sound = |n: &&[u64]| n.last().is_some_and(|&top| top > 1 || top == 1 && n.len() > 1);
        assert!(moduli.iter().all(is_sound), "a modulus is below 2 or has leading zero limbs");
        let groups = Groups::new(moduli, memory, threads)?;
        Ok(Self { moduli, groups, threads })
    }

    /// Returns the estimated memory need in bytes, besides the moduli.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.groups.memory()
    }

    /// Returns the number of groups into which the moduli are cut.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups.ranges().len()
    }

    /// Computes the gcds, and returns those above 1, in the order of the moduli. `watch` receives the
    /// progress as steps, in limbs of the nodes of the trees.
    ///
    /// # Errors
    /// [`KeysError::Stopped`].
    pub fn run(&self, watch: &dyn Watch) -> Result<Vec<Common>, KeysError> {
        self.common(watch).ok_or(KeysError::Stopped)
    }

    /// Implements [`Self::run`]. Returns `None` if the watch stops the work.
    fn common(&self, watch: &dyn Watch) -> Option<Vec<Common>> {
        if self.moduli.len() < 2 {
            return Some(vec![]);
        }
        let multiplier = TransformMultiplier::new(self.threads);
        let ranges = self.groups.ranges();
        let total = ranges.iter().map(|range| tree::work(&self.moduli[range.clone()]));
        let passes = if ranges.len() > 1 { 3 } else { 2 };
        let work = Work::new(&multiplier, self.threads, watch, passes * total.sum::<u64>());
        let mut roots = vec![];
        if ranges.len() > 1 {
            for range in ranges {
                roots.push(work.tree(&self.moduli[range.clone()], false)?.0.into_product());
            }
        }
        let mut all = vec![];
        for (a, range) in ranges.iter().enumerate() {
            let (tree, derivative) = work.tree(&self.moduli[range.clone()], true)?;
            let others = roots.iter().enumerate().filter(|(b, _)| *b != a);
            let mut numerator = derivative;
            for (_, other) in others {
                if watch.is_stopped() {
                    return None;
                }
                numerator = times_modulo(&multiplier, numerator, other, tree.product());
            }
            let x = fraction::of(&multiplier, &numerator, tree.product());
            drop(numerator);
            let found = work.descend(&tree, x)?;
            let from_group = |(index, gcd)| Common { index: range.start + index, gcd };
            all.extend(found.into_iter().map(from_group));
        }
        all.sort_unstable_by_key(|common| common.index);
        Some(all)
    }
}

/// Returns x·y mod m, in as many limbs as m.
fn times_modulo(multiplier: &TransformMultiplier, x: Vec<u64>, y: &[u64], m: &[u64]) -> Vec<u64> {
    let y = div_rem_by(multiplier, y, m).1;
    if y.is_empty() || trimmed(&x).is_empty() {
        return vec![0; x.len()];
    }
    let product = multiplier.mul(trimmed(&x), &y);
    let mut result = x;
    copy_to(&mut result, &div_rem_by(multiplier, &product, m).1);
    result
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The gcd is a private key.
        f.debug_struct("Common").field("index", &self.index).finish_non_exhaustive()
    }
}

impl std::fmt::Display for Batch<'_> {
    /// Describes the work before it begins, for example `100000 distinct moduli of 204800000 bits
    /// in all, about 1.6 GiB of memory`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limbs: u64 = self.moduli.iter().map(|n| n.len() as u64).sum();
        write!(f, "{} distinct moduli of {} bits in all", self.moduli.len(), 64 * limbs)?;
        if self.groups() > 1 {
            write!(f, " in {} groups", self.groups())?;
        }
        write!(f, ", about {} of memory", units::memory(self.memory()))
    }
}

#[cfg(test)]
mod tests;
