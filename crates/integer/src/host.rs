//! Elements of a batch in the host's memory.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Pod;

/// Elements in the host's memory, as a slice. The first mutable access copies elements that another
/// owner has.
pub(crate) enum Host<T> {
    /// Elements of the batch's own.
    Own(Vec<T>),
    /// Elements in the memory of another owner, which do not change.
    Foreign(Foreign<T>),
}

/// Elements that exist, unchanged, until their owner is dropped.
pub(crate) struct Foreign<T> {
    elements: NonNull<[T]>,
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the elements are only read, as through `&[T]`, and the owner may be moved and shared.
unsafe impl<T: Sync> Send for Foreign<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Foreign<T> {}

impl<T> Host<T> {
    /// Returns the elements without a copy.
    ///
    /// # Safety
    /// Until `owner` is dropped, the elements stay valid, at the same address and unchanged.
    pub(crate) unsafe fn foreign(elements: &[T], owner: Box<dyn Any + Send + Sync>) -> Self {
        Self::Foreign(Foreign { elements: NonNull::from(elements), _owner: owner })
    }
}

impl<T: Pod> Host<T> {
    /// Returns the elements as a vector. Copies them if another owner has them.
    pub(crate) fn into_vec(self) -> Vec<T> {
        match self {
            Self::Own(elements) => elements,
            Self::Foreign(_) => self.to_vec(),
        }
    }
}

impl<T> From<Vec<T>> for Host<T> {
    fn from(elements: Vec<T>) -> Self {
        Self::Own(elements)
    }
}

impl<T> Deref for Host<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(elements) => elements,
            // SAFETY: the promise of `Self::foreign`; the owner lives as long as `self`.
            Self::Foreign(Foreign { elements, .. }) => unsafe { elements.as_ref() },
        }
    }
}

impl<T: Pod> DerefMut for Host<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        loop {
            match self {
                Self::Own(elements) => return elements,
                Self::Foreign(_) => *self = Self::Own(self.to_vec()),
            }
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Host<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
