//! The words of a residue modulo k·b^n + c in digits to the base b.

use std::collections::BTreeMap;

use warpint_arith::dd::Dd;
use warpint_natural::division::Prepared;
use warpint_natural::limbs::{add_assign, compare, div_rem_small, mul_small_assign, trim, trimmed};
use warpint_natural::product::{FastProducts, Multiplier};

use super::form::Powers;
use crate::number::{Modulus, power};
use crate::{Number, Sign};

/// The binary digits of ρ after the point.
const FRACTION: u32 = 32;

/// The layout of a residue modulo N = k·b^n + c in W words, each of s or s + 1 digits to the base b.
///
/// Word j begins at digit D_j = ⌈j·ρ⌉, where ρ is (n + log_b k)/W, rounded up to a multiple of 2^−32. The residue
/// is Σ x_j·b^(D_j). A word of d digits has the base B = b^d, and is balanced: |x_j| ≤ B/2, but a few units more in
/// word 0. The last word may be twice as large. For b = 2 see [`FormLayout`](super::FormLayout).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DigitLayout {
    number: Number,
    len: usize,
    /// 2^32·ρ.
    rate: u64,
    /// The bases of words of s and of s + 1 digits.
    bases: [u32; 2],
}

impl DigitLayout {
    /// The upper bound on the base of a word of s digits, exclusive: 2^30.
    pub(crate) const BASE_LIMIT: u32 = 1 << 30;

    /// Creates the layout of residues modulo a number in `len` words. Returns `None` unless k < 2^53, `len` ≤ n, and
    /// the bases of words are below [`Self::BASE_LIMIT`].
    pub(crate) fn new(number: Number, len: usize) -> Option<Self> {
        let (k, b, n) = (number.multiplier(), number.base(), number.exponent());
        if k >> 53 != 0 || len == 0 || len > n as usize {
            return None;
        }
        // log_b k·2^32, and at most 2 more. The error of the quotient is below 2^−45.
        let multiplier = ((k as f64).log2() / f64::from(b).log2() * 2f64.powi(32)).ceil() as u64;
        let digits = (u64::from(n) << FRACTION) + multiplier + u64::from(k > 1);
        let rate = digits.div_ceil(len as u64);
        let (short, long) = (rate >> FRACTION, (rate - 1) >> FRACTION);
        let base = |digits: u64| b.checked_pow(u32::try_from(digits).ok()?);
        let short_base = base(short).filter(|&base| base < Self::BASE_LIMIT)?;
        // If ρ is whole, there are no long words.
        let long_base = if long == short { base(short + 1) } else { Some(short_base) };
        let long_base = long_base.filter(|&base| base < Self::BASE_LIMIT)?;
        Some(Self { number, len, rate, bases: [short_base, long_base] })
    }

    /// Creates the layout of residues modulo a number in `len` words of `digits` digits each.
    ///
    /// # Panics
    /// Panics unless b^`digits` is below [`Self::BASE_LIMIT`], and `len`·`digits` digits hold 2N.
    pub(super) fn uniform(number: Number, digits: u32, len: usize) -> Self {
        let base = number.base().checked_pow(digits).unwrap_or(Self::BASE_LIMIT);
        let room = len as f64 * f64::from(digits) * f64::from(number.base()).log2();
        let is_room = room > f64::from(number.bits()) + 1.0;
        assert!(base < Self::BASE_LIMIT && is_room, "{number} has no such words");
        Self { number, len, rate: u64::from(digits) << FRACTION, bases: [base; 2] }
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns whether all words have the same base and the weight 1: k = 1, and W divides n.
    pub(crate) fn is_even(&self) -> bool {
        self.number.multiplier() == 1 && (self.number.exponent() as usize).is_multiple_of(self.len)
    }

    /// Returns the bases of words of s and of s + 1 digits. If there are no words of s + 1 digits, both are the
    /// same.
    pub(crate) fn bases(&self) -> [u32; 2] {
        self.bases
    }

    /// Returns ρ, the mean number of digits of a word, times 2^32.
    pub(crate) fn rate(&self) -> u64 {
        self.rate
    }

    /// Returns D_j, the position of the lowest digit of word j ≤ W.
    pub(crate) fn offset(&self, j: usize) -> u64 {
        (u128::from(self.rate) * j as u128).div_ceil(1 << FRACTION) as u64
    }

    /// Returns the number of digits of word j.
    pub(crate) fn digits(&self, j: usize) -> u32 {
        (self.offset(j + 1) - self.offset(j)) as u32
    }

    /// Returns the base of word j.
    fn base(&self, j: usize) -> u32 {
        self.bases[usize::from(u64::from(self.digits(j)) > self.rate >> FRACTION)]
    }

    /// Returns 2^32·u_j for the fraction u_j = ⌈j·ρ⌉ − j·ρ. It is an integer.
    pub(crate) fn fraction(&self, j: usize) -> u32 {
        (j as u64).wrapping_mul(self.rate).wrapping_neg() as u32
    }

    /// Returns κ = D_W − n: the number of digits between digit n and the end of the last word.
    pub(crate) fn top(&self) -> u32 {
        (self.offset(self.len) - u64::from(self.number.exponent())) as u32
    }

    /// Makes digits from 0 to B − 1 balanced. The last word keeps its carry, unless b^(D_W) ≡ −c.
    fn balance(&self, digits: &mut [i32]) {
        let mut carry = 0;
        let last = self.len - 1;
        for (j, digit) in digits.iter_mut().enumerate() {
            *digit += carry;
            if j < last || self.is_even() {
                let base = self.base(j) as i32;
                carry = i32::from(*digit > base / 2);
                *digit -= carry * base;
            }
        }
        if self.is_even() {
            digits[0] += if self.number.sign() == Sign::Plus { -carry } else { carry };
        }
    }

    /// Replaces digits by digits from 0 to B − 1. Returns the carry out of the last word.
    fn canonical(&self, digits: &mut [i32]) -> i64 {
        digits.iter_mut().enumerate().fold(0, |carry, (j, digit)| {
            let (v, base) = (i64::from(*digit) + carry, i64::from(self.base(j)));
            *digit = v.rem_euclid(base) as i32;
            v.div_euclid(base)
        })
    }

    /// Returns the weights of words.
    pub(crate) fn weights(&self) -> DigitWeights {
        let of = |base| Powers::new(base, self.len);
        let (of_k, of_b) = (of(self.number.multiplier()), of(self.number.base().into()));
        DigitWeights { layout: *self, of_k, of_b }
    }
}

/// The weights w_j = b^(D_j)/K^j of a layout, K = (k·b^n)^(1/W), in double-double arithmetic.
pub(crate) struct DigitWeights {
    layout: DigitLayout,
    /// The powers of k^(−1/W) and of b^(−1/W).
    of_k: Powers,
    of_b: Powers,
}

impl DigitWeights {
    /// Returns w_j for j ≤ W.
    pub(crate) fn get(&self, j: usize) -> Dd {
        let DigitLayout { number, len, .. } = self.layout;
        let (n, len) = (u128::from(number.exponent()), len as u128);
        // w_j = b^(D_j − j·n/W)·k^(−j/W).
        let excess = u128::from(self.layout.offset(j)) * len - j as u128 * n;
        self.power(excess) * self.of_k.get(j)
    }

    /// Returns K.
    pub(crate) fn base(&self) -> Dd {
        self.power(self.layout.number.exponent().into()) / self.of_k.get(1)
    }

    /// Returns b^(e/W).
    fn power(&self, e: u128) -> Dd {
        let (len, b) = (self.layout.len as u128, Dd::from_u64(self.layout.number.base().into()));
        let whole = (0..e / len).fold(Dd::ONE, |power, _| power * b);
        whole / self.of_b.get((e % len) as usize)
    }
}

/// The number of words below which digits are converted one by one.
const LEAF: usize = 32;

/// A layout with the modulus and with the powers of b by which residues are converted to digits. Registers hold
/// X/k mod N instead of X.
///
/// A conversion costs about log2(W) products of half the length of N, on the threads of the pool.
pub(crate) struct StoredDigits {
    pub(crate) layout: DigitLayout,
    modulus: Modulus,
    /// b^n mod N ≡ −c/k.
    factor: Vec<u64>,
    /// By their exponents.
    powers: BTreeMap<u64, Power>,
}

/// The limbs of the residue by which powers are verified.
const SAMPLE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A power of b.
struct Power {
    value: Vec<u64>,
    divisor: Prepared,
}

/// Returns at which word of a range the digits are divided: above 32·2^i words, if that is less than all of
/// them.
fn cut(len: usize) -> Option<usize> {
    (len > LEAF).then(|| LEAF << (len.div_ceil(LEAF).next_power_of_two().trailing_zeros() - 1))
}

impl StoredDigits {
    pub(crate) fn new(layout: DigitLayout) -> Self {
        let number = layout.number;
        let mut powers = BTreeMap::new();
        collect(&layout, 0, layout.len, &mut powers);
        let modulus = Modulus::new(number, &FastProducts);
        let factor =
            modulus.reduce(&FastProducts, power(&FastProducts, number.base(), number.exponent()));
        Self { layout, modulus, factor, powers }
    }

    /// Returns whether the modulus, the layout and the powers are unchanged in memory: the first two are computed
    /// again, and a residue is converted to digits and back.
    pub(crate) fn is_intact(&self) -> bool {
        let DigitLayout { number, len, .. } = self.layout;
        DigitLayout::new(number, len) == Some(self.layout) && self.has_intact_powers()
    }

    /// Returns whether the modulus and the powers are unchanged in memory, as [`Self::is_intact`] does.
    pub(super) fn has_intact_powers(&self) -> bool {
        let DigitLayout { number, len, .. } = self.layout;
        if number != self.modulus.number() || !self.modulus.is_intact(&FastProducts) {
            return false;
        }
        let x = self.modulus.reduce(&FastProducts, vec![SAMPLE; number.limbs()]);
        let mut digits = vec![0; len];
        self.store(&x, &mut digits);
        self.load(&digits) == x
    }

    /// Writes the digits of X/k to `digits`. X has the limbs of a residue, and is below N.
    pub(crate) fn store(&self, x: &[u64], digits: &mut [i32]) {
        let number = self.layout.number;
        let x = if number.multiplier() == 1 {
            x.to_vec()
        } else {
            // 1/k ≡ −c·b^n.
            let product = FastProducts.mul(x, &self.factor);
            self.modulus.reduce_signed(&FastProducts, (product, number.sign() == Sign::Plus))
        };
        if number.multiplier() == 1
            && number.sign() == Sign::Plus
            && compare(&x, &self.factor).is_eq()
        {
            // b^n ≡ −1 may have a digit more than the words.
            digits.fill(0);
            digits[0] = -1;
            return;
        }
        self.to_digits(trimmed(&x), 0, digits);
        self.layout.balance(digits);
    }

    /// Returns the canonical residue X if the digits are those of X/k, of any size and sign.
    pub(crate) fn load(&self, digits: &[i32]) -> Vec<u64> {
        let number = self.layout.number;
        let mut digits = digits.to_vec();
        let carry = self.layout.canonical(&mut digits);
        let mut x = self.value_of(0, &digits);
        let high = mul_small_assign(&mut x, number.multiplier());
        x.push(high);
        let mut x = self.modulus.reduce(&FastProducts, x);
        // k·C·b^(D_W) ≡ −c·C·b^κ.
        let mut rest = vec![carry.unsigned_abs()];
        for _ in 0..self.layout.top() {
            let high = mul_small_assign(&mut rest, number.base().into());
            rest.push(high);
        }
        let is_negative = (carry < 0) != (number.sign() == Sign::Plus);
        let rest = self.modulus.reduce_signed(&FastProducts, (rest, is_negative));
        self.modulus.add_assign(&mut x, &rest);
        x
    }

    /// Returns the power that divides the digits of `len` words from word `first` on, with the number of words
    /// below it. Returns `None` for few words.
    fn power(&self, first: usize, len: usize) -> Option<(usize, &Power)> {
        let below = cut(len)?;
        let exponent = self.layout.offset(first + below) - self.layout.offset(first);
        self.powers.get(&exponent).map(|power| (below, power))
    }

    /// Writes the digits, from 0 to B − 1, of a number below the product of the bases of the words from `first`
    /// on.
    fn to_digits(&self, x: &[u64], first: usize, digits: &mut [i32]) {
        let Some((below, power)) = self.power(first, digits.len()) else {
            let mut rest = x.to_vec();
            for (j, digit) in digits.iter_mut().enumerate() {
                *digit = div_rem_small(&mut rest, self.layout.base(first + j).into()) as i32;
            }
            return;
        };
        let (high, low) = if compare(x, &power.value).is_lt() {
            (vec![], x.to_vec())
        } else {
            power.divisor.div_rem(&FastProducts, x)
        };
        let (low_digits, high_digits) = digits.split_at_mut(below);
        rayon::join(
            || self.to_digits(&low, first, low_digits),
            || self.to_digits(&high, first + below, high_digits),
        );
    }

    /// Returns the number that has the given digits, from 0 to B − 1, in the words from `first` on, without leading
    /// zero limbs.
    fn value_of(&self, first: usize, digits: &[i32]) -> Vec<u64> {
        let mut sum = match self.power(first, digits.len()) {
            None => digits.iter().enumerate().rev().fold(vec![], |mut sum, (j, &digit)| {
                let carry = mul_small_assign(&mut sum, self.layout.base(first + j).into());
                sum.push(carry);
                add_assign(&mut sum, &[digit as u64]);
                sum
            }),
            Some((below, power)) => {
                let (low, high) = digits.split_at(below);
                let (low, high) = rayon::join(
                    || self.value_of(first, low),
                    || self.value_of(first + below, high),
                );
                let mut sum = FastProducts.mul(&high, &power.value);
                sum.resize(sum.len().max(low.len()), 0);
                add_assign(&mut sum, &low);
                sum
            }
        };
        trim(&mut sum);
        sum
    }
}

/// Adds the powers that divide the digits of `len` words from word `first` on.
fn collect(layout: &DigitLayout, first: usize, len: usize, powers: &mut BTreeMap<u64, Power>) {
    let Some(below) = cut(len) else { return };
    let exponent = layout.offset(first + below) - layout.offset(first);
    powers.entry(exponent).or_insert_with(|| {
        let value = power(&FastProducts, layout.number.base(), exponent as u32);
        Power { divisor: Prepared::new(&FastProducts, &value), value }
    });
    collect(layout, first, below, powers);
    collect(layout, first + below, len - below, powers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    fn layout(k: u64, base: u32, n: u32, sign: Sign, len: usize) -> DigitLayout {
        DigitLayout::new(Number::new(k, base, n, sign).unwrap(), len).unwrap()
    }

    /// Checks that digits are balanced and have the value X/k of a residue X, by Horner's scheme modulo N.
    fn check(stored: &StoredDigits, x: &[u64]) {
        let (layout, modulus) = (stored.layout, &stored.modulus);
        let mut digits = vec![0; layout.len];
        stored.store(x, &mut digits);
        for (j, digit) in digits.iter().enumerate() {
            let most = layout.base(j) / if j + 1 == layout.len { 1 } else { 2 } + 1;
            assert!(digit.unsigned_abs() <= most, "{layout:?}: word {j} is {digit}");
        }
        let value = horner(layout, modulus, &digits);
        let value = modulus.times(&FastProducts, value, layout.number.multiplier());
        assert_eq!(value, x, "{layout:?}");
        assert_eq!(stored.load(&digits), x, "{layout:?}");
    }

    fn horner(layout: DigitLayout, modulus: &Modulus, digits: &[i32]) -> Vec<u64> {
        let mut value = vec![0; layout.number.limbs()];
        for (j, &digit) in digits.iter().enumerate().rev() {
            value = modulus.times(&FastProducts, value, layout.base(j).into());
            let digit = (vec![digit.unsigned_abs().into()], digit < 0);
            modulus.add_assign(&mut value, &modulus.reduce_signed(&FastProducts, digit));
        }
        value
    }

    fn corners(modulus: &Modulus) -> Vec<Vec<u64>> {
        let small = |v: u64| modulus.reduce(&FastProducts, vec![v]);
        let below = |v: u64| {
            let mut x = small(0);
            modulus.sub_assign(&mut x, &small(v));
            x
        };
        [1, 2, 3, 4].map(below).into_iter().chain([0, 1, 2, 1 << 20].map(small)).collect()
    }

    const LAYOUTS: [(u64, u32, u32, usize); 14] = [
        (1, 3, 64, 64),
        (1, 10, 128, 64),
        (1, 10, 320, 320),
        (1, 24_518, 1024, 1024),
        (1, 24_518, 1024, 512),
        (1, 1_000_000, 5 << 8, 5 << 8),
        (1, 919_444, 33, 33),
        (1, 7, 96, 32),
        (1, (1 << 30) - 1, 256, 256),
        (2, 3, 1000, 100),
        (10_223, 5, 4001, 700),
        (1_000_003, 6, 5000, 1024),
        (7, 1000, 777, 600),
        (1, 10, 1001, 640),
    ];

    #[test]
    fn residues_have_digits_and_come_back() {
        for (k, base, n, len) in LAYOUTS {
            for sign in [Sign::Plus, Sign::Minus] {
                let layout = layout(k, base, n, sign, len);
                let stored = StoredDigits::new(layout);
                assert!(stored.is_intact(), "{layout:?}");
                let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(base.into());
                let random = (0..layout.number.limbs()).map(|_| rng.random()).collect();
                let random = stored.modulus.reduce(&FastProducts, random);
                for x in corners(&stored.modulus).into_iter().chain([random]) {
                    check(&stored, &x);
                }
            }
        }
    }

    #[test]
    fn weights_are_those_of_the_definition() {
        for (k, base, n, len) in LAYOUTS {
            let layout = layout(k, base, n, Sign::Plus, len);
            let weights = layout.weights();
            let (k, n) = (layout.number.multiplier(), layout.number.exponent());
            let log_base = f64::from(layout.number.base()).log2();
            let log_k = (k as f64).log2();
            let mean = (f64::from(n) * log_base + log_k) / len as f64;
            assert!((weights.base().to_f64().log2() - mean).abs() < 1e-9);
            for j in 0..=len {
                let log = weights.get(j).to_f64().log2();
                let expected = layout.offset(j) as f64 * log_base - j as f64 * mean;
                assert!((log - expected).abs() < 1e-7, "{layout:?}: {j}: {log}, {expected}");
                assert!((-1e-9..log_base + 1e-7).contains(&log), "{layout:?}: {j}: {log}");
                // w_j/b^(u_j) differs from 1 by the rounding of ρ only.
                let of_fraction = f64::from(layout.fraction(j)) / 2f64.powi(32) * log_base;
                assert!((log - of_fraction).abs() < 1e-5, "{layout:?}: {j}");
            }
            assert_eq!(layout.is_even(), (0..len).all(|j| layout.fraction(j) == 0) && k == 1);
        }
    }

    #[test]
    fn digits_far_outside_their_range_have_a_residue() {
        for sign in [Sign::Plus, Sign::Minus] {
            for k in [1, 77] {
                let layout = layout(k, 1_000, 100, sign, 100);
                let stored = StoredDigits::new(layout);
                for digit in [i32::MIN, -1, 0, 1, 999, i32::MAX] {
                    let digits = vec![digit; 100];
                    let x = horner(layout, &stored.modulus, &digits);
                    let x = stored.modulus.times(&FastProducts, x, k);
                    assert_eq!(stored.load(&digits), x, "{digit}");
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let fresh = || StoredDigits::new(layout(7, 1_000, 512, Sign::Plus, 512));
        let count = fresh().powers.len();
        assert!(count >= 4);
        for i in 0..count {
            let mut stored = fresh();
            stored.powers.values_mut().nth(i).unwrap().value[1] ^= 1 << 7;
            assert!(!stored.is_intact(), "power {i}: {:?}", stored.powers.keys());
        }
        let mut stored = fresh();
        stored.factor[3] ^= 1;
        assert!(!stored.is_intact());
        let mut stored = fresh();
        stored.modulus.flip(100, &FastProducts);
        assert!(!stored.is_intact());
        let mut stored = fresh();
        stored.layout.rate += 1;
        assert!(!stored.is_intact());
    }

    #[test]
    fn words_of_more_than_30_bits_make_no_layout() {
        for (b, n, len) in [(10, 100, 200), (10, 100, 10), (1 << 31, 100, 100), (3, 100, 5)] {
            let number = Number::new(1, b, n, Sign::Plus).unwrap();
            let len = if b == 1 << 31 { 100 } else { len };
            let n = number.exponent() as usize;
            assert_eq!(
                DigitLayout::new(number, if len > n { n + 1 } else { len }),
                None,
                "{number}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_residue_comes_back(
            k in 1u64..1 << 20,
            base in 3u32..1 << 20,
            len in 33usize..200,
            more in 0u32..100,
            plus in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let sign = if plus { Sign::Plus } else { Sign::Minus };
            let Ok(number) = Number::new(k, base, len as u32 + more, sign) else { return Ok(()) };
            let Some(layout) = DigitLayout::new(number, len) else { return Ok(()) };
            let stored = StoredDigits::new(layout);
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let random = (0..number.limbs()).map(|_| rng.random()).collect();
            check(&stored, &stored.modulus.reduce(&FastProducts, random));
        }
    }
}
