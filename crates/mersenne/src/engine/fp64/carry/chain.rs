//! Rounding and carries word by word, for a transform computed in one FFT.

use super::sums::{AllFactors, Sums};
use super::{Observed, ROUNDER, Subtrahend};
use crate::engine::fp64::flip::choose;
use crate::engine::squares::Element;
use crate::layout::WordLayout;
use multiversion::multiversion;

/// The number of words rounded at a time. This many words fit into the first-level cache.
const BLOCK: usize = 256;

/// Adds the carry out of the last word to the digits of a residue modulo 2^p − 1. With factors, also
/// adds what changes to the sums over the digits and the carries.
pub(crate) fn wrap(
    layout: &WordLayout,
    carry: i64,
    factors: Option<&AllFactors>,
    digits: &mut [i32],
    sums: &mut Sums,
) {
    layout.wrap_carry_with(digits, carry, |j, carry, change| {
        if let Some(factors) = factors {
            let [digits, carries] = [change, carry].map(|v| factors.get(j).times(Element::of(v)));
            *sums = sums.plus(Sums { digits, carries });
        }
    });
}

/// What [`release`] returns.
pub(crate) struct Released {
    pub(crate) observed: Observed,
    /// The carry out of the last word.
    pub(crate) carry: i64,
    /// The sums over the digits and the carries, if there are factors.
    pub(crate) sums: Sums,
}

/// Writes the balanced digits of a product, minus the subtrahend, to `digits`. With factors, makes the
/// sums over the digits and the carries. `words` are those of the inverse transform, in order. The carry
/// out of the last word is left to the caller.
pub(crate) fn release(
    words: &[f64],
    tables: &Tables<'_>,
    subtract: Option<Subtrahend>,
    digits: &mut [i32],
) -> Released {
    let mut rounded = [0i64; BLOCK];
    let mut seen = Seen { errors: [0.0; BLOCK], energy: [0.0; BLOCK], foreign: 0 };
    let (mut carry, mut sums) = (0i64, Sums::default());
    let flip = tables.flip.map(|bit| choose(bit, words.len().div_ceil(BLOCK)));
    let blocks = words.chunks(BLOCK).zip(tables.inverse.chunks(BLOCK));
    let outs = tables.bits.chunks(BLOCK).zip(digits.chunks_mut(BLOCK));
    for (block, ((words, inverse), (bits, digits))) in blocks.zip(outs).enumerate() {
        let rounded = &mut rounded[..digits.len()];
        round(words, inverse, rounded, &mut seen);
        if let Some(s) = subtract.filter(|s| s.word / BLOCK == block) {
            let z = &mut rounded[s.word % BLOCK];
            *z = z.wrapping_sub(s.value() as i64);
        }
        match tables.factors {
            None => carry = chain::<false>(rounded, bits, digits, carry),
            Some(factors) => {
                carry = chain::<true>(rounded, bits, digits, carry);
                sums = sums.plus(sum(factors, block * BLOCK, digits, rounded));
            }
        }
        if let Some((_, bit)) = flip.filter(|&(at, _)| at == block) {
            // A carry of a product that can be rounded is below 2^52.
            carry ^= 1 << (bit % 52);
        }
    }
    let observed = Observed {
        largest: seen.errors.into_iter().fold(0.0, f64::max),
        energy: seen.energy.into_iter().sum(),
        foreign: seen.foreign,
    };
    Released { observed, carry, sums }
}

/// The tables of the words of a residue.
pub(crate) struct Tables<'a> {
    /// Entry j is 1/(a_j·s), where a_j is the weight of word j, and s is the factor by which the
    /// transform and its inverse multiply a convolution.
    pub(crate) inverse: &'a [f64],
    /// Entry j is the number of bits of word j.
    pub(crate) bits: &'a [u8],
    /// The factors of the sums; `None` if no sums are made.
    pub(crate) factors: Option<&'a AllFactors>,
    /// A bit that flips in a carry out of a block of words.
    pub(crate) flip: Option<u64>,
}

/// Returns the sums over the digits and the carries of a block whose first word is `first`.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn sum(factors: &AllFactors, first: usize, digits: &[i32], carries: &[i64]) -> Sums {
    let digits = factors.sum(first, digits, |v| v);
    Sums { digits, carries: factors.sum(first, carries, |v| v as i32) }
}

/// Returns the sum over the digits of a residue.
pub(crate) fn sums_of(factors: &AllFactors, digits: &[i32]) -> Sums {
    let none = [0; BLOCK];
    let blocks = digits.chunks(BLOCK).enumerate();
    blocks.fold(Sums::default(), |all, (block, digits)| {
        all.plus(sum(factors, block * BLOCK, digits, &none[..digits.len()]))
    })
}

/// Statistics of words, from which an [`Observed`] is computed. Entry i of an array is for the
/// words at position i of all blocks of [`BLOCK`] words. So no result depends on the width of
/// vector registers.
struct Seen {
    errors: [f64; BLOCK],
    energy: [f64; BLOCK],
    foreign: u64,
}

/// Rounds a block of at most [`BLOCK`] words: computes z = round(`words[j]`·`inverse[j]`) for every
/// word j. Writes z to `rounded` and updates `seen`.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn round(words: &[f64], inverse: &[f64], rounded: &mut [i64], seen: &mut Seen) {
    let len = words.len().min(BLOCK);
    let (words, inverse, rounded) = (&words[..len], &inverse[..len], &mut rounded[..len]);
    let (errors, energy) = (&mut seen.errors[..len], &mut seen.energy[..len]);
    let mut foreign = seen.foreign;
    for j in 0..len {
        let t = words[j] * inverse[j];
        let sum = t + ROUNDER;
        let error = (t - (sum - ROUNDER)).abs();
        errors[j] = if error > errors[j] { error } else { errors[j] };
        energy[j] += t * t;
        foreign |= sum.to_bits() ^ ROUNDER.to_bits();
        rounded[j] = sum.to_bits().wrapping_sub(ROUNDER.to_bits()) as i64;
    }
    seen.foreign = foreign;
}

/// Computes the balanced digits of a block of words from the integers in `rounded`, where `carry`
/// is the carry into the first word. Returns the carry out of the last word. Every carry is rounded
/// as by [`carry_out`](crate::layout::carry_out). If `KEEP`, replaces each integer by the carry into
/// its word.
///
/// Only an addition and a shift lie between one carry and the next. A word that was too large to be
/// rounded may have any value in `rounded`; the product is then reported as an error.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn chain<const KEEP: bool>(
    rounded: &mut [i64],
    bits: &[u8],
    digits: &mut [i32],
    mut carry: i64,
) -> i64 {
    for ((z, &bits), digit) in rounded.iter_mut().zip(bits).zip(digits) {
        let bits = u32::from(bits) & 63;
        let next = z.wrapping_add(1i64 << bits >> 1).wrapping_add(carry) >> bits;
        *digit = z.wrapping_add(carry).wrapping_sub(next << bits) as i32;
        if KEEP {
            *z = carry;
        }
        carry = next;
    }
    carry
}
