//! The class `Batch`: numbers of one width on the CPU or on a device, from and to NumPy.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::ndarray::ArrayView2;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpint::integer::{Executor, Flags, IntegerError, UintBatch, Width};

use crate::error::exception;
use crate::place::{executor, name};
use crate::work::work;

/// A batch whose memory other libraries may use.
#[derive(Debug)]
pub(crate) struct Shared {
    batch: UintBatch,
    /// Whether another library has received the address of device memory.
    exported: AtomicBool,
}

impl Shared {
    /// Notes that another library receives the address of the memory.
    pub(crate) fn export(&self) {
        self.exported.store(true, Ordering::Relaxed);
    }
}

impl Deref for Shared {
    type Target = UintBatch;

    fn deref(&self) -> &UintBatch {
        &self.batch
    }
}

/// Freed memory is used again at once, so the work of others must be done before.
impl Drop for Shared {
    fn drop(&mut self) {
        if *self.exported.get_mut()
            && let Some(device) = self.batch.executor().device()
        {
            // A failure is reported by the next call.
            let _ = device.synchronize_all();
        }
    }
}

/// Numbers of one width, a multiple of 32 bits, on the CPU or on a device. Immutable. Number i is
/// row i of a matrix of 32-bit limbs, the lowest limb first.
#[pyclass(frozen, module = "warpint._warpint")]
pub(crate) struct Batch(pub(crate) Arc<Shared>);

impl From<UintBatch> for Batch {
    fn from(batch: UintBatch) -> Self {
        Self(Arc::new(Shared { batch, exported: AtomicBool::new(false) }))
    }
}

/// One flag per number. A set flag marks a number without a result.
#[pyclass(frozen, module = "warpint._warpint")]
pub(crate) struct FlagArray(pub(crate) Flags);

#[pymethods]
impl FlagArray {
    /// Returns the flags. Waits for the device.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let flags = work(py, || self.0.to_vec())?;
        Ok(flags.into_iter().map(|flag| flag != 0).collect::<Vec<_>>().into_pyarray(py))
    }
}

/// Returns the least width of the library that holds numbers of `bits` bits: the next multiple of
/// 32 bits.
pub(crate) fn width(bits: u64) -> Result<Width, IntegerError> {
    // A result may be twice as wide as a factor.
    let most = 2 * Width::MAX_BITS;
    let rounded = u32::try_from(bits).ok().filter(|&bits| bits <= most);
    let Some(rounded) = rounded.map(|bits| bits.div_ceil(32) * 32) else {
        return Err(IntegerError::TooWide { operation: "a width", bits, most });
    };
    match rounded.checked_sub(Width::MAX_BITS) {
        None | Some(0) => Width::new(rounded),
        Some(rest) => Width::new(Width::MAX_BITS)?.of_product(Width::new(rest)?),
    }
}

/// Returns the elements of a C-contiguous matrix.
fn contiguous<'a>(limbs: &'a PyReadonlyArray2<'_, u32>) -> PyResult<&'a [u32]> {
    let elements = limbs.as_slice().ok().filter(|_| limbs.is_c_contiguous());
    elements.ok_or_else(|| {
        PyValueError::new_err("the limbs are not C-contiguous: use numpy.ascontiguousarray")
    })
}

#[pymethods]
impl Batch {
    /// Copies a C-contiguous matrix of limbs with at least one column.
    #[staticmethod]
    fn from_limbs(
        py: Python<'_>,
        limbs: PyReadonlyArray2<'_, u32>,
        device: &str,
    ) -> PyResult<Self> {
        let bits = (limbs.shape()[1] as u64).saturating_mul(32);
        let limbs = contiguous(&limbs)?;
        let batch = work(py, || UintBatch::from_limbs(&executor(device)?, width(bits)?, limbs))?;
        Ok(batch.into())
    }

    /// Uses the memory of a C-contiguous matrix of limbs, with at least one column, without a copy.
    /// The caller in Python has checked that the memory cannot be written.
    #[staticmethod]
    fn from_immutable(limbs: PyReadonlyArray2<'_, u32>) -> PyResult<Self> {
        let width = width((limbs.shape()[1] as u64).saturating_mul(32)).map_err(exception)?;
        let place = executor("cpu").map_err(exception)?;
        let owner = Box::new((*limbs).clone().unbind());
        let elements = contiguous(&limbs)?;
        // SAFETY: the owner keeps the array and so its memory, which cannot be written.
        let batch = unsafe { UintBatch::from_foreign(&place, width, elements, owner) };
        Ok(batch.map_err(exception)?.into())
    }

    /// Copies numbers of bits/8 bytes each, the lowest byte first. `bits` is a multiple of 32.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], bits: u64, device: &str) -> PyResult<Self> {
        let batch = work(py, || UintBatch::from_bytes_le(&executor(device)?, width(bits)?, bytes))?;
        Ok(batch.into())
    }

    /// Returns the limbs as a read-only matrix: without a copy on the CPU, else a copy on the host.
    fn limbs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let py = slf.py();
        let batch = &slf.get().0;
        let shape = [batch.count(), batch.width().limbs()];
        let Some(limbs) = batch.as_limbs() else {
            let copy = work(py, || batch.to_limbs())?.into_pyarray(py).reshape(shape)?;
            return Ok(copy
                .readwrite()
                .make_nonwriteable()
                .as_any()
                .cast::<PyArray2<u32>>()?
                .clone());
        };
        let view = ArrayView2::from_shape(shape, limbs)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        // SAFETY: the limbs are not moved or changed while the batch exists, which the array owns.
        let array = unsafe { PyArray2::borrow_from_array(&view, slf.clone().into_any()) };
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// Returns the bytes of number i, the lowest first. Copies this number alone from a device.
    fn row<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyBytes>> {
        let limbs = self.0.width().limbs();
        if i >= self.0.count() {
            return Err(PyIndexError::new_err("index out of range"));
        }
        let range = i * limbs..(i + 1) * limbs;
        let bytes = |row: &[u32]| row.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let row: Vec<u8> = match (self.0.as_limbs(), self.0.buffer()) {
            (Some(all), _) => bytes(&all[range]),
            (None, Some(buffer)) => bytes(&work(py, || Ok(buffer.download_part(range)?))?),
            (None, None) => return Err(exception(IntegerError::Places)),
        };
        Ok(PyBytes::new(py, &row))
    }

    /// Returns the numbers from `start` to `stop` − 1. Copies on the device of the batch.
    fn slice(&self, py: Python<'_>, start: usize, stop: usize) -> PyResult<Self> {
        if start > stop || stop > self.0.count() {
            return Err(PyIndexError::new_err("slice out of range"));
        }
        let limbs = self.0.width().limbs();
        let range = start * limbs..stop * limbs;
        let (place, width) = (self.0.executor(), self.0.width());
        let part = work(py, || match (self.0.as_limbs(), self.0.buffer()) {
            (Some(all), _) => UintBatch::from_limbs(place, width, &all[range]),
            (None, Some(buffer)) => {
                let mut part = on_device(place)?.alloc(range.len())?;
                part.cells(..).copy_from(buffer.view(range))?;
                UintBatch::from_buffer(place, width, part)
            }
            (None, None) => Err(IntegerError::Places),
        })?;
        Ok(part.into())
    }

    /// Returns a copy on the CPU or on a device.
    fn to(&self, py: Python<'_>, device: &str) -> PyResult<Self> {
        Ok(work(py, || self.0.copy_to(&executor(device)?))?.into())
    }

    /// The count of the numbers.
    #[getter]
    fn count(&self) -> usize {
        self.0.count()
    }

    /// The width of the numbers in bits, a multiple of 32.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// The name of the device: `cpu`, `cuda:0`, …
    #[getter]
    fn device(&self) -> String {
        name(self.0.executor())
    }
}

/// Returns the device of an executor.
pub(crate) fn on_device(place: &Executor) -> Result<&warpint::device::Device, IntegerError> {
    place.device().ok_or(IntegerError::Places)
}
