//! Remainders, products and powers modulo a number that is used many times, with precomputed data.

mod barrett;
mod fixed_base;
mod products;
#[cfg(test)]
mod tests;

pub use fixed_base::FixedBase;

use self::barrett::Barrett;
use self::products::Products;
use super::UintBatch;
use crate::{Executor, IntegerError, Width};

/// The method by which a [`Modulus`] computes remainders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// By division: [`UintBatch::rem`].
    Division,
    /// By two products with a reciprocal of the modulus (Barrett 1986).
    Barrett,
}

/// The least bit length of moduli for which remainders on the CPU are computed by reciprocals. For
/// shorter moduli, division is as fast as products with reciprocals.
const LONG_ON_CPU: u32 = 65_536;

/// The least bit length of moduli for which remainders on devices are computed by reciprocals.
/// Shorter divisors fit in the registers of a few lanes. At this length, an H200 takes 70 ns for a
/// remainder of a 32,768-bit number by division, and 32 ns for two products. Powers modulo numbers
/// of up to this bit length have separate kernels.
const LONG_ON_DEVICES: u32 = 16_384;

/// A modulus m > 0, or one modulus per number of a batch, prepared for many reductions.
///
/// Moduli of at least 65,536 bits on the CPU, or 16,384 bits on devices, use reciprocals if all
/// have the same bit length. A remainder then takes two products of the length of m and a few
/// passes over memory, and no division. Shorter moduli, and moduli of different bit lengths, use
/// division. Both methods give the same results. [`Modulus::by`] selects the method explicitly.
///
/// Results have the width of m, and are less than m. Their count follows from the counts of
/// operands and moduli, as described at [`UintBatch`]. The time depends on the numbers: do not use
/// this type with secret numbers.
#[derive(Debug)]
pub struct Modulus {
    m: UintBatch,
    /// The reciprocals; `None` if remainders are computed by division.
    barrett: Option<Barrett>,
    /// Whether powers with a common exponent are computed by [`Products`].
    powers: bool,
}

/// Returns a batch of `count` numbers of `width` with all bits set.
fn ones(executor: &Executor, count: usize, width: Width) -> Result<UintBatch, IntegerError> {
    UintBatch::zeros(executor, count, width)?.not()
}

impl Modulus {
    /// Prepares the modulus m, or one modulus per number, for remainders by division or by
    /// reciprocals, whichever is faster at the bit length of the moduli. Reciprocals cost one
    /// division. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::ZeroModulus`] if a modulus is 0; [`IntegerError::TooWide`] for more than
    /// 2^20 bits; the errors common to all operations (see [`UintBatch`]).
    pub fn new(m: UintBatch) -> Result<Self, IntegerError> {
        let is_cpu = m.executor.is_cpu();
        let long = if is_cpu { LONG_ON_CPU } else { LONG_ON_DEVICES };
        let prepared = Self::prepared(m, |bits| bits >= long)?;
        // On the CPU, powers use Montgomery's residues.
        let powers = prepared.powers && !is_cpu && prepared.m.bits() > LONG_ON_DEVICES;
        Ok(Self { powers, ..prepared })
    }

    /// Prepares the modulus m, or one modulus per number, for the given method. Moduli of different
    /// bit lengths use division in any case.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn by(reduction: Reduction, m: UintBatch) -> Result<Self, IntegerError> {
        Self::prepared(m, |_| reduction == Reduction::Barrett)
    }

    fn prepared(m: UintBatch, is_long: impl Fn(u32) -> bool) -> Result<Self, IntegerError> {
        super::operands::as_factor("a modulus", m.width)?;
        let lengths = m.bit_lengths()?;
        if let Some(index) = lengths.iter().position(|&bits| bits == 0) {
            return Err(IntegerError::ZeroModulus { index });
        }
        let bits = lengths.first().copied().filter(|bits| lengths.iter().all(|n| n == bits));
        let barrett = bits.filter(|&bits| is_long(bits)).map(|bits| Barrett::new(&m, bits));
        let barrett = barrett.transpose()?;
        Ok(Self { m, powers: barrett.is_some(), barrett })
    }

    /// Returns the batch of moduli: one modulus for all numbers, or one per number.
    #[must_use]
    pub fn modulus(&self) -> &UintBatch {
        &self.m
    }

    /// Returns the method by which remainders are computed.
    #[must_use]
    pub fn reduction(&self) -> Reduction {
        if self.barrett.is_some() { Reduction::Barrett } else { Reduction::Division }
    }

    /// Returns u mod m, where m is the modulus. u is at most twice as wide as m.
    ///
    /// # Errors
    /// The errors common to all operations (see [`UintBatch`]); [`IntegerError::TooWide`] if u is
    /// more than twice as wide as m.
    pub fn rem(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        self.narrow("a remainder by a prepared modulus", u.bits())?;
        match &self.barrett {
            Some(barrett) => self.widened(barrett.rem(u)?),
            None => Ok(u.rem(&self.m)?.0),
        }
    }

    /// Returns a·b mod m, where m is the modulus. The sum of the widths of a and b is at most twice
    /// the width of m.
    ///
    /// # Errors
    /// The errors of [`Self::rem`]; [`IntegerError::NoMethod`] as for [`UintBatch::mul`].
    pub fn mul(&self, a: &UintBatch, b: &UintBatch) -> Result<UintBatch, IntegerError> {
        self.narrow("a product by a prepared modulus", a.bits() + b.bits())?;
        match &self.barrett {
            Some(barrett) => self.widened(barrett.mul(a, b)?),
            None => Ok(a.mul_mod(b, &self.m)?.0),
        }
    }

    /// Returns a² mod m, where m is the modulus. a is no wider than m.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn square(&self, a: &UintBatch) -> Result<UintBatch, IntegerError> {
        self.narrow("a square by a prepared modulus", 2 * a.bits())?;
        match &self.barrett {
            Some(barrett) => self.widened(barrett.square(a)?),
            None => Ok(a.square()?.rem(&self.m)?.0),
        }
    }

    /// Returns a^e mod m, where m is the modulus. a is at most twice as wide as m. a^0 is 1 mod m,
    /// also for a = 0.
    ///
    /// If e is a batch of one number, this costs about log2 e squarings and (log2 e)/6 products
    /// modulo m. If, in addition, the modulus is on a device, uses reciprocals and is wider than
    /// 16,384 bits, then products and reductions by reciprocals compute the power. The host first
    /// waits for the device and reads the exponent. Up to 16 odd powers of each number are stored.
    /// If [`Modulus::by`] selected reciprocals, powers are also computed in this way on the CPU and
    /// for moduli of up to 16,384 bits. In all other cases the method is that of
    /// [`UintBatch::pow_mod`], which on the CPU precomputes data of a common modulus once for many
    /// numbers (Montgomery 1985).
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn pow(&self, a: &UintBatch, e: &UintBatch) -> Result<UintBatch, IntegerError> {
        self.narrow("a base of a power by a prepared modulus", a.bits())?;
        let count = a.count_with(&self.m)?;
        e.count_with(a)?;
        e.count_with(&self.m)?;
        if !self.powers || e.count != 1 {
            return Ok(a.pow_mod(e, &self.m)?.0);
        }
        let power = Products::new(self, count)?.power(a, &e.to_limbs()?)?;
        self.widened(power)
    }

    /// Precomputes powers of `base` for exponents of up to the width `exponents`: see
    /// [`FixedBase`].
    ///
    /// # Errors
    /// [`IntegerError::NotOne`] unless there is one base and one modulus; the errors of
    /// [`Self::mul`].
    pub fn fixed_base(
        &self,
        base: &UintBatch,
        exponents: Width,
    ) -> Result<FixedBase<'_>, IntegerError> {
        FixedBase::new(self, base, exponents)
    }

    /// Returns an error if `bits`, the width of an operand, is more than twice the width of m.
    fn narrow(&self, operation: &'static str, bits: u32) -> Result<(), IntegerError> {
        let most = 2 * self.m.bits();
        if bits > most {
            return Err(IntegerError::TooWide { operation, bits: u64::from(bits), most });
        }
        Ok(())
    }

    /// Returns the width of residues during a computation: the width of m or, with reciprocals, the
    /// least multiple of 32 bits that holds m.
    fn residues(&self) -> Width {
        self.barrett.as_ref().map_or(self.m.width, Barrett::width)
    }

    /// Returns the residues `x`, extended by zeros to the width of m.
    fn widened(&self, x: UintBatch) -> Result<UintBatch, IntegerError> {
        if x.width == self.m.width { Ok(x) } else { Ok(x.resized(self.m.width)?.0) }
    }
}
