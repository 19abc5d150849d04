//! Numbers between rows of 32-bit limbs in memory and limbs of β = [`Lanes::BITS`] bits in lanes.
//!
//! Words of 64 bits of L = [`Lanes::LANES`] rows are transposed in squares of L words, then cut into
//! limbs by shifts of whole vectors.

use super::vector::{Lanes, MOST_LANES, digit};

/// One row per lane. Rows beyond [`Lanes::LANES`] are not used.
pub(super) type Group<'a> = [&'a [u32]; MOST_LANES];

/// Returns the number of limbs of β bits of a number of `bits` bits.
pub(super) const fn limbs_of<V: Lanes>(bits: usize) -> usize {
    bits.div_ceil(V::BITS as usize)
}

/// Returns the number of vectors of working memory that [`load`] and [`store`] need for rows of
/// `width` limbs of 32 bits.
pub(super) const fn words_of<V: Lanes>(width: usize) -> usize {
    width.div_ceil(2).next_multiple_of(V::LANES) + 1
}

/// Sets `limbs` to the factors of the limbs of the numbers in `rows`, whose length is `width`. The
/// limbs hold the numbers; limbs above them are 0. `words` is working memory of [`words_of`]
/// vectors.
#[inline(always)]
pub(super) fn load<V: Lanes>(
    proof: V::Proof,
    rows: &Group,
    width: usize,
    words: &mut [V],
    limbs: &mut [V],
) {
    let zero = V::splat(proof, 0);
    let words = &mut words[..words_of::<V>(width)];
    for (k, to) in words.chunks_exact_mut(V::LANES).enumerate() {
        let first = 2 * V::LANES * k;
        let len = (width - first).min(2 * V::LANES);
        let mut square = [zero; MOST_LANES];
        for (vector, row) in square[..V::LANES].iter_mut().zip(rows) {
            let part = &row[first..][..len];
            // SAFETY: `part` has `len` words.
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
        let (word, shift) = (bit / 64, (bit % 64) as u64);
        let mut x = words[word].shr(shift);
        if shift > 64 - u64::from(V::BITS) {
            x = x.or(words[word + 1].shl(64 - shift));
        }
        *limb = digit(proof, x).factor();
        bit += V::BITS as usize;
    }
    above.fill(zero);
}

/// Writes bits 32·`from` to 32·`from` + 32·w − 1 of the numbers with the given limbs to `rows`,
/// one row of w = `width` limbs of 32 bits per lane. There are at most [`Lanes::LANES`] rows; higher
/// lanes are ignored. Limbs that do not exist count as 0. `words` is working memory of
/// [`words_of`] vectors.
#[inline(always)]
pub(super) fn store<'a, V: Lanes>(
    proof: V::Proof,
    limbs: &[V],
    from: usize,
    rows: impl Iterator<Item = &'a mut [u32]>,
    width: usize,
    words: &mut [V],
) {
    let zero = V::splat(proof, 0);
    let words = &mut words[..words_of::<V>(width) - 1];
    let beta = V::BITS as usize;
    let (used, above) = words.split_at_mut(width.div_ceil(2));
    let mut bit = 32 * from;
    for word in used {
        let (limb, shift) = (bit / beta, bit % beta);
        let limb = |i: usize| limbs.get(limb + i).copied().unwrap_or(zero);
        // The first limb gives β − shift bits, the second β more.
        let mut x = limb(0).shr(shift as u64).or(limb(1).shl((beta - shift) as u64));
        if 2 * beta - shift < 64 {
            x = x.or(limb(2).shl((2 * beta - shift) as u64));
        }
        *word = x;
        bit += 64;
    }
    above.fill(zero);
    for square in words.chunks_exact_mut(V::LANES) {
        V::transpose(square);
    }
    for (lane, row) in rows.enumerate() {
        assert!(lane < V::LANES && row.len() == width, "a row per lane");
        for (k, part) in row.chunks_mut(2 * V::LANES).enumerate() {
            // SAFETY: `part` has as many words.
            unsafe { words[V::LANES * k + lane].store(part.as_mut_ptr(), part.len()) };
        }
    }
}
