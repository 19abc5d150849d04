//! What an operation reads and writes, and what it should give.

use warpint_integer as integer;
use warpint_natural::limbs;

/// What is done with numbers of n bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// a + b mod 2^n.
    Add,
    /// a·b.
    Mul,
    /// a².
    Sqr,
    /// a·b mod 2^n.
    Mullo,
    /// ⌊a/b⌋ and a mod b, b of n/2 bits.
    Divrem,
    /// The greatest common divisor.
    Gcd,
    /// The same by divisions, of numbers from 1 up: zeros are taken as ones.
    GcdByDivision,
    /// a^(−1) mod m, m odd; 0 where there is none.
    Modinv,
    /// a^b mod m, m odd.
    Powm,
    /// ⌊√a⌋ and a − ⌊√a⌋².
    Sqrt,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Add,
        Self::Mul,
        Self::Sqr,
        Self::Mullo,
        Self::Divrem,
        Self::Gcd,
        Self::GcdByDivision,
        Self::Modinv,
        Self::Powm,
        Self::Sqrt,
    ];

    /// What is computed, as a formula of a, b, m and n where there is one.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Add => "a + b mod 2^n",
            Self::Mul => "a·b",
            Self::Sqr => "a²",
            Self::Mullo => "a·b mod 2^n",
            Self::Divrem => "⌊a/b⌋ and a mod b, b of n/2 bits",
            Self::Gcd => "The greatest common divisor",
            Self::GcdByDivision => {
                "The same by divisions, of numbers from 1 up: zeros are taken as ones"
            }
            Self::Modinv => "a^(−1) mod m, m odd; 0 where there is none",
            Self::Powm => "a^b mod m, m odd",
            Self::Sqrt => "⌊√a⌋ and a − ⌊√a⌋²",
        }
    }

    /// Its name for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Mul => "mul",
            Self::Sqr => "sqr",
            Self::Mullo => "mullo",
            Self::Divrem => "divrem",
            Self::Gcd => "gcd",
            Self::Modinv => "modinv",
            Self::GcdByDivision => "gcd-by-division",
            Self::Powm => "powm",
            Self::Sqrt => "sqrt",
        }
    }

    /// Whether it is a product, which there are several methods for.
    pub(super) fn is_product(self) -> bool {
        matches!(self, Self::Mul | Self::Sqr | Self::Mullo)
    }

    /// Whether it has a second operand.
    pub(super) fn is_of_two(self) -> bool {
        !matches!(self, Self::Sqr | Self::Sqrt | Self::Modinv)
    }

    /// Limbs of b where a has `limbs`.
    pub(super) fn b_limbs(self, limbs: usize) -> usize {
        match self {
            Self::Sqr | Self::Sqrt | Self::Modinv => 0,
            Self::Divrem => limbs.div_ceil(2),
            _ => limbs,
        }
    }

    /// Whether it has a modulus.
    pub(super) fn is_modular(self) -> bool {
        self.listed().operands().contains(&integer::Role::Modulus)
    }

    /// About how many times longer it computes than it reads and writes. Batches are smaller by this
    /// factor.
    pub(super) fn weight(self) -> u64 {
        match self {
            Self::Gcd | Self::Modinv | Self::Powm => 8,
            Self::GcdByDivision => 16,
            _ => 1,
        }
    }

    /// Limbs of a result (a quotient, a root) for operands of `limbs`.
    pub(super) fn result_limbs(self, limbs: usize) -> usize {
        match self {
            Self::Add | Self::Mullo | Self::Divrem => limbs,
            Self::Gcd | Self::GcdByDivision | Self::Modinv | Self::Powm => limbs,
            Self::Mul | Self::Sqr => 2 * limbs,
            Self::Sqrt => limbs.div_ceil(2),
        }
    }

    /// Limbs of a remainder.
    pub(super) fn remainder_limbs(self, limbs: usize) -> usize {
        match self {
            Self::Divrem => self.b_limbs(limbs),
            Self::Sqrt => limbs.div_ceil(2) + 1,
            _ => 0,
        }
    }

    /// Bytes that are read and written for one result.
    pub(super) fn bytes(self, limbs: usize) -> u64 {
        let results = self.result_limbs(limbs) + self.remainder_limbs(limbs);
        let moduli = if self.is_modular() { limbs } else { 0 };
        4 * (limbs + self.b_limbs(limbs) + moduli + results) as u64
    }

    /// The result, limb by limb; a square or a root of a alone; a remainder behind its quotient or its root;
    /// modulo m if it is modular.
    pub(super) fn expected(self, a: &[u32], b: &[u32], m: &[u32]) -> Vec<u32> {
        let mut operands = match self {
            Self::Modinv => [joined(a), joined(m), vec![]],
            _ => [joined(a), joined(b), joined(m)],
        };
        if self == Self::GcdByDivision {
            operands = operands.map(from_one);
        }
        let limbs = self.result_limbs(a.len());
        let (result, rest) = self.listed().expected(operands, limbs).unwrap_or_default();
        [halves(&result, limbs), halves(&rest, self.remainder_limbs(a.len()))].concat()
    }

    /// The operation of the library's list that gives the same results.
    fn listed(self) -> integer::Operation {
        use integer::Operation as Listed;

        match self {
            Self::Add => Listed::Add,
            Self::Mul => Listed::Multiply,
            Self::Sqr => Listed::Square,
            Self::Mullo => Listed::MultiplyLow,
            Self::Divrem => Listed::Divide,
            Self::Gcd | Self::GcdByDivision => Listed::Gcd,
            Self::Modinv => Listed::Inverse,
            Self::Powm => Listed::Power,
            Self::Sqrt => Listed::SquareRoot,
        }
    }
}

/// The lowest `limbs` limbs of 32 bits.
fn halves(all: &[u64], limbs: usize) -> Vec<u32> {
    let halves = all.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
    halves.chain(std::iter::repeat(0)).take(limbs).collect()
}

/// 1 for 0.
fn from_one(x: Vec<u64>) -> Vec<u64> {
    if limbs::trimmed(&x).is_empty() { vec![1] } else { x }
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
                let found = operation.expected(&split(x, 2), &split(y, 2), &[]);
                assert_eq!(
                    found,
                    split(result, operation.result_limbs(2)),
                    "{operation:?} {a} {b}"
                );
            }
        }
        // A quotient as wide as a, and behind it a remainder of half as many limbs.
        let quotient = Operation::Divrem.expected(&[7, 0, 1, 0], &[3, 1], &[]);
        assert_eq!(quotient, [u32::MAX - 2, 0, 0, 0, 16, 0]);
        assert_eq!(Operation::Divrem.expected(&[7, 0, 1, 0], &[0, 0], &[]), [0; 6]);
        assert_eq!(Operation::Gcd.expected(&[0, 6], &[0, 4], &[]), [0, 2]);
        assert_eq!(Operation::Modinv.expected(&[3, 0], &[], &[7, 0]), [5, 0]);
        assert_eq!(Operation::Modinv.expected(&[3, 0], &[], &[9, 0]), [0, 0]);
        assert_eq!(Operation::GcdByDivision.expected(&[0, 6], &[0, 4], &[]), [0, 2]);
        assert_eq!(Operation::GcdByDivision.expected(&[0, 6], &[0, 0], &[]), [1, 0]);
        assert_eq!(Operation::Powm.expected(&[3, 0], &[4, 0], &[7, 0]), [4, 0]);
        assert_eq!(Operation::Sqrt.expected(&[8, 0, 4], &[], &[]), [0, 2, 8, 0, 0]);
        assert_eq!(Operation::Sqrt.expected(&[u32::MAX], &[], &[]), [0xffff, 0x1_fffe, 0]);
        // One limb and three: the carry beyond them is cut off.
        let ones = [u32::MAX; 3];
        assert_eq!(Operation::Add.expected(&ones, &ones, &[]), [u32::MAX - 1, u32::MAX, u32::MAX]);
        assert_eq!(Operation::Mullo.expected(&ones, &ones, &[]), [1, 0, 0]);
        assert_eq!(Operation::Mul.expected(&ones[..1], &ones[..1], &[]), [1, u32::MAX - 1]);
    }

    #[test]
    fn operations_are_those_of_the_list() {
        let timed = |listed: integer::Operation| {
            let mut all = Operation::ALL.iter();
            all.any(|operation| operation.listed() == listed && operation.name() == listed.name())
        };
        for &listed in integer::Operation::ALL {
            // A difference takes as long as a sum.
            assert_eq!(timed(listed), listed != integer::Operation::Subtract, "{listed:?}");
        }
    }

    #[test]
    fn bytes_are_those_of_operands_and_results() {
        let of = |operation: Operation| operation.bytes(8);
        assert_eq!(of(Operation::Add), 96);
        assert_eq!(of(Operation::Mul), 128);
        assert_eq!(of(Operation::Sqr), 96);
        assert_eq!(of(Operation::Mullo), 96);
        assert_eq!(of(Operation::Modinv), 96);
    }
}
