//! What is done with numbers: words that the CPU and devices share.

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sum {
    /// a + b.
    Add,
    /// a − b.
    Subtract,
}

/// Which limbs of a product are wanted. With w the limbs of the wider factor:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// All limbs of both factors together.
    Full,
    /// The product mod 2^(32·w).
    Low,
    /// ⌊product / 2^(32·w)⌋.
    High,
}

impl Part {
    /// The first limb of the product that is wanted, and how many follow.
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

/// What is done with the bits of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bitwise {
    /// Bits that are 1 in both.
    And,
    /// Bits that are 1 in one or both.
    Or,
    /// Bits that are 1 in one of them.
    Xor,
}

/// Which of two numbers is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// The smaller one.
    Minimum,
    /// The larger one.
    Maximum,
}

/// Where bits move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// To the left: times a power of two.
    Left,
    /// To the right: divided by one, rounded down.
    Right,
}

/// Which rows of a table are taken for exponents: row d·step + first for the number d of `window` bits, at
/// most 31, from `bit` on. 2^window·step rows are there, and first < step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableRows {
    pub(crate) bit: usize,
    pub(crate) window: usize,
    pub(crate) step: usize,
    pub(crate) first: usize,
}
