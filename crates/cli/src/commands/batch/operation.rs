//! What is done to the numbers of one, two or three files.

use warpint::integer::{Flags, IntegerError, UintBatch, Width};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    MultiplyLow,
    Square,
    /// Quotients and remainders.
    Divide,
    Gcd,
    /// Of a modulo b.
    Inverse,
    /// Roots, and what they leave.
    SquareRoot,
    /// a^b mod m.
    Power,
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "sub",
            Self::Multiply => "mul",
            Self::MultiplyLow => "mullo",
            Self::Square => "sqr",
            Self::Divide => "divrem",
            Self::Gcd => "gcd",
            Self::Inverse => "modinv",
            Self::SquareRoot => "sqrt",
            Self::Power => "powm",
        }
    }

    /// Why numbers have no result, where some have none.
    pub(crate) fn no_result(self) -> &'static str {
        match self {
            Self::Subtract => "a < b",
            Self::Divide => "division by zero",
            Self::Inverse => "a has no inverse modulo b",
            Self::Power => "the modulus is zero",
            Self::Add
            | Self::Multiply
            | Self::MultiplyLow
            | Self::Square
            | Self::Gcd
            | Self::SquareRoot => "no result",
        }
    }

    /// The operand whose zeros are why numbers have no result.
    pub(crate) fn refuses_zeros_of(self) -> Option<usize> {
        match self {
            Self::Divide => Some(1),
            Self::Power => Some(2),
            _ => None,
        }
    }

    /// How wide results are, and the second ones of operations that have two. Where there is no b,
    /// or no m, it is as wide as a.
    pub(crate) fn widths(
        self,
        [a, b, m]: [Width; 3],
    ) -> Result<(Width, Option<Width>), IntegerError> {
        let width = match self {
            // A carry takes a limb.
            Self::Add => a.max(b).of_product(Width::new(32)?)?,
            Self::Subtract | Self::MultiplyLow | Self::Gcd => a.max(b),
            Self::Multiply | Self::Square => a.of_product(b)?,
            Self::Divide => return Ok((a, Some(b))),
            Self::Inverse => b,
            Self::SquareRoot => {
                let half = Width::new(a.bits().div_ceil(64) * 32)?;
                return Ok((half, Some(half.of_product(Width::new(32)?)?)));
            }
            Self::Power => m,
        };
        Ok((width, None))
    }

    /// The results, of [`Self::widths`], and which of them are none. Any operand may have a single
    /// number for all of the others; where there is no b, or no m, it is not looked at.
    pub(crate) fn apply(
        self,
        [a, b, m]: [&UintBatch; 3],
    ) -> Result<(Vec<UintBatch>, Vec<usize>), IntegerError> {
        let flagged = |(result, flags): (UintBatch, Flags)| Ok((vec![result], set(&flags)?));
        let result = match self {
            Self::Add => {
                let (width, _) = self.widths([a.width(), b.width(), m.width()])?;
                let (wider, other) = if a.width() < b.width() { (b, a) } else { (a, b) };
                wider.resized(width)?.0.wrapping_add(other)?
            }
            Self::Subtract => return flagged(a.sub(b)?),
            Self::Multiply => a.mul(b)?,
            Self::MultiplyLow => a.mul_low(b)?,
            Self::Square => a.square()?,
            Self::Divide => {
                let (quotients, remainders, flags) = a.div_rem(b)?;
                return Ok((vec![quotients, remainders], set(&flags)?));
            }
            Self::Gcd => a.gcd(b)?,
            Self::Inverse => return flagged(a.mod_inv(b)?),
            Self::SquareRoot => {
                let (roots, remainders) = a.sqrt_rem()?;
                return Ok((vec![roots, remainders], vec![]));
            }
            Self::Power => return flagged(a.pow_mod(b, m)?),
        };
        Ok((vec![result], vec![]))
    }
}

/// The numbers whose flags are set.
fn set(flags: &Flags) -> Result<Vec<usize>, IntegerError> {
    let flags = flags.to_vec()?.into_iter().enumerate();
    Ok(flags.filter(|&(_, flag)| flag != 0).map(|(i, _)| i).collect())
}
