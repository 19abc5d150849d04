//! The width of the numbers of a batch in bits.

use std::fmt;

use crate::IntegerError;

/// The width of numbers: a multiple of 32 bits. Factors have 32 to 2^20 bits. Results have up to
/// 2^21 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Width(u32);

impl Width {
    /// The largest width of a factor, in bits.
    pub const MAX_BITS: u32 = 1 << 20;

    /// Returns the width of `bits` bits.
    ///
    /// # Errors
    /// [`IntegerError::Width`] unless `bits` is a multiple of 32 from 32 to 2^20.
    pub fn new(bits: u32) -> Result<Self, IntegerError> {
        if bits == 0 || !bits.is_multiple_of(32) || bits > Self::MAX_BITS {
            return Err(IntegerError::Width { bits: u64::from(bits) });
        }
        Ok(Self(bits / 32))
    }

    /// Returns the width of the product of a number of this width and a number of the width
    /// `other`: the sum of the two widths.
    ///
    /// # Errors
    /// [`IntegerError::TooWide`] if the sum exceeds 2^21 bits.
    pub fn of_product(self, other: Self) -> Result<Self, IntegerError> {
        let (limbs, most) = (self.limbs() + other.limbs(), 2 * Self::MAX_BITS);
        if limbs > (most / 32) as usize {
            let bits = 32 * limbs as u64;
            return Err(IntegerError::TooWide { operation: "a product", bits, most });
        }
        Ok(Self::of_limbs(limbs))
    }

    /// Returns the width of `limbs` limbs of 32 bits. `limbs` is from 1 to 2^16, since a result may
    /// be twice as wide as the widest factor.
    pub(crate) fn of_limbs(limbs: usize) -> Self {
        debug_assert!((1..=2 * (Self::MAX_BITS / 32) as usize).contains(&limbs));
        Self(limbs as u32)
    }

    /// Returns the width in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        32 * self.0
    }

    /// Returns the width in limbs of 32 bits.
    #[must_use]
    pub fn limbs(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bits", self.bits())
    }
}
