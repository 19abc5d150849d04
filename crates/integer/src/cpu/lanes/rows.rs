//! Conversion of numbers between rows of 32-bit limbs in memory and limbs of β = [`Lanes::BITS`]
//! bits in lanes.
//!
//! Words of 64 bits of L = [`Lanes::LANES`] rows are transposed as matrices of L×L words. Shifts of
//! whole vectors then cut them into limbs. The other direction has the same steps in reverse order.

use super::vector::{Lanes, MOST_LANES, digit};

/// One row per lane. Rows beyond [`Lanes::LANES`] are not used.
pub(super) type Group<'a> = [&'a [u32]; MOST_LANES];

/// Returns the number of limbs of β bits of a number of `bits` bits.
pub(super) const fn limbs_of<V: Lanes>(bits: usize) -> usize {
    bits.div_ceil(V::BITS as usize)
}

/// The number of vectors of zeros that [`store`] needs after the limbs.
pub(super) const PADDING: usize = 2;

/// The number of entries of [`Words::counts`].
const COUNTS: usize = 128;

/// Working memory for rows.
pub(super) struct Words<V> {
    /// The words of 64 bits of a group, and a zero after them for [`load`].
    words: Vec<V>,
    /// The counts of shifts: entry c is c in every lane. To load a count is faster than to compute
    /// it.
    counts: Box<[V; COUNTS]>,
}

impl<V: Lanes> Words<V> {
    /// Allocates memory for rows of up to `width` limbs of 32 bits.
    pub(super) fn new(proof: V::Proof, width: usize) -> Self {
        let words = width.div_ceil(2).next_multiple_of(V::LANES) + 1;
        let counts = Box::new(std::array::from_fn(|c| V::splat(proof, c as u64)));
        Self { words: vec![V::splat(proof, 0); words], counts }
    }
}

/// Sets `limbs` to the factors of the limbs of the numbers in `rows`. All rows have `width` limbs
/// of 32 bits. `limbs` must have at least as many entries as the numbers have limbs; the other
/// entries become 0. `memory` must have been made for rows of at least this width.
#[inline(always)]
pub(super) fn load<V: Lanes>(
    proof: V::Proof,
    rows: &Group,
    width: usize,
    memory: &mut Words<V>,
    limbs: &mut [V],
) {
    let zero = V::splat(proof, 0);
    let Words { words, counts } = memory;
    let words = &mut words[..width.div_ceil(2).next_multiple_of(V::LANES) + 1];
    for (k, to) in words.chunks_exact_mut(V::LANES).enumerate() {
        let first = 2 * V::LANES * k;
        let len = (width - first).min(2 * V::LANES);
        let mut square = [zero; MOST_LANES];
        for (vector, row) in square[..V::LANES].iter_mut().zip(rows) {
            let part = &row[first..][..len];
            // SAFETY: `part` has `len` words, at most 2·LANES.
            *vector = unsafe { V::load(proof, part.as_ptr(), len) };
        }
        V::transpose(&mut square[..V::LANES]);
        to.copy_from_slice(&square[..V::LANES]);
    }
    if let Some(last) = words.last_mut() {
        *last = zero;
    }
    let used = limbs_of::<V>(32 * width);
    let (used, above) = limbs.split_at_mut(used);
    let mut bit = 0;
    for limb in used {
        let (word, shift) = (bit / 64, bit % 64);
        let low = words[word].shr_each(counts[shift]);
        let high = words[word + 1].shl_each(counts[64 - shift]);
        *limb = digit(proof, low.or(high)).factor();
        bit += V::BITS as usize;
    }
    above.fill(zero);
}

/// Writes bits 32·`from` to 32·`from` + 32·w − 1 of the numbers with the given limbs to `rows`, one
/// row of w = `width` limbs of 32 bits per lane. There must be at most [`Lanes::LANES`] rows;
/// higher lanes are ignored. `limbs` must contain the last stored bit, and [`PADDING`] vectors
/// after it. `memory` must have been made for rows of at least this width.
#[inline(always)]
pub(super) fn store<'a, V: Lanes>(
    proof: V::Proof,
    limbs: &[V],
    from: usize,
    rows: impl Iterator<Item = &'a mut [u32]>,
    width: usize,
    memory: &mut Words<V>,
) {
    let Words { words, counts } = memory;
    let words = &mut words[..width.div_ceil(2).next_multiple_of(V::LANES)];
    let beta = V::BITS as usize;
    let (used, above) = words.split_at_mut(width.div_ceil(2));
    let (mut limb, mut shift) = (32 * from / beta, 32 * from % beta);
    for word in used {
        // The first limb gives β − shift bits, the second β more, and the third the rest, or, for
        // β < 32, the third and the fourth. As shift < β < 64, no count of the first three exceeds
        // 2β < 128. That of the fourth is at most 3β < 96.
        let first = limbs[limb].shr_each(counts[shift % COUNTS]);
        let second = limbs[limb + 1].shl_each(counts[(beta - shift) % COUNTS]);
        let third = limbs[limb + 2].shl_each(counts[(2 * beta - shift) % COUNTS]);
        *word = first.or(second).or(third);
        if beta < 32 {
            let fourth = limbs[limb + 3].shl_each(counts[(3 * beta - shift) % COUNTS]);
            *word = word.or(fourth);
        }
        (limb, shift) = (limb + 1, shift + 64 - beta);
        while shift >= beta {
            (limb, shift) = (limb + 1, shift - beta);
        }
    }
    above.fill(V::splat(proof, 0));
    for square in words.chunks_exact_mut(V::LANES) {
        V::transpose(square);
    }
    for (lane, row) in rows.enumerate() {
        assert!(lane < V::LANES && row.len() == width, "too many rows, or a row of another width");
        for (k, part) in row.chunks_mut(2 * V::LANES).enumerate() {
            // SAFETY: `part` is valid for writing its `part.len()` ≤ 2·LANES words.
            unsafe { words[V::LANES * k + lane].store(part.as_mut_ptr(), part.len()) };
        }
    }
}
