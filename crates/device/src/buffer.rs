//! Buffers: typed memory of a device.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use crate::view::Place;
use crate::{Device, DeviceError};

/// An array of elements of type `T` in the memory of a device. The memory is freed when the buffer
/// is dropped.
#[derive(Debug)]
pub struct Buffer<T> {
    device: Device,
    address: u64,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let address = device.backend().alloc(len.saturating_mul(size_of::<T>()))?;
        Ok(Self { device: device.clone(), address, len, of: PhantomData })
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

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        // SAFETY: `alloc` returned the address, and it is freed once.
        unsafe { self.device.backend().free(self.address) };
    }
}
