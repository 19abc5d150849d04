//! Whole products and squares of numbers of some widths up to 4,096 bits. The code is compiled for
//! each of these widths, so limbs and columns stay in registers as far as they fit, and the counts
//! of shifts are constants. For short numbers, moving them takes longer than multiplying them.
//!
//! A *word* has 64 bits here. A factor has W words, or N limbs of 52 bits. The number N is divided
//! into blocks of B limbs (see `columns`), so that no limbs are left over. The highest limbs may be
//! 0 for every number of the width.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use warpint_arith::simd::{Cpu, copy_past_caches, prefetch};

use super::columns::{add_product_by, add_square_by, propagate};
use super::vector::{Kernel, Lanes, MOST_LANES, PAIR_ROWS, digit, unrolled};
use crate::cpu::{CHUNK_BYTES, Operand};

/// The number of bits of a limb on the vectors for which this file has code.
const BITS: usize = 52;

/// How far ahead of their use rows are loaded into the caches, in limbs of 32 bits. These are two
/// groups of eight numbers of 1,024 bits.
const AHEAD: usize = 512;

/// The size in bytes from which on results are written past the caches, or
/// [`DEFAULT_PAST_CACHES_FROM`]. It is a variable because tests and measurements change it.
pub(super) static PAST_CACHES_FROM: AtomicUsize = AtomicUsize::new(DEFAULT_PAST_CACHES_FROM);

/// Stands for [`Cpu::past_caches_from`].
pub(super) const DEFAULT_PAST_CACHES_FROM: usize = usize::MAX - 1;

/// Returns whether results are so large that they are written past the caches.
fn exceeds_caches(out: &[u32]) -> bool {
    let from = match PAST_CACHES_FROM.load(Ordering::Relaxed) {
        DEFAULT_PAST_CACHES_FROM => Cpu::get().past_caches_from,
        from => from,
    };
    size_of_val(out) >= from
}

/// Computes out_i ← a_i·b_i, or a_i² if b is `None`, for the first rows of `out`, and returns their
/// number. It is 0 if there is no code for these widths. Otherwise at most LANES − 1 rows are left.
pub(super) fn multiply<V: Fixed>(
    proof: V::Proof,
    a: Operand,
    b: Option<Operand>,
    out: &mut [u32],
) -> usize {
    if b.is_some_and(|b| b.width() != a.width()) {
        return 0;
    }
    V::multiply(proof, a, b, out)
}

/// Vectors for which this file has code.
pub(super) trait Fixed: Lanes {
    /// Computes [`multiply`] for factors of the same width, with the blocks that fit in the registers.
    fn multiply(proof: Self::Proof, a: Operand, b: Option<Operand>, out: &mut [u32]) -> usize;
}

/// Implements [`Fixed`] for a type of vectors by a function of this file.
macro_rules! fixed {
    ($v:ty, $multiply:ident) => {
        impl Fixed for $v {
            fn multiply(
                proof: Self::Proof,
                a: Operand,
                b: Option<Operand>,
                out: &mut [u32],
            ) -> usize {
                $multiply::<Self>(proof, a, b, out)
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
fixed!(super::ifma::Ifma, in_large_blocks);
#[cfg(target_arch = "x86_64")]
fixed!(super::avx2::Avx2, in_small_blocks);
#[cfg(test)]
fixed!(super::portable::Portable<true>, in_large_blocks);
#[cfg(test)]
fixed!(super::portable::Portable<false>, in_small_blocks);

/// Computes [`multiply`] for factors of the same width, with blocks that fit in 32 registers.
fn in_large_blocks<V: Lanes>(
    proof: V::Proof,
    a: Operand,
    b: Option<Operand>,
    out: &mut [u32],
) -> usize {
    match a.width() {
        6 => groups::<V, 3, 4, 4>(proof, a, b, out),
        8 => groups::<V, 4, 5, 5>(proof, a, b, out),
        10 => groups::<V, 5, 7, 7>(proof, a, b, out),
        12 => groups::<V, 6, 8, 8>(proof, a, b, out),
        14 => groups::<V, 7, 10, 5>(proof, a, b, out),
        16 => groups::<V, 8, 10, 5>(proof, a, b, out),
        24 => groups::<V, 12, 15, 5>(proof, a, b, out),
        32 => groups::<V, 16, 20, 5>(proof, a, b, out),
        48 => groups::<V, 24, 30, 6>(proof, a, b, out),
        64 => groups::<V, 32, 40, 8>(proof, a, b, out),
        96 => groups::<V, 48, 60, 6>(proof, a, b, out),
        128 => groups::<V, 64, 80, 8>(proof, a, b, out),
        _ => 0,
    }
}

/// Computes [`multiply`] for factors of the same width, with blocks that fit in 16 registers.
fn in_small_blocks<V: Lanes>(
    proof: V::Proof,
    a: Operand,
    b: Option<Operand>,
    out: &mut [u32],
) -> usize {
    match a.width() {
        24 => groups::<V, 12, 15, 3>(proof, a, b, out),
        32 => groups::<V, 16, 20, 4>(proof, a, b, out),
        48 => groups::<V, 24, 30, 3>(proof, a, b, out),
        64 => groups::<V, 32, 42, 3>(proof, a, b, out),
        96 => groups::<V, 48, 60, 3>(proof, a, b, out),
        128 => groups::<V, 64, 81, 3>(proof, a, b, out),
        _ => 0,
    }
}

/// Computes [`multiply`] for the width of W words.
fn groups<V: Lanes, const W: usize, const N: usize, const B: usize>(
    proof: V::Proof,
    a: Operand,
    b: Option<Operand>,
    out: &mut [u32],
) -> usize {
    const { assert!(V::BITS as usize == BITS && N >= (64 * W).div_ceil(BITS)) };
    const { assert!(N.is_multiple_of(B) && B <= 8) };
    const { assert!(V::LANES == 4 || V::LANES == 8, "the order of paired rows") };
    let group = V::LANES * 4 * W;
    let count = out.len() / group;
    let (a, b) = (Factor::new::<V>(a), b.map(Factor::new::<V>));
    let past_caches = exceeds_caches(out);
    let at_a_time = (CHUNK_BYTES / 4 / group).max(1);
    let chunks = out[..count * group].par_chunks_mut(at_a_time * group).enumerate();
    let space = || vec![0; if past_caches { at_a_time * group } else { 0 }];
    chunks.for_each_init(space, |space, (chunk, out)| {
        let first = chunk * at_a_time;
        let (a, b) = (&a, b.as_ref());
        if past_caches {
            let results = &mut space[..out.len()];
            V::enter(proof, Groups::<W, N, B> { a, b, first, out: results });
            copy_past_caches(out, results);
        } else {
            V::enter(proof, Groups::<W, N, B> { a, b, first, out });
        }
    });
    count * V::LANES
}

/// The rows of a factor. Those of group g are consecutive and begin at limb g·`step`.
struct Factor<'a> {
    limbs: Cow<'a, [u32]>,
    step: usize,
}

impl<'a> Factor<'a> {
    /// Returns the rows of an operand. If all instances use the same number, it is repeated for the
    /// lanes of one group, which all groups share.
    fn new<V: Lanes>(operand: Operand<'a>) -> Self {
        if operand.is_broadcast() {
            Self { limbs: Cow::Owned(operand.row(0).repeat(V::LANES)), step: 0 }
        } else {
            Self { limbs: Cow::Borrowed(operand.limbs), step: V::LANES * operand.width() }
        }
    }
}

/// Consecutive groups of products, the first of which has index `first`.
struct Groups<'a, const W: usize, const N: usize, const B: usize> {
    a: &'a Factor<'a>,
    b: Option<&'a Factor<'a>>,
    first: usize,
    /// The results: 2W words per number, and only whole groups.
    out: &'a mut [u32],
}

impl<V: Lanes, const W: usize, const N: usize, const B: usize> Kernel<V> for Groups<'_, W, N, B> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Self { a, b, first, out } = self;
        for (g, out) in out.chunks_exact_mut(V::LANES * 4 * W).enumerate() {
            let x = factors(proof, load::<V, W, N>(proof, a, first + g));
            let mut columns = [[V::splat(proof, 0); N]; 2];
            let columns = columns.as_flattened_mut();
            match b {
                None => add_square_by::<V, B>(proof, columns, &x),
                Some(b) => {
                    let y = factors(proof, load::<V, W, N>(proof, b, first + g));
                    add_product_by::<V, B>(proof, columns, &x, &y);
                }
            }
            propagate(proof, columns);
            store::<V, W>(proof, columns, out);
        }
    }
}

/// Returns the row that a lane holds. If a vector has room for two rows, each vector is loaded with
/// two rows, and the cheaper transposition of such pairs changes the order of the rows.
#[inline(always)]
const fn row_of<V: Lanes, const W: usize>(lane: usize) -> usize {
    if 2 * W == V::LANES { PAIR_ROWS[lane] } else { lane }
}

/// Returns words whose lowest 52 bits are the limbs of group g.
#[inline(always)]
fn load<V: Lanes, const W: usize, const N: usize>(
    proof: V::Proof,
    factor: &Factor,
    g: usize,
) -> [V; N] {
    let rows = &factor.limbs[g * factor.step..][..V::LANES * 2 * W];
    for line in 0..V::LANES * W / 8 {
        prefetch(rows.as_ptr().wrapping_add(AHEAD + 16 * line).cast());
    }
    let words = words::<V, W>(proof, rows);
    let mut limbs = [V::splat(proof, 0); N];
    let first = N.min(40);
    unrolled!(i < first, up to 40 => limbs[i] = limb(proof, &words, i));
    for (i, to) in limbs.iter_mut().enumerate().skip(first) {
        *to = limb(proof, &words, i);
    }
    limbs
}

/// Returns the factors of the limbs that the lowest 52 bits of `words` are.
#[inline(always)]
fn factors<V: Lanes, const N: usize>(proof: V::Proof, mut words: [V; N]) -> [V; N] {
    if !V::SPLIT {
        for word in &mut words {
            *word = digit(proof, *word).factor();
        }
    }
    words
}

/// Returns limb i of the numbers with the given words, and more bits above it. Limbs above the
/// numbers are 0.
#[inline(always)]
fn limb<V: Lanes>(proof: V::Proof, words: &[V], i: usize) -> V {
    let (word, shift) = (BITS * i / 64, BITS * i % 64);
    let Some(&low) = words.get(word) else { return V::splat(proof, 0) };
    let low = if shift == 0 { low } else { low.shr(shift as u64) };
    match words.get(word + 1) {
        Some(high) if shift + BITS > 64 => {
            low.or(high.shl_each(V::splat(proof, 64 - shift as u64)))
        }
        _ => low,
    }
}

/// Returns the words of LANES consecutive rows of W words: the vector of word j, for each j.
#[inline(always)]
fn words<V: Lanes, const W: usize>(proof: V::Proof, rows: &[u32]) -> [V; W] {
    let rows = &rows[..V::LANES * 2 * W];
    let mut words = [V::splat(proof, 0); W];
    if 2 * W == V::LANES {
        for (k, word) in words.iter_mut().enumerate() {
            let pair = &rows[2 * V::LANES * k..][..2 * V::LANES];
            // SAFETY: `pair` has 2·LANES words of 32 bits.
            *word = unsafe { V::load(proof, pair.as_ptr(), pair.len()) };
        }
        V::transpose_pairs(&mut words);
        return words;
    }
    let squares = W.div_ceil(V::LANES);
    unrolled!(k < squares, up to 40 => {
        let first = V::LANES * k;
        let mut square = [V::splat(proof, 0); MOST_LANES];
        for lane in 0..V::LANES {
            let part = &rows[2 * W * lane..][..2 * W][2 * first..];
            let len = part.len().min(2 * V::LANES);
            // SAFETY: `part` has at least `len` words of 32 bits, and `len` is at most 2·LANES.
            square[lane] = unsafe { V::load(proof, part.as_ptr(), len) };
        }
        V::transpose(&mut square[..V::LANES]);
        let len = V::LANES.min(W - first);
        words[first..][..len].copy_from_slice(&square[..len]);
    });
    words
}

/// Writes the numbers with the given limbs to consecutive rows of 2W words.
#[inline(always)]
fn store<V: Lanes, const W: usize>(proof: V::Proof, limbs: &[V], out: &mut [u32]) {
    let out = &mut out[..V::LANES * 4 * W];
    let squares = (2 * W).div_ceil(V::LANES);
    let lanes = V::LANES;
    unrolled!(k < squares, up to 40 => {
        let mut square = [V::splat(proof, 0); MOST_LANES];
        unrolled!(t < lanes => if V::LANES * k + t < 2 * W {
            square[t] = word(proof, limbs, V::LANES * k + t);
        });
        V::transpose(&mut square[..V::LANES]);
        for lane in 0..V::LANES {
            let row = &mut out[4 * W * row_of::<V, W>(lane)..][..4 * W][2 * V::LANES * k..];
            let len = row.len().min(2 * V::LANES);
            // SAFETY: `row` has at least `len` words of 32 bits, and `len` is at most 2·LANES.
            unsafe { square[lane].store(row.as_mut_ptr(), len) };
        }
    });
}

/// Returns word j of the numbers with the given limbs.
#[inline(always)]
fn word<V: Lanes>(proof: V::Proof, limbs: &[V], j: usize) -> V {
    let (limb, shift) = (64 * j / BITS, 64 * j % BITS);
    let mut word = limbs[limb].shr(shift as u64);
    // The first limb gives 52 − shift bits, the second at most 52 more, and the third the rest.
    for (k, at) in [(limb + 1, BITS - shift), (limb + 2, 2 * BITS - shift)] {
        if at < 64 && k < limbs.len() {
            word = word.or(limbs[k].shl_each(V::splat(proof, at as u64)));
        }
    }
    word
}
