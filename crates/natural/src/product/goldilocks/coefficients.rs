//! The choice of the digit size for a convolution, and the propagation of carries after it.

use warpint_arith::goldilocks::Q;

/// The size of the digits into which numbers are split, for transforms that compute sums of
/// products modulo q = 2^64 − 2^32 + 1.
///
/// Let digits be below 2^b, and let the shorter operand of each product have at most m digits. A
/// coefficient of one product is then from 0 to m·(2^b − 1)². If `plus` products are added and
/// `minus` products subtracted, a coefficient of the sum is from −`minus`·m·(2^b − 1)² to
/// `plus`·m·(2^b − 1)². Its residue mod q determines it if this range contains at most q integers:
/// (`plus` + `minus`)·m·(2^b − 1)² < q.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The number of bits of a digit, b.
    pub(super) bits: u32,
    /// The number of coefficients of the longest product. A transform must have at least this
    /// number of points.
    pub(super) points: usize,
    /// The largest coefficient of a sum, `plus`·m·(2^b − 1)². A residue mod q that is larger
    /// represents a negative coefficient.
    pub(super) largest: u64,
}

impl Cut {
    /// Chooses the largest digits for which every coefficient is determined by its residue mod q.
    /// The shorter factor of each product has at most `short` limbs, the longer one at most `long`
    /// limbs. Each sum adds at most `plus` products and subtracts at most `minus` products.
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

    /// Returns Σ z_j·2^(b·j) mod 2^(64·limbs), in `limbs` limbs, where b is the number of bits of a
    /// digit. Each coefficient z_j is given by its residue mod q, from 0 to q − 1.
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
