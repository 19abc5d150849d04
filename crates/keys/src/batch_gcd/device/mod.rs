//! Product trees and scaled remainder trees on a device.
//!
//! All leaves of a group have the same number w of words: shorter moduli have leading zeros. The nodes
//! of a level lie one after the other, w·2^j words each on level j, so a level is one batch of products
//! of equal shapes. A level with an odd number of nodes, except the root, ends with a node of the empty
//! product: P = 1, D = 0.
//!
//! *Up.* The spectra of P and of D are computed once for each level. They give P_l·P_r and
//! D_l·P_r + D_r·P_l.
//!
//! *Root.* The fraction is a quotient: X = ⌊D·B^(m+1)/P⌋ modulo B^(m+1) for a root of m words. The device
//! divides. The host verifies the division and the copies of D and P modulo 2^61 − 1: no later check would
//! notice another D. If the division does not fit beside the
//! tree, the host computes the fraction, with long products on the device.
//!
//! *Down.* Both children of a node of m words have x_l = x·P_r and x_r = x·P_l, of which the words m/2
//! to m are computed, with transforms for m + 1 words ([`Shape::window`]).
//!
//! *Leaves.* The host computes r = D mod n_i and gcd(n_i, r).
//!
//! # Precision
//!
//! With the names of [`super`]: B = 2^64, P_v < B^(m_v), and X_v is an integer of m_v + 1 words with
//! |D/P_v − X_v/B^(m_v+1)| ≤ e_v/B^(m_v+1) modulo 1. X_l is the window of the words m_r to m_v of
//! X_v·P_r, which differs from ⌊X_v·P_r/B^(m_r)⌋ by −1, 0 or 1 modulo B^(m_l+1) ([`Shape`]). The error
//! e_v·P_r/B^(m_v+1) is below e_v/B^(m_l+1), the floor adds less than 1/B^(m_l+1), and the window at
//! most as much. So e_l ≤ e_v + 2, and e ≤ 2 + 2·depth at a leaf. There, D mod n = n·(D/n mod 1) is an
//! integer, and n·X/B^(w+1) differs from it by less than e/B. So it is the nearest integer modulo n,
//! and the distance is below e/B.
//!
//! # Evidence
//!
//! The host computes P and D of the root modulo 2^61 − 1 from the moduli, and compares: a random
//! error anywhere on the way up is unnoticed with a probability of 2^−61. An error of a D reaches
//! the root times the P of other nodes, so no modulus may be a multiple of 2^61 − 1: such a group
//! is refused ([`KeysError::Blind`]). If a product of a group is computed again, both must be the
//! same. If a fraction or a window on the way down is wrong, or a product that it is computed from,
//! n·X/B^(w+1) has no reason to be near an integer at the leaves below. A random number passes this
//! test with a probability of 2·e/2^64, less than 2^−57. A fraction of zeros passes it too, with
//! the remainder 0 and the gcd n. So the CPU confirms such an n: it computes the gcds of the moduli
//! that were found among themselves. The host computes each gcd from n and r, so it divides n.
//!
//! # Cost
//!
//! For each level of n words in all, with digits of b bits: six transforms of 64·n/b points up and five
//! down. Memory: 8·n bytes for each level, 32·n bytes for derivatives or fractions, and the spectra
//! of at least one node.

mod root;

use std::ops::Range;

use warpint_device::{Buffer, Device};
use warpint_integer::huge::device::{
    DeviceMultiplier, DeviceProducts, Factor, HugeError, Map, RowCells, Rows, Shape, residue,
};
use warpint_natural::euclid::Euclid;
use warpint_natural::limbs::{add_assign, compare};
use warpint_natural::product::Products;

use super::descent::Found;
use super::tree::Work;
use crate::KeysError;

/// The number of leaves that are downloaded at a time.
const LEAVES: usize = 1 << 16;

/// Computes trees on a device.
#[derive(Debug)]
pub struct DeviceTrees {
    device: Device,
    memory: u64,
}

/// The product tree of a group, in the memory of the device, without its root.
pub(super) struct Tree {
    levels: Vec<Level>,
    depth: usize,
}

/// The nodes of a level.
struct Level {
    products: Buffer<u64>,
    /// The number of nodes: even, except for the root.
    rows: usize,
    words: usize,
}

/// The fractions of the leaves of a tree, in the memory of the device.
pub(super) struct Fractions {
    fractions: Buffer<u64>,
    /// The number of words of a fraction.
    stride: usize,
    /// The bound e of their errors.
    error: u64,
}

/// A tree, the product of its root, and its derivative.
pub(super) struct Root {
    pub(super) tree: Tree,
    pub(super) product: Vec<u64>,
    pub(super) derivative: Vec<u64>,
}

/// Returns the number of nodes of a level for this number of nodes that are needed.
fn padded(rows: usize) -> usize {
    if rows == 1 { 1 } else { rows.saturating_add(rows % 2) }
}

impl DeviceTrees {
    /// Uses four fifths of the memory of a device that is free now.
    ///
    /// # Errors
    /// The device fails.
    pub fn new(device: &Device) -> Result<Self, HugeError> {
        let (free, _) = device.memory()?;
        Ok(Self::with_memory(device, free / 5 * 4))
    }

    /// Uses at most `memory` bytes of the memory of a device.
    #[must_use]
    pub fn with_memory(device: &Device, memory: u64) -> Self {
        Self { device: device.clone(), memory }
    }

    /// Returns the identifier of the device, such as `cuda:0`.
    #[must_use]
    pub fn place(&self) -> String {
        self.device.info().id.clone()
    }

    /// Returns a multiplier for the root of a tree of `count` leaves of `words` words.
    pub(super) fn multiplier(
        &self,
        count: usize,
        words: usize,
        threads: usize,
    ) -> Result<DeviceMultiplier, HugeError> {
        let kept = kept(count, words).unwrap_or(self.memory);
        DeviceMultiplier::with_memory(&self.device, threads, self.memory.saturating_sub(kept))
    }

    /// Returns whether a tree of `count` leaves of `words` words fits: in memory, and with products for
    /// which there are transforms.
    pub(super) fn fits(&self, count: usize, words: usize) -> bool {
        let root = count.checked_next_power_of_two().and_then(|rows| rows.checked_mul(words));
        let pair = match root {
            Some(root) if root == words => Some(0),
            // Words of numbers are counted in 32 bits.
            Some(root) if root < 1 << 31 => pair_bytes(root / 2),
            _ => None,
        };
        let needed = pair.zip(kept(count, words)).and_then(|(pair, kept)| pair.checked_add(kept));
        needed.is_some_and(|needed| needed <= self.memory)
    }

    /// Returns the error that not even the smallest group fits.
    pub(super) fn too_small(&self) -> KeysError {
        KeysError::DeviceMemory { device: self.place(), limit: self.memory }
    }

    /// Computes the product tree of moduli of at most `words` words, of which there is at least one.
    /// With `derive`, also computes the derivative of the root; otherwise it is empty.
    pub(super) fn up(
        &self,
        work: &Work<'_>,
        moduli: &[&[u64]],
        words: usize,
        derive: bool,
    ) -> Result<Root, KeysError> {
        let kept = kept(moduli.len(), words).unwrap_or(self.memory);
        // Two thirds for spectra, and one for the rest.
        let room = self.memory.saturating_sub(kept);
        let mut products = DeviceProducts::new(&self.device)?;
        products.set_working_limit(room / 3);
        let rows = padded(moduli.len());
        let mut leaves = vec![0; rows * words];
        for (leaf, modulus) in leaves.chunks_exact_mut(words).zip(moduli) {
            leaf[..modulus.len()].copy_from_slice(modulus);
        }
        if rows > moduli.len() {
            leaves[moduli.len() * words] = 1;
        }
        let mut levels = vec![Level { products: self.device.upload(&leaves)?, rows, words }];
        let mut derivatives = None;
        if derive {
            for (i, leaf) in leaves.chunks_exact_mut(words).enumerate() {
                leaf.fill(0);
                leaf[0] = u64::from(i < moduli.len());
            }
            derivatives = Some(self.device.upload(&leaves)?);
        }
        drop(leaves);
        while let Some(level) = levels.last().filter(|level| level.rows > 1) {
            work.node(level.rows * level.words, "product tree").ok_or(KeysError::Stopped)?;
            let (next, sums) = self.next(work, &mut products, level, derivatives.as_ref(), room)?;
            derivatives = sums;
            levels.push(next);
        }
        drop(products);
        let depth = levels.len() - 1;
        let root = levels.pop().map(|root| root.products.download()).transpose()?;
        let product = root.unwrap_or_default();
        let derivative = derivatives.map(|derivatives| derivatives.download()).transpose()?;
        let derivative = derivative.unwrap_or_default();
        let (of_product, of_derivative) = residues(work, moduli);
        if of_product == 0 {
            return Err(KeysError::Blind { device: self.place() });
        }
        if residue::of(&product) != of_product
            || derive && residue::of(&derivative) != of_derivative
        {
            return Err(self.unsound("a wrong product tree"));
        }
        Ok(Root { tree: Tree { levels, depth }, product, derivative })
    }

    /// Computes the level above another one, and its derivatives.
    fn next(
        &self,
        work: &Work<'_>,
        products: &mut DeviceProducts,
        level: &Level,
        derivatives: Option<&Buffer<u64>>,
        room: u64,
    ) -> Result<(Level, Option<Buffer<u64>>), KeysError> {
        let (pairs, words) = (level.rows / 2, level.words);
        let (mut of_products, of_sums) = (products_of(words)?, sums_of(words)?);
        let mut form = of_products.form();
        if derivatives.is_some() {
            form = of_sums.form();
            of_products = of_products.with_form(form).ok_or_else(|| too_long(words))?;
        }
        let rows = padded(pairs);
        let mut next = self.alloc(rows, 2 * words)?;
        let mut sums = derivatives.map(|_| self.alloc(rows, 2 * words)).transpose()?;
        // Four spectra for each pair with derivatives, otherwise two.
        let spectra = 8 * form.points() as u64 * if derivatives.is_some() { 4 } else { 2 };
        let most = usize::try_from(room / 3 * 2 / spectra).unwrap_or(usize::MAX).clamp(1, pairs);
        for begin in (0..pairs).step_by(most) {
            if work.is_stopped() {
                return Err(KeysError::Stopped);
            }
            let count = pairs.min(begin + most) - begin;
            let range = 2 * begin * words..2 * (begin + count) * words;
            let nodes = level.products.view(range.clone());
            let p = products.forward(form, Rows::new(nodes, 2 * count, words, words))?;
            let [left, right] = [Map::EVEN, Map::ODD].map(|map| Factor::spectra(&p, map));
            let out = RowCells::new(next.cells(range.clone()), count, 2 * words, 2 * words);
            products.multiply(&of_products, out, &[[left, right]])?;
            if let (Some(derivatives), Some(sums)) = (derivatives, &mut sums) {
                let nodes = derivatives.view(range.clone());
                let d = products.forward(form, Rows::new(nodes, 2 * count, words, words))?;
                let [of_left, of_right] = [Map::EVEN, Map::ODD].map(|map| Factor::spectra(&d, map));
                let out = RowCells::new(sums.cells(range.clone()), count, 2 * words, 2 * words);
                products.multiply(&of_sums, out, &[[of_left, right], [of_right, left]])?;
            }
        }
        // Products of no moduli, and their derivatives, follow the last pair.
        for (buffer, first) in [(Some(&mut next), 1), (sums.as_mut(), 0)] {
            if let Some(buffer) = buffer.filter(|_| rows > pairs) {
                let mut node = vec![0; 2 * words];
                node[0] = first;
                buffer.cells(2 * pairs * words..).upload(&node)?;
            }
        }
        Ok((Level { products: next, rows, words: 2 * words }, sums))
    }

    /// Copies a number to the device.
    pub(super) fn upload(&self, x: &[u64]) -> Result<Buffer<u64>, KeysError> {
        Ok(self.device.upload(x).map_err(HugeError::from)?)
    }

    /// Computes the fractions of the leaves. `x` is that of the root. Returns when the device is done.
    pub(super) fn down(
        &self,
        work: &Work<'_>,
        tree: Tree,
        x: Buffer<u64>,
    ) -> Result<Fractions, KeysError> {
        let Tree { mut levels, depth } = tree;
        let kept = match levels.first() {
            Some(leaves) => kept(leaves.rows, leaves.words),
            None => Some(0),
        };
        let mut products = DeviceProducts::new(&self.device)?;
        products.set_working_limit(self.memory.saturating_sub(kept.unwrap_or(self.memory)));
        let mut stride = x.len();
        let mut fractions = x;
        while let Some(Level { products: nodes, rows, words }) = levels.pop() {
            work.node(rows * words, "remainder tree").ok_or(KeysError::Stopped)?;
            let mut below = self.alloc(rows, words + 1)?;
            let parents = Rows::new(fractions.view(..), rows / 2, 2 * words + 1, 2 * words + 1);
            let siblings = Rows::new(nodes.view(..), rows, words, words);
            let factors =
                [Factor::rows(parents, Map::PARENT), Factor::rows(siblings, Map::SWAPPED)];
            let out = RowCells::new(below.cells(..), rows, words + 1, words + 1);
            products.multiply(&windows_of(words)?, out, &[factors])?;
            (fractions, stride) = (below, words + 1);
        }
        self.device.synchronize()?;
        Ok(Fractions { fractions, stride, error: 2 + 2 * depth as u64 })
    }

    /// Computes the gcds of the leaves.
    pub(super) fn gcds(
        &self,
        work: &Work<'_>,
        leaves: &Fractions,
        moduli: &[&[u64]],
    ) -> Result<Vec<Found>, KeysError> {
        let &Fractions { ref fractions, stride, error } = leaves;
        let mut found = vec![];
        for begin in (0..moduli.len()).step_by(LEAVES) {
            if work.is_stopped() {
                return Err(KeysError::Stopped);
            }
            let some = &moduli[begin..moduli.len().min(begin + LEAVES)];
            let range = begin * stride..(begin + some.len()) * stride;
            let fractions = fractions.view(range).download()?;
            let gcds = work.multiplier.pool().each_range(some.len(), |range| {
                let mut euclid = Euclid::default();
                let leaves = range.map(|i| {
                    let x = &fractions[i * stride..][..stride];
                    of_leaf(some[i], x, error, &mut euclid).map(|gcd| (begin + i, gcd))
                });
                leaves.collect::<Option<Vec<_>>>()
            });
            for gcds in gcds {
                let gcds = gcds.ok_or_else(|| self.unsound("wrong remainders"))?;
                found.extend(gcds.into_iter().filter_map(|(i, gcd)| Some((i, gcd?))));
            }
        }
        Ok(found)
    }

    /// Returns the error of a result that is wrong.
    pub(crate) fn unsound(&self, what: &'static str) -> KeysError {
        KeysError::Unsound { device: self.place(), what }
    }

    /// Allocates the nodes of a level.
    fn alloc(&self, rows: usize, words: usize) -> Result<Buffer<u64>, HugeError> {
        Ok(self.device.alloc(rows.saturating_mul(words))?)
    }
}

/// Returns the product of moduli, and its derivative, modulo 2^61 − 1. Cost: one pass over the moduli.
fn residues(work: &Work<'_>, moduli: &[&[u64]]) -> (u64, u64) {
    let node = |(p, d): (u64, u64), (q, e): (u64, u64)| {
        let sum = residue::sum(residue::product(d, q), residue::product(e, p));
        (residue::product(p, q), sum)
    };
    let of_range =
        |range: Range<usize>| moduli[range].iter().map(|n| (residue::of(n), 1)).fold((1, 0), node);
    let parts = work.multiplier.pool().each_range(moduli.len(), of_range);
    parts.into_iter().fold((1, 0), node)
}

/// Returns the number of bytes of a tree with its derivatives or fractions, without spectra. `None`
/// if they are too many for 64 bits.
fn kept(count: usize, words: usize) -> Option<u64> {
    let (mut rows, mut words, mut bytes) = (padded(count.max(1)), words as u64, 0u64);
    loop {
        let level = (rows as u64).checked_mul(words)?.checked_mul(8)?;
        bytes = bytes.checked_add(level)?;
        if rows == 1 {
            // Two levels of derivatives, or of fractions, which have a word more in each row.
            let most = (count as u64).checked_mul(16)?.checked_add(level.checked_mul(3)?)?;
            return bytes.checked_add(most);
        }
        rows = padded(rows / 2);
        words = words.checked_mul(2)?;
    }
}

/// Returns the bytes of the spectra of one pair of nodes of `words` words, with room for products.
/// `None` if there are no transforms for them.
fn pair_bytes(words: usize) -> Option<u64> {
    let up = Shape::window(words, words, 2, 0..2 * words)?.form().points();
    let down = Shape::window(2 * words + 1, words, 1, words..2 * words + 1)?.form().points();
    // Up, four spectra and, in a third of the room, a product; down, five of rows.
    (8 * up.max(down) as u64).checked_mul(7)
}

fn too_long(words: usize) -> HugeError {
    HugeError::TooLong { a: words, b: words }
}

/// Returns the shape of the products of nodes of `words` words.
fn products_of(words: usize) -> Result<Shape, HugeError> {
    Shape::whole(words, words, 1).ok_or_else(|| too_long(words))
}

/// Returns the shape of the derivatives of two nodes of `words` words, which have 2·words words: the
/// derivative is below k·B^(2·words − 1) for k < B moduli.
fn sums_of(words: usize) -> Result<Shape, HugeError> {
    Shape::window(words, words, 2, 0..2 * words).ok_or_else(|| too_long(words))
}

/// Returns the shape of the fractions of nodes of `words` words.
fn windows_of(words: usize) -> Result<Shape, HugeError> {
    let shape = Shape::window(2 * words + 1, words, 1, words..2 * words + 1);
    shape.ok_or_else(|| too_long(words))
}

/// Returns gcd(n, r), or `None` inside if it is 1, where r is the integer next to X·n/B^(w+1) and X has
/// w + 1 words. Returns `None` if that is not an integer but for `error`/B.
#[allow(
    clippy::option_option,
    reason = "the outer one is of the evidence, the inner one of the gcd"
)]
fn of_leaf(
    modulus: &[u64],
    x: &[u64],
    error: u64,
    euclid: &mut Euclid,
) -> Option<Option<Vec<u64>>> {
    let mut whole = vec![0; modulus.len() + x.len()];
    Products::default().mul(&mut whole, x, modulus);
    let (low, r) = whole.split_at_mut(x.len());
    let part = low[x.len() - 1];
    if part >= error && part < error.wrapping_neg() {
        return None;
    }
    if part >= error {
        // r ≤ n.
        add_assign(r, &[1]);
    }
    let gcd = euclid.gcd(modulus, r);
    Some(compare(gcd, &[1]).is_gt().then(|| gcd.to_vec()))
}
