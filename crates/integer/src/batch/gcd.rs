//! Greatest common divisors and modular inverses.

use warpint_device::Buffer;

use super::divide::rows;
use super::sum::host_flags;
use crate::storage::Storage;
use crate::{Flagged, Flags, IntegerError, UintBatch, cpu, gpu};

/// The greatest common divisors g of pairs of numbers a and b, with cofactors x and y such that g =
/// x·a + y·b. Cofactors are stored as absolute values and signs.
#[derive(Debug)]
pub struct GcdExt {
    /// g = gcd(a, b), with the larger of the widths of a and b.
    pub gcd: UintBatch,
    /// The absolute value of x, with the width of b.
    pub x: UintBatch,
    /// The sign of x: a flag is set where x < 0.
    pub x_negative: Flags,
    /// The absolute value of y, with the width of a.
    pub y: UintBatch,
    /// The sign of y: a flag is set where y < 0.
    pub y_negative: Flags,
}

/// Returns the device memory `data`. Returns [`IntegerError::Places`] if `data` is on the host.
fn on_device<T>(data: &mut Storage<T>) -> Result<&mut Buffer<T>, IntegerError> {
    match data {
        Storage::Device(data) => Ok(data),
        Storage::Host(_) => Err(IntegerError::Places),
    }
}

/// Computes g ← gcd(a, b), with the larger of the widths of a and b.
fn gcd(a: &UintBatch, b: &UintBatch, g: &mut UintBatch) -> Result<(), IntegerError> {
    match (&a.data, &b.data) {
        (Storage::Host(x), Storage::Host(y)) => {
            let (x, y, count, g) = (a.host(x), b.host(y), g.count, rows(Some(g))?);
            a.executor.on_threads(|| cpu::gcd(x, y, count, g));
            Ok(())
        }
        (Storage::Device(x), Storage::Device(y)) => {
            let gpu = a.executor.gpu()?;
            Ok(gpu.gcd(a.on_device(x), b.on_device(y), g.count, on_device(&mut g.data)?)?)
        }
        _ => Err(IntegerError::Places),
    }
}

/// Like [`gcd`], but also computes cofactors.
fn gcd_ext(a: &UintBatch, b: &UintBatch, r: &mut GcdExt) -> Result<(), IntegerError> {
    match (&a.data, &b.data) {
        (Storage::Host(x), Storage::Host(y)) => {
            let (x, y) = (a.host(x), b.host(y));
            let results = [rows(Some(&mut r.gcd))?, rows(Some(&mut r.x))?, rows(Some(&mut r.y))?];
            let signs = [host_flags(&mut r.x_negative.data)?, host_flags(&mut r.y_negative.data)?];
            a.executor.on_threads(|| cpu::gcd_ext(x, y, results, signs));
            Ok(())
        }
        (Storage::Device(x), Storage::Device(y)) => {
            let count = r.gcd.count;
            let to = gpu::Cofactors {
                gcd: on_device(&mut r.gcd.data)?,
                x: on_device(&mut r.x.data)?,
                y: on_device(&mut r.y.data)?,
                x_negative: on_device(&mut r.x_negative.data)?,
                y_negative: on_device(&mut r.y_negative.data)?,
            };
            Ok(a.executor.gpu()?.gcd_ext(a.on_device(x), b.on_device(y), count, to)?)
        }
        _ => Err(IntegerError::Places),
    }
}

/// Computes x ← a^(−1) mod m, with the width of m. A flag is set where no inverse exists.
fn inverse(
    a: &UintBatch,
    m: &UintBatch,
    x: &mut UintBatch,
    flags: &mut Flags,
) -> Result<(), IntegerError> {
    match (&a.data, &m.data, &mut flags.data) {
        (Storage::Host(n), Storage::Host(d), Storage::Host(flags)) => {
            let (n, d, x) = (a.host(n), m.host(d), rows(Some(x))?);
            a.executor.on_threads(|| cpu::inverse(n, d, x, flags));
            Ok(())
        }
        (Storage::Device(n), Storage::Device(d), Storage::Device(flags)) => {
            let (gpu, out) = (a.executor.gpu()?, on_device(&mut x.data)?);
            Ok(gpu.inverse(a.on_device(n), m.on_device(d), x.count, out, flags)?)
        }
        _ => Err(IntegerError::Places),
    }
}

impl UintBatch {
    /// Returns gcd(a, b), where a is `self`. The result has the larger width of a and b. gcd(a, 0)
    /// is a.
    ///
    /// Costs O(n²) for n limbs (Lehmer 1938; on devices Bernstein and Yang 2019). On the CPU, the
    /// cost for long numbers is below O(n²) (Möller 2008). Numbers of 2^20 bits need a device with
    /// 140 KiB of shared memory per block; every device has enough for 2^18 bits. These limits also
    /// hold for cofactors and inverses.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn gcd(&self, b: &Self) -> Result<Self, IntegerError> {
        let mut g = self.output(self.count_with(b)?, self.width.max(b.width))?;
        gcd(self, b, &mut g)?;
        Ok(g)
    }

    /// Like [`Self::gcd`], but writes the greatest common divisors to `into`, which has the larger
    /// width of `self` and `b`, and allocates no result.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn gcd_into(&self, b: &Self, into: &mut Self) -> Result<(), IntegerError> {
        self.fits(self.count_with(b)?, self.width.max(b.width), into)?;
        gcd(self, b, into)
    }

    /// Returns g = gcd(a, b) and cofactors x and y with x·a + y·b = g, where a is `self`. Of all
    /// possible x, returns the one with the least absolute value. If two possible x have this
    /// absolute value, returns the positive one. So |x| ≤ max(1, b/(2g)) and |y| ≤ max(1, a/(2g)).
    /// For b = 0, x = 1 and y = 0. If a is also 0, then g, x and y are all 0.
    ///
    /// Costs as much as [`Self::gcd`], one product and some quotients. A device needs temporary
    /// memory for ten numbers of the larger width per pair.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn gcd_ext(&self, b: &Self) -> Result<GcdExt, IntegerError> {
        let count = self.count_with(b)?;
        let (x, x_negative) = self.flagged_output(count, b.width)?;
        let (y, y_negative) = self.flagged_output(count, self.width)?;
        let gcd = self.output(count, self.width.max(b.width))?;
        let mut r = GcdExt { gcd, x, x_negative, y, y_negative };
        gcd_ext(self, b, &mut r)?;
        Ok(r)
    }

    /// Returns the inverse of a modulo m, where a is `self`: x with a·x ≡ 1 mod m and 0 ≤ x < m.
    /// The result has the width of m. Where no inverse exists, because gcd(a, m) > 1 or m = 0, the
    /// flag is set and the result is 0. Modulo 1 the inverse is 0.
    ///
    /// Costs as much as [`Self::gcd`]. On a device, waits for the operations submitted before. If
    /// any number of the batch has an inverse modulo an even m, a device computes one more product
    /// and one more quotient for every number.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn mod_inv(&self, m: &Self) -> Result<Flagged<Self>, IntegerError> {
        let (mut x, mut flags) = self.flagged_output(self.count_with(m)?, m.width)?;
        inverse(self, m, &mut x, &mut flags)?;
        Ok((x, flags))
    }
}
