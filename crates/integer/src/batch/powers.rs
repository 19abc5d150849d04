//! Roots and powers.

use std::num::NonZeroU32;

use warpint_device::Buffer;

use super::divide::{buffer, rows};
use crate::storage::Storage;
use crate::{Flagged, Flags, IntegerError, UintBatch, Width, cpu, gpu};

/// What is computed modulo a number.
#[derive(Debug, Clone, Copy)]
enum Modular {
    Power,
    Product,
}

/// root ← s = ⌊√a⌋ and rem ← a − s².
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

/// root ← ⌊a^(1/k)⌋.
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

/// x ← a^b or a·b mod m, of the width of m; the flags: m = 0.
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

/// out ← a·b mod n: the product, then its remainder.
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
        // All three go together if two pairs do, for a count of one goes with every other.
        let count = match (self.count_with(b)?, self.count_with(m)?) {
            (1, with_m) => with_m,
            (with_b, _) => with_b,
        };
        b.count_with(m)?;
        let (mut x, mut flags) = self.flagged_output(count, m.width)?;
        modular(what, [self, b, m], &mut x, &mut flags)?;
        Ok((x, flags))
    }

    /// a^e mod m, 0 ≤ a^e mod m < m, of the width of m; and whether m = 0: then it is 0. Any of
    /// the three may have a single number. a^0 = 1 mod m, also for a = 0; modulo 1 all is 0.
    ///
    /// About log2 e squares and (log2 e)/6 products modulo m: odd parts of m by Montgomery's
    /// residues (Montgomery 1985), even ones by low parts of products, together by Garner's
    /// formula (1959). On devices moduli of 1,025 to 16,384 bits go by residues modulo primes just
    /// below 2^32 (Kawamura and others 2000), longer ones by products and remainders, and so does a
    /// whole batch in which one of those primes divides a modulus, after that has been found.
    /// The time depends on the numbers: this is not for secrets.
    ///
    /// # Errors
    /// Those of every operation: see [`UintBatch`].
    pub fn pow_mod(&self, e: &Self, m: &Self) -> Result<Flagged<Self>, IntegerError> {
        self.modular(Modular::Power, e, m)
    }

    /// a·b mod m, of the width of m; and whether m = 0: then it is 0. Any of the three may have
    /// a single number.
    ///
    /// # Errors
    /// Those of every operation: see [`UintBatch`].
    pub fn mul_mod(&self, b: &Self, m: &Self) -> Result<Flagged<Self>, IntegerError> {
        self.modular(Modular::Product, b, m)
    }

    /// s = ⌊√a⌋, of ⌈l/2⌉ limbs for l limbs of 32 bits of a, and a − s² ≤ 2s, of one limb more.
    ///
    /// Cost of some products and divisions of half the width (Zimmermann 1999); on devices O(l²) for up
    /// to some hundred limbs.
    ///
    /// # Errors
    /// Those of every operation: see [`UintBatch`].
    pub fn sqrt_rem(&self) -> Result<(Self, Self), IntegerError> {
        let limbs = self.width.limbs().div_ceil(2);
        let mut root = self.output(self.count, Width::of_limbs(limbs))?;
        let mut rem = self.output(self.count, Width::of_limbs(limbs + 1))?;
        sqrt_rem(self, &mut root, &mut rem)?;
        Ok((root, rem))
    }

    /// ⌊a^(1/k)⌋, of ⌈l/k⌉ limbs for l limbs of 32 bits of a.
    ///
    /// Cost of some log l powers and divisions of the width of a (Newton's iteration). On devices there
    /// is the square root alone, as of [`Self::sqrt_rem`].
    ///
    /// # Errors
    /// Those of every operation: see [`UintBatch`].
    pub fn root(&self, k: NonZeroU32) -> Result<Self, IntegerError> {
        let limbs = self.width.limbs().div_ceil(k.get() as usize);
        let mut r = self.output(self.count, Width::of_limbs(limbs))?;
        root(self, k, &mut r)?;
        Ok(r)
    }
}
