//! The classes `PreparedModulus` and `PreparedBase`: data that many powers modulo one number share.

use std::sync::Arc;

use pyo3::prelude::*;
use self_cell::self_cell;
use warpint::integer::{FixedBase, Modulus};

use crate::batch::{Batch, width};
use crate::work::work;

/// A modulus, or one modulus per number, prepared for many products and powers.
#[pyclass(frozen, module = "warpint._warpint")]
pub(crate) struct PreparedModulus(Arc<Modulus>);

self_cell!(
    struct BaseOfModulus {
        owner: Arc<Modulus>,
        #[covariant]
        dependent: FixedBase,
    }
);

/// A table of powers of one base modulo one number.
#[pyclass(frozen, module = "warpint._warpint")]
pub(crate) struct PreparedBase(BaseOfModulus);

#[pymethods]
impl PreparedModulus {
    /// Prepares the moduli `m`, none of which may be 0.
    #[new]
    fn new(py: Python<'_>, m: &Batch) -> PyResult<Self> {
        Ok(Self(Arc::new(work(py, || Modulus::new(m.0.try_clone()?))?)))
    }

    /// Returns u mod m. u is at most twice as wide as m.
    fn rem(&self, py: Python<'_>, u: &Batch) -> PyResult<Batch> {
        Ok(work(py, || self.0.rem(&u.0))?.into())
    }

    /// Returns a·b mod m. The sum of the widths of a and b is at most twice that of m.
    fn mul(&self, py: Python<'_>, a: &Batch, b: &Batch) -> PyResult<Batch> {
        Ok(work(py, || self.0.mul(&a.0, &b.0))?.into())
    }

    /// Returns a² mod m. a is no wider than m.
    fn square(&self, py: Python<'_>, a: &Batch) -> PyResult<Batch> {
        Ok(work(py, || self.0.square(&a.0))?.into())
    }

    /// Returns a^e mod m. a is at most twice as wide as m.
    fn pow(&self, py: Python<'_>, a: &Batch, e: &Batch) -> PyResult<Batch> {
        Ok(work(py, || self.0.pow(&a.0, &e.0))?.into())
    }
}

#[pymethods]
impl PreparedBase {
    /// Computes the table of the powers of `base`, one number, for exponents of up to `bits` bits.
    #[new]
    fn new(py: Python<'_>, modulus: &PreparedModulus, base: &Batch, bits: u64) -> PyResult<Self> {
        let modulus = Arc::clone(&modulus.0);
        let table = work(py, || {
            let width = width(bits)?;
            BaseOfModulus::try_new(modulus, |modulus| modulus.fixed_base(&base.0, width))
        })?;
        Ok(Self(table))
    }

    /// Returns base^e mod m for each number of e.
    fn pow(&self, py: Python<'_>, e: &Batch) -> PyResult<Batch> {
        Ok(work(py, || self.0.borrow_dependent().pow(&e.0))?.into())
    }
}
