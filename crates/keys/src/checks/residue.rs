//! Residues modulo numbers of one limb, which many numbers share.

/// The number of limbs of a block, whose residue is computed without divisions in between: those of
/// a modulus of 2,048 bits.
const BLOCK: usize = 32;

/// Divisors are below this number, so that the sum of the products of a block has two limbs.
pub(super) const DIVISORS_BELOW: u64 = 1 << 58;

/// An odd divisor d of one limb with its inverse modulo B = 2^64, and powers of B modulo d. It takes
/// 280 bytes, and 33 divisions of two limbs by one to create.
#[derive(Debug, Clone)]
pub(super) struct Divisor {
    d: u64,
    /// d^(−1) mod B.
    inverse: u64,
    /// B^(i+1) mod d.
    powers: [u64; BLOCK],
    /// B^([`BLOCK`]+1) mod d.
    next: u64,
}

impl Divisor {
    /// Creates the divisor d.
    ///
    /// # Panics
    /// Panics if d is even, or not below [`DIVISORS_BELOW`].
    pub(super) fn new(d: u64) -> Self {
        assert!(d % 2 == 1 && d < DIVISORS_BELOW, "the divisor is out of range");
        let times_base = |x: u64| ((u128::from(x) << 64) % u128::from(d)) as u64;
        let mut powers = [times_base(1); BLOCK];
        for i in 1..BLOCK {
            powers[i] = times_base(powers[i - 1]);
        }
        let next = times_base(powers[BLOCK - 1]);
        Self { d, inverse: inverse(d), powers, next }
    }

    /// Returns a number below 34·d < 2^64 that is congruent to n modulo d. The factors of d divide it
    /// if they divide n.
    ///
    /// Let n = Σ n_i·B^i. The sum Σ n_i·(B^(i+1) mod d) over a block of limbs, where none of the
    /// products waits for another one, is divided by B modulo d once. Blocks are combined by Horner's
    /// rule: the result r of the blocks above a block is one more limb, times B^([`BLOCK`]+1) mod d.
    /// The sum of a block is at most 32·(B − 1)·(d − 1) + r·(d − 1). As r < 34·d < B for d < 2^58, it is
    /// below 33·B·d, hence below B².
    ///
    /// Cost: w + 3·⌈w/32⌉ products, for n of w limbs.
    pub(super) fn residue(&self, n: &[u64]) -> u64 {
        n.chunks(BLOCK).rev().fold(0, |above, block| {
            let sum = match block.try_into() {
                Ok(block) => sum_of_block(block, &self.powers),
                Err(_) => sum_of_products(block, &self.powers),
            };
            self.divide_by_base(sum + product(above, self.next))
        })
    }

    /// Returns a number congruent to x/B modulo d, below 34·d, for x < 33·B·d.
    ///
    /// This is a step of Montgomery's reduction (Montgomery 1985, *Modular multiplication without trial
    /// division*, Mathematics of Computation 44, 519–521). Let m = x·d^(−1) mod B. Then x − m·d is a
    /// multiple of B, and (x − m·d)/B = ⌊x/B⌋ − ⌊m·d/B⌋, where ⌊x/B⌋ < 33·d and ⌊m·d/B⌋ < d. The sum
    /// with d is positive.
    fn divide_by_base(&self, x: u128) -> u64 {
        let m = (x as u64).wrapping_mul(self.inverse);
        (x >> 64) as u64 + self.d - (product(m, self.d) >> 64) as u64
    }
}

/// Returns the inverse of the odd number x modulo 2^64.
pub(super) fn inverse(x: u64) -> u64 {
    // x·x ≡ 1 modulo 8, and each step of Newton's iteration doubles the number of right bits.
    (0..5).fold(x, |y, _| y.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(y))))
}

fn product(x: u64, y: u64) -> u128 {
    u128::from(x) * u128::from(y)
}

/// Returns Σ x_i·y_i over the shorter of both lengths. The sum must be below 2^128.
#[inline]
fn sum_of_products(x: &[u64], y: &[u64]) -> u128 {
    x.iter().zip(y).map(|(&x, &y)| product(x, y)).sum()
}

/// Returns Σ x_i·y_i, which must be below 2^128. The compiler unrolls the loop. Inlined into a loop
/// over blocks, it would copy the powers to the stack first.
#[inline(never)]
fn sum_of_block(x: &[u64; BLOCK], y: &[u64; BLOCK]) -> u128 {
    sum_of_products(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_natural::limbs::rem_small;

    const DIVISORS: [u64; 7] = [
        1,
        3,
        65_537,
        (1 << 32) + 15,
        DIVISORS_BELOW / 2 - 1,
        DIVISORS_BELOW / 2 + 1,
        DIVISORS_BELOW - 1,
    ];

    #[track_caller]
    fn check(divisor: &Divisor, n: &[u64]) {
        let d = divisor.d;
        let residue = divisor.residue(n);
        assert!(residue < 34 * d, "{n:x?} mod {d}");
        assert_eq!(residue % d, rem_small(n, d), "{n:x?} mod {d}");
    }

    #[test]
    fn residues_are_those_of_division() {
        let limbs = [0, 1, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef];
        for d in DIVISORS {
            let divisor = Divisor::new(d);
            check(&divisor, &[]);
            for a in limbs {
                for b in limbs {
                    for c in limbs {
                        check(&divisor, &[a, b, c]);
                    }
                }
            }
        }
    }

    /// Lengths at the ends of blocks. Limbs of 2^64 − 1 make the sums large.
    #[test]
    fn residues_of_long_numbers_are_those_of_division() {
        for d in DIVISORS {
            let divisor = Divisor::new(d);
            for length in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, 1024] {
                let ones = vec![u64::MAX; length];
                let mixed: Vec<u64> =
                    (1..=length as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
                for n in [ones, mixed] {
                    check(&divisor, &n);
                }
            }
        }
    }
}
