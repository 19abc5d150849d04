//! Types that the CPU and devices share to describe operations.

/// Whether a sum or a difference is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sum {
    /// The sum a + b.
    Add,
    /// The difference a − b.
    Subtract,
}

/// The part of a product that is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// All limbs of the product. Their number is the sum of the numbers of limbs of the two
    /// factors.
    Full,
    /// The product mod 2^(32·w), where w is the number of limbs of the wider factor.
    Low,
    /// ⌊product / 2^(32·w)⌋, where w is the number of limbs of the wider factor.
    High,
}

impl Part {
    /// Returns the index of the first limb of the product that is computed, and the number of
    /// computed limbs, for factors of `a_limbs` and `b_limbs` limbs.
    #[must_use]
    pub fn limbs(self, a_limbs: usize, b_limbs: usize) -> (usize, usize) {
        let (wide, narrow) = (a_limbs.max(b_limbs), a_limbs.min(b_limbs));
        match self {
            Self::Full => (0, wide + narrow),
            Self::Low => (0, wide),
            Self::High => (wide, narrow),
        }
    }
}

/// A bitwise operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bitwise {
    /// The bits that are 1 in both numbers.
    And,
    /// The bits that are 1 in at least one of the numbers.
    Or,
    /// The bits that are 1 in exactly one of the numbers.
    Xor,
}

/// Whether the smaller or the larger of two numbers is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// The smaller number.
    Minimum,
    /// The larger number.
    Maximum,
}

/// The direction of a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// To the left: multiplication by a power of two.
    Left,
    /// To the right: division by a power of two, rounded down.
    Right,
}

/// How exponents select rows of a table. An exponent selects row d·step + first, where d is the
/// number in the `window` bits of the exponent that begin at bit `bit`. `window` is at most 31, and
/// `first` is less than `step`. The table has 2^window·step rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableRows {
    pub(crate) bit: usize,
    pub(crate) window: usize,
    pub(crate) step: usize,
    pub(crate) first: usize,
}
