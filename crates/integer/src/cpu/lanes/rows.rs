//! Conversion of numbers between rows of 32-bit limbs in memory and limbs of β = [`Lanes::BITS`]
//! bits in lanes.
//!
//! Words of 64 bits of L = [`Lanes::LANES`] rows are transposed as matrices of L×L words. Shifts of
//! whole vectors then cut them into limbs. The other direction has the same steps in reverse order.

use super::vector::{Lanes, MOST_LANES, digit, unrolled};

/// One row per lane. Rows beyond [`Lanes::LANES`] are not used.
pub(super) type Group<'a> = [&'a [u32]; MOST_LANES];

/// Returns the number of limbs of β bits of a number of `bits` bits.
pub(super) const fn limbs_of<V: Lanes>(bits: usize) -> usize {
    bits.div_ceil(V::BITS as usize)
}

/// The number of vectors that [`store`] reads after the limbs. Their content does not matter.
pub(super) const PADDING: usize = 2;

/// Returns the numbers (P, Q) for which P limbs have as many bits as Q words of 64 bits, and no
/// fewer limbs do so. P is at most 32, because β is even.
const fn period<V: Lanes>() -> (usize, usize) {
    assert!(V::BITS.is_multiple_of(2), "the period is too long");
    let limbs = 64 >> V::BITS.trailing_zeros();
    (limbs, limbs * V::BITS as usize / 64)
}

/// Working memory for rows.
pub(super) struct Words<V> {
    /// The words of 64 bits of a group, and zeros after them for [`load`].
    words: Vec<V>,
}

impl<V: Lanes> Words<V> {
    /// Allocates memory for rows of up to `width` limbs of 32 bits.
    pub(super) fn new(proof: V::Proof, width: usize) -> Self {
        let words = width.div_ceil(2).next_multiple_of(V::LANES) + period::<V>().1 + 1;
        Self { words: vec![V::splat(proof, 0); words] }
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
    let (loaded, above) = memory.words.split_at_mut(width.div_ceil(2).next_multiple_of(V::LANES));
    for (k, to) in loaded.chunks_exact_mut(V::LANES).enumerate() {
        let first = 2 * V::LANES * k;
        let len = (width - first).min(2 * V::LANES);
        let mut parts = [std::ptr::null(); MOST_LANES];
        for (part, row) in parts[..V::LANES].iter_mut().zip(rows) {
            *part = row[first..][..len].as_ptr();
        }
        // SAFETY: the first LANES rows have limbs `first` to `first` + `len` − 1. `len` is at most
        // 2·LANES.
        let square = unsafe { V::load_rows(proof, parts, len) };
        to.copy_from_slice(&square[..V::LANES]);
    }
    let (in_period, words_in_period) = const { period::<V>() };
    above[..words_in_period + 1].fill(zero);
    let (used, above) = limbs.split_at_mut(limbs_of::<V>(32 * width));
    above.fill(zero);
    for (k, limbs) in used.chunks_mut(in_period).enumerate() {
        let words = &memory.words[words_in_period * k..][..words_in_period + 1];
        unrolled!(i < in_period, up to 40 => if let Some(limb) = limbs.get_mut(i) {
            let (word, shift) = (V::BITS as usize * i / 64, V::BITS as usize * i % 64);
            let mut low = words[word].shr(shift as u64);
            if shift + V::BITS as usize > 64 {
                low = low.or(words[word + 1].shl_each(V::splat(proof, 64 - shift as u64)));
            }
            *limb = digit(proof, low).factor();
        });
    }
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
    let words = &mut memory.words[..width.div_ceil(2).next_multiple_of(V::LANES)];
    let (used, above) = words.split_at_mut(width.div_ceil(2));
    let (in_period, words_in_period) = const { period::<V>() };
    if from == 0 {
        for (k, words) in used.chunks_mut(words_in_period).enumerate() {
            let limbs = &limbs[in_period * k..];
            unrolled!(j < words_in_period, up to 40 => if let Some(word) = words.get_mut(j) {
                *word = word_at(proof, limbs, 64 * j);
            });
        }
    } else {
        for (j, word) in used.iter_mut().enumerate() {
            *word = word_at(proof, limbs, 32 * from + 64 * j);
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

/// Returns 64 bits of the numbers with the given limbs, from bit `bit` on. Bits for
/// which there is no limb are not specified. There must be [`PADDING`] vectors after the limbs.
#[inline(always)]
fn word_at<V: Lanes>(proof: V::Proof, limbs: &[V], bit: usize) -> V {
    let beta = V::BITS as usize;
    let (limb, shift) = (bit / beta, bit % beta);
    let mut word = limbs[limb].shr(shift as u64);
    // As β is at least 22, four limbs contain the word.
    for k in 1..4 {
        let at = k * beta - shift;
        if at < 64 {
            word = word.or(limbs[limb + k].shl_each(V::splat(proof, at as u64)));
        }
    }
    word
}
