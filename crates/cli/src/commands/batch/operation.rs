//! What is done to each pair of numbers.

use warpint::integer::{IntegerError, UintBatch, Width};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    MultiplyLow,
    Square,
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "sub",
            Self::Multiply => "mul",
            Self::MultiplyLow => "mullo",
            Self::Square => "sqr",
        }
    }

    /// How wide results are, those of an operation of one number with b as wide as a.
    pub(crate) fn width(self, a: Width, b: Width) -> Result<Width, IntegerError> {
        match self {
            // A carry takes a limb.
            Self::Add => a.max(b).of_product(Width::new(32)?),
            Self::Subtract | Self::MultiplyLow => Ok(a.max(b)),
            Self::Multiply | Self::Square => a.of_product(b),
        }
    }

    /// The results, of [`Self::width`], and which of them are none: the pairs with a < b of a
    /// difference. One of them may have a single number for all of the other.
    pub(crate) fn apply(
        self,
        a: &UintBatch,
        b: &UintBatch,
    ) -> Result<(UintBatch, Vec<usize>), IntegerError> {
        let results = match self {
            Self::Add => {
                let width = self.width(a.width(), b.width())?;
                let (wider, other) = if a.width() < b.width() { (b, a) } else { (a, b) };
                wider.resized(width)?.0.wrapping_add(other)?
            }
            Self::Subtract => {
                let (results, borrows) = a.sub(b)?;
                let borrows = borrows.to_vec()?.into_iter().enumerate();
                return Ok((results, borrows.filter(|&(_, b)| b != 0).map(|(i, _)| i).collect()));
            }
            Self::Multiply => a.mul(b)?,
            Self::MultiplyLow => a.mul_low(b)?,
            Self::Square => a.square()?,
        };
        Ok((results, vec![]))
    }
}
