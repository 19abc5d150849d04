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
//! If the products of earlier moduli are stored, new moduli are audited against them in the same way:
//! the stored products take the place of other groups ([`Batch::run_group`]).
//!
//! # On a device
//!
//! [`DeviceTrees`] computes the trees of a group on a device ([`Batch::on_device`]). `device` describes
//! its method, its error bound and its evidence.
//!
//! Moduli of which gcd(n_i, P/n_i) = n_i share all their primes with others, or divide a product of
//! others. A gcd of pairs resolves them: [`crate::audit`].

mod descent;
mod device;
mod fraction;
mod memory;
mod numerator;
mod tree;

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use warpint_natural::limbs::{trim, trimmed};
use warpint_natural::product::TransformMultiplier;
use warpint_progress::{Watch, units};

use crate::KeysError;
pub use device::DeviceTrees;
use memory::{Groups, Limits, longest};
use numerator::Numerator;
use tree::Work;

/// The gcds of a batch of moduli.
pub struct Batch<'a> {
    moduli: &'a [&'a [u64]],
    groups: Groups,
    limits: Limits<'a>,
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
        assert_moduli(moduli);
        let limits = Limits::new(memory, threads);
        Ok(Self { moduli, groups: Groups::new(moduli, &limits)?, limits })
    }

    /// Plans the gcds like [`Self::new`], for [`Self::run_group`]: in groups of at most `most` limbs,
    /// with the product of one other group of `other` limbs in memory at a time.
    ///
    /// # Errors
    /// [`KeysError::Memory`].
    ///
    /// # Panics
    /// Panics like [`Self::new`].
    pub fn in_turn(
        moduli: &'a [&'a [u64]],
        most: usize,
        other: usize,
        memory: u64,
        threads: usize,
    ) -> Result<Self, KeysError> {
        assert_moduli(moduli);
        let limits = Limits { most, other: Some(other), ..Limits::new(memory, threads) };
        Ok(Self { moduli, groups: Groups::new(moduli, &limits)?, limits })
    }

    /// Plans the same gcds in groups whose trees a device computes. The memory in [`Self::new`] is that
    /// of the host. The moduli should be in ascending order of their lengths.
    ///
    /// # Errors
    /// [`KeysError::Memory`]; [`KeysError::DeviceMemory`] if not even the smallest groups fit in the
    /// memory of the device.
    pub fn on_device(self, trees: &'a DeviceTrees) -> Result<Self, KeysError> {
        let limits = Limits { device: Some(trees), ..self.limits };
        Ok(Self { groups: Groups::new(self.moduli, &limits)?, limits, ..self })
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

    /// Returns the indices of the moduli of group g.
    ///
    /// # Panics
    /// Panics if there is no group g.
    #[must_use]
    pub fn group(&self, g: usize) -> Range<usize> {
        self.groups.ranges()[g].clone()
    }

    /// Computes the gcds, and returns those above 1, in the order of the moduli. `watch` receives the
    /// progress as steps, in limbs of the nodes of the trees. The time of each part of the work is added
    /// to `times`.
    ///
    /// # Errors
    /// [`KeysError::Stopped`].
    pub fn run(&self, watch: &dyn Watch, times: &mut Times) -> Result<Vec<Common>, KeysError> {
        if self.moduli.len() < 2 {
            return Ok(vec![]);
        }
        let multiplier = TransformMultiplier::new(self.limits.threads);
        let ranges = self.groups.ranges();
        let passes = if ranges.len() > 1 { 3 } else { 2 };
        let work = Work::new(&multiplier, self.limits.threads, watch, 0, passes * self.work());
        let mut roots = vec![];
        if ranges.len() > 1 {
            for range in ranges {
                let begin = Instant::now();
                let moduli = &self.moduli[range.clone()];
                let root = match self.limits.device {
                    Some(trees) => trees.up(&work, moduli, longest(moduli), false)?.product,
                    None => work.tree(moduli, false).ok_or(KeysError::Stopped)?.0.into_product(),
                };
                roots.push(trimmed(&root).to_vec());
                times.trees += begin.elapsed();
            }
        }
        let mut all = vec![];
        for g in 0..ranges.len() {
            let others = roots.iter().enumerate().filter(|(b, _)| *b != g);
            let mut others = others.map(|(_, root)| Ok(Cow::Borrowed(&root[..])));
            let Outcome { common, product } =
                self.gcds_of_group(&work, g, Numerator::Others(&mut others), times)?;
            // The leaves have shown that this product is right.
            if let Some(trees) = self.limits.device
                && roots.get(g).is_some_and(|root| *root != product)
            {
                return Err(trees.unsound("a wrong product tree"));
            }
            all.extend(common);
        }
        if let Some(trees) = self.limits.device {
            self.confirm(trees, &all, watch)?;
        }
        Ok(all)
    }

    /// Confirms the gcds that are whole moduli. Fractions of zeros, as a device leaves them that has
    /// stopped, would give these.
    fn confirm(
        &self,
        trees: &DeviceTrees,
        all: &[Common],
        watch: &dyn Watch,
    ) -> Result<(), KeysError> {
        let moduli: Vec<&[u64]> = all.iter().map(|common| self.moduli[common.index]).collect();
        let is_whole = |&i: &usize| all[i].gcd == moduli[i];
        let whole: Vec<usize> = (0..all.len()).filter(is_whole).collect();
        let Limits { memory, threads, .. } = self.limits;
        if are_whole(&moduli, &whole, memory, threads, watch)? {
            Ok(())
        } else {
            Err(trees.unsound("wrong remainders"))
        }
    }

    /// Computes gcd(n, M·P/n) for the moduli n of group g, where P is the product of the group and M
    /// that of `others`. Returns the gcds above 1, and P. The progress counts all groups as the
    /// whole, and those before g as done.
    ///
    /// Cost: that of a group in [`Self::run`], and for each number in `others` a division by P and
    /// a product modulo P.
    ///
    /// If a device computes the trees, a gcd that is the whole modulus is not confirmed: the device may
    /// have left zeros. The caller has the others.
    ///
    /// # Errors
    /// [`KeysError::Stopped`], and the errors in `others`.
    pub fn run_group(
        &self,
        g: usize,
        others: &mut dyn Iterator<Item = Result<Vec<u64>, KeysError>>,
        watch: &dyn Watch,
        times: &mut Times,
    ) -> Result<Outcome, KeysError> {
        let before: u64 = (0..g).map(|g| tree::work(&self.moduli[self.group(g)])).sum();
        let multiplier = TransformMultiplier::new(self.limits.threads);
        let work = Work::new(&multiplier, self.limits.threads, watch, 2 * before, 2 * self.work());
        let mut others = others.map(|other| other.map(Cow::Owned));
        self.gcds_of_group(&work, g, Numerator::Others(&mut others), times)
    }

    /// Computes gcd(n, x) for all moduli n, and returns those above 1, in the order of the moduli.
    /// The moduli may have primes in common.
    ///
    /// Cost: that of [`Self::run`] without derivatives, and one division of x for each group.
    ///
    /// # Errors
    /// [`KeysError::Stopped`].
    pub fn with(&self, x: &[u64], watch: &dyn Watch) -> Result<Vec<Common>, KeysError> {
        let multiplier = TransformMultiplier::new(self.limits.threads);
        let work = Work::new(&multiplier, self.limits.threads, watch, 0, 2 * self.work());
        let mut all = vec![];
        if self.moduli.is_empty() {
            return Ok(all);
        }
        for g in 0..self.groups() {
            let times = &mut Times::default();
            all.extend(self.gcds_of_group(&work, g, Numerator::Number(x), times)?.common);
        }
        Ok(all)
    }

    /// Returns the product of all moduli.
    ///
    /// # Errors
    /// [`KeysError::Stopped`].
    pub fn product(&self, watch: &dyn Watch) -> Result<Vec<u64>, KeysError> {
        if self.moduli.is_empty() {
            return Ok(vec![1]);
        }
        let multiplier = TransformMultiplier::new(self.limits.threads);
        let work = Work::new(&multiplier, self.limits.threads, watch, 0, self.work());
        let (tree, _) = work.tree(self.moduli, false).ok_or(KeysError::Stopped)?;
        let mut product = tree.into_product();
        trim(&mut product);
        Ok(product)
    }

    /// Returns the work of the product trees of all groups.
    fn work(&self) -> u64 {
        let ranges = self.groups.ranges().iter();
        ranges.map(|range| tree::work(&self.moduli[range.clone()])).sum()
    }

    /// Computes the tree of group g, the fraction of its root and the gcds of its leaves.
    fn gcds_of_group(
        &self,
        work: &Work<'_>,
        g: usize,
        numerator: Numerator<'_, '_>,
        times: &mut Times,
    ) -> Result<Outcome, KeysError> {
        let range = self.group(g);
        let moduli = &self.moduli[range.clone()];
        let mut last = Instant::now();
        let mut lap = |time: &mut Duration| {
            let now = Instant::now();
            *time += now - std::mem::replace(&mut last, now);
        };
        let derive = matches!(numerator, Numerator::Others(_));
        let (found, mut product);
        if let Some(trees) = self.limits.device {
            let words = longest(moduli);
            let root = trees.up(work, moduli, words, derive)?;
            lap(&mut times.trees);
            product = root.product;
            let multiplier = trees.multiplier(moduli.len(), words, self.limits.threads)?;
            let numerator =
                numerator.modulo(&multiplier, root.derivative, &product, &|| work.is_stopped())?;
            let on_device = trees.fraction(&numerator, &product, [moduli.len(), words])?;
            let x = match on_device {
                Some(x) => x,
                None => trees.upload(&fraction::of(&multiplier, &numerator, &product))?,
            };
            if let Some(why) = multiplier.failure() {
                return Err(KeysError::Root { device: trees.place(), why });
            }
            drop((numerator, multiplier));
            lap(&mut times.roots);
            let fractions = trees.down(work, root.tree, x)?;
            lap(&mut times.remainders);
            found = trees.gcds(work, &fractions, moduli)?;
            lap(&mut times.gcds);
        } else {
            let tree = work.tree(moduli, derive);
            let (tree, derivative) = tree.ok_or(KeysError::Stopped)?;
            lap(&mut times.trees);
            let (multiplier, root) = (work.multiplier, tree.product());
            let numerator =
                numerator.modulo(multiplier, derivative, root, &|| work.is_stopped())?;
            let x = fraction::of(multiplier, &numerator, root);
            drop(numerator);
            lap(&mut times.roots);
            found = work.descend(&tree, x).ok_or(KeysError::Stopped)?;
            product = tree.into_product();
            lap(&mut times.remainders);
        }
        let from_group = |(index, gcd)| Common { index: range.start + index, gcd };
        let mut common: Vec<Common> = found.into_iter().map(from_group).collect();
        common.sort_unstable_by_key(|common| common.index);
        trim(&mut product);
        Ok(Outcome { common, product })
    }
}

/// Returns whether the moduli with the indices `whole`, ascending, divide the products of the others.
/// Cost: the gcds of all moduli, on the CPU, if `whole` is not empty.
pub(crate) fn are_whole(
    moduli: &[&[u64]],
    whole: &[usize],
    memory: u64,
    threads: usize,
    watch: &dyn Watch,
) -> Result<bool, KeysError> {
    if whole.is_empty() {
        return Ok(true);
    }
    let found = Batch::new(moduli, memory, threads)?.run(watch, &mut Times::default())?;
    Ok(whole.iter().all(|&i| {
        let at = found.binary_search_by_key(&i, |common| common.index);
        at.is_ok_and(|at| found[at].gcd == moduli[i])
    }))
}

fn assert_moduli(moduli: &[&[u64]]) {
    let is_sound = |n: &&[u64]| n.last().is_some_and(|&top| top > 1 || top == 1 && n.len() > 1);
    assert!(moduli.iter().all(is_sound), "a modulus is below 2 or has leading zero limbs");
}

/// The result for one group of moduli.
#[derive(Debug)]
pub struct Outcome {
    /// The moduli with a gcd above 1, in their order.
    pub common: Vec<Common>,
    /// The product of the group, without leading zero limbs.
    pub product: Vec<u64>,
}

/// The times of the parts of a batch gcd.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// Product trees with derivatives.
    pub trees: Duration,
    /// Fractions of the roots, with the products of other groups.
    pub roots: Duration,
    /// Scaled remainder trees; on the CPU, with the gcds of the leaves.
    pub remainders: Duration,
    /// The leaves of trees on a device: downloads, remainders and gcds.
    pub gcds: Duration,
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
mod device_tests;
#[cfg(test)]
mod tests;
