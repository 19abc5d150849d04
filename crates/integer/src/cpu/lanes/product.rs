//! Products and squares of the numbers of a batch, one product per lane.

use super::chunks::{for_groups, prefetch_after, prefetch_results_after};
use super::columns::{MOST_LIMBS, add_product, add_square, propagate_raw, raw_correction};
use super::fixed::{self, Fixed};
use super::rows::{Group, PADDING, Words, limbs_of, load, store};
use super::vector::{Kernel, Lanes};
use crate::cpu::Operand;
use crate::operation::Part;

/// Computes out_i ← the limbs of a_i·b_i that `part` selects, or of a_i² if b is `None`.
///
/// # Panics
/// Panics if a factor has more than [`MOST_LIMBS`] limbs.
pub(super) fn multiply<V: Fixed>(
    proof: V::Proof,
    part: Part,
    a: Operand,
    b: Option<Operand>,
    out: &mut [u32],
) {
    let (from, width) = part.limbs(a.width(), b.unwrap_or(a).width());
    let done = if part == Part::Full { fixed::multiply::<V>(proof, a, b, out) } else { 0 };
    let out = &mut out[done * width..];
    if out.is_empty() {
        return;
    }
    let space = || Space::<V>::new(proof, a, b, width);
    for_groups(out, width, V::LANES, space, |space, first, out| {
        V::enter(proof, Chunk { space, a, b, first: done + first, from, width, out });
    });
}

/// The working memory of one core.
struct Space<V> {
    a: Vec<V>,
    b: Vec<V>,
    /// The columns of the product, and zeros after them.
    columns: Vec<V>,
    /// The corrections of the columns.
    corrections: Vec<u64>,
    words: Words<V>,
}

impl<V: Lanes> Space<V> {
    fn new(proof: V::Proof, a: Operand, b: Option<Operand>, width: usize) -> Self {
        let zeros = |len: usize| vec![V::splat(proof, 0); len];
        let [n, m] = [a, b.unwrap_or(a)].map(|x| limbs_of::<V>(32 * x.width()));
        assert!(n.max(m) <= MOST_LIMBS, "factors of {n} and {m} limbs");
        let widest = width.max(a.width()).max(b.unwrap_or(a).width());
        Self {
            a: zeros(n),
            b: zeros(if b.is_some() { m } else { 0 }),
            columns: zeros(n + m + PADDING),
            corrections: (0..n + m).map(|k| raw_correction::<V>(k, n, m)).collect(),
            words: Words::new(proof, widest),
        }
    }
}

/// Consecutive rows of the result, the first of which has index `first`.
struct Chunk<'a, V> {
    space: &'a mut Space<V>,
    a: Operand<'a>,
    b: Option<Operand<'a>>,
    first: usize,
    /// The index of the first limb of the product that is stored, in limbs of 32 bits.
    from: usize,
    /// The number of limbs of 32 bits that are stored.
    width: usize,
    out: &'a mut [u32],
}

impl<V: Lanes> Kernel<V> for Chunk<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Self { space, a, b, first, from, width, out } = self;
        let Space { a: x, b: y, columns, corrections, words } = space;
        let zero = V::splat(proof, 0);
        // Columns from `needed` on do not contribute to the result.
        let needed = limbs_of::<V>(32 * (from + width)).min(columns.len() - PADDING);
        for (k, out) in out.chunks_mut(V::LANES * width).enumerate() {
            let first = first + V::LANES * k;
            let last = first + out.len() / width - 1;
            prefetch_results_after(out);
            if k == 0 || !a.is_broadcast() {
                prefetch_operand_after(a, first, last);
                load(proof, &rows(a, first, last), a.width(), words, x);
            }
            columns.fill(zero);
            match b {
                None => add_square::<V, true>(proof, columns, needed, x),
                Some(b) => {
                    if k == 0 || !b.is_broadcast() {
                        prefetch_operand_after(b, first, last);
                        load(proof, &rows(b, first, last), b.width(), words, y);
                    }
                    let (long, short) = if x.len() < y.len() { (&*y, &*x) } else { (&*x, &*y) };
                    add_product::<V, true>(proof, columns, needed, long, short);
                }
            }
            propagate_raw(proof, &mut columns[..needed], corrections);
            store(proof, columns, from, out.chunks_exact_mut(width), width, words);
        }
    }
}

/// Returns rows `first` to `last` of an operand. Lanes above them repeat row `last`.
#[inline(always)]
fn rows(operand: Operand<'_>, first: usize, last: usize) -> Group<'_> {
    std::array::from_fn(|lane: usize| operand.row((first + lane).min(last)))
}

/// Begins to load the rows of an operand after rows `first` to `last`, if each instance has its own.
#[inline(always)]
fn prefetch_operand_after(operand: Operand<'_>, first: usize, last: usize) {
    if !operand.is_broadcast() {
        let width = operand.width();
        prefetch_after(&operand.limbs[first * width..][..(last + 1 - first) * width]);
    }
}
