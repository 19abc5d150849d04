//! Gives the memory of a batch to other libraries.

use std::ffi::c_void;
use std::sync::Arc;

use pyo3::ffi as python;
use pyo3::prelude::*;
use warpint::integer::IntegerError;

use super::ffi::{self, DataType, Device, Managed, ManagedVersioned, Tensor, Version};
use crate::batch::{Batch, Shared};
use crate::error::exception;
use crate::place::cuda_index;
use crate::work::work;

/// An exported array: what the consumer sees, first, and what it refers to.
#[repr(C)]
struct Export<M> {
    managed: M,
    shape: [i64; 2],
    strides: [i64; 2],
    _owner: Arc<Shared>,
}

/// Frees an exported array.
///
/// # Safety
/// `managed` is the first field of an `Export<M>` that a box has given away, and is not used again.
unsafe extern "C" fn free<M>(managed: *mut M) {
    if !managed.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(managed.cast::<Export<M>>()) });
    }
}

/// Frees the array of a capsule that no consumer has taken.
///
/// # Safety
/// Python calls this with a capsule of `capsule`.
unsafe extern "C" fn drop_capsule(capsule: *mut python::PyObject) {
    // SAFETY: the capsule is valid; a consumer that takes its array renames it.
    unsafe {
        if python::PyCapsule_IsValid(capsule, ffi::NAME.as_ptr()) == 1 {
            let pointer = python::PyCapsule_GetPointer(capsule, ffi::NAME.as_ptr());
            free::<Managed>(pointer.cast());
        } else if python::PyCapsule_IsValid(capsule, ffi::VERSIONED_NAME.as_ptr()) == 1 {
            let pointer = python::PyCapsule_GetPointer(capsule, ffi::VERSIONED_NAME.as_ptr());
            free::<ManagedVersioned>(pointer.cast());
        }
    }
}

/// Returns the kind and the index of the device whose memory holds a batch. The simulator's memory
/// is the host's.
fn device(batch: &Shared) -> Device {
    match cuda_index(batch.executor()) {
        Some(index) => Device { kind: ffi::CUDA, index },
        None => Device { kind: ffi::CPU, index: 0 },
    }
}

/// Returns the address of the first limb.
fn address(batch: &Shared) -> Result<u64, IntegerError> {
    match (batch.as_limbs(), batch.buffer()) {
        (Some(limbs), _) => Ok(limbs.as_ptr() as u64),
        (None, Some(buffer)) => Ok(buffer.address()),
        (None, None) => Err(IntegerError::Places),
    }
}

/// Returns the array of a batch, without shape and strides.
fn tensor(batch: &Shared) -> Result<Tensor, IntegerError> {
    Ok(Tensor {
        data: address(batch)? as *mut c_void,
        device: device(batch),
        dimensions: 2,
        of: DataType { code: ffi::UINT, bits: 32, lanes: 1 },
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    })
}

/// Boxes an array, and returns its address. `tensor` finds the array in `managed`.
fn boxed<M>(managed: M, owner: Arc<Shared>, tensor: impl Fn(&mut M) -> &mut Tensor) -> *mut M {
    let (count, limbs) = (owner.count() as i64, owner.width().limbs() as i64);
    let (shape, strides) = ([count, limbs], [limbs, 1]);
    let mut export = Box::new(Export { managed, shape, strides, _owner: owner });
    let (shape, strides) = (export.shape.as_mut_ptr(), export.strides.as_mut_ptr());
    let inner = tensor(&mut export.managed);
    (inner.shape, inner.strides) = (shape, strides);
    Box::into_raw(export).cast()
}

#[pymethods]
impl Batch {
    /// Returns a capsule with the matrix of limbs. `versioned` selects DLPack 1.0, in which the matrix
    /// is marked as read-only. `copied` states that only the consumer will use the batch. `stream`
    /// is DLPack's: work that is submitted to this stream of the GPU from now on waits until the GPU
    /// has computed the batch; None waits for the GPU, and −1 does neither.
    #[pyo3(signature = (versioned, copied, stream))]
    fn dlpack<'py>(
        &self,
        py: Python<'py>,
        versioned: bool,
        copied: bool,
        stream: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let owner = Arc::clone(&self.0);
        if let Some(device) = owner.executor().device() {
            work(py, || {
                match (stream, device.stream()) {
                    (Some(-1), _) => {}
                    // SAFETY: the consumer promises that it is a stream of this device.
                    (Some(after), Some(ours)) => unsafe {
                        device.order_streams(ours, after.cast_unsigned())?;
                    },
                    _ => device.synchronize()?,
                }
                Ok(())
            })?;
        }
        let tensor = tensor(&owner).map_err(exception)?;
        owner.export();
        let context = std::ptr::null_mut();
        let (pointer, name): (*mut c_void, _) = if versioned {
            let managed = ManagedVersioned {
                version: Version { major: 1, minor: 0 },
                context,
                deleter: Some(free::<ManagedVersioned>),
                flags: if copied { ffi::IS_COPIED } else { ffi::READ_ONLY },
                tensor,
            };
            (boxed(managed, owner, |managed| &mut managed.tensor).cast(), ffi::VERSIONED_NAME)
        } else {
            let managed = Managed { tensor, context, deleter: Some(free::<Managed>) };
            (boxed(managed, owner, |managed| &mut managed.tensor).cast(), ffi::NAME)
        };
        // SAFETY: the pointer is not null, the name is static, and the destructor frees what the
        // name says.
        unsafe {
            let capsule = python::PyCapsule_New(pointer, name.as_ptr(), Some(drop_capsule));
            Bound::from_owned_ptr_or_err(py, capsule)
        }
    }

    /// Returns the kind (1: CPU, 2: CUDA) and the index of the device.
    fn dlpack_device(&self) -> (i32, i32) {
        let Device { kind, index } = device(&self.0);
        (kind, index)
    }

    /// Returns the address of the limbs in the memory of a CUDA device, for other libraries. Waits
    /// for the device. Returns `None` if the batch is elsewhere.
    fn cuda_address(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let Some(device) = self.0.executor().device() else { return Ok(None) };
        if cuda_index(self.0.executor()).is_none() {
            return Ok(None);
        }
        work(py, || Ok(device.synchronize()?))?;
        self.0.export();
        Ok(self.0.buffer().map(warpint::device::Buffer::address))
    }
}
