//! Splits numbers into digits before a convolution, and propagates carries after it.

use warpint_arith::goldilocks::Q;

/// The way in which two numbers are split into digits for a sum of products.
///
/// With digits below 2^b and at most m digits of the shorter operand of each product, a coefficient of
/// one product lies in 0 ..= m·(2^b − 1)². A sum of `plus` products less `minus` products has
/// coefficients from −`minus`·m·(2^b − 1)² to `plus`·m·(2^b − 1)². Their residues mod q determine them
/// if this range has at most q integers: (`plus` + `minus`)·m·(2^b − 1)² < q.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The number of bits b of a digit.
    pub(super) bits: u32,
    /// The number of digits of the longest product, which is the least number of points of a
    /// transform.
    pub(super) points: usize,
    /// The largest coefficient of a sum, `plus`·m·(2^b − 1)²: a larger residue represents a
    /// negative number.
    pub(super) largest: u64,
}

impl Cut {
    /// Chooses the largest digits that are possible for products of `short` by `long` limbs at
    /// most.
    pub(super) fn new(short: usize, long: usize, plus: u32, minus: u32) -> Self {
        let digits = |limbs: usize, bits: u32| (64 * limbs).div_ceil(bits as usize);
        let size = |bits: u32| {
            let largest_digit = (1u128 << bits) - 1;
            digits(short, bits) as u128 * largest_digit * largest_digit
        };
        let fits = |&bits: &u32| u128::from(plus + minus) * size(bits) < u128::from(Q);
        // Digits of one bit suffice for every length that fits in memory.
        let bits = (2..=31).rev().find(fits).unwrap_or(1);
        Self {
            bits,
            points: (digits(short, bits) + digits(long, bits)).max(2) - 1,
            largest: (u128::from(plus) * size(bits)) as u64,
        }
    }

    /// Returns Σ z_j·2^(b·j) mod 2^(64·limbs), where the coefficients z_j are canonical residues
    /// mod q.
    pub(super) fn carried(&self, coefficients: &[u64], limbs: usize) -> Vec<u64> {
        let mask = (1i128 << self.bits) - 1;
        let mut out = Vec::with_capacity(limbs);
        let (mut carry, mut word, mut filled) = (0i128, 0u64, 0u32);
        let mut coefficients = coefficients.iter();
        while out.len() < limbs {
            if let Some(&z) = coefficients.next() {
                carry += i128::from(z) - if z > self.largest { i128::from(Q) } else { 0 };
            }
            let digit = (carry & mask) as u64;
            carry >>= self.bits;
            word |= digit << filled;
            filled += self.bits;
            if filled >= 64 {
                out.push(word);
                filled -= 64;
                word = digit >> (self.bits - filled);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpint_arith::goldilocks::from_i64;

    #[test]
    fn the_bound_holds_and_one_bit_more_would_break_it() {
        for short in [1usize, 2, 100, 4_097, 1 << 20, 1 << 26] {
            for (plus, minus) in [(1, 0), (2, 0), (1, 1)] {
                let cut = Cut::new(short, short + 5, plus, minus);
                let most = |b: u32| {
                    let digits = (64 * short as u128).div_ceil(u128::from(b));
                    u128::from(plus + minus) * digits * ((1u128 << b) - 1).pow(2)
                };
                assert!(most(cut.bits) < u128::from(Q), "{cut:?}");
                assert!(most(cut.bits + 1) >= u128::from(Q) || cut.bits == 31, "{cut:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn carries(
            bits in 1u32..=31,
            signs in any::<bool>(),
            sizes in proptest::collection::vec(0i64..1 << 40, 1..40),
        ) {
            let cut = Cut { bits, points: sizes.len(), largest: 1 << 40 };
            let values: Vec<i64> =
                sizes.iter().enumerate().map(|(j, &v)| if signs && j % 3 == 1 { -v } else { v }).collect();
            let residues: Vec<u64> = values.iter().map(|&v| from_i64(v)).collect();
            // The same by one shift and addition per coefficient.
            let limbs = 30;
            let mut expected = vec![0u64; limbs];
            for (j, v) in values.iter().enumerate() {
                let at = j * bits as usize;
                let shifted = u128::from(v.unsigned_abs()) << (at % 64);
                let term = [shifted as u64, (shifted >> 64) as u64];
                let place = &mut expected[at / 64..];
                if *v < 0 {
                    crate::limbs::sub_assign(place, &term);
                } else {
                    crate::limbs::add_assign(place, &term);
                }
            }
            prop_assert_eq!(cut.carried(&residues, limbs), expected);
        }
    }
}
