//! Complex arrays aligned to cache lines, and a type that shares them between threads.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use rustfft::num_complex::Complex;

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// The size in bytes from which on a buffer asks for huge pages.
const HUGE: usize = 4 << 20;

/// A zeroed array of complex numbers whose first element starts a cache line.
pub(crate) struct Buffer {
    /// The real and imaginary parts, after `skip` unused numbers.
    storage: Vec<f64>,
    skip: usize,
    len: usize,
}

impl Buffer {
    pub(crate) fn new(len: usize) -> Self {
        let spare = LINE / size_of::<f64>();
        let mut storage = vec![0.0; 2 * len + spare];
        ask_for_huge_pages(&mut storage);
        // If the allocation cannot be aligned by whole elements, it is used as it is.
        let skip = Some(storage.as_ptr().align_offset(LINE)).filter(|&s| s <= spare).unwrap_or(0);
        Self { storage, skip, len }
    }
}

/// Asks the operating system to use huge pages for a large array, of which nothing was used yet. A
/// refusal has no effect except on speed.
fn ask_for_huge_pages(storage: &mut [f64]) {
    #[cfg(target_os = "linux")]
    if size_of_val(storage) >= HUGE {
        const PAGE: usize = 4096;
        let skip = storage.as_ptr().align_offset(PAGE);
        let rest = storage.get_mut(skip..).unwrap_or(&mut []);
        let len = size_of_val(rest) / PAGE * PAGE;
        // SAFETY: the pages from the first number of `rest` on lie inside `rest`, and the advice
        // does not change their contents.
        let advised = unsafe {
            let start = rest.as_mut_ptr().cast();
            rustix::mm::madvise(start, len, rustix::mm::Advice::LinuxHugepage)
        };
        advised.unwrap_or(());
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (storage, HUGE);
}

impl Deref for Buffer {
    type Target = [Complex<f64>];
    fn deref(&self) -> &Self::Target {
        let words = &self.storage[self.skip..][..2 * self.len];
        // SAFETY: `Complex<f64>` is `repr(C)` with two `f64` fields, so that 2n consecutive `f64`
        // are n of them with the same alignment.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Self::Target {
        let words = &mut self.storage[self.skip..][..2 * self.len];
        // SAFETY: as above; the mutable borrow is passed on.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), self.len) }
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
