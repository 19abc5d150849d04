//! What an operation reads and writes, and what it should give.

use warpint::arith::limbs;

use crate::args::Operation;

impl Operation {
    /// As it is written on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Mul => "mul",
            Self::Sqr => "sqr",
            Self::Mullo => "mullo",
        }
    }

    /// Whether it is a product, which there are several methods for.
    pub(super) fn is_product(self) -> bool {
        self != Self::Add
    }

    /// Whether it has a second operand.
    pub(super) fn is_of_two(self) -> bool {
        self != Self::Sqr
    }

    /// Limbs of a result for operands of so many.
    pub(super) fn result_limbs(self, limbs: usize) -> usize {
        match self {
            Self::Add | Self::Mullo => limbs,
            Self::Mul | Self::Sqr => 2 * limbs,
        }
    }

    /// Bytes that are read and written for one result.
    pub(super) fn bytes(self, limbs: usize) -> u64 {
        let operands = if self.is_of_two() { 2 * limbs } else { limbs };
        4 * (operands + self.result_limbs(limbs)) as u64
    }

    /// The result, limb by limb; a square of a alone.
    pub(super) fn expected(self, a: &[u32], b: &[u32]) -> Vec<u32> {
        let (x, y) = (joined(a), joined(b));
        let all = match self {
            Self::Add => {
                let mut sum = x;
                // The carry is not part of the result.
                limbs::add_assign(&mut sum, &y);
                sum
            }
            Self::Mul | Self::Mullo => limbs::mul(&x, &y),
            Self::Sqr => limbs::mul(&x, &x),
        };
        let halves = all.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
        halves.take(self.result_limbs(a.len())).collect()
    }
}

/// Limbs of 64 bits, the highest half zero where there is an odd number of 32.
fn joined(limbs: &[u32]) -> Vec<u64> {
    let high = |pair: &[u32]| pair.get(1).map_or(0, |&high| u64::from(high) << 32);
    limbs.chunks(2).map(|pair| u64::from(pair[0]) | high(pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_numbers_of_128_bits() {
        let split = |x: u128, limbs: usize| -> Vec<u32> {
            (0..limbs).map(|i| (x >> (32 * i)) as u32).collect()
        };
        for (a, b) in [(u64::MAX, u64::MAX), (0, 7), (1 << 63, 3), (0x0123_4567_89ab_cdef, 5 << 40)]
        {
            let (x, y) = (u128::from(a), u128::from(b));
            for (operation, result) in [
                (Operation::Add, x + y),
                (Operation::Mul, x * y),
                (Operation::Sqr, x * x),
                (Operation::Mullo, x * y),
            ] {
                let found = operation.expected(&split(x, 2), &split(y, 2));
                assert_eq!(
                    found,
                    split(result, operation.result_limbs(2)),
                    "{operation:?} {a} {b}"
                );
            }
        }
        // One limb and three: the carry beyond them is cut off.
        let ones = [u32::MAX; 3];
        assert_eq!(Operation::Add.expected(&ones, &ones), [u32::MAX - 1, u32::MAX, u32::MAX]);
        assert_eq!(Operation::Mullo.expected(&ones, &ones), [1, 0, 0]);
        assert_eq!(Operation::Mul.expected(&ones[..1], &ones[..1]), [1, u32::MAX - 1]);
    }

    #[test]
    fn bytes_are_those_of_operands_and_results() {
        let of = |operation: Operation| operation.bytes(8);
        assert_eq!(of(Operation::Add), 96);
        assert_eq!(of(Operation::Mul), 128);
        assert_eq!(of(Operation::Sqr), 96);
        assert_eq!(of(Operation::Mullo), 96);
    }
}
