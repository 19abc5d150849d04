//! Sets of starting numbers.

use std::fmt;

use crate::CollatzError;

/// A set of numbers that is verified as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Region {
    /// The interval of all n with from ≤ n < to.
    Interval {
        /// The first number of the interval.
        from: u128,
        /// The end of the interval, which does not belong to it.
        to: u128,
    },
    /// The class of all n < 2^bits with n ≡ residue mod 2^`low_bits`.
    Class {
        /// The number of bits of the numbers, at most 127: all numbers are below 2^bits.
        bits: u32,
        /// The number of bits that the class fixes, at most `bits`.
        low_bits: u32,
        /// The low bits of all numbers of the class, below 2^`low_bits`.
        residue: u128,
    },
}

impl Region {
    /// Returns the interval of all n with from ≤ n < to.
    ///
    /// # Errors
    /// The interval is empty.
    pub fn interval(from: u128, to: u128) -> Result<Self, CollatzError> {
        if from < to {
            Ok(Self::Interval { from, to })
        } else {
            Err(CollatzError::Empty { from, to })
        }
    }

    /// Returns the class of all n < 2^bits with n ≡ residue mod 2^`low_bits`.
    ///
    /// # Errors
    /// [`CollatzError::Class`] if bits > 127, `low_bits` > bits or residue ≥ 2^`low_bits`.
    pub fn class(bits: u32, low_bits: u32, residue: u128) -> Result<Self, CollatzError> {
        if bits <= 127 && low_bits <= bits && residue >> low_bits == 0 {
            Ok(Self::Class { bits, low_bits, residue })
        } else {
            Err(CollatzError::Class { bits, low_bits, residue })
        }
    }

    /// Returns the count of numbers in the region.
    #[must_use]
    pub fn numbers(&self) -> u128 {
        match *self {
            Self::Interval { from, to } => to - from,
            Self::Class { bits, low_bits, .. } => 1 << (bits - low_bits),
        }
    }

    /// Returns number `index` of the region, counted from 0 in ascending order. Returns `None` if
    /// the region has at most `index` numbers.
    #[must_use]
    pub fn nth(&self, index: u128) -> Option<u128> {
        (index < self.numbers()).then(|| match *self {
            Self::Interval { from, .. } => from + index,
            Self::Class { low_bits, residue, .. } if low_bits < 128 => {
                residue + (index << low_bits)
            }
            Self::Class { residue, .. } => residue,
        })
    }

    /// Returns whether n belongs to the region.
    #[must_use]
    pub fn contains(&self, n: u128) -> bool {
        match *self {
            Self::Interval { from, to } => (from..to).contains(&n),
            Self::Class { bits, low_bits, residue } => {
                n >> bits == 0 && n & ((1 << low_bits) - 1) == residue
            }
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interval { from, to } => write!(f, "[{from}, {to})"),
            Self::Class { bits, low_bits, residue } => {
                write!(f, "{residue} mod 2^{low_bits} below 2^{bits}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_contained() {
        let regions = [
            Region::interval(5, 37).unwrap(),
            Region::class(6, 3, 5).unwrap(),
            Region::class(6, 0, 0).unwrap(),
            Region::class(6, 6, 63).unwrap(),
        ];
        for region in regions {
            let listed: Vec<_> = (0..).map_while(|i| region.nth(i)).collect();
            let contained: Vec<_> = (0..100).filter(|&n| region.contains(n)).collect();
            assert_eq!(listed, contained, "{region}");
            assert_eq!(listed.len() as u128, region.numbers(), "{region}");
        }
    }

    #[test]
    fn what_is_no_region_is_refused() {
        assert!(Region::interval(7, 7).is_err());
        assert!(Region::interval(8, 7).is_err());
        for (bits, low_bits, residue) in [(128, 3, 1), (7, 8, 1), (7, 3, 8), (127, 127, u128::MAX)]
        {
            assert!(Region::class(bits, low_bits, residue).is_err());
        }
    }
}
