//! Parts of a buffer, for kernels.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;

use crate::{Buffer, Device, DeviceError};

/// Elements of a buffer that a kernel reads.
///
/// They may be written through [`Cells`] of the same buffer, and through nothing else while the view
/// lives.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    place: Place<'a>,
    of: PhantomData<&'a T>,
}

/// Elements of a buffer that a kernel reads and writes, as `&[Cell<T>]` is on the host: made from a
/// buffer that nothing else borrows, and copied freely. A kernel may get several that overlap, if none of
/// its parameters for them is `const __restrict__`.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a, T> {
    place: Place<'a>,
    of: PhantomData<&'a T>,
}

/// `len` elements from an address on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) device: &'a Device,
    pub(crate) address: u64,
    pub(crate) len: usize,
}

impl Place<'_> {
    /// Some of its elements, each of so many bytes.
    ///
    /// # Panics
    /// If the range ends before it begins, or beyond the place.
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
            "elements {begin} to {end} of {} in a device's memory",
            self.len
        );
        Self { address: self.address + (begin * bytes) as u64, len: end - begin, ..self }
    }
}

/// Panics unless memory of `len` elements has room for those that a kernel needs: for the wrappers of kernels.
///
/// # Panics
/// If there are fewer.
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

            /// The number of elements.
            #[must_use]
            pub fn len(&self) -> usize {
                self.place.len
            }

            /// Whether there is no element.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.place.len == 0
            }

            /// The address in the device's memory.
            #[must_use]
            pub fn address(&self) -> u64 {
                self.place.address
            }

            /// Some of the elements.
            ///
            /// # Panics
            /// If the range ends before it begins, or beyond these elements.
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
    /// Waits for all work, and copies to the host.
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
    /// The same elements, for a kernel that reads them.
    #[must_use]
    pub fn view(self) -> View<'a, T> {
        View::new(self.place)
    }
}

impl<T: Pod> Buffer<T> {
    /// Some elements, for a kernel that reads them.
    ///
    /// # Panics
    /// If the range ends before it begins, or beyond the buffer.
    #[must_use]
    pub fn view(&self, range: impl RangeBounds<usize>) -> View<'_, T> {
        View::from(self).part(range)
    }

    /// Some elements, for kernels that write them.
    ///
    /// # Panics
    /// If the range ends before it begins, or beyond the buffer.
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
