//! The words of a residue modulo k·2^n ± 1: their positions and weights.
//!
//! The source of `engine/fp64/form` describes the transform that they are for, with its names.

use warpint_arith::dd::{Dd, exp2_ratio};
use warpint_natural::limbs::{add_assign, div_rem_small, shifted_left, sub_assign};
use warpint_natural::product::FastProducts;

use super::carry_out;
use crate::number::Modulus;
use crate::{Number, Sign};

/// The binary digits of ρ after the point.
const FRACTION: u32 = 32;

/// The number of powers of g in the fine table of [`Powers`].
const FINE: usize = 256;

/// The layout of a residue modulo N = k·2^n + c in W words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FormLayout {
    number: Number,
    len: usize,
    /// 2^32·ρ.
    rate: u64,
}

impl FormLayout {
    /// Creates the layout of residues modulo a number k·2^n ± 1 in `len` words.
    ///
    /// # Panics
    /// Panics unless b = 2, k < 2^53 and 1 ≤ `len` ≤ n, because every word has at least one bit.
    pub(crate) fn new(number: Number, len: usize) -> Self {
        let (k, n) = (number.multiplier(), number.exponent());
        assert!(number.base() == 2 && k >> 53 == 0, "{number} has no such words");
        assert!(len >= 1 && len <= n as usize, "{len} words cannot share {n} bits");
        // L·2^32, and at most 2 more. The error of log2 is below 2^−40.
        let multiplier = ((k as f64).log2() * 2f64.powi(32)).ceil() as u64;
        let bits = (u64::from(n) << 32) + multiplier + u64::from(k > 1);
        let rate = bits.div_ceil(len as u64);
        Self { number, len, rate }
    }

    /// Creates the layout of residues modulo a number k·2^n ± 1 in `len` words of `bits` bits each.
    ///
    /// # Panics
    /// Panics unless b = 2 and `len`·`bits` > n + log2 k.
    pub(super) fn uniform(number: Number, bits: u32, len: usize) -> Self {
        let room = len as u64 * u64::from(bits);
        assert!(
            number.base() == 2 && room > u64::from(number.bits()),
            "{number} has no such words"
        );
        Self { number, len, rate: u64::from(bits) << FRACTION }
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns B_j, the position of the lowest bit of word j ≤ W.
    pub(crate) fn offset(&self, j: usize) -> u64 {
        // ρ is below 2^32, and j below 2^28: the product has at most 92 bits.
        ((u128::from(self.rate) * j as u128).div_ceil(1 << FRACTION)) as u64
    }

    /// Returns the number of bits of word j.
    pub(crate) fn bits(&self, j: usize) -> u32 {
        (self.offset(j + 1) - self.offset(j)) as u32
    }

    /// Iterates over the pairs ([`Self::offset`], [`Self::bits`]) of all words. Computes them without a product
    /// per word.
    fn places(&self) -> impl Iterator<Item = (u64, u32)> {
        let (short, rest) = (self.rate >> FRACTION, self.rate as u32);
        let (mut offset, mut fraction) = (0, 0u32);
        (0..self.len).map(move |_| {
            let here = offset;
            let bits = short + u64::from(fraction < rest);
            offset += bits;
            fraction = fraction.wrapping_sub(rest);
            (here, bits as u32)
        })
    }

    /// Returns the word with bit n, and the position of the bit in the word. If bit n follows the last word,
    /// because k = 1, returns the last word.
    pub(crate) fn at_exponent(&self) -> (usize, u32) {
        let n = u64::from(self.number.exponent());
        let word = (0..self.len).rev().find(|&j| self.offset(j) <= n).unwrap_or(0);
        (word, (n - self.offset(word)) as u32)
    }

    /// Returns ρ, the mean number of bits of a word, times 2^32.
    pub(crate) fn rate(&self) -> u64 {
        self.rate
    }

    /// Returns 2^32·u_j for the fraction u_j = ⌈j·ρ⌉ − j·ρ. It is an integer.
    pub(crate) fn fraction(&self, j: usize) -> u32 {
        (j as u64).wrapping_mul(self.rate).wrapping_neg() as u32
    }

    /// Returns κ = B_W − n: the number of bits between bit n and the end of the last word.
    pub(crate) fn top(&self) -> u32 {
        (self.offset(self.len) - u64::from(self.number.exponent())) as u32
    }

    /// Returns the weights of words.
    pub(crate) fn weights(&self) -> FormWeights {
        let powers = Powers::new(self.number.multiplier(), self.len);
        FormWeights { layout: *self, powers }
    }

    /// Adds `carry`·2^(B_W) to the residue, modulo N.
    ///
    /// The loop ends soon: after the first round the carry out of the last word is −1, 0 or 1, and the
    /// words that such a carry has passed are at the other end of their range. What is left after the
    /// last round stays in words 0 and W − 1; the value is right in any case.
    pub(crate) fn wrap(&self, digits: &mut [i32], mut carry: i64) {
        for round in 0..4 {
            if carry == 0 {
                return;
            }
            let rest;
            (carry, rest) = self.divided_carry(carry);
            self.add_at_exponent(digits, rest);
            if round == 3 {
                digits[0] = digits[0].wrapping_add(carry as i32);
                return;
            }
            for (j, digit) in digits.iter_mut().enumerate() {
                if carry == 0 {
                    return;
                }
                carry = self.carry_into(digit, j, carry);
            }
        }
    }

    /// Returns (−c·q, r) for a carry C out of the last word, where C·2^κ = q·k + r and |r| ≤ k/2. Then
    /// C·2^(B_W) ≡ −c·q + r·2^n.
    pub(crate) fn divided_carry(&self, carry: i64) -> (i64, i64) {
        let k = i128::from(self.number.multiplier());
        let v = i128::from(carry) << self.top();
        let q = (v + k / 2).div_euclid(k);
        let r = v - q * k;
        let q = if self.number.sign() == Sign::Plus { -q } else { q };
        (q as i64, r as i64)
    }

    /// Adds r·2^n to the residue whose last words are `last`, from the word with bit n on or more. The last
    /// word keeps its carry.
    pub(crate) fn add_at_exponent(&self, last: &mut [i32], r: i64) {
        let first = self.len - last.len();
        let (word, bit) = self.at_exponent();
        let mut carry = r << bit;
        for j in word..self.len - 1 {
            carry = self.carry_into(&mut last[j - first], j, carry);
        }
        if let Some(digit) = last.last_mut() {
            *digit = digit.wrapping_add(carry as i32);
        }
    }

    /// Adds a carry to the digit of word j. Returns the carry out of it.
    fn carry_into(&self, digit: &mut i32, j: usize, carry: i64) -> i64 {
        let bits = self.bits(j);
        let v = i64::from(*digit).wrapping_add(carry);
        let next = carry_out(v, bits);
        *digit = v.wrapping_sub(next << bits) as i32;
        next
    }

    /// Writes the balanced digits of x to `digits`. x has the limbs of a residue, and is below N.
    pub(crate) fn digits_of(&self, x: &[u64], digits: &mut [i32]) {
        let bit_string = |from: u64, bits: u32| {
            let limb = |i: u64| x.get(i as usize).copied().unwrap_or(0);
            let pair = u128::from(limb(from / 64)) | u128::from(limb(from / 64 + 1)) << 64;
            (pair >> (from % 64)) as u64 & ((1 << bits) - 1)
        };
        let mut carry = 0;
        for (digit, (from, bits)) in digits.iter_mut().zip(self.places()) {
            let v = bit_string(from, bits) as i64 + carry;
            carry = carry_out(v, bits);
            *digit = (v - (carry << bits)) as i32;
        }
        // 2^n + 1 has a bit more than its words.
        self.wrap(digits, carry + bit_string(self.offset(self.len), 1) as i64);
    }

    /// Returns |Σ d_j·2^(B_j)| in limbs, and whether the sum is negative.
    pub(crate) fn value_of(&self, digits: &[i32]) -> (Vec<u64>, bool) {
        // Two digits reach beyond their words, so there are limbs to spare.
        let limbs = self.offset(self.len) as usize / 64 + 2;
        let mut sum = vec![0u64; limbs];
        // The part of the sum that is not stored: bits from 64·`at` on.
        let (mut at, mut rest) = (0usize, 0i128);
        for (&digit, (from, _)) in digits.iter().zip(self.places()) {
            while from / 64 > at as u64 {
                sum[at] = rest as u64;
                rest >>= 64;
                at += 1;
            }
            rest += i128::from(digit) << (from % 64);
        }
        for limb in &mut sum[at..] {
            *limb = rest as u64;
            rest >>= 64;
        }
        let is_negative = rest < 0;
        if is_negative {
            let mut negated = vec![0; limbs];
            sub_assign(&mut negated, &sum);
            sum = negated;
        }
        (sum, is_negative)
    }

    /// Returns the canonical residue x/k modulo a number N = k·2^n + c, for a canonical residue x. With
    /// x = u·k + r it is u − c·r·2^n, because k·2^n ≡ −c.
    fn divided(number: Number, x: &[u64]) -> Vec<u64> {
        let (k, n) = (number.multiplier(), number.exponent() as usize);
        let mut u = x.to_vec();
        let r = if k == 1 { 0 } else { div_rem_small(&mut u, k) };
        if r > 0 {
            // u is below 2^n. For c = 1, the sum is (k − r)·2^n + u + 1 = N + u − r·2^n. It is at most k·2^n.
            let high = match number.sign() {
                Sign::Minus => r,
                Sign::Plus => {
                    add_assign(&mut u, &[1]);
                    k - r
                }
            };
            add_assign(&mut u, &shifted_left(&[high], n));
        }
        u
    }
}

/// The weights w_j = 2^(B_j)/K^j of a layout, K = (k·2^n)^(1/W), in double-double arithmetic.
pub(crate) struct FormWeights {
    layout: FormLayout,
    powers: Powers,
}

impl FormWeights {
    /// Returns w_j for j ≤ W.
    pub(crate) fn get(&self, j: usize) -> Dd {
        let FormLayout { number, len, .. } = self.layout;
        let (n, len) = (u128::from(number.exponent()), len as u128);
        // w_j = 2^(B_j − j·n/W)·k^(−j/W).
        let excess = u128::from(self.layout.offset(j)) * len - j as u128 * n;
        let power = exp2_ratio((excess % len) as u64, len as u64);
        power.scaled(2f64.powi((excess / len) as i32)) * self.powers.get(j)
    }

    /// Returns K.
    pub(crate) fn base(&self) -> Dd {
        let FormLayout { number, len, .. } = self.layout;
        let (n, len) = (u64::from(number.exponent()), len as u64);
        exp2_ratio(n % len, len).scaled(2f64.powi((n / len) as i32)) / self.powers.get(1)
    }
}

/// A layout with the modulus, for registers that hold X/k mod N instead of X.
pub(crate) struct StoredForm {
    pub(crate) layout: FormLayout,
    pub(crate) modulus: Modulus,
}

impl StoredForm {
    pub(crate) fn new(layout: FormLayout) -> Self {
        Self { layout, modulus: Modulus::new(layout.number, &FastProducts) }
    }

    /// Returns whether the modulus and the layout are unchanged in memory.
    pub(crate) fn is_intact(&self) -> bool {
        let FormLayout { number, len, .. } = self.layout;
        self.layout == FormLayout::new(number, len) && self.has_intact_modulus()
    }

    /// Returns whether the modulus is unchanged in memory.
    pub(super) fn has_intact_modulus(&self) -> bool {
        self.layout.number == self.modulus.number() && self.modulus.is_intact(&FastProducts)
    }

    /// Writes the digits of X/k to `digits`. X has the limbs of a residue, and is below N.
    pub(crate) fn store(&self, x: &[u64], digits: &mut [i32]) {
        self.layout.digits_of(&FormLayout::divided(self.layout.number, x), digits);
    }

    /// Returns the canonical residue X if the digits are those of X/k, of any size and sign.
    pub(crate) fn load(&self, digits: &[i32]) -> Vec<u64> {
        let x = self.modulus.reduce_signed(&FastProducts, self.layout.value_of(digits));
        self.modulus.times(&FastProducts, x, self.layout.number.multiplier())
    }
}

/// The powers g^j of g = k^(−1/W), in double-double arithmetic.
///
/// The relative error of a power is about j·2^−100.
pub(super) struct Powers {
    fine: Vec<Dd>,
    coarse: Vec<Dd>,
}

impl Powers {
    pub(super) fn new(k: u64, len: usize) -> Self {
        let mut g = Dd::from_f64((k as f64).powf(-1.0 / len as f64));
        for _ in 0..2 {
            // Newton: with e = 1/(k·g^W) − 1, the root is g·(1 + e/W) but for terms of e².
            let error = Dd::ONE / (Dd::from_u64(k) * power(g, len)) - Dd::ONE;
            g = g + g * error / Dd::from_u64(len as u64);
        }
        let table = |step: Dd, count: usize| -> Vec<Dd> {
            std::iter::successors(Some(Dd::ONE), |&x| Some(x * step)).take(count).collect()
        };
        Self { fine: table(g, FINE), coarse: table(power(g, FINE), len / FINE + 1) }
    }

    pub(super) fn get(&self, j: usize) -> Dd {
        self.coarse[j / FINE] * self.fine[j % FINE]
    }
}

/// Returns x^e.
fn power(x: Dd, e: usize) -> Dd {
    let bits = (0..usize::BITS - e.leading_zeros()).rev();
    bits.fold(Dd::ONE, |y, bit| if e >> bit & 1 == 1 { y * y * x } else { y * y })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Residue;

    fn numbers() -> impl Iterator<Item = Number> {
        let signs = [Sign::Minus, Sign::Plus].into_iter();
        let of = |sign| {
            [1, 3, 5, 10_223, (1 << 19) + 1, (1 << 20) - 1]
                .into_iter()
                .flat_map(move |k| [64, 127, 128, 1000].map(|n| Number::new(k, 2, n, sign)))
        };
        signs.flat_map(of).filter_map(Result::ok)
    }

    #[test]
    fn places_are_offsets_and_bits() {
        for number in numbers() {
            for len in [1usize, 2, 7, 30, 64] {
                let layout = FormLayout::new(number, len);
                let expected: Vec<_> =
                    (0..len).map(|j| (layout.offset(j), layout.bits(j))).collect();
                assert_eq!(layout.places().collect::<Vec<_>>(), expected, "{number}, {len} words");
            }
        }
    }

    #[test]
    fn a_residue_divided_by_k_is_canonical() {
        for number in numbers() {
            let modulus = Modulus::new(number, &FastProducts);
            let small = |v| Residue::from_u64(number, v);
            let k = number.multiplier();
            let mut all: Vec<Residue> = [0, 1, 2, k - 1, k, k + 1, 2 * k, u64::MAX]
                .into_iter()
                .flat_map(|v| [small(v), small(0).minus(v)])
                .collect();
            for bit in [number.exponent() - 1, number.exponent()] {
                let power = Residue::from_limbs(number, &shifted_left(&[1], bit as usize));
                all.extend([power.minus(1), power]);
            }
            for x in all {
                let divided = FormLayout::divided(number, x.limbs());
                let is_canonical = modulus.reduce(&FastProducts, divided.clone()) == divided;
                assert!(is_canonical, "{x:?}");
                let times = modulus.times(&FastProducts, divided, k);
                assert_eq!(times, x.limbs(), "{x:?}");
            }
        }
    }
}
