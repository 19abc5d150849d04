//! A slice to which several threads write at the same time, each to entries of its own.

use std::marker::PhantomData;

/// A mutable slice that several threads may use at the same time. The caller must ensure that
/// ranges in use at the same time do not overlap.
pub struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: access goes through `piece` alone, whose caller promises that no two
// pieces in use overlap, as if the slice had been split beforehand.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    /// Makes the entries of `slice` available to several threads.
    #[must_use]
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// Returns the entries `at..at + len` of the slice.
    ///
    /// # Panics
    /// If the range `at..at + len` is not in the slice.
    ///
    /// # Safety
    /// The ranges of any two results of this method that are in use at the same time must not
    /// overlap.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "disjointness is the caller's promise")]
    pub unsafe fn piece(&self, at: usize, len: usize) -> &mut [T] {
        assert!(at <= self.len && len <= self.len - at);
        // SAFETY: in bounds, and not otherwise borrowed, as the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(at), len) }
    }
}
