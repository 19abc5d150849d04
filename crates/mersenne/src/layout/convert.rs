//! Conversion between residues and words. The words are divided into pieces of 32,768, which
//! several threads can process.
//!
//! Each piece is first converted as if no carry entered it. Its outgoing carry is then added to the
//! next piece, where the first word nearly always absorbs it.

use rayon::prelude::*;
use warpint_natural::limbs;

use super::{WordLayout, carry_out};
use crate::Residue;

/// The number of words of a piece.
const PIECE: usize = 1 << 15;

/// The threads that process the pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hands {
    /// The caller's thread alone processes the pieces.
    One,
    /// All threads of the caller's rayon pool process the pieces.
    Many,
}

impl Hands {
    /// Divides a slice into pieces of [`PIECE`] elements and applies `work` to the index and the
    /// elements of each piece. Returns the results in the order of the pieces.
    fn of_pieces<T: Sync, R: Send>(
        self,
        whole: &[T],
        work: impl Fn(usize, &[T]) -> R + Sync,
    ) -> Vec<R> {
        match self {
            Self::One => whole.chunks(PIECE).enumerate().map(|(i, x)| work(i, x)).collect(),
            Self::Many => whole.par_chunks(PIECE).enumerate().map(|(i, x)| work(i, x)).collect(),
        }
    }

    /// Divides a slice into pieces of [`PIECE`] elements and applies `work` to the index and the
    /// elements of each piece. `work` may change the elements. Returns the results in the order of
    /// the pieces.
    fn of_pieces_mut<T: Send, R: Send>(
        self,
        whole: &mut [T],
        work: impl Fn(usize, &mut [T]) -> R + Sync,
    ) -> Vec<R> {
        match self {
            Self::One => whole.chunks_mut(PIECE).enumerate().map(|(i, x)| work(i, x)).collect(),
            Self::Many => {
                whole.par_chunks_mut(PIECE).enumerate().map(|(i, x)| work(i, x)).collect()
            }
        }
    }
}

impl WordLayout {
    /// Returns the balanced digits of a residue mod 2^p − 1, one for each of the N words. The carry
    /// out of the last word is added to word 0, because 2^p ≡ 1. Cost: O(N + p/64).
    ///
    /// # Panics
    /// Panics if the residue is of another exponent than the layout, or if the mean number of bits
    /// per word is above 31.
    #[must_use]
    pub fn balanced_digits(&self, x: &Residue) -> Vec<i32> {
        self.digits_by(Hands::One, x)
    }

    /// Returns the same digits as [`WordLayout::balanced_digits`], computed with all threads of
    /// rayon's pool.
    ///
    /// # Panics
    /// Panics if the residue is of another exponent than the layout, or if the mean number of bits
    /// per word is above 31.
    #[must_use]
    pub fn par_balanced_digits(&self, x: &Residue) -> Vec<i32> {
        self.digits_by(Hands::Many, x)
    }

    /// Returns the residue Σ d_j·2^⌈pj/N⌉ mod 2^p − 1, where d_j are the N digits, of any size and
    /// sign. Cost: O(N + p/64).
    ///
    /// # Panics
    /// Panics if the number of digits is not N.
    #[must_use]
    pub fn residue(&self, digits: &[i32]) -> Residue {
        self.residue_by(Hands::One, digits)
    }

    /// Returns the same residue as [`WordLayout::residue`], computed with all threads of rayon's
    /// pool.
    ///
    /// # Panics
    /// Panics if the number of digits is not N.
    #[must_use]
    pub fn par_residue(&self, digits: &[i32]) -> Residue {
        self.residue_by(Hands::Many, digits)
    }

    fn digits_by(&self, hands: Hands, x: &Residue) -> Vec<i32> {
        assert_eq!(x.exponent(), self.p, "a residue of another exponent");
        assert!(self.bits_per_word() <= 31.0, "words of more than 31 bits");
        let mut digits = vec![0i32; self.n];
        let carries = hands.of_pieces_mut(&mut digits, |i, piece| {
            let mut carry = 0i64;
            for (d, (offset, bits)) in piece.iter_mut().zip(self.places(i * PIECE)) {
                let v = bit_field(x.limbs(), offset, bits) as i64 + carry;
                carry = carry_out(v, bits);
                *d = (v - (carry << bits)) as i32;
            }
            carry
        });
        for (i, carry) in carries.into_iter().enumerate() {
            let next = ((i + 1) * PIECE).min(self.n);
            self.carry_into(&mut digits, next, carry, |_, _, _| ());
        }
        digits
    }

    fn residue_by(&self, hands: Hands, digits: &[i32]) -> Residue {
        assert_eq!(digits.len(), self.n, "one digit a word");
        let by_themselves = hands.of_pieces(digits, |i, piece| {
            let step =
                |carry: i64, (&d, (_, bits)): (&i32, (u64, u32))| (i64::from(d) + carry) >> bits;
            piece.iter().zip(self.places(i * PIECE)).fold(0, step)
        });
        // The carries into each piece, and out of the last one.
        let mut carried = vec![0i64];
        for (i, piece) in digits.chunks(PIECE).enumerate() {
            carried.push(self.carry_through(i, piece, carried[i], by_themselves[i]));
        }
        let pieces = hands.of_pieces(digits, |i, piece| self.pack(i, piece, carried[i]));
        let mut x = vec![0u64; limbs::limbs_for_bits(self.p)];
        for (i, piece) in pieces.into_iter().enumerate() {
            let first = (self.offset(i * PIECE) / 64) as usize;
            for (limb, bits) in x[first..].iter_mut().zip(piece) {
                *limb |= bits;
            }
        }
        // The carry out of the last word represents carry·2^p ≡ carry.
        let last = carried[carried.len() - 1];
        limbs::canonicalise(&mut x, self.p);
        if last != 0 {
            let rest = limbs::reduce(&[last.unsigned_abs()], self.p);
            x = if last < 0 {
                limbs::sub_mod(&x, &rest, self.p)
            } else {
                limbs::add_mod(&x, &rest, self.p)
            };
        }
        Residue::from_canonical(self.p, x)
    }

    /// Returns the carry out of piece i, whose digits are `piece`, if the carry into the piece is
    /// `into`. `by_itself` must be the carry out of the piece if no carry enters it.
    fn carry_through(&self, i: usize, piece: &[i32], into: i64, by_itself: i64) -> i64 {
        let (mut with, mut without) = (into, 0);
        for (&d, (_, bits)) in piece.iter().zip(self.places(i * PIECE)) {
            if with == without {
                return by_itself;
            }
            with = (i64::from(d) + with) >> bits;
            without = (i64::from(d) + without) >> bits;
        }
        with
    }

    /// Adds `carry` to piece i, whose digits are `piece`, and converts the sum to plain digits
    /// 0 ≤ d_j < 2^b_j, where b_j is the number of bits of word j. Returns the plain digits packed
    /// into limbs. The first limb is the limb of the residue that contains the lowest bit of the
    /// piece.
    fn pack(&self, i: usize, piece: &[i32], mut carry: i64) -> Vec<u64> {
        let begin = self.offset(i * PIECE);
        let mut packed = Vec::with_capacity(piece.len() / 2 + 2);
        let (mut limb, mut filled) = (0u64, (begin % 64) as u32);
        for (&d, (_, bits)) in piece.iter().zip(self.places(i * PIECE)) {
            let v = i64::from(d) + carry;
            carry = v >> bits;
            let d = (v - (carry << bits)) as u64;
            limb |= d << filled;
            filled += bits;
            if filled >= 64 {
                packed.push(limb);
                filled -= 64;
                // The bits of d that did not fit; the case of 64 such bits cannot occur.
                limb = if filled == 0 { 0 } else { d >> (bits - filled) };
            }
        }
        if filled > 0 {
            packed.push(limb);
        }
        packed
    }
}

/// Returns the number formed by the bits of x from `start` to `start + bits − 1`, where `bits` is
/// at most 63. Bits beyond the limbs of x are 0.
fn bit_field(x: &[u64], start: u64, bits: u32) -> u64 {
    let (limb, bit) = ((start / 64) as usize, (start % 64) as u32);
    let limb_at = |i: usize| x.get(i).copied().unwrap_or(0);
    let low = limb_at(limb) >> bit;
    let high = if bit == 0 { 0 } else { limb_at(limb + 1) << (64 - bit) };
    (low | high) & ((1u64 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Computes the residue Σ d_j·2^⌈pj/N⌉ mod 2^p − 1 of N digits d_j, one digit at a time.
    fn slowly(layout: &WordLayout, digits: &[i32]) -> Residue {
        let p = layout.exponent();
        let mut sum = Residue::from_u64(p, 0);
        for (j, &d) in digits.iter().enumerate().filter(|(_, d)| **d != 0) {
            let term = Residue::from_u64(p, u64::from(d.unsigned_abs()));
            let term = term.rotated_left(layout.offset(j) as u32);
            let combined = if d < 0 {
                limbs::sub_mod(sum.limbs(), term.limbs(), p)
            } else {
                limbs::add_mod(sum.limbs(), term.limbs(), p)
            };
            sum = Residue::from_limbs(p, &combined);
        }
        sum
    }

    #[test]
    fn pieces_fit_together() {
        let n = 2 * PIECE + 12_345;
        for p in [n as u32 + 1, 2 * n as u32 - 1, 1_500_007] {
            let layout = WordLayout::new(p, n);
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(u64::from(p));
            let limbs: Vec<u64> = (0..p.div_ceil(64)).map(|_| rng.random()).collect();
            let x = Residue::from_limbs(p, &limbs);
            let digits = layout.balanced_digits(&x);
            assert_eq!(layout.par_balanced_digits(&x), digits);
            for (j, d) in digits.iter().enumerate() {
                let half = 1i32 << layout.bits(j) >> 1;
                assert!((-half - 1..=half + 1).contains(d), "digit {j}: {d}");
            }
            assert_eq!(layout.residue(&digits), x);
            assert_eq!(layout.par_residue(&digits), x);
        }
    }

    #[test]
    fn carries_run_through_whole_pieces() {
        let n = 3 * PIECE;
        let p = 7 * n as u32 + 5;
        let layout = WordLayout::new(p, n);
        let top = |j: usize| (1i32 << layout.bits(j)) - 1;
        // All ones from word 1 on, or all zeros, and a digit in word 0 that carries through all
        // words.
        for first in [-1, 0, 1, i32::MAX, i32::MIN] {
            for ones in [false, true] {
                let mut digits: Vec<i32> = (0..n).map(|j| if ones { top(j) } else { 0 }).collect();
                digits[0] = first;
                let few: Vec<i32> = {
                    // M_p without word 0 is all ones, so that only word 0 and its deficit count.
                    let mut few = vec![0; n];
                    few[0] = first;
                    few
                };
                let mut expected = slowly(&layout, &few);
                if ones {
                    let word = Residue::from_u64(p, top(0) as u64);
                    let rest = limbs::sub_mod(expected.limbs(), word.limbs(), p);
                    expected = Residue::from_limbs(p, &rest);
                }
                assert_eq!(layout.residue(&digits), expected, "{first}, {ones}");
                assert_eq!(layout.par_residue(&digits), expected, "{first}, {ones}");
            }
        }
    }

    #[test]
    fn digits_of_any_size_are_summed() {
        let n = 300;
        let layout = WordLayout::new(2_203, n);
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        for _ in 0..50 {
            let digits: Vec<i32> = (0..n).map(|_| rng.random()).collect();
            assert_eq!(layout.residue(&digits), slowly(&layout, &digits));
        }
    }
}
