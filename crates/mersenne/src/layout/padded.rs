//! The words of a residue modulo k·b^n ± 1 in a transform that is longer than twice the residue.
//!
//! # Method
//!
//! All words have s digits, so a word has the base β = b^s. A residue X is stored as y = X/k mod N, in m balanced
//! words; the other W − m ≥ m words of the transform are zero. A transform of W words then computes z = y² as an
//! integer. Let ν = ⌊n/s⌋ and δ = n mod s, so that b^n = b^δ·β^ν, and let t = s·m − n. With k·b^n = N − c,
//!
//! k·z = Σ_(i<m) k·z_i·β^i + k·β^m·Σ_(i≥m) z_i·β^(i−m) ≡ Σ_(i<m) k·z_i·β^i − c·b^t·Σ_(i≥m) z_i·β^(i−m),
//!
//! and k·z is the stored form of X². The header `kernels/fp64/reduce.cuh` describes how kernels compute digits of
//! the sum modulo N.
//!
//! # Bounds
//!
//! Let L be the number of words for which β^L ≥ 2·k·b^δ. All |x| ≤ k·b^δ/2 have L balanced digits. The number of
//! words is m = ν + L + 3. Digits of registers are in size at most β/2 + e with e ≤ β/8 ([`PaddedLayout::excess`]).
//!
//! *Digits of products.* Let R < 2^50 be a bound on the words of a product before carries. Two words are a point, and
//! the carry out of a point is at most R/β + 1. It enters the next point, whose first word becomes a digit of at most
//! β/2, and whose second word takes what is left. So digits are at most D = β/2 + R/β² + 2.
//!
//! *Words before carries.* k has at most L' ≤ 8 balanced digits, because β ≥ 512. b^t = h·β^λ with h < β, so word i
//! is a sum of L' + 1 products, and at most (L'/2 + 1)·(β + 2)·D. With a multiplier of at most 4 it is below
//! 20·(β²/2 + 2^50/β + 3·β) < 2^50, because β < 2^23.
//!
//! *Digits.* The first carry of a word is at most that bound divided by β, the second one at most the bound divided by
//! β², plus 1. So e = 4·(L'/2 + 1)·(1 + 2/β)·D/β + 1, and 3 more for the words that the overflow enters.
//!
//! *Overflow.* The words of the sum end below m + λ + 2, and carries below m + λ + 4. The λ + 4 digits V_a from m
//! on are replaced by −c·q_a·V_a in the lowest words and r_a·V_a·b^n in those from ν on, where b^(t+s·a) = q_a·k +
//! r_a with |r_a| ≤ k/2. Here |Σ r_a·V_a·b^n| ≤ (λ + 4)·(β/2 + e)·k·b^δ/2·β^ν < 6·β^(m−2), since λ ≤ L + 3 ≤ 13.
//! So its carries end in word m − 1, and |y| ≤ β^m·(½ + ⅛)·(1 + 2/β) + 7·β^(m−2) < 0.63·β^m.
//!
//! *Products.* |z| < 0.4·β^(2m). Word 2m − 2 is at most 0.4·β² before carries, and the words after it are 0. So no
//! carry leaves word 2m + 1, or word 2m − 1 if W ≤ 2m + 1. The transform computes z modulo β^W − 1, so it is z.

use super::form::FormLayout;
use super::{DigitLayout, StoredDigits, StoredForm};
use crate::{Number, Sign};
use warpint_natural::limbs::{add_assign, div_rem_small, mul_small_assign, trim};

/// The least base of a word. Shorter words would leave too little room for the carries of long multipliers.
const LEAST_BASE: u32 = 512;

/// The upper bound on the base of a word.
const BASE_LIMIT: u32 = 1 << 23;

/// Kernels of reductions treat the lowest and the highest words apart, at most 32 each (HALF in
/// `kernels/fp64/reduce.cuh`). A residue has more words than both together.
const LEAST_WORDS: usize = 256;

/// The layout of residues modulo N = k·b^n + c in the lower words of a transform of W words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PaddedLayout {
    number: Number,
    /// W.
    length: usize,
    /// s.
    digits: u32,
    /// β.
    base: u32,
    /// m.
    words: usize,
}

/// The constants by which products are reduced. All digits are balanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reductions {
    /// The digits of k.
    pub(crate) multiplier: Vec<i32>,
    /// For each word of the overflow, the digits of q_a.
    pub(crate) quotients: Vec<Vec<i32>>,
    /// For each word of the overflow, the digits of r_a·b^δ.
    pub(crate) rests: Vec<Vec<i32>>,
}

impl PaddedLayout {
    /// Creates the layout with the shortest words. Returns `None` if m words of less than 23 bits and the padding
    /// are longer than the transform, or if the residue is too short.
    pub(crate) fn new(number: Number, length: usize) -> Option<Self> {
        let bases = (1..).map_while(|digits| {
            let base = number.base().checked_pow(digits).filter(|&base| base < BASE_LIMIT)?;
            Some((digits, base))
        });
        let layouts = bases.filter(|&(_, base)| base >= LEAST_BASE).map(|(digits, base)| {
            let layout = Self { number, length, digits, base, words: 0 };
            Self { words: layout.start() + layout.rest_digits() + 3, ..layout }
        });
        let mut fitting = layouts.filter(|layout| 2 * layout.words <= length);
        fitting.next().filter(|layout| layout.words > LEAST_WORDS)
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// Returns W.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns β.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Returns m.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns ν: word ν has digit n of the residue.
    pub(crate) fn start(&self) -> usize {
        (self.number.exponent() / self.digits) as usize
    }

    /// Returns the number of words of a product that can differ from zero: 2m, and two more if there are as many.
    pub(crate) fn end(&self) -> usize {
        self.length.min(2 * self.words + 2)
    }

    /// Returns b^δ for the place δ of digit n in its word.
    pub(crate) fn unit(&self) -> u32 {
        self.number.base().pow(self.number.exponent() % self.digits)
    }

    /// Returns (h, λ) with b^t = h·β^λ and h < β.
    pub(crate) fn upper(&self) -> (u32, usize) {
        let words = self.words - self.start();
        match self.unit() {
            1 => (1, words),
            unit => (self.base / unit, words - 1),
        }
    }

    /// Returns the number of words above word m that a reduced product reaches.
    pub(crate) fn overflow(&self) -> usize {
        self.upper().1 + 4
    }

    /// Returns the bound e on what digits of registers exceed β/2 by, if words of products are at most `largest` before
    /// carries.
    pub(crate) fn excess(&self, largest: f64) -> f64 {
        let base = f64::from(self.base);
        let digits_of_k = self.digits_up_to(self.number.multiplier().into()) as f64;
        let digit = base / 2.0 + largest / (base * base) + 2.0;
        4.0 * (digits_of_k / 2.0 + 1.0) * (1.0 + 2.0 / base) * digit / base + 4.0
    }

    /// Returns −c.
    pub(crate) fn minus_c(&self) -> i32 {
        if self.number.sign() == Sign::Minus { 1 } else { -1 }
    }

    /// Returns L, the number of balanced digits of all numbers up to k·b^δ/2.
    fn rest_digits(&self) -> usize {
        let bound = u128::from(self.number.multiplier()) * u128::from(self.unit());
        self.digits_up_to(bound)
    }

    /// Returns the least L with β^L ≥ 2·`bound`.
    fn digits_up_to(&self, bound: u128) -> usize {
        let powers =
            std::iter::successors(Some(1u128), |power| power.checked_mul(self.base.into()));
        powers.take_while(|&power| power < 2 * bound).count()
    }

    /// Returns the balanced digits of x, or of −x, to the base β, at least `least`.
    fn balanced(&self, mut x: Vec<u64>, is_negative: bool, least: usize) -> Vec<i32> {
        let (base, mut digits) = (self.base as i32, vec![]);
        trim(&mut x);
        while !x.is_empty() {
            let mut digit = div_rem_small(&mut x, base as u64) as i32;
            if digit > base / 2 {
                digit -= base;
                x.push(0);
                add_assign(&mut x, &[1]);
            }
            trim(&mut x);
            digits.push(if is_negative { -digit } else { digit });
        }
        digits.resize(digits.len().max(least), 0);
        digits
    }

    /// Returns the constants of reductions. Cost: O(λ²) operations on limbs.
    pub(crate) fn reductions(&self) -> Reductions {
        let number = self.number;
        let (k, rest) = (number.multiplier(), self.rest_digits());
        let times = |x: &mut Vec<u64>, factor: u64| {
            let high = mul_small_assign(x, factor);
            x.push(high);
            trim(x);
        };
        let (factor, shift) = self.upper();
        // b^(t+s·a).
        let mut power = vec![u64::from(factor)];
        (0..shift).for_each(|_| times(&mut power, self.base.into()));
        let (mut quotients, mut rests) = (vec![], vec![]);
        for _ in 0..self.overflow() {
            let mut quotient = power.clone();
            let above = div_rem_small(&mut quotient, k);
            let is_negative = above > k / 2;
            if is_negative {
                quotient.push(0);
                add_assign(&mut quotient, &[1]);
            }
            let mut remainder = vec![if is_negative { k - above } else { above }];
            times(&mut remainder, self.unit().into());
            quotients.push(self.balanced(quotient, false, 0));
            rests.push(self.balanced(remainder, is_negative, rest));
            times(&mut power, self.base.into());
        }
        let longest = quotients.iter().map(Vec::len).max().unwrap_or(0);
        quotients.iter_mut().for_each(|digits| digits.resize(longest, 0));
        Reductions { multiplier: self.balanced(vec![k], false, 1), quotients, rests }
    }
}

/// A layout with what converts residues to digits and back. Registers hold X/k mod N instead of X.
pub(crate) struct StoredPadded {
    pub(crate) layout: PaddedLayout,
    stored: Stored,
}

/// The words of a residue without the padding.
enum Stored {
    Bits(StoredForm),
    Digits(StoredDigits),
}

impl StoredPadded {
    pub(crate) fn new(layout: PaddedLayout) -> Self {
        let PaddedLayout { number, digits, words, .. } = layout;
        let stored = if number.base() == 2 {
            Stored::Bits(StoredForm::new(FormLayout::uniform(number, digits, words)))
        } else {
            Stored::Digits(StoredDigits::new(DigitLayout::uniform(number, digits, words)))
        };
        Self { layout, stored }
    }

    /// Returns whether the layout, the modulus and the powers are unchanged in memory.
    pub(crate) fn is_intact(&self) -> bool {
        let PaddedLayout { number, length, digits, words, .. } = self.layout;
        PaddedLayout::new(number, length) == Some(self.layout)
            && match &self.stored {
                Stored::Bits(stored) => {
                    stored.layout == FormLayout::uniform(number, digits, words)
                        && stored.has_intact_modulus()
                }
                Stored::Digits(stored) => {
                    stored.layout == DigitLayout::uniform(number, digits, words)
                        && stored.has_intact_powers()
                }
            }
    }

    /// Returns the W digits of X/k. X has the limbs of a residue, and is below N.
    pub(crate) fn store(&self, x: &[u64]) -> Vec<i32> {
        let mut digits = vec![0; self.layout.length];
        let lower = &mut digits[..self.layout.words];
        match &self.stored {
            Stored::Bits(stored) => stored.store(x, lower),
            Stored::Digits(stored) => stored.store(x, lower),
        }
        digits
    }

    /// Returns the canonical residue X if the first m digits are those of X/k, of any size and sign.
    pub(crate) fn load(&self, digits: &[i32]) -> Vec<u64> {
        let lower = &digits[..self.layout.words];
        match &self.stored {
            Stored::Bits(stored) => stored.load(lower),
            Stored::Digits(stored) => stored.load(lower),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rug::{Complete, Integer};
    use warpint_natural::product::FastProducts;

    fn value(base: u32, digits: &[i32]) -> Integer {
        digits.iter().rev().fold(Integer::new(), |sum, &digit| sum * base + digit)
    }

    fn number_of(x: &[u64]) -> Integer {
        Integer::from_digits(x, rug::integer::Order::Lsf)
    }

    /// Checks the bounds of the module's documentation, the constants of reductions, and that residues become digits
    /// and come back.
    fn check(layout: PaddedLayout, seed: u64) {
        let number = layout.number();
        let (k, base) = (number.multiplier(), layout.base());
        assert!((LEAST_BASE..BASE_LIMIT).contains(&base) && 2 * layout.words() <= layout.len());
        let modulus = number_of(&number.value());
        let power = |e: usize| Integer::u_pow_u(base, e as u32).complete();
        let of_exponent = Integer::u_pow_u(number.base(), number.exponent()).complete();
        assert_eq!(of_exponent, power(layout.start()) * layout.unit());
        let (upper, lift) = layout.upper();
        assert!(upper < base);
        // b^(t+n) = β^m.
        let shift = power(lift) * upper;
        assert_eq!((&shift * &of_exponent).complete(), power(layout.words()));
        let reductions = layout.reductions();
        let most = base as i32 / 2;
        let rows = || reductions.quotients.iter().chain(&reductions.rests);
        assert!(rows().flatten().chain(&reductions.multiplier).all(|digit| digit.abs() <= most));
        assert_eq!(value(base, &reductions.multiplier), k);
        assert!(reductions.multiplier.len() <= 8 && layout.overflow() == reductions.rests.len());
        // HALF words at either end: with the two that take the last carries, and with two before the upper end.
        assert!(reductions.quotients[0].len() + 2 <= 32);
        assert!(layout.words() - layout.start() + layout.overflow() + 2 <= 32);
        assert_eq!(layout.words() - layout.start(), reductions.rests[0].len() + 3);
        for (a, (quotient, rest)) in reductions.quotients.iter().zip(&reductions.rests).enumerate()
        {
            let rest = value(base, rest);
            let expected = &shift * power(a) * layout.unit();
            assert_eq!(value(base, quotient) * k * layout.unit() + &rest, expected);
            assert!(rest.abs() * 2u32 <= Integer::from(k) * layout.unit());
        }
        let stored = StoredPadded::new(layout);
        assert!(stored.is_intact());
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let random: Vec<u64> = (0..number.limbs()).map(|_| rng.random()).collect();
        let near = [0u64, 1, 2, 3, k, u64::MAX].map(Integer::from);
        let below = near.iter().map(|v| (&modulus - v).complete());
        for x in near.iter().cloned().chain(below).chain([number_of(&random)]) {
            let x = x.modulo(&modulus);
            let mut limbs = x.to_digits(rug::integer::Order::Lsf);
            limbs.resize(number.limbs(), 0);
            let digits = stored.store(&limbs);
            assert!(digits.iter().all(|digit| digit.abs() <= most + 1), "{layout:?}: {x}");
            assert!(digits[layout.words()..].iter().all(|&digit| digit == 0));
            let difference = value(base, &digits) * k - &x;
            assert!(difference.is_divisible(&modulus), "{layout:?}: {x}");
            assert_eq!(stored.load(&digits), limbs, "{layout:?}: {x}");
            let negated: Vec<i32> = digits.iter().map(|&digit| -digit).collect();
            let found = number_of(&stored.load(&negated));
            assert!((found + &x).is_divisible(&modulus), "{layout:?}: {x}");
        }
    }

    #[test]
    fn reductions_are_those_of_the_definition() {
        for (k, b, n, length) in [
            (1, 2, 10_001, 1024),
            (1, 3, 6_400, 1024),
            ((1 << 63) - 25, 2, 10_000, 2310),
            ((1 << 63) - 25, 2, 23_000, 2310),
            ((1 << 63) - 25, 2, 10_007, 2310),
            ((1 << 63) - 25, 513, 1_100, 2310),
            ((1 << 63) - 25, 512, 1_112, 2310),
            ((1 << 62) + 57, 3, 6_400, 2048),
            (1_000_000_007, 23, 2_500, 3000),
            (7, 499, 1_200, 1500),
            (5, 8_388_593, 600, 1300),
        ] {
            for sign in [Sign::Minus, Sign::Plus] {
                let number = Number::new(k, b, n, sign).unwrap();
                check(PaddedLayout::new(number, length).unwrap(), 3);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (k, b, n, length) in [
            // A word of the base is too long.
            (1, 8_388_617, 600, 1300),
            // Too many words, or too few.
            (1, 2, 23_000, 2048),
            (1, 3, 40_000, 3000),
            (1, 2, 2_000, 1 << 20),
        ] {
            let number = Number::new(k, b, n, Sign::Plus).unwrap();
            assert_eq!(PaddedLayout::new(number, length), None, "{number}");
        }
    }

    #[test]
    fn a_changed_layout_is_noticed() {
        for number in ["1048577*2^12000+1", "1048577*7^5000+1"] {
            let layout = PaddedLayout::new(number.parse().unwrap(), 2048).unwrap();
            let mut stored = StoredPadded::new(layout);
            assert!(stored.is_intact());
            stored.layout.words += 1;
            assert!(!stored.is_intact());
            let mut stored = StoredPadded::new(layout);
            match &mut stored.stored {
                Stored::Bits(stored) => stored.modulus.flip(77, &FastProducts),
                Stored::Digits(stored) => {
                    *stored = StoredDigits::new(DigitLayout::new(layout.number(), 700).unwrap());
                }
            }
            assert!(!stored.is_intact());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_layout_keeps_the_bounds(
            k in 1u64..1 << 63,
            bits in 0u32..63,
            base in 2u32..2000,
            n in 2_000u32..9_000,
            length in 1_000usize..6_000,
            plus in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let sign = if plus { Sign::Plus } else { Sign::Minus };
            let Ok(number) = Number::new((k >> bits).max(1), base, n, sign) else { return Ok(()) };
            if let Some(layout) = PaddedLayout::new(number, length) {
                check(layout, seed);
            }
        }
    }
}
