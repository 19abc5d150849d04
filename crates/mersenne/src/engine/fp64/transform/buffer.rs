//! Complex arrays aligned to cache lines, and a type that shares them between threads.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use rustfft::num_complex::Complex;

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// A zeroed array of complex numbers whose first element starts a cache line.
pub(crate) struct Buffer {
    storage: Vec<Complex<f64>>,
    skip: usize,
    len: usize,
}

impl Buffer {
    pub(crate) fn new(len: usize) -> Self {
        let spare = LINE / size_of::<Complex<f64>>();
        let storage = vec![Complex::new(0.0, 0.0); len + spare];
        // If the allocation cannot be aligned by whole elements, it is used as it is.
        let skip = Some(storage.as_ptr().align_offset(LINE)).filter(|&s| s <= spare).unwrap_or(0);
        Self { storage, skip, len }
    }
}

impl Deref for Buffer {
    type Target = [Complex<f64>];
    fn deref(&self) -> &Self::Target {
        &self.storage[self.skip..][..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.storage[self.skip..][..self.len]
    }
}

/// Returns the points as real numbers: the real part and then the imaginary part of each point. If
/// the points store a real signal, these are its words.
pub(crate) fn words(points: &[Complex<f64>]) -> &[f64] {
    // SAFETY: `Complex<f64>` is `repr(C)` with two `f64` fields, so that n of them are 2n
    // consecutive `f64` with the same alignment.
    unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), 2 * points.len()) }
}

/// Returns the points as mutable real numbers: the real part and then the imaginary part of each
/// point.
pub(crate) fn words_mut(points: &mut [Complex<f64>]) -> &mut [f64] {
    // SAFETY: as above; the mutable borrow is passed on.
    unsafe { std::slice::from_raw_parts_mut(points.as_mut_ptr().cast(), 2 * points.len()) }
}

/// A mutable slice in which several threads may write disjoint segments.
///
/// The rows of a transform stored in column blocks are not contiguous, so `chunks_mut` cannot split
/// them. With this type, each thread obtains the segments of its rows. The caller ensures that
/// segments do not overlap.
pub(crate) struct Shared<'a> {
    start: *mut Complex<f64>,
    len: usize,
    owner: PhantomData<&'a mut [Complex<f64>]>,
}

// SAFETY: a `Shared` gives access to elements only through `segment`, whose contract excludes that
// two threads hold the same element.
unsafe impl Send for Shared<'_> {}
// SAFETY: as above.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    pub(crate) fn new(slice: &'a mut [Complex<f64>]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), owner: PhantomData }
    }

    /// Returns the elements from index `from` to `from + len − 1` of the slice.
    ///
    /// # Safety
    /// While the returned reference is alive, no other reference to any of its elements may exist
    /// on any thread.
    ///
    /// # Panics
    /// Panics if the segment is not inside the slice.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn segment(&self, from: usize, len: usize) -> &mut [Complex<f64>] {
        assert!(from <= self.len && len <= self.len - from, "a segment outside its slice");
        // SAFETY: the segment is in bounds of the slice borrowed by `new`, and not aliased by the
        // contract of this function.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), len) }
    }
}
