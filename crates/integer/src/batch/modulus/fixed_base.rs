//! Powers of one base modulo one number, by a table.

use super::Modulus;
use super::products::Products;
use crate::operation::TableRows;
use crate::storage::Storage;
use crate::{IntegerError, UintBatch, Width, cpu};

/// Powers of one base modulo one number, by a table of powers of the base (Brickell, Gordon,
/// McCurley and Wilson 1992, Fast exponentiation with precomputation; Yao 1976). With the base b,
/// the modulus m, and the digits e_k < 2^w of an exponent e in base 2^w,
///
/// ```text
/// b^e = Π_k T(k, e_k) mod m,   T(k, d) = b^(d·2^(w·k)) mod m.
/// ```
///
/// The table for exponents of up to E bits has 2^w·⌈E/w⌉ residues. A power takes at most ⌈E/w⌉ − 1
/// products modulo m and no squarings. The window w is the largest number from 1 to 6 for which the
/// table takes at most 256 MiB, or 1 if there is none. Filling the table takes about E successive
/// squarings of one number, and 2^w − 2 products of batches of ⌈E/w⌉ numbers.
///
/// The time and the table entries read depend on the exponents: do not use this type with secret
/// exponents.
#[derive(Debug)]
pub struct FixedBase<'m> {
    modulus: &'m Modulus,
    exponents: Width,
    window: usize,
    windows: usize,
    /// The table of residues. Row d·windows + k is b^(d·2^(window·k)) mod m, where b is the base
    /// and m the modulus.
    table: UintBatch,
}

/// The largest size in bytes of a table with windows of more than one bit.
const MOST_BYTES: usize = 256 << 20;

/// Returns the window, in bits, for exponents of `bits` bits and residues of `limbs` limbs: the
/// largest window up to 6 bits for which the table takes at most [`MOST_BYTES`], or 1 if there is
/// none.
fn window(bits: usize, limbs: usize) -> usize {
    let bytes = |w: usize| bits.div_ceil(w).saturating_mul(4 * limbs) << w;
    (1..=6).rev().find(|&w| bytes(w) <= MOST_BYTES).unwrap_or(1)
}

impl<'m> FixedBase<'m> {
    /// Computes the table for a base that is at most twice as wide as the modulus, and for
    /// exponents of up to the width `exponents`.
    pub(super) fn new(
        modulus: &'m Modulus,
        base: &UintBatch,
        exponents: Width,
    ) -> Result<Self, IntegerError> {
        let one = |what, of: &UintBatch| match of.count {
            1 => Ok(()),
            count => Err(IntegerError::NotOne { what, count }),
        };
        one("the modulus of a fixed base", &modulus.m)?;
        one("a fixed base", base)?;
        let bits = exponents.bits() as usize;
        let window = window(bits, modulus.residues().limbs());
        Self::with_window(modulus, base, exponents, window)
    }

    /// Like `new`, with windows of a given number of bits.
    pub(super) fn with_window(
        modulus: &'m Modulus,
        base: &UintBatch,
        exponents: Width,
        window: usize,
    ) -> Result<Self, IntegerError> {
        let windows = (exponents.bits() as usize).div_ceil(window);
        let executor = &modulus.m.executor;
        // T(k, 1) follows from T(k − 1, 1) by w squarings.
        let mut products = Products::new(modulus, 1)?;
        let (mut power, mut other) = (products.residue(base)?, products.numbers()?);
        let mut firsts = power.to_limbs()?;
        for _ in 1..windows {
            for _ in 0..window {
                products.square(&power, &mut other)?;
                std::mem::swap(&mut power, &mut other);
            }
            firsts.extend(power.to_limbs()?);
        }
        // T(k, d) = T(k, d − 1)·T(k, 1), for all k at once.
        let width = modulus.residues();
        let mut products = Products::new(modulus, windows)?;
        let mut all = products.one()?.to_limbs()?;
        let firsts = UintBatch::from_vec(executor, width, firsts)?;
        let (mut last, mut next) = (firsts.try_clone()?, products.numbers()?);
        for d in 1..1 << window {
            if d > 1 {
                products.mul(&last, &firsts, &mut next)?;
                std::mem::swap(&mut last, &mut next);
            }
            all.extend(last.to_limbs()?);
        }
        let table = UintBatch::from_vec(executor, width, all)?;
        Ok(Self { modulus, exponents, window, windows, table })
    }

    /// Returns b^e mod m for each number of `e`, where b is the base and m the modulus. The results
    /// have the width of m. b^0 is 1 mod m, also for b = 0.
    ///
    /// # Errors
    /// The errors common to all operations (see [`UintBatch`]); [`IntegerError::TooWide`] for
    /// exponents wider than the table supports.
    pub fn pow(&self, e: &UintBatch) -> Result<UintBatch, IntegerError> {
        if e.width > self.exponents {
            let (bits, most) = (u64::from(e.bits()), self.exponents.bits());
            return Err(IntegerError::TooWide { operation: "a power of a fixed base", bits, most });
        }
        e.count_with(&self.modulus.m)?;
        let mut products = Products::new(self.modulus, e.count)?;
        let mut power = products.numbers()?;
        self.take(e, 0, &mut power)?;
        let (mut factor, mut other) = (products.numbers()?, products.numbers()?);
        // Further windows of the exponents are 0.
        let windows = (e.bits() as usize).div_ceil(self.window).min(self.windows);
        for k in 1..windows {
            self.take(e, k, &mut factor)?;
            products.mul(&power, &factor, &mut other)?;
            std::mem::swap(&mut power, &mut other);
        }
        self.modulus.widened(power)
    }

    /// Reads r_i ← b^(d·2^(window·k)) mod m from the table, where b is the base and m is the
    /// modulus. d is digit k of the exponent e_i in base 2^window.
    fn take(&self, e: &UintBatch, k: usize, r: &mut UintBatch) -> Result<(), IntegerError> {
        let (bit, window) = (k * self.window, self.window);
        let rows = TableRows { bit, window, step: self.windows, first: k };
        match (&self.table.data, &e.data, &mut r.data) {
            (Storage::Host(table), Storage::Host(x), Storage::Host(out)) => {
                let limbs = self.table.width.limbs();
                let (table, x) = (cpu::Operand::new(table, limbs, false), e.host(x));
                e.executor.on_threads(|| cpu::take(table, x, rows, out));
                Ok(())
            }
            (Storage::Device(table), Storage::Device(x), Storage::Device(out)) => {
                let (table, x) = (self.table.on_device(table), e.on_device(x));
                Ok(e.executor.gpu()?.take(table, x, rows, r.count, out)?)
            }
            _ => Err(IntegerError::Places),
        }
    }
}
