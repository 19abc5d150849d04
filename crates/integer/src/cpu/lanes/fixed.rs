//! Whole products and squares of numbers of up to 4,096 bits. The code is compiled for ranges of
//! widths, each with a constant number of limbs. So limbs and columns stay in registers as far as
//! they fit, and the counts of shifts are constants. For short numbers, moving them takes longer than
//! multiplying them. Widths between the ranges have no code here, because it would gain little.
//!
//! A *word* has 64 bits here. The code of a range has W words, or N limbs of 52 bits, for a factor.
//! The number N is divided into blocks of B limbs (see `columns`), and at most one more limb.
//! Rows may be shorter: the words above them are 0.

use std::borrow::Cow;

use super::chunks::{for_groups, prefetch_after, prefetch_results_after};
use super::columns::{WIDEST_BLOCK, add_product_by, add_square_by, propagate_raw, raw_correction};
use super::vector::{Kernel, Lanes, MOST_LANES, PAIR_ROWS, digit, unrolled};
use crate::cpu::Operand;

/// The number of bits of a limb on the vectors for which this file has code.
const BITS: usize = 52;

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
        5..=6 => groups::<V, 3, 4, 4>(proof, a, b, out),
        7..=8 => groups::<V, 4, 5, 5>(proof, a, b, out),
        9..=10 => groups::<V, 5, 7, 7>(proof, a, b, out),
        11..=12 => groups::<V, 6, 8, 8>(proof, a, b, out),
        13..=14 => groups::<V, 7, 9, 3>(proof, a, b, out),
        15..=16 => groups::<V, 8, 10, 10>(proof, a, b, out),
        17..=19 => groups::<V, 10, 12, 4>(proof, a, b, out),
        20..=22 => groups::<V, 11, 14, 7>(proof, a, b, out),
        23..=24 => groups::<V, 12, 15, 5>(proof, a, b, out),
        25..=29 => groups::<V, 15, 18, 6>(proof, a, b, out),
        30..=32 => groups::<V, 16, 20, 5>(proof, a, b, out),
        41..=48 => groups::<V, 24, 30, 6>(proof, a, b, out),
        60..=64 => groups::<V, 32, 40, 8>(proof, a, b, out),
        93..=96 => groups::<V, 48, 60, 6>(proof, a, b, out),
        125..=128 => groups::<V, 64, 80, 8>(proof, a, b, out),
        _ => 0,
    }
}

/// Computes [`multiply`] for factors of the same width, with blocks that fit in 16 registers. Rows of
/// whole words of up to 512 bits, and rows of 5 and 7 limbs, are multiplied faster one after the
/// other.
fn in_small_blocks<V: Lanes>(
    proof: V::Proof,
    a: Operand,
    b: Option<Operand>,
    out: &mut [u32],
) -> usize {
    match a.width() {
        9 => groups::<V, 5, 6, 3>(proof, a, b, out),
        11 => groups::<V, 6, 7, 3>(proof, a, b, out),
        13 => groups::<V, 7, 8, 2>(proof, a, b, out),
        15 => groups::<V, 8, 10, 2>(proof, a, b, out),
        17..=19 => groups::<V, 10, 12, 3>(proof, a, b, out),
        20 => groups::<V, 10, 13, 3>(proof, a, b, out),
        21..=22 => groups::<V, 11, 14, 2>(proof, a, b, out),
        23..=24 => groups::<V, 12, 15, 3>(proof, a, b, out),
        25..=26 => groups::<V, 13, 16, 2>(proof, a, b, out),
        27..=29 => groups::<V, 15, 18, 3>(proof, a, b, out),
        30..=32 => groups::<V, 16, 20, 2>(proof, a, b, out),
        33..=34 => groups::<V, 17, 21, 3>(proof, a, b, out),
        35..=39 => groups::<V, 20, 24, 3>(proof, a, b, out),
        40..=42 => groups::<V, 21, 26, 2>(proof, a, b, out),
        43..=48 => groups::<V, 24, 30, 3>(proof, a, b, out),
        60..=64 => groups::<V, 32, 40, 2>(proof, a, b, out),
        93..=96 => groups::<V, 48, 60, 3>(proof, a, b, out),
        125..=128 => groups::<V, 64, 79, 3>(proof, a, b, out),
        _ => 0,
    }
}

/// Computes [`multiply`] for rows of at most W words and N limbs.
fn groups<V: Lanes, const W: usize, const N: usize, const B: usize>(
    proof: V::Proof,
    a: Operand,
    b: Option<Operand>,
    out: &mut [u32],
) -> usize {
    const { assert!(V::BITS as usize == BITS && N % B <= 1 && B <= WIDEST_BLOCK) };
    const { assert!(V::LANES == 4 || V::LANES == 8, "the order of paired rows") };
    let width = a.width();
    assert!(width <= 2 * W && 32 * width <= BITS * N, "rows of {width} limbs");
    let count = out.len() / (2 * width) / V::LANES * V::LANES;
    let (a, b) = (Factor::new::<V>(a), b.map(Factor::new::<V>));
    let out = &mut out[..count * 2 * width];
    for_groups(
        out,
        2 * width,
        V::LANES,
        || (),
        |(), first, out| {
            let (a, b, first) = (&a, b.as_ref(), first / V::LANES);
            V::enter(proof, Groups::<W, N, B> { a, b, width, first, out });
        },
    );
    count
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
    /// The number of limbs of 32 bits of a factor.
    width: usize,
    first: usize,
    /// The results: 2·`width` limbs per number, and only whole groups.
    out: &'a mut [u32],
}

impl<V: Lanes, const W: usize, const N: usize, const B: usize> Kernel<V> for Groups<'_, W, N, B> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Self { a, b, width, first, out } = self;
        for (g, out) in out.chunks_exact_mut(V::LANES * 2 * width).enumerate() {
            prefetch_results_after(out);
            let x = factors(proof, load::<V, W, N>(proof, a, width, first + g));
            let mut columns = [[V::splat(proof, 0); N]; 2];
            let columns = columns.as_flattened_mut();
            match b {
                None => add_square_by::<V, B, true>(proof, columns, &x),
                Some(b) => {
                    let y = factors(proof, load::<V, W, N>(proof, b, width, first + g));
                    add_product_by::<V, B, true>(proof, columns, &x, &y);
                }
            }
            propagate_raw(proof, columns, const { corrections::<V, N>() }.as_flattened());
            store::<V, W>(proof, columns, width, out);
        }
    }
}

/// Returns the corrections of the columns of a product of N by N limbs.
const fn corrections<V: Lanes, const N: usize>() -> [[u64; N]; 2] {
    let mut corrections = [[0; N]; 2];
    let mut k = 0;
    while k < 2 * N {
        corrections[k / N][k % N] = raw_correction::<V>(k, N, N);
        k += 1;
    }
    corrections
}

/// Returns whether a vector has room for exactly two rows. Each vector is then loaded with two rows,
/// and the cheaper transposition of such pairs changes their order.
#[inline(always)]
const fn is_paired<V: Lanes, const W: usize>(width: usize) -> bool {
    2 * W == V::LANES && width == 2 * W
}

/// Returns words whose lowest 52 bits are the limbs of group g.
#[inline(always)]
fn load<V: Lanes, const W: usize, const N: usize>(
    proof: V::Proof,
    factor: &Factor,
    width: usize,
    g: usize,
) -> [V; N] {
    let rows = &factor.limbs[g * factor.step..][..V::LANES * width];
    if factor.step > 0 {
        prefetch_after(rows);
    }
    let words = words::<V, W>(proof, width, rows);
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

/// Returns the words of LANES consecutive rows of `width` limbs of 32 bits: the vector of word j, for
/// each j. Words above the rows are 0.
#[inline(always)]
fn words<V: Lanes, const W: usize>(proof: V::Proof, width: usize, rows: &[u32]) -> [V; W] {
    let rows = &rows[..V::LANES * width];
    let mut words = [V::splat(proof, 0); W];
    if is_paired::<V, W>(width) {
        for (k, word) in words.iter_mut().enumerate() {
            let pair = &rows[2 * V::LANES * k..][..2 * V::LANES];
            // SAFETY: `pair` has 2·LANES words of 32 bits.
            *word = unsafe { V::load(proof, pair.as_ptr(), pair.len()) };
        }
        V::transpose_pairs(&mut words);
        return words;
    }
    let (squares, lanes) = (W.div_ceil(V::LANES), V::LANES);
    unrolled!(k < squares, up to 40 => {
        let first = V::LANES * k;
        let len = width.saturating_sub(2 * first).min(2 * V::LANES);
        let mut parts = [std::ptr::null(); MOST_LANES];
        unrolled!(lane < lanes => {
            parts[lane] = rows.as_ptr().wrapping_add(width * lane + 2 * first);
        });
        // SAFETY: `rows` has LANES rows of `width` limbs. If `len` is not 0, each of them has limbs
        // 2·`first` to 2·`first` + `len` − 1. `len` is at most 2·LANES.
        let square = unsafe { V::load_rows(proof, parts, len) };
        let len = V::LANES.min(W - first);
        words[first..][..len].copy_from_slice(&square[..len]);
    });
    words
}

/// Writes the lowest 2·`width` limbs of 32 bits of the numbers with the given limbs to consecutive
/// rows.
#[inline(always)]
fn store<V: Lanes, const W: usize>(proof: V::Proof, limbs: &[V], width: usize, out: &mut [u32]) {
    let out = &mut out[..V::LANES * 2 * width];
    let (squares, lanes) = ((2 * W).div_ceil(V::LANES), V::LANES);
    unrolled!(k < squares, up to 40 => {
        let len = (2 * width).saturating_sub(2 * V::LANES * k).min(2 * V::LANES);
        let mut square = [V::splat(proof, 0); MOST_LANES];
        unrolled!(t < lanes => if V::LANES * k + t < 2 * W {
            square[t] = word(proof, limbs, V::LANES * k + t);
        });
        let (mut parts, start) = ([std::ptr::null_mut(); MOST_LANES], out.as_mut_ptr());
        unrolled!(lane < lanes => {
            let row = if is_paired::<V, W>(width) { PAIR_ROWS[lane] } else { lane };
            parts[lane] = start.wrapping_add(2 * width * row + 2 * V::LANES * k);
        });
        // SAFETY: `out` has LANES rows of 2·`width` limbs. If `len` is not 0, each of them has limbs
        // 2·LANES·k to 2·LANES·k + `len` − 1. `len` is at most 2·LANES.
        unsafe { V::store_rows(square, parts, len) };
    });
}

/// Returns word j of the numbers with the given limbs. Words above the limbs are 0.
#[inline(always)]
fn word<V: Lanes>(proof: V::Proof, limbs: &[V], j: usize) -> V {
    let (limb, shift) = (64 * j / BITS, 64 * j % BITS);
    if limb >= limbs.len() {
        return V::splat(proof, 0);
    }
    let mut word = limbs[limb].shr(shift as u64);
    // The first limb gives 52 − shift bits, the second at most 52 more, and the third the rest.
    for (k, at) in [(limb + 1, BITS - shift), (limb + 2, 2 * BITS - shift)] {
        if at < 64 && k < limbs.len() {
            word = word.or(limbs[k].shl_each(V::splat(proof, at as u64)));
        }
    }
    word
}
