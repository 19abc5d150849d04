//! Roots and powers.

use std::num::NonZeroU32;

use warpint_device::Buffer;

use super::divide::{buffer, rows};
use crate::storage::Storage;
use crate::{Flagged, Flags, IntegerError, UintBatch, Width, cpu, gpu};

/// An operation modulo a number: a^b or a·b mod m.
#[derive(Debug, Clone, Copy)]
enum Modular {
    Power,
    Product,
}

/// Computes root ← s = ⌊√a⌋ and rem ← a − s².
fn sqrt_rem(a: &UintBatch, root: &mut UintBatch, rem: &mut UintBatch) -> Result<(), IntegerError> {
    match &a.data {
        Storage::Host(x) => {
            let (x, root, rem) = (a.host(x), rows(Some(root))?, rows(Some(rem))?);
            a.executor.on_threads(|| cpu::sqrt_rem(x, a.count, root, rem));
            Ok(())
        }
        Storage::Device(x) => {
            let (root, rem) = (buffer(Some(root))?, buffer(Some(rem))?);
            let to = gpu::SquareRoots { root, remainder: rem };
            Ok(a.executor.gpu()?.square_root(a.on_device(x), a.count, to)?)
        }
    }
}

/// Computes root ← ⌊a^(1/k)⌋.
fn root(a: &UintBatch, k: NonZeroU32, root: &mut UintBatch) -> Result<(), IntegerError> {
    match &a.data {
        Storage::Host(x) => {
            let (x, root) = (a.host(x), rows(Some(root))?);
            a.executor.on_threads(|| cpu::root(x, k, a.count, root));
            Ok(())
        }
        Storage::Device(x) if k.get() == 2 => {
            let to = gpu::SquareRoots { root: buffer(Some(root))?, remainder: None };
            Ok(a.executor.gpu()?.square_root(a.on_device(x), a.count, to)?)
        }
        Storage::Device(_) => {
            Err(IntegerError::OnlyOnCpu { operation: "a root but the square root" })
        }
    }
}

/// Computes x ← a^b mod m or x ← a·b mod m, with the width of m. A flag is set where m = 0.
fn modular(
    what: Modular,
    [a, b, m]: [&UintBatch; 3],
    x: &mut UintBatch,
    flags: &mut Flags,
) -> Result<(), IntegerError> {
    match (&a.data, &b.data, &m.data, &mut flags.data) {
        (Storage::Host(p), Storage::Host(q), Storage::Host(n), Storage::Host(flags)) => {
            let (p, q, n, x) = (a.host(p), b.host(q), m.host(n), rows(Some(x))?);
            a.executor.on_threads(|| match what {
                Modular::Power => cpu::pow_mod(p, q, n, x, flags),
                Modular::Product => cpu::mul_mod(p, q, n, x, flags),
            });
            Ok(())
        }
        (Storage::Device(p), Storage::Device(q), Storage::Device(n), Storage::Device(flags)) => {
            let count = x.count;
            let Storage::Device(out) = &mut x.data else { return Err(IntegerError::Places) };
            let gpu = a.executor.gpu()?;
            let (p, q, n) = (a.on_device(p), b.on_device(q), m.on_device(n));
            match what {
                Modular::Power => Ok(gpu.power(p, q, n, count, out, flags)?),
                Modular::Product => product_on_device([a, b], n, count, out, flags),
            }
        }
        _ => Err(IntegerError::Places),
    }
}

/// Computes out ← a·b mod n on a device, by a product and a division. A flag is set where n = 0.
fn product_on_device(
    [a, b]: [&UintBatch; 2],
    n: gpu::Operand<'_>,
    count: usize,
    out: &mut Buffer<u32>,
    flags: &mut Buffer<u8>,
) -> Result<(), IntegerError> {
    let product = a.mul(b)?;
    let Storage::Device(data) = &product.data else { return Err(IntegerError::Places) };
    let to = gpu::Quotients { remainder: Some(out), flags: Some(flags), ..Default::default() };
    Ok(a.executor.gpu()?.divide(product.on_device(data), n, count, to)?)
}

impl UintBatch {
    fn modular(&self, what: Modular, b: &Self, m: &Self) -> Result<Flagged<Self>, IntegerError> {
        // If two of the three pairs of counts fit, all three do: a count of one fits every other.
        let count = match (self.count_with(b)?, self.count_with(m)?) {
            (1, with_m) => with_m,
            (with_b, _) => with_b,
        };
        b.count_with(m)?;
        let (mut x, mut flags) = self.flagged_output(count, m.width)?;
        modular(what, [self, b, m], &mut x, &mut flags)?;
        Ok((x, flags))
    }

    /// Returns a^e mod m, where a is `self`. The result is less than m and has the width of m.
    /// Where m = 0, the flag is set and the result is 0. Each of the three operands may be a batch
    /// of one number, which is then used for all results. a^0 is 1 mod m, also for a = 0. Modulo 1
    /// the result is 0.
    ///
    /// Costs about log2 e squarings and (log2 e)/6 products modulo m, and a division if a is wider
    /// than m. Let m = 2^k·o with an odd o.
    /// The power modulo o is computed by Montgomery's products (Montgomery 1985), the power modulo
    /// 2^k by low products, and both are combined by Garner's formula (1959). On devices, moduli of
    /// 1,025 to 16,384 bits use residues modulo two sets of primes just below 2^32 (Kawamura and
    /// others 2000). Longer moduli use products and remainders. If a prime of the first set divides
    /// a nonzero modulus of the batch, the whole batch is computed again by products and
    /// remainders. The time depends on the numbers: do not use this method with secret numbers.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn pow_mod(&self, e: &Self, m: &Self) -> Result<Flagged<Self>, IntegerError> {
        if self.width > m.width {
            // One division instead of wider products throughout.
            let (base, _) = self.rem(m)?;
            return base.modular(Modular::Power, e, m);
        }
        self.modular(Modular::Power, e, m)
    }

    /// Returns a·b mod m, where a is `self`. The result has the width of m. Where m = 0, the flag
    /// is set and the result is 0. Each of the three operands may be a batch of one number, which
    /// is then used for all results.
    ///
    /// # Errors
    /// The errors common to all operations (see [`UintBatch`]); on a device also the errors of
    /// [`Self::mul`].
    pub fn mul_mod(&self, b: &Self, m: &Self) -> Result<Flagged<Self>, IntegerError> {
        self.modular(Modular::Product, b, m)
    }

    /// Returns the roots s = ⌊√a⌋ and the remainders a − s² ≤ 2s, where a is `self`. If a has l
    /// limbs of 32 bits, s has ⌈l/2⌉ limbs and a − s² has ⌈l/2⌉ + 1 limbs.
    ///
    /// Costs as much as some products and divisions of half the width (Zimmermann 1999). On devices
    /// the cost is O(l²) for up to a few hundred limbs.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn sqrt_rem(&self) -> Result<(Self, Self), IntegerError> {
        let limbs = self.width.limbs().div_ceil(2);
        let mut root = self.output(self.count, Width::of_limbs(limbs))?;
        let mut rem = self.output(self.count, Width::of_limbs(limbs + 1))?;
        sqrt_rem(self, &mut root, &mut rem)?;
        Ok((root, rem))
    }

    /// Returns ⌊a^(1/k)⌋, where a is `self`. If a has l limbs of 32 bits, the result has ⌈l/k⌉
    /// limbs.
    ///
    /// Costs as much as about log l powers and divisions of the width of a (Newton's iteration).
    /// Devices support only k = 2, by the method of [`Self::sqrt_rem`].
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn root(&self, k: NonZeroU32) -> Result<Self, IntegerError> {
        let limbs = self.width.limbs().div_ceil(k.get() as usize);
        let mut r = self.output(self.count, Width::of_limbs(limbs))?;
        root(self, k, &mut r)?;
        Ok(r)
    }
}
