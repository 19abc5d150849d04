//! The digits of a residue. All transform engines use them, and call them words.
//!
//! A residue x mod 2^p − 1 in N words is x = Σ x_j·2^⌈pj/N⌉ with 0 ≤ j < N (Thall 2011, eq. 1.1).
//! Word j has b_j = ⌈p(j+1)/N⌉ − ⌈pj/N⌉ bits, which is ⌊p/N⌋ or ⌈p/N⌉ (eq. 1.2). Digits are
//! balanced: −2^(b_j−1) ≤ x_j ≤ 2^(b_j−1).

mod convert;
mod digits;
mod form;
mod padded;

pub(crate) use digits::{DigitLayout, StoredDigits};
pub(crate) use form::{FormLayout, FormWeights, StoredForm};
pub(crate) use padded::{PaddedLayout, StoredPadded};

/// The layout of the words of a residue mod 2^p − 1 in a transform of length N.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordLayout {
    p: u32,
    n: usize,
}

impl WordLayout {
    /// Creates the layout of residues mod 2^p − 1 in n words.
    ///
    /// # Panics
    /// Panics unless 1 ≤ n ≤ p, because every word has at least one bit.
    #[must_use]
    pub fn new(p: u32, n: usize) -> Self {
        assert!(n >= 1 && n <= p as usize, "{n} words cannot share {p} bits");
        Self { p, n }
    }

    /// Returns the exponent p.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        self.p
    }

    /// Returns the number of words N of a residue.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Returns false: a layout has at least one word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the mean number of bits per word, p/N.
    #[must_use]
    pub fn bits_per_word(&self) -> f64 {
        f64::from(self.p) / self.n as f64
    }

    /// Returns the position of the lowest bit of word j in the residue. For the exponent p and N
    /// words it is ⌈pj/N⌉. For j = N, the result is p.
    #[must_use]
    pub fn offset(&self, j: usize) -> u64 {
        // The product fits in u64, since p < 2^32 and j ≤ N ≤ p.
        (u64::from(self.p) * j as u64).div_ceil(self.n as u64)
    }

    /// Returns the number of bits of word j. For the exponent p and N words it is ⌊p/N⌋ or ⌈p/N⌉.
    #[must_use]
    pub fn bits(&self, j: usize) -> u32 {
        (self.offset(j + 1) - self.offset(j)) as u32
    }

    /// Iterates over the pairs ([`Self::offset`], [`Self::bits`]) of word j and of all words after
    /// it. Computes them without a division per word.
    fn places(&self, j: usize) -> impl Iterator<Item = (u64, u32)> {
        let (n, p) = (self.n as u64, u64::from(self.p));
        let (short, rest) = (p / n, p % n);
        let mut offset = self.offset(j);
        // N·⌈pj/N⌉ − pj, which lies between 0 and N − 1.
        let mut excess = n * offset - p * j as u64;
        (j..self.n).map(move |_| {
            let here = offset;
            let long = excess < rest;
            excess = if long { excess + n - rest } else { excess - rest };
            let bits = short + u64::from(long);
            offset += bits;
            (here, bits as u32)
        })
    }

    /// Returns k = (−p·j) mod N for the exponent p and N words. The weight of word j is
    /// a_j = 2^(k/N) (Thall 2011, eq. 1.3).
    #[must_use]
    pub fn weight_numerator(&self, j: usize) -> u64 {
        let n = self.n as u64;
        let pj = u64::from(self.p) * j as u64 % n;
        if pj == 0 { 0 } else { n - pj }
    }

    /// Returns the word j that contains bit `bit` of the residue, and the position of the bit in
    /// the word: (j, `bit` − ⌈pj/N⌉), for the exponent p and N words.
    ///
    /// # Panics
    /// Panics if `bit` is p or more.
    #[must_use]
    pub fn word_at_bit(&self, bit: u32) -> (usize, u32) {
        assert!(bit < self.p, "bit {bit} of a {}-bit residue", self.p);
        // ⌈pj/N⌉ ≤ bit exactly when j ≤ ⌊bit·N/p⌋.
        let j = (u64::from(bit) * self.n as u64 / u64::from(self.p)) as usize;
        (j, (u64::from(bit) - self.offset(j)) as u32)
    }

    /// Adds `carry`, the carry out of the last word, to word 0 and propagates it. The residue stays
    /// the same, because 2^p ≡ 1.
    ///
    /// Two rounds through all words are enough for p ≥ 64 and |carry| < 2^62. The first round
    /// leaves a carry of −1, 0 or 1. The words that this carry passed are then at the opposite end
    /// of their range, so the second round ends in one of them. If a carry is left even after two
    /// rounds, it is added to word 0. The value stays right, although the digit may leave its
    /// range.
    pub fn wrap_carry(&self, digits: &mut [i32], carry: i64) {
        self.carry_into(digits, self.n, carry, |_, _, _| ());
    }

    /// Does the same as [`Self::wrap_carry`], and calls `each` with the number of each word that a
    /// carry enters, that carry, and the change of the digit.
    pub(crate) fn wrap_carry_with(
        &self,
        digits: &mut [i32],
        carry: i64,
        each: impl FnMut(usize, i64, i64),
    ) {
        self.carry_into(digits, self.n, carry, each);
    }

    /// Adds a carry to word `start`, or to word 0 if `start` is the number of words. Propagates the
    /// carry up to the last word, and then through all words, beginning with word 0, at most twice.
    /// If a carry is still left, it is added to word 0.
    /// `each` is as in [`Self::wrap_carry_with`].
    fn carry_into(
        &self,
        digits: &mut [i32],
        start: usize,
        mut carry: i64,
        mut each: impl FnMut(usize, i64, i64),
    ) {
        for j in (start..self.n).chain(0..self.n).chain(0..self.n) {
            if carry == 0 {
                return;
            }
            let bits = self.bits(j);
            let v = i64::from(digits[j]).wrapping_add(carry);
            let next = carry_out(v, bits);
            let digit = v.wrapping_sub(next << bits) as i32;
            each(j, carry, i64::from(digit) - i64::from(digits[j]));
            (digits[j], carry) = (digit, next);
        }
        if carry != 0 {
            each(0, carry, carry);
            digits[0] = digits[0].wrapping_add(carry as i32);
        }
    }
}

/// Returns the carry out of a word of `bits` bits with the value v: the carry for which
/// −2^(bits−1) ≤ v − carry·2^bits < 2^(bits−1).
#[inline]
#[must_use]
pub fn carry_out(v: i64, bits: u32) -> i64 {
    (v + (1i64 << bits >> 1)) >> bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Residue;
    use proptest::prelude::*;
    use warpint_natural::limbs;

    #[test]
    fn word_boundaries() {
        for (p, n) in [(127u32, 8usize), (127, 127), (89, 12), (521, 27), (67, 1), (2203, 128)] {
            if p / n as u32 > 31 {
                continue;
            }
            let layout = WordLayout::new(p, n);
            assert_eq!(layout.offset(n), u64::from(p));
            assert_eq!((0..n).map(|j| layout.bits(j)).sum::<u32>(), p);
            for from in [0, 1, n / 2, n] {
                let places: Vec<_> = layout.places(from).collect();
                let expected: Vec<_> =
                    (from..n).map(|j| (layout.offset(j), layout.bits(j))).collect();
                assert_eq!(places, expected);
            }
            for bit in 0..p {
                let (j, b) = layout.word_at_bit(bit);
                assert!(b < layout.bits(j), "bit {bit} of M{p} in {n} words");
                assert_eq!(layout.offset(j) + u64::from(b), u64::from(bit));
            }
            for j in 0..n {
                let weight = layout.offset(j) * n as u64 - u64::from(p) * j as u64;
                assert_eq!(layout.weight_numerator(j), weight);
            }
        }
    }

    #[test]
    fn corner_residues_round_trip() {
        for p in [67u32, 89, 127, 128, 521] {
            for n in [8usize, 9, 10, 12, 15, 16, 32, 63, p as usize] {
                if p as usize > 31 * n {
                    continue;
                }
                let layout = WordLayout::new(p, n);
                for x in corner_values(p) {
                    let digits = layout.balanced_digits(&x);
                    assert_eq!(layout.residue(&digits), x, "M{p}, {n} words, {x:?}");
                    for (j, d) in digits.iter().enumerate() {
                        let half = 1i32 << layout.bits(j) >> 1;
                        assert!((-half - 1..=half + 1).contains(d), "digit {j} of {x:?}: {d}");
                    }
                }
            }
        }
    }

    fn corner_values(p: u32) -> Vec<Residue> {
        let n = limbs::limbs_for_bits(p);
        let zero = Residue::from_u64(p, 0);
        let minus = |v: u64| {
            let v = Residue::from_u64(p, v);
            Residue::from_limbs(p, &limbs::sub_mod(zero.limbs(), v.limbs(), p))
        };
        let pattern = |w: u64| Residue::from_limbs(p, &vec![w; n]);
        vec![
            zero.clone(),
            Residue::from_u64(p, 1),
            Residue::from_u64(p, 2),
            minus(1),
            minus(2),
            pattern(0x5555_5555_5555_5555),
            pattern(0xaaaa_aaaa_aaaa_aaaa),
            pattern(u64::MAX >> 1),
            pattern(1 << 63),
        ]
    }

    proptest! {
        #[test]
        fn any_residue_round_trips(
            p in 64u32..3000,
            words in 1usize..3000,
            seed in proptest::collection::vec(any::<u64>(), 47),
        ) {
            let n = words.clamp((p as usize).div_ceil(31), p as usize);
            let layout = WordLayout::new(p, n);
            let x = Residue::from_limbs(p, &seed[..limbs::limbs_for_bits(p)]);
            prop_assert_eq!(layout.residue(&layout.balanced_digits(&x)), x);
        }
    }
}
