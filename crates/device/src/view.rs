//! Ranges of a buffer's elements, as arguments of kernels.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;

use crate::{Buffer, Device, DeviceError};

/// A range of a buffer's elements that a kernel reads.
///
/// While the view exists, the elements may be written only through [`Cells`] of the same buffer.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    place: Place<'a>,
    of: PhantomData<&'a T>,
}

/// A range of a buffer's elements that a kernel reads and writes. Like `&[Cell<T>]` on the host, it
/// is borrowed mutably from a buffer and can then be copied freely. A kernel may receive several
/// overlapping `Cells` if none of the corresponding parameters is `const __restrict__`.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a, T> {
    place: Place<'a>,
    of: PhantomData<&'a T>,
}

/// The device memory of `len` elements, the first of which is at `address`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) device: &'a Device,
    pub(crate) address: u64,
    pub(crate) len: usize,
}

impl Place<'_> {
    /// Returns the memory of the elements in `range`, where an element has `bytes` bytes.
    ///
    /// # Panics
    /// If the range ends before it begins or beyond the last element.
    fn part(self, range: impl RangeBounds<usize>, bytes: usize) -> Self {
        let begin = match range.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last + 1,
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        assert!(
            begin <= end && end <= self.len,
            "the range {begin}..{end} does not fit {} elements of device memory",
            self.len
        );
        Self { address: self.address + (begin * bytes) as u64, len: end - begin, ..self }
    }
}

/// Panics if memory of `len` elements is too small for a kernel that accesses `needed` elements.
/// `what` names the memory in the message. The functions that launch kernels call this function
/// before a launch.
///
/// # Panics
/// If `len` is less than `needed`.
#[track_caller]
pub fn assert_room(what: &str, len: usize, needed: usize) {
    assert!(needed <= len, "{what} of {len} elements, where a kernel needs {needed}");
}

macro_rules! methods {
    ($name:ident) => {
        impl<'a, T: Pod> $name<'a, T> {
            pub(crate) fn new(place: Place<'a>) -> Self {
                Self { place, of: PhantomData }
            }

            pub(crate) fn place(&self) -> Place<'a> {
                self.place
            }

            /// Returns the number of elements in the range.
            #[must_use]
            pub fn len(&self) -> usize {
                self.place.len
            }

            /// Returns whether the range is empty.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.place.len == 0
            }

            /// Returns the address of the first element in the device's memory.
            #[must_use]
            pub fn address(&self) -> u64 {
                self.place.address
            }

            /// Returns the elements in `range`.
            ///
            /// # Panics
            /// If the range ends before it begins or beyond the last element.
            #[must_use]
            pub fn part(self, range: impl RangeBounds<usize>) -> Self {
                Self::new(self.place.part(range, size_of::<T>()))
            }
        }
    };
}

methods!(View);
methods!(Cells);

impl<T: Pod> View<'_, T> {
    /// Waits until the device has done all submitted work. Returns a copy of the elements in host
    /// memory.
    ///
    /// # Errors
    /// The device fails.
    pub fn download(self) -> Result<Vec<T>, DeviceError> {
        let mut to = vec![T::zeroed(); self.len()];
        let Place { device, address, .. } = self.place;
        // SAFETY: the elements are of a buffer that lives as long as this view.
        unsafe { device.backend().download(address, bytemuck::cast_slice_mut(&mut to))? };
        Ok(to)
    }
}

impl<'a, T: Pod> Cells<'a, T> {
    /// Returns the same elements as a [`View`], for a kernel that only reads them.
    #[must_use]
    pub fn view(self) -> View<'a, T> {
        View::new(self.place)
    }
}

impl<T: Pod> Cells<'_, T> {
    /// Sets every byte of the elements to zero.
    ///
    /// # Errors
    /// The device fails.
    pub fn clear(self) -> Result<(), DeviceError> {
        let Place { device, address, len } = self.place;
        // SAFETY: the elements are of a buffer that lives as long as these cells.
        unsafe { device.backend().clear(address, len * size_of::<T>()) }
    }

    /// Copies elements from host memory.
    ///
    /// # Errors
    /// The device fails.
    ///
    /// # Panics
    /// If the numbers of elements differ.
    pub fn upload(self, from: &[T]) -> Result<(), DeviceError> {
        let Place { device, address, len } = self.place;
        assert_eq!(from.len(), len, "the slice and the cells differ in length");
        // SAFETY: as above.
        unsafe { device.backend().upload(address, bytemuck::cast_slice(from)) }
    }

    /// Copies elements of the same device, which may not overlap with these.
    ///
    /// # Errors
    /// The device fails.
    ///
    /// # Panics
    /// If the numbers of elements differ, or the devices.
    pub fn copy_from(self, from: View<'_, T>) -> Result<(), DeviceError> {
        let Place { device, address, len } = self.place;
        assert_eq!(from.len(), len, "the ranges differ in length");
        assert!(device.is_same(from.place.device), "the ranges are on different devices");
        // SAFETY: as above, and both have as many bytes.
        unsafe { device.backend().copy(address, from.address(), len * size_of::<T>()) }
    }
}

impl<T: Pod> Buffer<T> {
    /// Returns a view of the elements in `range`, for a kernel that reads them.
    ///
    /// # Panics
    /// If the range ends before it begins or beyond the buffer.
    #[must_use]
    pub fn view(&self, range: impl RangeBounds<usize>) -> View<'_, T> {
        View::from(self).part(range)
    }

    /// Returns the elements in `range` as [`Cells`], for kernels that write them.
    ///
    /// # Panics
    /// If the range ends before it begins or beyond the buffer.
    #[must_use]
    pub fn cells(&mut self, range: impl RangeBounds<usize>) -> Cells<'_, T> {
        Cells::from(self).part(range)
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for View<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Self::new(buffer.place())
    }
}

impl<'a, T: Pod> From<&'a mut Buffer<T>> for Cells<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        Self::new(buffer.place())
    }
}

impl<'a, T: Pod> From<Cells<'a, T>> for View<'a, T> {
    fn from(cells: Cells<'a, T>) -> Self {
        cells.view()
    }
}
