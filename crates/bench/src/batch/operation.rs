//! The operations of the benchmark of batches: their operands, results and expected values.

use warpint_integer::{Operation as Listed, Role};
use warpint_natural::limbs;

/// An operation on n-bit numbers that can be measured on batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// An operation of the list of `warpint-integer`.
    Listed(Listed),
    /// [`Listed::Gcd`] by Euclid's algorithm, one division per step. Zeros among the operands are
    /// replaced by ones.
    GcdByDivision,
}

impl Operation {
    /// All operations: the list of `warpint-integer`, then [`Self::GcdByDivision`].
    pub const ALL: [Self; Listed::ALL.len() + 1] = {
        let mut all = [Self::GcdByDivision; Listed::ALL.len() + 1];
        let mut i = 0;
        while i < Listed::ALL.len() {
            all[i] = Self::Listed(Listed::ALL[i]);
            i += 1;
        }
        all
    };

    /// Returns a short description of the result, where possible as a formula in the operands a and
    /// b, the modulus m and the width n of the operands in bits.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Listed(listed) => match listed {
                Listed::Add => "a + b mod 2^n",
                Listed::Subtract => "a − b mod 2^n",
                Listed::Multiply => "a·b",
                Listed::MultiplyLow => "a·b mod 2^n",
                Listed::Square => "a²",
                Listed::Divide => "⌊a/b⌋ and a mod b, b of n/2 bits",
                Listed::Gcd => "the greatest common divisor",
                Listed::Inverse => "a^(−1) mod m, m odd; 0 where there is none",
                Listed::SquareRoot => "⌊√a⌋ and a − ⌊√a⌋²",
                Listed::Power => "a^b mod m, m odd",
                Listed::ProbablePrime => {
                    "1 if a is a probable prime, otherwise 0; 1 in 12 random numbers has no factor \
                     below 1000 and needs a power"
                }
            },
            Self::GcdByDivision => {
                "the same numbers as gcd, but by Euclid's algorithm, for comparison: each step \
                 computes the remainders of the whole batch; zeros are taken as ones"
            }
        }
    }

    /// Returns the operation's name in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Listed(listed) => listed.name(),
            Self::GcdByDivision => "gcd-by-division",
        }
    }

    /// Returns whether the operation is a product, for which several methods exist.
    pub(super) fn is_product(self) -> bool {
        use Listed::{Multiply, MultiplyLow, Square};
        matches!(self, Self::Listed(Multiply | Square | MultiplyLow))
    }

    /// Returns the role of the second operand b. Returns `None` if the operation has no second
    /// operand; a modulus does not count as second operand.
    fn b(self) -> Option<Role> {
        self.listed().operands().get(1).copied().filter(|&role| role != Role::Modulus)
    }

    /// Returns whether the operation has a second operand b besides a modulus.
    pub(super) fn is_of_two(self) -> bool {
        self.b().is_some()
    }

    /// Returns the number of limbs of the second operand if the first has `limbs` limbs. Returns 0
    /// if there is no second operand.
    pub(super) fn b_limbs(self, limbs: usize) -> usize {
        match self.b() {
            None => 0,
            Some(Role::Divisor) => limbs.div_ceil(2),
            Some(_) => limbs,
        }
    }

    /// Returns whether the operation has a modulus.
    pub(super) fn is_modular(self) -> bool {
        self.listed().operands().contains(&Role::Modulus)
    }

    /// Returns the divisor by which the default size of batches is reduced for this operation. The
    /// divisor is roughly proportional to the ratio of computation to memory traffic.
    pub(super) fn weight(self) -> u64 {
        match self {
            Self::Listed(Listed::Gcd | Listed::Inverse | Listed::Power | Listed::ProbablePrime) => {
                8
            }
            Self::Listed(_) => 1,
            Self::GcdByDivision => 16,
        }
    }

    /// Returns the number of limbs of a result for operands of `limbs` limbs. The result of a
    /// division is the quotient, and the result of a square root is the root; remainders are
    /// separate.
    pub(super) fn result_limbs(self, limbs: usize) -> usize {
        match self.listed() {
            Listed::Add | Listed::Subtract | Listed::MultiplyLow | Listed::Divide => limbs,
            Listed::Gcd | Listed::Inverse | Listed::Power => limbs,
            Listed::Multiply | Listed::Square => 2 * limbs,
            Listed::SquareRoot => limbs.div_ceil(2),
            Listed::ProbablePrime => 1,
        }
    }

    /// Returns the number of limbs of the remainder for operands of `limbs` limbs. Returns 0 if the
    /// operation has no remainder.
    pub(super) fn remainder_limbs(self, limbs: usize) -> usize {
        match self.listed() {
            Listed::Divide => self.b_limbs(limbs),
            Listed::SquareRoot => limbs.div_ceil(2) + 1,
            _ => 0,
        }
    }

    /// Returns the number of bytes that the operation reads and writes per instance, for operands
    /// of `limbs` limbs.
    pub(super) fn bytes(self, limbs: usize) -> u64 {
        let results = self.result_limbs(limbs) + self.remainder_limbs(limbs);
        let moduli = if self.is_modular() { limbs } else { 0 };
        4 * (limbs + self.b_limbs(limbs) + moduli + results) as u64
    }

    /// Returns the expected result, computed limb by limb. The remainder of a division or square
    /// root follows the quotient or root. Operations of one operand ignore b, and only modular
    /// operations use the modulus m. If there is no result, because the divisor is 0 or no inverse
    /// exists, all limbs are 0.
    pub(super) fn expected(self, a: &[u32], b: &[u32], m: &[u32]) -> Vec<u32> {
        let limbs = self.result_limbs(a.len());
        let mut operands = [joined(a), joined(b), joined(m)];
        match self {
            // Modulo 2^n a difference exists for all operands.
            Self::Listed(Listed::Subtract) => return difference(a, b),
            Self::Listed(Listed::Inverse) => operands.swap(1, 2),
            Self::Listed(_) => {}
            Self::GcdByDivision => operands = operands.map(from_one),
        }
        let (result, rest) = self.listed().expected(operands, limbs).unwrap_or_default();
        [halves(&result, limbs), halves(&rest, self.remainder_limbs(a.len()))].concat()
    }

    /// Returns the operation of the list of `warpint-integer` that has the same results as this
    /// operation.
    fn listed(self) -> Listed {
        match self {
            Self::Listed(listed) => listed,
            Self::GcdByDivision => Listed::Gcd,
        }
    }
}

/// Returns a − b mod 2^(32·l), where l is the number of limbs of a.
fn difference(a: &[u32], b: &[u32]) -> Vec<u32> {
    let b = b.iter().copied().chain(std::iter::repeat(0));
    let mut borrow = false;
    let limbs = a.iter().zip(b).map(|(&a, b)| {
        let (limb, below) = a.overflowing_sub(b);
        let (limb, again) = limb.overflowing_sub(borrow.into());
        borrow = below | again;
        limb
    });
    limbs.collect()
}

/// Returns the lowest `limbs` 32-bit limbs of a number that is given in 64-bit limbs. Zeros are
/// added above a shorter number.
pub(super) fn halves(all: &[u64], limbs: usize) -> Vec<u32> {
    let halves = all.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
    halves.chain(std::iter::repeat(0)).take(limbs).collect()
}

/// Returns x, or 1 if x is 0.
fn from_one(x: Vec<u64>) -> Vec<u64> {
    if limbs::trimmed(&x).is_empty() { vec![1] } else { x }
}

/// Converts a number from 32-bit limbs to 64-bit limbs. If the number of 32-bit limbs is odd, the
/// upper half of the last 64-bit limb is zero.
pub(super) fn joined(limbs: &[u32]) -> Vec<u64> {
    let high = |pair: &[u32]| pair.get(1).map_or(0, |&high| u64::from(high) << 32);
    limbs.chunks(2).map(|pair| u64::from(pair[0]) | high(pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(listed: Listed) -> Operation {
        Operation::Listed(listed)
    }

    #[test]
    fn results_are_those_of_numbers_of_128_bits() {
        let split = |x: u128, limbs: usize| -> Vec<u32> {
            (0..limbs).map(|i| (x >> (32 * i)) as u32).collect()
        };
        for (a, b) in [(u64::MAX, u64::MAX), (0, 7), (1 << 63, 3), (0x0123_4567_89ab_cdef, 5 << 40)]
        {
            let (x, y) = (u128::from(a), u128::from(b));
            for (operation, result) in [
                (Listed::Add, x + y),
                (Listed::Subtract, x.wrapping_sub(y)),
                (Listed::Multiply, x * y),
                (Listed::Square, x * x),
                (Listed::MultiplyLow, x * y),
            ] {
                let operation = of(operation);
                let found = operation.expected(&split(x, 2), &split(y, 2), &[]);
                assert_eq!(
                    found,
                    split(result, operation.result_limbs(2)),
                    "{operation:?} {a} {b}"
                );
            }
        }
        // A quotient as wide as a, followed by a remainder of half as many limbs.
        let quotient = of(Listed::Divide).expected(&[7, 0, 1, 0], &[3, 1], &[]);
        assert_eq!(quotient, [u32::MAX - 2, 0, 0, 0, 16, 0]);
        assert_eq!(of(Listed::Divide).expected(&[7, 0, 1, 0], &[0, 0], &[]), [0; 6]);
        assert_eq!(of(Listed::Gcd).expected(&[0, 6], &[0, 4], &[]), [0, 2]);
        assert_eq!(of(Listed::Inverse).expected(&[3, 0], &[], &[7, 0]), [5, 0]);
        assert_eq!(of(Listed::Inverse).expected(&[3, 0], &[], &[9, 0]), [0, 0]);
        assert_eq!(Operation::GcdByDivision.expected(&[0, 6], &[0, 4], &[]), [0, 2]);
        assert_eq!(Operation::GcdByDivision.expected(&[0, 6], &[0, 0], &[]), [1, 0]);
        assert_eq!(of(Listed::Power).expected(&[3, 0], &[4, 0], &[7, 0]), [4, 0]);
        assert_eq!(of(Listed::ProbablePrime).expected(&[u32::MAX - 4, 0], &[], &[]), [1]);
        assert_eq!(of(Listed::ProbablePrime).expected(&[u32::MAX, 1], &[], &[]), [0]);
        assert_eq!(of(Listed::SquareRoot).expected(&[8, 0, 4], &[], &[]), [0, 2, 8, 0, 0]);
        assert_eq!(of(Listed::SquareRoot).expected(&[u32::MAX], &[], &[]), [0xffff, 0x1_fffe, 0]);
        // One limb and three: the carry beyond them is truncated.
        let ones = [u32::MAX; 3];
        assert_eq!(of(Listed::Add).expected(&ones, &ones, &[]), [u32::MAX - 1, u32::MAX, u32::MAX]);
        assert_eq!(of(Listed::MultiplyLow).expected(&ones, &ones, &[]), [1, 0, 0]);
        assert_eq!(of(Listed::Multiply).expected(&ones[..1], &ones[..1], &[]), [1, u32::MAX - 1]);
    }

    #[test]
    fn bytes_are_those_of_operands_and_results() {
        let bytes = |listed: Listed| of(listed).bytes(8);
        assert_eq!(bytes(Listed::Add), 96);
        assert_eq!(bytes(Listed::Multiply), 128);
        assert_eq!(bytes(Listed::Square), 96);
        assert_eq!(bytes(Listed::MultiplyLow), 96);
        assert_eq!(bytes(Listed::Inverse), 96);
    }
}
