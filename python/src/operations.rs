//! The operations of `Batch`. Each calls the operation of the library with the same name.

use std::num::NonZeroU32;

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpint::integer::{IntegerError, PrimalityTest, UintBatch};

use crate::batch::{Batch, FlagArray, width};
use crate::work::work;

/// Results and flags of the numbers without a result.
type Flagged = (Batch, FlagArray);

fn plain(
    py: Python<'_>,
    job: impl FnOnce() -> Result<UintBatch, IntegerError> + Send,
) -> PyResult<Batch> {
    Ok(work(py, job)?.into())
}

fn flagged(
    py: Python<'_>,
    job: impl FnOnce() -> Result<warpint::integer::Flagged<UintBatch>, IntegerError> + Send,
) -> PyResult<Flagged> {
    let (result, flags) = work(py, job)?;
    Ok((result.into(), FlagArray(flags)))
}

#[pymethods]
impl Batch {
    /// Returns a + b mod 2^w, where w is the largest of `bits` and the widths of the operands.
    fn add(&self, py: Python<'_>, b: &Self, bits: u64) -> PyResult<Self> {
        plain(py, || self.0.add_to_width(&b.0, width(bits)?))
    }

    /// Returns a − b mod 2^w; flags a < b.
    fn sub(&self, py: Python<'_>, b: &Self) -> PyResult<Flagged> {
        flagged(py, || self.0.sub(&b.0))
    }

    /// Returns a·b.
    fn mul(&self, py: Python<'_>, b: &Self) -> PyResult<Self> {
        plain(py, || self.0.mul(&b.0))
    }

    /// Returns a².
    fn square(&self, py: Python<'_>) -> PyResult<Self> {
        plain(py, || self.0.square())
    }

    /// Returns ⌊a/d⌋, a mod d; flags d = 0.
    fn div_rem(&self, py: Python<'_>, d: &Self) -> PyResult<(Self, Self, FlagArray)> {
        let ((q, r), flags) = work(py, || self.0.div_rem(&d.0))?;
        Ok((q.into(), r.into(), FlagArray(flags)))
    }

    /// Returns ⌊a/d⌋; flags d = 0.
    fn div(&self, py: Python<'_>, d: &Self) -> PyResult<Flagged> {
        flagged(py, || self.0.div(&d.0))
    }

    /// Returns a mod d; flags d = 0.
    fn rem(&self, py: Python<'_>, d: &Self) -> PyResult<Flagged> {
        flagged(py, || self.0.rem(&d.0))
    }

    /// Returns a mod 2^w, where w is `bits`, rounded up to a multiple of 32; flags a ≥ 2^w.
    fn resized(&self, py: Python<'_>, bits: u64) -> PyResult<Flagged> {
        flagged(py, || self.0.resized(width(bits)?))
    }

    /// Returns gcd(a, b).
    fn gcd(&self, py: Python<'_>, b: &Self) -> PyResult<Self> {
        plain(py, || self.0.gcd(&b.0))
    }

    /// Returns g = gcd(a, b), |x|, x < 0, |y|, y < 0 with x·a + y·b = g.
    fn gcd_ext(
        &self,
        py: Python<'_>,
        b: &Self,
    ) -> PyResult<(Self, Self, FlagArray, Self, FlagArray)> {
        let r = work(py, || self.0.gcd_ext(&b.0))?;
        Ok((r.gcd.into(), r.x.into(), FlagArray(r.x_negative), r.y.into(), FlagArray(r.y_negative)))
    }

    /// Returns the inverse of a modulo m; flags numbers without one.
    fn mod_inv(&self, py: Python<'_>, m: &Self) -> PyResult<Flagged> {
        flagged(py, || self.0.mod_inv(&m.0))
    }

    /// Returns a^e mod m; flags m = 0.
    fn pow_mod(&self, py: Python<'_>, e: &Self, m: &Self) -> PyResult<Flagged> {
        flagged(py, || self.0.pow_mod(&e.0, &m.0))
    }

    /// Returns a·b mod m; flags m = 0.
    fn mul_mod(&self, py: Python<'_>, b: &Self, m: &Self) -> PyResult<Flagged> {
        flagged(py, || self.0.mul_mod(&b.0, &m.0))
    }

    /// Returns s = ⌊√a⌋ and a − s².
    fn sqrt_rem(&self, py: Python<'_>) -> PyResult<(Self, Self)> {
        let (root, rem) = work(py, || self.0.sqrt_rem())?;
        Ok((root.into(), rem.into()))
    }

    /// Returns ⌊a^(1/k)⌋. A device has square roots only.
    fn root(&self, py: Python<'_>, k: u32) -> PyResult<Self> {
        let k = NonZeroU32::new(k).ok_or_else(|| PyValueError::new_err("the root 0"))?;
        plain(py, || self.0.root(k))
    }

    /// Returns the bitwise AND.
    fn and_(&self, py: Python<'_>, b: &Self) -> PyResult<Self> {
        plain(py, || self.0.and(&b.0))
    }

    /// Returns the bitwise OR.
    fn or_(&self, py: Python<'_>, b: &Self) -> PyResult<Self> {
        plain(py, || self.0.or(&b.0))
    }

    /// Returns the bitwise XOR.
    fn xor(&self, py: Python<'_>, b: &Self) -> PyResult<Self> {
        plain(py, || self.0.xor(&b.0))
    }

    /// Returns a·2^bits mod 2^w, where w is the width of a.
    fn shl(&self, py: Python<'_>, bits: u32) -> PyResult<Self> {
        plain(py, || self.0.shl(bits))
    }

    /// Returns ⌊a/2^bits⌋, with the width of a.
    fn shr(&self, py: Python<'_>, bits: u32) -> PyResult<Self> {
        plain(py, || self.0.shr(bits))
    }

    /// Returns the smaller number of each pair.
    fn min(&self, py: Python<'_>, b: &Self) -> PyResult<Self> {
        plain(py, || self.0.min(&b.0))
    }

    /// Returns the larger number of each pair.
    fn max(&self, py: Python<'_>, b: &Self) -> PyResult<Self> {
        plain(py, || self.0.max(&b.0))
    }

    /// Returns −1 where a < b, 0 where a = b, and 1 where a > b. Waits for the device.
    fn compare<'py>(&self, py: Python<'py>, b: &Self) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let signs = work(py, || self.0.compare(&b.0))?;
        Ok(signs.into_iter().map(|sign| sign as i8).collect::<Vec<_>>().into_pyarray(py))
    }

    /// Returns the bit length of each number. Waits for the device.
    fn bit_lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(work(py, || self.0.bit_lengths())?.into_pyarray(py))
    }

    /// Returns whether each number passes the Baillie–PSW test or, if bases are given, the strong
    /// tests to these bases. Waits for the device.
    #[pyo3(signature = (bases=None))]
    fn is_probable_prime<'py>(
        &self,
        py: Python<'py>,
        bases: Option<Vec<u32>>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let primes = work(py, || {
            let test = match bases {
                Some(bases) => PrimalityTest::strong(&bases)?,
                None => PrimalityTest::baillie_psw(),
            };
            self.0.is_probable_prime(&test)
        })?;
        Ok(primes.into_pyarray(py))
    }
}
