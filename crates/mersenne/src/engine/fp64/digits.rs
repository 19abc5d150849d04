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

use warpint_natural::limbs;

use super::LONGEST_WORD;
use super::carry::ROUNDER;
use crate::layout::WordLayout;

/// The number of words of a run.
pub(crate) const RUN: usize = 16;

/// The largest number of parts in which a transform packs a residue.
pub(crate) const PARTS: usize = 64;

/// The number of limbs that hold the words of a run, the bit before them, and the limb after them.
const WINDOW: usize = (RUN * LONGEST_WORD + 63) / 64 + 2;

/// The positions of the words of a run in its row: q and r with p·i = q·N + r for the first word i
/// of the run, the next 15 words, and the word after them.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    quotients: [u32; RUN + 1],
    remainders: [u32; RUN + 1],
    /// The exponent p.
    end: u32,
}

/// The position of a row: o and e of its first word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    offset: u32,
    excess: u32,
}

impl Start {
    /// Returns the position of a row whose first word is word j.
    pub(crate) fn new(layout: &WordLayout, j: usize) -> Self {
        let offset = layout.offset(j);
        let excess = layout.len() as u64 * offset - u64::from(layout.exponent()) * j as u64;
        // The offset is at most p, which is below 2^31, and the excess below N.
        Self { offset: offset as u32, excess: excess as u32 }
    }

    /// Returns the positions of the `count` rows of `width` words each, from word 0 on.
    pub(crate) fn of_rows(layout: &WordLayout, width: usize, count: usize) -> Vec<Self> {
        (0..count).map(|r| Self::new(layout, r * width)).collect()
    }
}

impl Run {
    /// Returns the run that begins with word `first` of every row.
    pub(crate) fn new(layout: &WordLayout, first: usize) -> Self {
        let (p, n) = (u64::from(layout.exponent()), layout.len() as u64);
        let product = |i: usize| p * (first + i) as u64;
        Self {
            // At most p plus the bits of a run.
            quotients: std::array::from_fn(|i| (product(i) / n) as u32),
            remainders: std::array::from_fn(|i| (product(i) % n) as u32),
            end: layout.exponent(),
        }
    }

    /// Returns the runs of a row of `width` words.
    pub(crate) fn of_row(layout: &WordLayout, width: usize) -> Vec<Self> {
        (0..width).step_by(RUN).map(|first| Self::new(layout, first)).collect()
    }

    /// Returns the offsets of the words of the run in the row at `start`, and the offset of the word
    /// after them. Offsets of words after the last word of the residue are p.
    #[inline(always)]
    fn offsets(&self, start: Start) -> [u32; RUN + 1] {
        let mut offsets = [0; RUN + 1];
        for i in 0..=RUN {
            let more = u32::from(self.remainders[i] > start.excess);
            offsets[i] = (start.offset + self.quotients[i] + more).min(self.end);
        }
        offsets
    }

    /// Returns the digits of the words of the run in the row at `start` of the residue x, which has
    /// ⌈p/64⌉ limbs. Digits after the last word of the residue are unspecified.
    #[inline(always)]
    pub(crate) fn digits(&self, x: &[u64], start: Start) -> [i32; RUN] {
        let offsets = self.offsets(start);
        // The bit before the first word is bit `bit` of the window.
        let (first, bit) = match offsets[0].checked_sub(1) {
            Some(before) => (Some((before / 64) as usize), before % 64),
            None => (None, 63),
        };
        let mut copy = [0; WINDOW];
        let window: &[u64; WINDOW] = match first.and_then(|f| x.get(f..)?.first_chunk()) {
            Some(window) => window,
            None => {
                copy_window(x, first, self.end, &mut copy);
                &copy
            }
        };
        let mut raw = [0u32; RUN];
        for (raw, &offset) in raw.iter_mut().zip(&offsets) {
            let at = offset - offsets[0] + bit;
            let limb = (at / 64) as usize % (WINDOW - 1);
            let (low, high) = (window[limb] >> (at % 64), window[limb + 1] << 1 << (63 - at % 64));
            *raw = (low | high) as u32;
        }
        let mut digits = [0; RUN];
        for i in 0..RUN {
            let bits = offsets[i + 1] - offsets[i];
            // Bit 0 of `raw` is the bit before the word, bit `bits` the top bit of the word.
            let signed = (raw[i].wrapping_shl(31 - bits) as i32).wrapping_shr(32 - bits);
            digits[i] = signed + (raw[i] & 1) as i32;
        }
        digits
    }
}

/// Copies the limbs of x from limb `first` on, followed by zeros, to `window`. Without `first`, the
/// limbs from limb 0 on, preceded by a limb whose top bit is bit p − 1 of x.
#[cold]
fn copy_window(x: &[u64], first: Option<usize>, p: u32, window: &mut [u64; WINDOW]) {
    let (to, from) = match first {
        Some(first) => (&mut window[..], x.get(first..).unwrap_or(&[])),
        None => {
            let last = p - 1;
            let top = x.get((last / 64) as usize).map_or(0, |limb| limb >> (last % 64) & 1);
            window[0] = top << 63;
            (&mut window[1..], x)
        }
    };
    for (to, &limb) in to.iter_mut().zip(from) {
        *to = limb;
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
        let offsets = run.offsets(start);
        let mut pairs = [0i64; RUN / 2];
        for (k, pair) in pairs.iter_mut().enumerate() {
            let bits = offsets[2 * k + 1] - offsets[2 * k];
            *pair = i64::from(digits[2 * k]) + (i64::from(digits[2 * k + 1]) << bits);
        }
        let first = offsets[0] / 64;
        let mut complete = [0; WINDOW];
        let (mut low, mut high) = (self.tail as u64, (self.tail >> 64) as i64);
        for (k, &pair) in pairs.iter().enumerate() {
            let (offset, next) = (offsets[2 * k], offsets[2 * k + 2]);
            let term = i128::from(pair) << (offset % 64);
            let (sum, carry) = low.overflowing_add(term as u64);
            let above = high.wrapping_add((term >> 64) as i64).wrapping_add(i64::from(carry));
            complete[(offset / 64 - first) as usize % WINDOW] = sum;
            // A pair has less than 64 bits, so at most one limb is complete. A branch would often be
            // predicted wrongly.
            let moves = ((next / 64 - offset / 64) as u64).wrapping_neg();
            low = sum & !moves | above as u64 & moves;
            high = above & !(moves as i64) | above >> 63 & moves as i64;
        }
        let count = (offsets[RUN] / 64 - first) as usize;
        self.limbs[self.done..self.done + count].copy_from_slice(&complete[..count]);
        self.done += count;
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
