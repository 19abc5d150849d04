//! Buffers: typed memory of a device.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use crate::view::Place;
use crate::{Device, DeviceError};

/// The alignment in bytes of the first element of every buffer.
const ALIGNMENT: u64 = 256;

/// An array of elements of type `T` in the memory of a device. The memory is freed when the buffer
/// is dropped.
pub struct Buffer<T> {
    device: Device,
    address: u64,
    len: usize,
    /// The owner of memory that another library has allocated; `None` for memory of the device.
    owner: Option<Box<dyn Any + Send + Sync>>,
    of: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let address = device.backend().alloc(len.saturating_mul(size_of::<T>()))?;
        Ok(Self { device: device.clone(), address, len, owner: None, of: PhantomData })
    }

    /// Makes a buffer of memory that another library has allocated, without a copy. When the buffer
    /// is dropped, waits until the device has done all submitted work, then drops `owner`.
    ///
    /// # Errors
    /// The memory does not belong to the device, or is not aligned to 256 bytes, as kernels
    /// require.
    ///
    /// # Safety
    /// - The memory has room for `len` elements, and exists until `owner` is dropped.
    /// - While the buffer exists, nothing else writes the memory. Work that has written it is done,
    ///   or is ordered before the work that is submitted to the device from now on.
    pub unsafe fn foreign(
        device: &Device,
        address: u64,
        len: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, DeviceError> {
        if !address.is_multiple_of(ALIGNMENT) {
            return Err(DeviceError::Failed {
                what: format!("access to memory at {address:#x}"),
                message: format!("it is not aligned to {ALIGNMENT} bytes"),
            });
        }
        device.backend().check_foreign(address)?;
        Ok(Self { device: device.clone(), address, len, owner: Some(owner), of: PhantomData })
    }

    /// Returns a copy of `len` elements of memory that another library has allocated on the device.
    /// The copy is submitted work like any other.
    ///
    /// # Errors
    /// The memory does not belong to the device, or memory for the copy cannot be allocated.
    ///
    /// # Safety
    /// - The memory has room for `len` elements, and exists until the device has done the copy.
    /// - Work that has written it is done, or is ordered before the work that is submitted to the
    ///   device from now on.
    pub unsafe fn copy_of_foreign(
        device: &Device,
        address: u64,
        len: usize,
    ) -> Result<Self, DeviceError> {
        device.backend().check_foreign(address)?;
        let copy = Self::new(device, len)?;
        // SAFETY: the new buffer has as many bytes; the caller's promise for the source.
        unsafe { device.backend().copy(copy.address, address, len * size_of::<T>())? };
        Ok(copy)
    }

    /// Returns the number of elements in the buffer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the address of the buffer's first element in the device's memory.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns whether the buffer is in the memory of `device`.
    #[must_use]
    pub fn is_on(&self, device: &Device) -> bool {
        self.device.is_same(device)
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { device: &self.device, address: self.address, len: self.len }
    }

    /// Copies `from` from host memory into the buffer: element i becomes `from[i]`.
    ///
    /// # Panics
    /// If the slice and the buffer differ in length.
    pub fn upload(&mut self, from: &[T]) -> Result<(), DeviceError> {
        assert_eq!(from.len(), self.len, "the slice and the buffer differ in length");
        // SAFETY: the address is this buffer's, which has as many bytes.
        unsafe { self.device.backend().upload(self.address, bytemuck::cast_slice(from)) }
    }

    /// Waits until the device has done all submitted work. Returns a copy of the buffer in host
    /// memory.
    pub fn download(&self) -> Result<Vec<T>, DeviceError> {
        self.view(..).download()
    }

    /// Waits until the device has done all submitted work. Returns a copy of the elements in
    /// `range` in host memory.
    ///
    /// # Panics
    /// If the range ends before it begins or beyond the buffer.
    pub fn download_part(&self, range: Range<usize>) -> Result<Vec<T>, DeviceError> {
        self.view(range).download()
    }

    /// Copies all elements of `from` into this buffer. The two buffers must have the same length
    /// and lie in the memory of the same device.
    ///
    /// # Panics
    /// If the two buffers differ in length or in their device.
    pub fn copy_from(&mut self, from: &Self) -> Result<(), DeviceError> {
        assert_eq!(from.len, self.len, "the buffers differ in length");
        assert!(self.device.is_same(&from.device), "the buffers are on different devices");
        let bytes = self.len * size_of::<T>();
        // SAFETY: both have as many bytes, on one device.
        unsafe { self.device.backend().copy(self.address, from.address, bytes) }
    }

    /// Sets every byte of the buffer to zero.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        // SAFETY: the address is this buffer's, which has as many bytes.
        unsafe { self.device.backend().clear(self.address, self.len * size_of::<T>()) }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, address, len, .. } = self;
        write!(f, "Buffer of {len} elements at {address:#x} of {device:?}")
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.owner.is_some() {
            // A failure of the work is reported by the next call.
            let _ = self.device.backend().synchronize();
            return;
        }
        // SAFETY: `alloc` returned the address, and it is freed once.
        unsafe { self.device.backend().free(self.address) };
    }
}
