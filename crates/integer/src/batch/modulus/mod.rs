//! A modulus that is prepared once.

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

/// How remainders are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// By division: [`UintBatch::rem`].
    Division,
    /// By two products with a reciprocal of the modulus (Barrett 1986).
    Barrett,
}

/// Moduli from so many bits on are reduced by reciprocals on the CPU, where divisions of shorter
/// numbers take no longer.
const LONG_ON_CPU: u32 = 65_536;

/// The same on devices, where divisors of fewer bits are in the registers of some lanes: a remainder of twice
/// as many takes an H200 70 ns there, two products 32. Powers modulo numbers of up to so many
/// bits have kernels of their own there.
const LONG_ON_DEVICES: u32 = 16_384;

/// A number m > 0 that many are reduced by, or one for each number of a batch, with what does not
/// depend on these prepared once.
///
/// Moduli that are long, and of one bit length, keep a reciprocal: a remainder then is two products
/// of m's length and a few passes over memory, and no division. From 65,536 bits on the CPU, from
/// 16,384 on devices; shorter ones, and those of different bit lengths, are divided by. The results are the
/// same. [`Modulus::by`] takes either.
///
/// Results have the width of m, and are less than m. There are as many as the operands and moduli have, as
/// [`UintBatch`] has it. The time depends on the numbers: this is not for secrets.
#[derive(Debug)]
pub struct Modulus {
    m: UintBatch,
    /// `None` for divisions.
    barrett: Option<Barrett>,
    /// Whether powers with one exponent are found by [`Products`].
    powers: bool,
}

/// `count` numbers of all ones.
fn ones(executor: &Executor, count: usize, width: Width) -> Result<UintBatch, IntegerError> {
    UintBatch::zeros(executor, count, width)?.not()
}

impl Modulus {
    /// Prepares m, by the method that its width suggests. One division, and for a device it is waited
    /// for.
    ///
    /// # Errors
    /// [`IntegerError::ZeroModulus`] if a number is 0, [`IntegerError::TooWide`] for more than 2^20
    /// bits; those of every operation (see [`UintBatch`]).
    pub fn new(m: UintBatch) -> Result<Self, IntegerError> {
        let is_cpu = m.executor.is_cpu();
        let long = if is_cpu { LONG_ON_CPU } else { LONG_ON_DEVICES };
        let prepared = Self::prepared(m, |bits| bits >= long)?;
        // On the CPU powers go by Montgomery's residues.
        let powers = prepared.powers && !is_cpu && prepared.m.bits() > LONG_ON_DEVICES;
        Ok(Self { powers, ..prepared })
    }

    /// Prepares m by this method; moduli of different bit lengths are divided by nevertheless.
    ///
    /// # Errors
    /// As [`Self::new`].
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

    /// m.
    #[must_use]
    pub fn modulus(&self) -> &UintBatch {
        &self.m
    }

    /// How remainders are found.
    #[must_use]
    pub fn reduction(&self) -> Reduction {
        if self.barrett.is_some() { Reduction::Barrett } else { Reduction::Division }
    }

    /// u mod m, for u of up to twice the width of m.
    ///
    /// # Errors
    /// Those of every operation (see [`UintBatch`]); [`IntegerError::TooWide`] for a wider u.
    pub fn rem(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        self.narrow("a remainder by a prepared modulus", u.bits())?;
        match &self.barrett {
            Some(barrett) => self.widened(barrett.rem(u)?),
            None => Ok(u.rem(&self.m)?.0),
        }
    }

    /// a·b mod m, for a and b of up to twice the width of m together.
    ///
    /// # Errors
    /// As [`Self::rem`]; [`IntegerError::NoMethod`] as [`UintBatch::mul`].
    pub fn mul(&self, a: &UintBatch, b: &UintBatch) -> Result<UintBatch, IntegerError> {
        self.narrow("a product by a prepared modulus", a.bits() + b.bits())?;
        match &self.barrett {
            Some(barrett) => self.widened(barrett.mul(a, b)?),
            None => Ok(a.mul_mod(b, &self.m)?.0),
        }
    }

    /// a² mod m, for a no wider than m.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn square(&self, a: &UintBatch) -> Result<UintBatch, IntegerError> {
        self.narrow("a square by a prepared modulus", 2 * a.bits())?;
        match &self.barrett {
            Some(barrett) => self.widened(barrett.square(a)?),
            None => Ok(a.square()?.rem(&self.m)?.0),
        }
    }

    /// a^e mod m, for a of up to twice the width of m. a^0 = 1 mod m, also for a = 0.
    ///
    /// One exponent for all, e a batch of one number, costs about log2 e squares modulo m and (log2 e)/6
    /// products, by reciprocals on devices where m has more than 16,384 bits: its windows are read once
    /// on the host, for which a device is waited for, and up to 16 odd powers of each number are kept.
    /// Otherwise it is [`UintBatch::pow_mod`], which takes one exponent for all too, and on the CPU
    /// makes ready a modulus that numbers have in common once for each core (Montgomery 1985).
    ///
    /// # Errors
    /// As [`Self::mul`].
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

    /// The powers of one base, prepared: see [`FixedBase`].
    ///
    /// # Errors
    /// [`IntegerError::NotOne`] unless there is one base and one modulus; as [`Self::mul`].
    pub fn fixed_base(
        &self,
        base: &UintBatch,
        exponents: Width,
    ) -> Result<FixedBase<'_>, IntegerError> {
        FixedBase::new(self, base, exponents)
    }

    /// Refuses operands wider than twice m.
    fn narrow(&self, operation: &'static str, bits: u32) -> Result<(), IntegerError> {
        let most = 2 * self.m.bits();
        if bits > most {
            return Err(IntegerError::TooWide { operation, bits: u64::from(bits), most });
        }
        Ok(())
    }

    /// The width that residues have while they are computed with.
    fn residues(&self) -> Width {
        self.barrett.as_ref().map_or(self.m.width, Barrett::width)
    }

    /// Residues as wide as m.
    fn widened(&self, x: UintBatch) -> Result<UintBatch, IntegerError> {
        if x.width == self.m.width { Ok(x) } else { Ok(x.resized(self.m.width)?.0) }
    }
}
