//! The words of a residue modulo b^n + 1: its digits to a power of b.

use warpint_natural::division::Prepared;
use warpint_natural::limbs::{
    add_assign, compare, copy_to, div_rem_small, mul_small_assign, sub_assign, trim, trimmed,
};
use warpint_natural::product::{FastProducts, Multiplier};

use crate::{Number, Sign};

/// The layout of a residue modulo N = b^n + 1 in W words, where W divides n: its digits to the base B = b^(n/W).
///
/// The residue is x = Σ x_j·B^j, and B^W ≡ −1. Digits are balanced: −B/2 ≤ x_j ≤ B/2, but x_0 may be one unit
/// outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PowerLayout {
    number: Number,
    len: usize,
    base: u32,
}

impl PowerLayout {
    /// The upper bound on the base B of a word, exclusive: 2^30.
    pub(crate) const BASE_LIMIT: u32 = 1 << 30;

    /// Creates the layout of residues modulo a number in `len` words. Returns `None` unless the number is b^n + 1,
    /// `len` divides n, and B is below [`Self::BASE_LIMIT`].
    pub(crate) fn new(number: Number, len: usize) -> Option<Self> {
        let is_power = number.multiplier() == 1 && number.sign() == Sign::Plus;
        let digits = number.exponent().checked_div(u32::try_from(len).ok()?)?;
        let is_whole = digits as usize * len == number.exponent() as usize;
        let base = number.base().checked_pow(digits)?;
        let fits = is_power && is_whole && digits > 0 && base < Self::BASE_LIMIT;
        fits.then_some(Self { number, len, base })
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns B.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Makes digits from 0 to B − 1 balanced. The number may be B^W − 1 at most.
    fn balance(&self, digits: &mut [i32]) {
        let base = self.base as i32;
        let mut carry = 0;
        for digit in digits.iter_mut() {
            *digit += carry;
            carry = i32::from(*digit > base / 2);
            *digit -= carry * base;
        }
        digits[0] -= carry;
    }

    /// Replaces digits by digits from 0 to B − 1. Returns the carry out of the last word.
    fn canonical(&self, digits: &mut [i32]) -> i64 {
        let base = i64::from(self.base);
        digits.iter_mut().fold(0, |carry, digit| {
            let v = i64::from(*digit) + carry;
            *digit = v.rem_euclid(base) as i32;
            v.div_euclid(base)
        })
    }
}

/// The number of words below which digits are converted one by one.
const LEAF: usize = 32;

/// A layout with the numbers by which residues are converted to digits: N, and B^(32·2^i) for all i with
/// 32·2^i < W.
///
/// A conversion costs about log2(W) products of half the length of N, on the threads of the pool.
pub(crate) struct StoredPowers {
    pub(crate) layout: PowerLayout,
    /// N, in as many limbs as a residue.
    value: Vec<u64>,
    powers: Vec<Power>,
}

/// A power of B.
struct Power {
    /// The number of words below the power.
    words: usize,
    value: Vec<u64>,
    divisor: Prepared,
}

impl StoredPowers {
    pub(crate) fn new(layout: PowerLayout) -> Self {
        let mut leaf = vec![1];
        for _ in 0..LEAF {
            let carry = mul_small_assign(&mut leaf, layout.base.into());
            leaf.push(carry);
        }
        trim(&mut leaf);
        let mut powers = vec![];
        let (mut words, mut value) = (LEAF, leaf);
        while words < layout.len {
            let divisor = Prepared::new(&FastProducts, &value);
            let mut square = FastProducts.mul(&value, &value);
            trim(&mut square);
            powers.push(Power { words, value: std::mem::replace(&mut value, square), divisor });
            words *= 2;
        }
        Self { layout, value: value_of(layout.number), powers }
    }

    /// Returns whether N and the powers are unchanged in memory: N is computed again, and B^W − 1 is converted
    /// to digits and back.
    pub(crate) fn is_intact(&self) -> bool {
        let PowerLayout { number, len, base } = self.layout;
        if PowerLayout::new(number, len) != Some(self.layout) || value_of(number) != self.value {
            return false;
        }
        let mut largest = self.value.clone();
        sub_assign(&mut largest, &[2]);
        let mut digits = vec![0; len];
        self.to_digits(trimmed(&largest), &mut digits);
        let is_largest = digits.iter().all(|&digit| digit as u32 == base - 1);
        is_largest && compare(&self.from_digits(&digits), &largest).is_eq()
    }

    /// Writes the balanced digits of x to `digits`. x has the limbs of a residue, and is below N.
    pub(crate) fn store(&self, x: &[u64], digits: &mut [i32]) {
        let mut largest = self.value.clone();
        sub_assign(&mut largest, &[1]);
        if compare(x, &largest).is_eq() {
            // B^W ≡ −1.
            digits.fill(0);
            digits[0] = -1;
            return;
        }
        self.to_digits(trimmed(x), digits);
        self.layout.balance(digits);
    }

    /// Returns the canonical residue of digits of any size and sign.
    pub(crate) fn load(&self, digits: &[i32]) -> Vec<u64> {
        let mut digits = digits.to_vec();
        let carry = self.layout.canonical(&mut digits);
        let mut x = vec![0; self.value.len()];
        copy_to(&mut x, trimmed(&self.from_digits(&digits)));
        // carry·B^W ≡ −carry.
        let amount = [carry.unsigned_abs()];
        if carry > 0 {
            if sub_assign(&mut x, &amount) {
                add_assign(&mut x, &self.value);
            }
        } else {
            let over = add_assign(&mut x, &amount);
            if over || compare(&x, &self.value).is_ge() {
                sub_assign(&mut x, &self.value);
            }
        }
        x
    }

    /// Writes the digits of x < B^(`digits.len()`), from 0 to B − 1.
    fn to_digits(&self, x: &[u64], digits: &mut [i32]) {
        let below = self.powers.iter().rev().find(|power| power.words < digits.len());
        let Some(power) = below else {
            let mut rest = x.to_vec();
            for digit in digits {
                *digit = div_rem_small(&mut rest, self.layout.base.into()) as i32;
            }
            return;
        };
        let (high, low) = if compare(x, &power.value).is_lt() {
            (vec![], x.to_vec())
        } else {
            power.divisor.div_rem(&FastProducts, x)
        };
        let (low_digits, high_digits) = digits.split_at_mut(power.words);
        rayon::join(|| self.to_digits(&low, low_digits), || self.to_digits(&high, high_digits));
    }

    /// Returns Σ d_j·B^j for digits from 0 to B − 1, without leading zero limbs.
    fn from_digits(&self, digits: &[i32]) -> Vec<u64> {
        let below = self.powers.iter().rev().find(|power| power.words < digits.len());
        let mut sum = match below {
            None => digits.iter().rev().fold(vec![], |mut sum, &digit| {
                let carry = mul_small_assign(&mut sum, self.layout.base.into());
                sum.push(carry);
                add_assign(&mut sum, &[digit as u64]);
                sum
            }),
            Some(power) => {
                let (low, high) = digits.split_at(power.words);
                let (low, high) = rayon::join(|| self.from_digits(low), || self.from_digits(high));
                let mut sum = FastProducts.mul(&high, &power.value);
                // The sum is below B^W.
                sum.resize(sum.len().max(low.len()), 0);
                add_assign(&mut sum, &low);
                sum
            }
        };
        trim(&mut sum);
        sum
    }
}

/// Returns a number in as many limbs as a residue.
fn value_of(number: Number) -> Vec<u64> {
    let mut value = vec![0; number.limbs()];
    copy_to(&mut value, &number.value());
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Modulus;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    fn layout(base: u32, n: u32, len: usize) -> PowerLayout {
        PowerLayout::new(Number::new(1, base, n, Sign::Plus).unwrap(), len).unwrap()
    }

    /// Checks that digits are balanced and have the value of a residue, by Horner's scheme modulo N.
    fn check(stored: &StoredPowers, modulus: &Modulus, x: &[u64]) {
        let layout = stored.layout;
        let mut digits = vec![0; layout.len];
        stored.store(x, &mut digits);
        let half = layout.base as i32 / 2;
        assert!(digits.iter().all(|digit| digit.abs() <= half + 1), "{layout:?}");
        let mut value = vec![0; layout.number.limbs()];
        for &digit in digits.iter().rev() {
            value = modulus.times(&FastProducts, value, layout.base.into());
            let digit = modulus
                .reduce_signed(&FastProducts, (vec![digit.unsigned_abs().into()], digit < 0));
            modulus.add_assign(&mut value, &digit);
        }
        assert_eq!(value, x, "{layout:?}");
        assert_eq!(stored.load(&digits), x, "{layout:?}");
    }

    fn corners(number: Number) -> Vec<Vec<u64>> {
        let value = value_of(number);
        let below = |v: u64| {
            let mut x = value.clone();
            sub_assign(&mut x, &[v]);
            x
        };
        let small = |v: u64| {
            let mut x = vec![0; value.len()];
            x[0] = v;
            x
        };
        [1, 2, 3, 4].map(below).into_iter().chain([0, 1, 2, 1 << 20].map(small)).collect()
    }

    #[test]
    fn residues_have_digits_and_come_back() {
        for (base, n, len) in [
            (3u32, 64, 64),
            (10, 128, 64),
            (10, 320, 320),
            (24_518, 1024, 1024),
            (24_518, 1024, 512),
            (1_000_000, 5 << 8, 5 << 8),
            (919_444, 33, 33),
            (7, 96, 32),
            ((1 << 30) - 1, 256, 256),
        ] {
            let layout = layout(base, n, len);
            let (stored, modulus) =
                (StoredPowers::new(layout), Modulus::new(layout.number, &FastProducts));
            assert!(stored.is_intact(), "{layout:?}");
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(base.into());
            let random = (0..layout.number.limbs()).map(|_| rng.random()).collect();
            let random = modulus.reduce(&FastProducts, random);
            for x in corners(layout.number).into_iter().chain([random]) {
                check(&stored, &modulus, &x);
            }
        }
    }

    #[test]
    fn digits_far_outside_their_range_have_a_residue() {
        let layout = layout(1_000, 100, 100);
        let (stored, modulus) =
            (StoredPowers::new(layout), Modulus::new(layout.number, &FastProducts));
        for digit in [i32::MIN, -1, 0, 1, 999, i32::MAX] {
            let digits = vec![digit; 100];
            let mut expected = vec![0; layout.number.limbs()];
            for &digit in digits.iter().rev() {
                expected = modulus.times(&FastProducts, expected, 1_000);
                let digit = (vec![digit.unsigned_abs().into()], digit < 0);
                let digit = modulus.reduce_signed(&FastProducts, digit);
                modulus.add_assign(&mut expected, &digit);
            }
            assert_eq!(stored.load(&digits), expected, "{digit}");
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let layout = layout(1_000_000, 256, 256);
        let fresh = || StoredPowers::new(layout);
        let mut stored = fresh();
        stored.value[3] ^= 1 << 40;
        assert!(!stored.is_intact());
        for i in 0..3 {
            let mut stored = fresh();
            stored.powers[i].value[2] ^= 1 << 7;
            assert!(!stored.is_intact(), "power {i}");
        }
        let mut stored = fresh();
        stored.layout.base += 1;
        assert!(!stored.is_intact());
    }

    #[test]
    fn only_whole_words_make_a_layout() {
        let number = |k, b, n, sign| Number::new(k, b, n, sign).unwrap();
        let plus = |b, n| number(1, b, n, Sign::Plus);
        for (number, len) in [
            (plus(10, 100), 33),
            (plus(10, 100), 200),
            (plus(10, 100), 10),
            (number(3, 10, 100, Sign::Plus), 100),
            (number(1, 10, 100, Sign::Minus), 100),
        ] {
            assert_eq!(PowerLayout::new(number, len), None, "{number} in {len} words");
        }
    }

    proptest! {
        #[test]
        fn any_residue_comes_back(base in 2u32..1 << 20, len in 33usize..200, seed in any::<u64>()) {
            let Ok(number) = Number::new(1, base, len as u32, Sign::Plus) else { return Ok(()) };
            let Some(layout) = PowerLayout::new(number, number.exponent() as usize) else {
                return Ok(());
            };
            let modulus = Modulus::new(number, &FastProducts);
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let random = (0..number.limbs()).map(|_| rng.random()).collect();
            check(&StoredPowers::new(layout), &modulus, &modulus.reduce(&FastProducts, random));
        }
    }
}
