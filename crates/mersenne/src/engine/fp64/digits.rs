//! Conversion between packed residues and digits, in runs of 16 words.
//!
//! A register holds the p bits of a residue x, packed into limbs. Digits exist only while a
//! transform is loaded from them, or while a product leaves the transform.
//!
//! A *row* is a sequence of words that a transform stores together, and a *run* is 16 adjacent words
//! of a row. Let j be the first word of a row, o = ⌈pj/N⌉ its offset and e = N·o − pj. With
//! p·i = q·N + r and 0 ≤ r < N, the offset of word j + i is o + q if r ≤ e, and o + q + 1 if r > e.
//! q and r are the same for all rows, and o and e for all words of a row. So offsets need no
//! division, and 16 of them are computed in vectors.
//!
//! To digits: let y_j be the number formed by the b_j bits of word j, and c_j its top bit. Digit j
//! is y_j − 2^b_j·c_j + c_(j−1), where word N − 1 precedes word 0. This digit is balanced. It
//! depends on b_j + 1 adjacent bits only, so words are converted in any order.
//!
//! From digits: a *part* of the residue is some consecutive rows. The signed digits of a part are
//! added into limbs. What does not fit the limbs of the part, the *tail*, is added to the next part
//! when all parts are done. The tail of the last part goes into word 0, because 2^p ≡ 1.

#![expect(clippy::needless_range_loop, reason = "indices that several arrays share")]

use warpint_natural::limbs;

use super::LONGEST_WORD;
use super::carry::ROUNDER;
use crate::layout::WordLayout;

/// The number of words of a run.
pub(crate) const RUN: usize = 16;

/// The number of limbs in which the words of a run begin or end, at most. A power of two is fastest.
const LIMBS: usize = 8;

/// The largest number of parts in which a transform packs a residue.
pub(crate) const PARTS: usize = 64;

/// The number of limbs that hold the words of a run, the bit before them, and the limb after them.
const WINDOW: usize = (RUN * LONGEST_WORD).div_ceil(64) + 2;

/// The positions of the words of a run in its row: q and r with p·i = q·N + r, for each word i of the
/// run, and for the word after each.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    begins: Multiples,
    ends: Multiples,
    /// The exponent p.
    p: u32,
}

/// The quotients and remainders of 16 multiples of p by N.
#[derive(Debug, Clone)]
struct Multiples {
    quotients: [i32; RUN],
    remainders: [i32; RUN],
}

impl Multiples {
    /// Returns the quotients and remainders of p·`first`, p·(`first` + 1), …
    fn new(layout: &WordLayout, first: usize) -> Self {
        let (p, n) = (u64::from(layout.exponent()), layout.len() as u64);
        let product = |i: usize| p * (first + i) as u64;
        // Quotients of words of the residue are at most p, below 2^31; others are not used.
        // Remainders are below N ≤ 2^28.
        Self {
            quotients: std::array::from_fn(|i| (product(i) / n) as i32),
            remainders: std::array::from_fn(|i| (product(i) % n) as i32),
        }
    }

    /// Returns the offsets of 16 words in the row at `start`.
    #[inline(always)]
    fn offsets(&self, start: Start) -> [u32; RUN] {
        let mut offsets = [0; RUN];
        for i in 0..RUN {
            // The compiler turns signed comparisons into vectors, but not unsigned ones.
            let more = i32::from(self.remainders[i] > start.excess);
            offsets[i] = start.offset.wrapping_add(self.quotients[i]).wrapping_add(more) as u32;
        }
        offsets
    }
}

/// The position of a row: o and e of its first word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    offset: i32,
    excess: i32,
}

impl Start {
    /// Returns the position of a row whose first word is word j.
    pub(crate) fn new(layout: &WordLayout, j: usize) -> Self {
        let offset = layout.offset(j);
        let excess = layout.len() as u64 * offset - u64::from(layout.exponent()) * j as u64;
        // The offset is at most p, which is below 2^31, and the excess below N ≤ 2^28.
        Self { offset: offset as i32, excess: excess as i32 }
    }

    /// Returns the positions of the `count` rows of `width` words each, from word 0 on.
    pub(crate) fn of_rows(layout: &WordLayout, width: usize, count: usize) -> Vec<Self> {
        (0..count).map(|r| Self::new(layout, r * width)).collect()
    }
}

impl Run {
    /// Returns the run that begins with word `first` of every row.
    pub(crate) fn new(layout: &WordLayout, first: usize) -> Self {
        let (begins, ends) = (Multiples::new(layout, first), Multiples::new(layout, first + 1));
        Self { begins, ends, p: layout.exponent() }
    }

    /// Returns the runs of a row of `width` words.
    pub(crate) fn of_row(layout: &WordLayout, width: usize) -> Vec<Self> {
        (0..width).step_by(RUN).map(|first| Self::new(layout, first)).collect()
    }

    /// Returns the digits of the words of the run in the row at `start` of the residue x, which has
    /// ⌈p/64⌉ limbs. Digits after the last word of the residue are unspecified.
    #[inline(always)]
    pub(crate) fn digits(&self, x: &[u64], start: Start) -> [i32; RUN] {
        let (begins, ends) = (self.begins.offsets(start), self.ends.offsets(start));
        // The bit before the first word is bit `bit` of the window.
        let (first, bit) = match begins[0].checked_sub(1) {
            Some(before) => (Some((before / 64) as usize), before % 64),
            None => (None, 63),
        };
        let direct = first.filter(|_| cfg!(target_endian = "little"));
        let mut copy = [0; WINDOW];
        let window: &[u64; WINDOW] = match direct.and_then(|f| x.get(f..)?.first_chunk()) {
            Some(window) => window,
            None => {
                copy_window(x, first, self.p, &mut copy);
                &copy
            }
        };
        let bytes: &[u8] = bytemuck::cast_slice(window);
        let to_window = bit.wrapping_sub(begins[0]);
        let (mut at, mut up, mut down) = ([0u32; RUN], [0u32; RUN], [0u32; RUN]);
        for i in 0..RUN {
            let bits = ends[i].wrapping_sub(begins[i]);
            at[i] = begins[i].wrapping_add(to_window);
            (up[i], down[i]) = (63u32.wrapping_sub(bits) % 64, 64u32.wrapping_sub(bits) % 64);
        }
        let mut digits = [0; RUN];
        for i in 0..RUN {
            let byte = (at[i] / 8) as usize % 64;
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[byte..byte + 8]);
            // Bit 0 is the bit before the word, and bit b the top bit of the word of b bits.
            let raw = u64::from_le_bytes(eight) >> (at[i] % 8);
            let signed = (raw << up[i]) as i64 >> down[i];
            digits[i] = signed as i32 + (raw & 1) as i32;
        }
        digits
    }
}

/// Copies the limbs of x from limb `first` on, followed by zeros, to `window`. Without `first`, the
/// limbs from limb 0 on, preceded by a limb whose top bit is bit p − 1 of x. The bytes of the window
/// are little-endian.
#[cold]
fn copy_window(x: &[u64], first: Option<usize>, p: u32, window: &mut [u64; WINDOW]) {
    let (to, from) = match first {
        Some(first) => (&mut window[..], x.get(first..).unwrap_or(&[])),
        None => {
            let last = p - 1;
            let top = x.get((last / 64) as usize).map_or(0, |limb| limb >> (last % 64) & 1);
            window[0] = (top << 63).to_le();
            (&mut window[1..], x)
        }
    };
    for (to, &limb) in to.iter_mut().zip(from) {
        *to = limb.to_le();
    }
}

/// Returns x as an integer. x must be an integer; it is beyond the range of `i32` only after a
/// round-off error, and the result is then unspecified.
#[inline(always)]
pub(crate) fn integer(x: f64) -> i32 {
    (x + ROUNDER).to_bits() as i32
}

/// A part of a residue that is being packed: the words of some rows, which are pushed in order.
pub(crate) struct Part<'a> {
    /// The first word of the part, and the first word after it.
    pub(crate) words: std::ops::Range<usize>,
    /// The limbs from the limb with the first bit of the part on, up to the limb before that with
    /// the first bit of the next part.
    limbs: &'a mut [u64],
    /// The number of complete limbs.
    done: usize,
    /// The sum of the digits whose limb is not complete.
    tail: i128,
    tails: &'a mut i128,
}

impl Part<'_> {
    /// Adds the digits of the words of a run in the row at `start`. The run must follow the run that
    /// was added last. Digits after the last word of the residue must be 0.
    #[inline(always)]
    pub(crate) fn push(&mut self, run: &Run, start: Start, digits: &[i32; RUN]) {
        let begins = run.begins.offsets(start).map(|offset| offset.min(run.p));
        let ends = run.ends.offsets(start).map(|offset| offset.min(run.p));
        let first = begins[0] / 64;
        let (mut lows, mut highs) = ([0u64; RUN / 2], [0i64; RUN / 2]);
        let (mut limb, mut moves) = ([0u32; RUN / 2], [0u64; RUN / 2]);
        for k in 0..RUN / 2 {
            let (begin, bits) = (begins[2 * k], (ends[2 * k] - begins[2 * k]) % 32);
            let pair = i64::from(digits[2 * k]) + (i64::from(digits[2 * k + 1]) << bits);
            lows[k] = (pair as u64) << (begin % 64);
            highs[k] = pair >> 1 >> (63 - begin % 64);
            limb[k] = begin / 64 - first;
            // All ones if the pair completes a limb. A pair has less than 64 bits.
            moves[k] = u64::from(ends[2 * k + 1] / 64 - begin / 64).wrapping_neg();
        }
        // The limbs after the complete ones are written again by the next run.
        let mut copy = [0; LIMBS];
        let rest = &mut self.limbs[self.done..];
        let direct = rest.len() >= LIMBS;
        let limbs = match rest.first_chunk_mut() {
            Some(limbs) => limbs,
            None => &mut copy,
        };
        let (mut low, mut high) = (self.tail as u64, (self.tail >> 64) as i64);
        for k in 0..RUN / 2 {
            let (sum, carry) = low.overflowing_add(lows[k]);
            let above = high.wrapping_add(highs[k]).wrapping_add(i64::from(carry));
            limbs[limb[k] as usize % LIMBS] = sum;
            // A branch would often be predicted wrongly.
            low = sum & !moves[k] | above as u64 & moves[k];
            high = above >> (moves[k] & 63);
        }
        let complete = (ends[RUN - 1] / 64 - first) as usize;
        if !direct {
            rest[..complete].copy_from_slice(&copy[..complete]);
        }
        self.done += complete;
        self.tail = i128::from(high) << 64 | i128::from(low);
    }

    /// Ends the part, after its last run.
    pub(crate) fn end(self) {
        *self.tails = self.tail;
    }
}

/// Sets x to the residue whose digits `fill` pushes. Divides the residue into parts of `width`
/// words, and calls `fill` with all parts. `fill` must push all words of each part in order, in
/// any order of parts, and end each part.
pub(crate) fn pack(
    layout: &WordLayout,
    x: &mut Vec<u64>,
    width: usize,
    fill: impl FnOnce(Vec<Part<'_>>),
) {
    let p = layout.exponent();
    x.resize(limbs::limbs_for_bits(p), 0);
    let bounds: Vec<usize> = (0..layout.len()).step_by(width).chain([layout.len()]).collect();
    let limb_of = |j: usize| (layout.offset(j) / 64) as usize;
    let mut tails = vec![0i128; bounds.len() - 1];
    let mut parts = Vec::with_capacity(tails.len());
    let mut rest = x.as_mut_slice();
    for (bounds, tails) in bounds.windows(2).zip(&mut tails) {
        let words = bounds[0]..bounds[1];
        let (limbs, after) = rest.split_at_mut(limb_of(words.end) - limb_of(words.start));
        rest = after;
        parts.push(Part { words, limbs, done: 0, tail: 0, tails });
    }
    // The limb with bit p, if it belongs to the residue.
    rest.fill(0);
    fill(parts);
    for (&j, tail) in bounds[1..].iter().zip(tails) {
        add_at(x, limb_of(j), tail, p);
    }
    limbs::canonicalise(x, p);
}

/// Adds `term`·2^(64·`limb`) to x modulo 2^p − 1. Both may be negative or too large only by the
/// term: the result is below 2^p.
fn add_at(x: &mut [u64], limb: usize, term: i128, p: u32) {
    let (top, bits) = (x.len() - 1, (p - 1) % 64 + 1);
    let (mut at, mut carry) = (limb, term);
    if at > top {
        // p is a multiple of 64, and 2^p ≡ 1.
        at = 0;
    }
    while carry != 0 {
        let sum = i128::from(x[at]) + carry;
        if at < top {
            x[at] = sum as u64;
            carry = sum >> 64;
            at += 1;
        } else {
            x[at] = sum as u64 & (u64::MAX >> (64 - bits));
            carry = sum >> bits;
            at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Residue;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Returns the digits of x, with rows of `width` words.
    fn unpacked(layout: &WordLayout, width: usize, x: &[u64]) -> Vec<i32> {
        let runs = Run::of_row(layout, width);
        let rows = Start::of_rows(layout, width, layout.len().div_ceil(width));
        let row = |&start| runs.iter().flat_map(move |run| run.digits(x, start));
        let mut digits: Vec<i32> = rows.iter().flat_map(row).collect();
        digits.truncate(layout.len());
        digits
    }

    /// Packs digits, with rows of `width` words and parts of `rows` rows.
    fn packed(layout: &WordLayout, width: usize, rows: usize, digits: &[i32]) -> Vec<u64> {
        let runs = Run::of_row(layout, width);
        let mut x = vec![u64::MAX; 3];
        pack(layout, &mut x, width * rows, |parts| {
            // In reverse order, as parts are independent.
            for mut part in parts.into_iter().rev() {
                for first in part.words.clone().step_by(width) {
                    for (k, run) in runs.iter().enumerate() {
                        let mut of_run = [0; RUN];
                        let from = &digits[first + k * RUN..];
                        let count = from.len().min(RUN);
                        of_run[..count].copy_from_slice(&from[..count]);
                        part.push(run, Start::new(layout, first), &of_run);
                    }
                }
                part.end();
            }
        });
        x
    }

    /// Exponents and lengths: words of 1 to 25 bits, exponents that are multiples of 64 or next to
    /// one, and lengths with and without whole runs.
    fn layouts() -> Vec<(WordLayout, usize)> {
        let mut layouts = vec![];
        for (words, width) in
            [(8, 16), (12, 16), (30, 32), (64, 16), (96, 48), (512, 32), (1024, 256)]
        {
            for bits in [1, 2, 3, 7, 16, 18, 24, 25] {
                for more in [-65, -64, -63, -1, 0, 1, 5, 63, 64] {
                    let p = (words as i64 * bits + more).clamp(64, words as i64 * 25);
                    if p >= words as i64 {
                        layouts.push((WordLayout::new(p as u32, words), width));
                    }
                }
            }
        }
        layouts
    }

    fn corners(layout: &WordLayout, rng: &mut ChaCha8Rng) -> Vec<Residue> {
        let p = layout.exponent();
        let n = limbs::limbs_for_bits(p);
        let zero = vec![0; n];
        let minus = |v: u64| limbs::sub_mod(&zero, &limbs::reduce(&[v], p), p);
        let mut x = vec![zero.clone(), minus(1), minus(2), minus(1 << 40)];
        x.extend([1, 2, u64::MAX].map(|v| limbs::reduce(&[v], p)));
        x.extend(
            [0x5555_5555_5555_5555, u64::MAX << 32, 1 << 63].map(|v| limbs::reduce(&vec![v; n], p)),
        );
        // One bit, or all but one, at both ends of words.
        for j in [0, 1, layout.len() / 2, layout.len() - 1] {
            for bit in [layout.offset(j), layout.offset(j + 1) - 1] {
                let one = limbs::rotate_left(&limbs::reduce(&[1], p), bit as u32, p);
                x.push(limbs::sub_mod(&zero, &one, p));
                x.push(one);
            }
        }
        x.extend(
            (0..3).map(|_| limbs::reduce(&(0..n).map(|_| rng.random()).collect::<Vec<u64>>(), p)),
        );
        x.iter().map(|x| Residue::from_limbs(p, x)).collect()
    }

    #[test]
    fn residues_become_balanced_digits_and_residues_again() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (layout, width) in layouts() {
            for x in corners(&layout, &mut rng) {
                let digits = unpacked(&layout, width, x.limbs());
                for (j, &d) in digits.iter().enumerate() {
                    let half = 1i32 << layout.bits(j) >> 1;
                    assert!((-half..=half).contains(&d), "digit {j} of {x:?}, {layout:?}: {d}");
                }
                assert_eq!(layout.residue(&digits), x, "{layout:?}, {width}");
                for rows in [1, 3] {
                    let found = packed(&layout, width, rows, &digits);
                    assert_eq!(found, x.limbs(), "{layout:?}, {width}, {rows}");
                }
            }
        }
    }

    #[test]
    fn any_digits_are_packed() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for (layout, width) in layouts() {
            let n = layout.len();
            let mut cases: Vec<Vec<i32>> =
                [i32::MIN, -1, 0, 1, i32::MAX].map(|d| vec![d; n]).into();
            // M_p itself, from digits without a sign.
            cases.push((0..n).map(|j| (1i32 << layout.bits(j)) - 1).collect());
            for d in [-1, 1] {
                for j in [0, 1, n - 1] {
                    // A carry that runs through all words, or a borrow.
                    let mut digits = if d > 0 { cases[5].clone() } else { vec![0; n] };
                    digits[j] += d;
                    cases.push(digits);
                }
            }
            cases.push((0..n).map(|_| rng.random()).collect());
            cases.push((0..n).map(|_| rng.random::<i32>() >> 12).collect());
            for digits in cases {
                let expected = layout.residue(&digits);
                for rows in [1, 2, 5] {
                    let found = packed(&layout, width, rows, &digits);
                    assert_eq!(found, expected.limbs(), "{layout:?}, {width}, {rows}");
                }
            }
        }
    }
}
