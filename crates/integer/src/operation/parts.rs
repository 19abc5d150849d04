//! Types that the CPU and devices share to describe operations.

/// The choice between a sum and a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sum {
    /// a + b.
    Add,
    /// a − b.
    Subtract,
}

/// The part of a product to compute. w is the number of limbs of the wider factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// All limbs of the product, as many as both factors have together.
    Full,
    /// The product mod 2^(32·w).
    Low,
    /// ⌊product / 2^(32·w)⌋.
    High,
}

impl Part {
    /// Returns the index of the first limb to compute and the number of limbs from there on.
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
    /// Bits that are 1 in both.
    And,
    /// Bits that are 1 in one or both.
    Or,
    /// Bits that are 1 in exactly one of them.
    Xor,
}

/// The choice between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// The smaller one.
    Minimum,
    /// The larger one.
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

/// The rows of a table that exponents select: an exponent selects row d·step + first, where d is
/// the number in the `window` bits, at most 31, from `bit` on. The table has 2^window·step rows,
/// and first < step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableRows {
    pub(crate) bit: usize,
    pub(crate) window: usize,
    pub(crate) step: usize,
    pub(crate) first: usize,
}
