//! Takes arrays of other libraries.

use std::ffi::CStr;

use pyo3::exceptions::{PyBufferError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi as python;
use pyo3::intern;
use pyo3::prelude::*;
use warpint::device::{Buffer, Device};
use warpint::integer::{IntegerError, UintBatch, Width};

use super::ffi::{self, DataType, ExchangeApi, Managed, ManagedVersioned, Tensor};
use crate::batch::{Batch, on_device, width};
use crate::ending::is_ending;
use crate::place::executor;
use crate::work::work;

/// The alignment in bytes of memory that a device uses without a copy.
const ALIGNMENT: u64 = 256;

/// The array of a consumed capsule. Dropping it gives the array back to its producer.
enum Taken {
    Old(*mut Managed),
    Versioned(*mut ManagedVersioned),
}

// SAFETY: DLPack lets a consumer call the deleter from any thread.
unsafe impl Send for Taken {}
// SAFETY: nothing is done through a shared reference.
unsafe impl Sync for Taken {}

impl Drop for Taken {
    fn drop(&mut self) {
        // A producer in Python may need its lock. At the end of the interpreter, the memory leaks.
        if is_ending() {
            return;
        }
        // SAFETY: the capsule was consumed, so that this is the only call of the deleter.
        Python::try_attach(|_| unsafe {
            match *self {
                Self::Old(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
                Self::Versioned(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
            }
        });
    }
}

/// A C-contiguous matrix of limbs in the memory of another library.
#[derive(Debug, Clone, Copy)]
struct Matrix {
    address: u64,
    count: usize,
    /// Limbs of 32 bits per number.
    limbs: usize,
}

impl Matrix {
    fn len(self) -> usize {
        self.count * self.limbs
    }

    /// Checks shape and strides, which count elements of `bits` bits.
    fn new(address: u64, shape: &[i64], strides: Option<&[i64]>, bits: u8) -> PyResult<Self> {
        let &[count, columns] = shape else { return Err(wrong_dimensions(shape.len())) };
        if columns < 1 || count < 0 {
            return Err(PyValueError::new_err(format!(
                "an array of shape (n, limbs) with at least one limb is needed, not \
                 ({count}, {columns})"
            )));
        }
        let is_contiguous = |strides: &[i64]| {
            count == 0
                || ((columns == 1 || strides[1] == 1) && (count == 1 || strides[0] == columns))
        };
        if strides.is_some_and(|strides| !is_contiguous(strides)) {
            return Err(not_contiguous());
        }
        let limbs = columns.saturating_mul(i64::from(bits / 32));
        let most = i64::from(2 * Width::MAX_BITS / 32);
        if limbs > most {
            return Err(PyOverflowError::new_err(format!(
                "numbers of more than {most} limbs of 32 bits are not supported"
            )));
        }
        let (count, limbs) = (count as usize, limbs as usize);
        if count.checked_mul(4 * limbs).is_none() {
            return Err(PyValueError::new_err("the array is larger than the address space"));
        }
        Ok(Self { address, count, limbs })
    }

    /// Checks the type, the shape and the strides of a tensor.
    ///
    /// # Safety
    /// The tensor is one of a producer, with valid shape and strides.
    unsafe fn of(tensor: &Tensor) -> PyResult<Self> {
        let DataType { code, bits, lanes } = tensor.of;
        if code != ffi::UINT || lanes != 1 || !(bits == 32 || bits == 64) {
            return Err(PyTypeError::new_err(
                "the elements of the array must be uint32 or uint64 limbs",
            ));
        }
        let dimensions = usize::try_from(tensor.dimensions).unwrap_or(0);
        if dimensions != 2 {
            return Err(wrong_dimensions(dimensions));
        }
        // SAFETY: the caller's promise; a tensor has as many extents and strides as dimensions.
        let (shape, strides) = unsafe {
            let slice = |of: *mut i64| std::slice::from_raw_parts(of.cast_const(), dimensions);
            (slice(tensor.shape), (!tensor.strides.is_null()).then(|| slice(tensor.strides)))
        };
        Self::new(tensor.data as u64 + tensor.byte_offset, shape, strides, bits)
    }
}

fn not_contiguous() -> PyErr {
    PyValueError::new_err("the array is not C-contiguous: make a contiguous copy first")
}

fn wrong_dimensions(dimensions: usize) -> PyErr {
    PyValueError::new_err(format!(
        "an array of shape (n, limbs) is needed, but it has {dimensions} dimensions"
    ))
}

/// Returns the pointer of a capsule, and renames it, so that it cannot be consumed again. Returns
/// `None` if the capsule has another name.
///
/// # Safety
/// A capsule of this name has a pointer to `M`, and `tensor` finds the array in it.
unsafe fn take<M>(
    capsule: &Bound<'_, PyAny>,
    [name, used]: [&'static CStr; 2],
    tensor: fn(&M) -> PyResult<&Tensor>,
) -> PyResult<Option<(*mut M, Matrix, ffi::Device)>> {
    let raw = capsule.as_ptr();
    // SAFETY: Python's functions accept any object and a static name; the caller's promise.
    unsafe {
        if python::PyCapsule_IsValid(raw, used.as_ptr()) == 1 {
            return Err(PyValueError::new_err(
                "the DLPack capsule has been consumed before: export the array again",
            ));
        }
        if python::PyCapsule_IsValid(raw, name.as_ptr()) != 1 {
            return Ok(None);
        }
        let managed: *mut M = python::PyCapsule_GetPointer(raw, name.as_ptr()).cast();
        if managed.is_null() {
            return Err(raised(capsule.py()));
        }
        let tensor = tensor(&*managed)?;
        let (matrix, device) = (Matrix::of(tensor)?, tensor.device);
        if python::PyCapsule_SetName(raw, used.as_ptr()) != 0 {
            return Err(raised(capsule.py()));
        }
        Ok(Some((managed, matrix, device)))
    }
}

/// Returns the exception of a failed call of Python or of a producer.
fn raised(py: Python<'_>) -> PyErr {
    let without =
        || PyBufferError::new_err("the producer refused the exchange, and gave no reason");
    PyErr::take(py).unwrap_or_else(without)
}

/// Returns a batch of the numbers in the host's memory.
///
/// # Safety
/// The matrix is in the host's memory.
unsafe fn from_host(matrix: Matrix) -> Result<UintBatch, IntegerError> {
    let limbs = if matrix.len() == 0 {
        vec![]
    } else {
        let mut limbs = vec![0_u32; matrix.len()];
        // SAFETY: the caller's promise; a copy of bytes needs no alignment of the source.
        unsafe {
            let to: *mut u8 = limbs.as_mut_ptr().cast();
            std::ptr::copy_nonoverlapping(matrix.address as *const u8, to, 4 * matrix.len());
        }
        limbs
    };
    UintBatch::from_vec(&executor("cpu")?, width(32 * matrix.limbs as u64)?, limbs)
}

/// Returns a batch of the numbers in the memory of a CUDA device. Copies nothing if the memory is
/// aligned to 256 bytes, or else copies it once on the device. `owner` keeps the memory alive.
///
/// # Safety
/// The memory exists until `owner` is dropped; work that has written it is done, or ordered before
/// the work that is submitted to the device from now on.
unsafe fn from_device(
    name: &str,
    matrix: Matrix,
    owner: Box<dyn std::any::Any + Send + Sync>,
) -> Result<UintBatch, IntegerError> {
    let (place, width) = (executor(name)?, width(32 * matrix.limbs as u64)?);
    let device: &Device = on_device(&place)?;
    let (address, len) = (matrix.address, matrix.len());
    if len == 0 {
        return UintBatch::zeros(&place, matrix.count, width);
    }
    let buffer = if address.is_multiple_of(ALIGNMENT) {
        // SAFETY: the caller's promise.
        unsafe { Buffer::foreign(device, address, len, owner)? }
    } else {
        // SAFETY: the caller's promise; the owner is dropped after the copy is done.
        let copy = unsafe { Buffer::copy_of_foreign(device, address, len)? };
        device.synchronize()?;
        drop(owner);
        copy
    };
    UintBatch::from_buffer(&place, width, buffer)
}

fn versioned_tensor(managed: &ManagedVersioned) -> PyResult<&Tensor> {
    match managed.version.major {
        1 => Ok(&managed.tensor),
        major => Err(PyBufferError::new_err(format!(
            "the array is exported by version {major} of DLPack; version 1 is supported"
        ))),
    }
}

fn old_tensor(managed: &Managed) -> PyResult<&Tensor> {
    Ok(&managed.tensor)
}

/// Takes the array of a DLPack capsule: a C-contiguous matrix of uint32 or uint64 limbs, in the
/// host's memory, which is copied, or in that of a CUDA device.
#[pyfunction]
pub(crate) fn from_capsule(py: Python<'_>, capsule: &Bound<'_, PyAny>) -> PyResult<Batch> {
    let versioned = [ffi::VERSIONED_NAME, ffi::VERSIONED_USED];
    // SAFETY: capsules of these names have pointers to these structures (DLPack).
    let (newer, older) = unsafe {
        match take(capsule, versioned, versioned_tensor)? {
            Some(found) => (Some(found), None),
            None => (None, take(capsule, [ffi::NAME, ffi::USED], old_tensor)?),
        }
    };
    let (taken, matrix, device) = match (newer, older) {
        (Some((managed, matrix, device)), _) => (Taken::Versioned(managed), matrix, device),
        (None, Some((managed, matrix, device))) => (Taken::Old(managed), matrix, device),
        (None, None) => return Err(PyTypeError::new_err("this is not a DLPack capsule")),
    };
    // SAFETY: `taken` owns the memory; the caller has named the stream of the device to the producer,
    // which orders its work before that stream's.
    Ok(unsafe { batch_of(py, taken, matrix, device)? }.into())
}

/// Returns a batch of the numbers in the memory of a CPU or of a CUDA device.
///
/// # Safety
/// `taken` owns the memory of the matrix; work that has written it is done, or ordered before the
/// work that is submitted to the device from now on.
unsafe fn batch_of(
    py: Python<'_>,
    taken: Taken,
    matrix: Matrix,
    device: ffi::Device,
) -> PyResult<UintBatch> {
    match device.kind {
        ffi::CPU => {
            // SAFETY: the producer states that the memory is the host's.
            let batch = work(py, || unsafe { from_host(matrix) });
            drop(taken);
            batch
        }
        ffi::CUDA => {
            let name = format!("cuda:{}", device.index);
            // SAFETY: the caller's promise.
            work(py, || unsafe { from_device(&name, matrix, Box::new(taken)) })
        }
        kind => Err(PyBufferError::new_err(format!(
            "the array is on a device of DLPack's kind {kind}; CPU (1) and CUDA (2) are supported"
        ))),
    }
}

/// Takes the array of an object whose class has the C exchange API of DLPack 1.3, which is faster
/// than capsules. Returns `None` if the class does not have it.
#[pyfunction]
pub(crate) fn from_exchange_api(py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<Option<Batch>> {
    let Ok(capsule) = x.get_type().getattr(intern!(py, "__dlpack_c_exchange_api__")) else {
        return Ok(None);
    };
    // SAFETY: Python's functions accept any object and a static name. A capsule of this name has a
    // pointer to a structure that lives as long as the process, and so have its earlier versions.
    let api = unsafe {
        if python::PyCapsule_IsValid(capsule.as_ptr(), ffi::EXCHANGE_NAME.as_ptr()) != 1 {
            return Ok(None);
        }
        let pointer = python::PyCapsule_GetPointer(capsule.as_ptr(), ffi::EXCHANGE_NAME.as_ptr());
        let first: *const ExchangeApi = pointer.cast_const().cast();
        std::iter::successors(first.as_ref(), |api| api.previous.as_ref())
            .find(|api| api.version.major == 1)
    };
    let Some((api, from_object)) = api.and_then(|api| Some((api, api.from_object?))) else {
        return Ok(None);
    };
    let mut managed = std::ptr::null_mut();
    // SAFETY: the object is of the class of the API; the call writes one pointer.
    if unsafe { from_object(x.as_ptr().cast(), &raw mut managed) } != 0 || managed.is_null() {
        return Err(raised(py));
    }
    let taken = Taken::Versioned(managed);
    // SAFETY: the producer has made the array, and `taken` keeps it.
    let tensor = versioned_tensor(unsafe { &*managed })?;
    // SAFETY: as above.
    let (matrix, device) = (unsafe { Matrix::of(tensor)? }, tensor.device);
    if device.kind == ffi::CUDA {
        let stream = current_stream(py, api, device)?;
        let name = format!("cuda:{}", device.index);
        work(py, || {
            let place = executor(&name)?;
            let ours = on_device(&place)?;
            match (stream, ours.stream()) {
                // SAFETY: the producer states that it is its stream on this device.
                (Some(theirs), Some(after)) => unsafe { ours.order_streams(theirs, after)? },
                _ => ours.synchronize_all()?,
            }
            Ok(())
        })?;
    }
    // SAFETY: `taken` owns the memory; the producer's work is ordered before the device's.
    Ok(Some(unsafe { batch_of(py, taken, matrix, device)? }.into()))
}

/// Returns the stream of a GPU to which a library submits work at present; `None` if it does not say.
fn current_stream(py: Python<'_>, api: &ExchangeApi, device: ffi::Device) -> PyResult<Option<u64>> {
    let Some(current_stream) = api.current_stream else { return Ok(None) };
    let mut stream = std::ptr::null_mut();
    // SAFETY: the call writes one pointer.
    match unsafe { current_stream(device.kind, device.index, &raw mut stream) } {
        0 => Ok(Some(stream as u64)),
        _ => Err(raised(py)),
    }
}

/// Takes a C-contiguous matrix of limbs of `bits` bits, 32 or 64, at an address in the memory of a
/// CUDA device. `strides` count bytes. `owner` keeps the memory alive. Waits until all work on the
/// device is done.
#[pyfunction]
#[pyo3(signature = (device, address, shape, strides, bits, owner))]
pub(crate) fn from_cuda_address(
    py: Python<'_>,
    device: &str,
    address: u64,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    bits: u8,
    owner: Py<PyAny>,
) -> PyResult<Batch> {
    if strides.as_ref().is_some_and(|strides| strides.len() != shape.len()) {
        return Err(PyValueError::new_err("shape and strides differ in length"));
    }
    if !matches!(bits, 32 | 64) {
        return Err(PyTypeError::new_err("limbs have 32 or 64 bits"));
    }
    let bytes = i64::from(bits / 8);
    let is_cut = |(stride, &extent): (&i64, &i64)| extent > 1 && stride % bytes != 0;
    if strides.iter().flatten().zip(&shape).any(is_cut) {
        return Err(not_contiguous());
    }
    let strides: Option<Vec<i64>> =
        strides.map(|of| of.iter().map(|stride| stride / bytes).collect());
    let matrix = Matrix::new(address, &shape, strides.as_deref(), bits)?;
    let batch = work(py, || {
        on_device(&executor(device)?)?.synchronize_all()?;
        // SAFETY: the object promises that the memory exists while it lives; all work is done.
        unsafe { from_device(device, matrix, Box::new(owner)) }
    })?;
    Ok(batch.into())
}
