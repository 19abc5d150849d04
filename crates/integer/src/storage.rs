//! Memory of a batch, where its executor works.

use bytemuck::Pod;
use warpint_device::Buffer;

use crate::{Executor, IntegerError, Width};

/// Elements where the executor of their batch works.
#[derive(Debug)]
pub(crate) enum Storage<T> {
    /// In the host's memory.
    Host(Vec<T>),
    /// In a device's.
    Device(Buffer<T>),
}

impl<T: Pod + Send> Storage<T> {
    /// Zeros, `each` for each of `count` numbers of `width`.
    pub(crate) fn zeros(
        executor: &Executor,
        count: usize,
        each: usize,
        width: Width,
    ) -> Result<Self, IntegerError> {
        let mut memory = Self::for_results(executor, count, each, width)?;
        if let Self::Device(buffer) = &mut memory {
            buffer.clear()?;
        }
        Ok(memory)
    }

    /// As [`Self::zeros`], to be written all over by the next operation: a device does not write
    /// the zeros.
    pub(crate) fn for_results(
        executor: &Executor,
        count: usize,
        each: usize,
        width: Width,
    ) -> Result<Self, IntegerError> {
        let memory = IntegerError::Memory { count, width };
        let Some(device) = executor.device() else {
            return host_zeros(count, each).map(Self::Host).ok_or(memory);
        };
        countable(count)?;
        let len = count.checked_mul(each).ok_or(memory)?;
        Ok(Self::Device(device.alloc(len)?))
    }

    /// Takes what the host has: `count` numbers.
    pub(crate) fn from_vec(
        executor: &Executor,
        count: usize,
        data: Vec<T>,
    ) -> Result<Self, IntegerError> {
        let Some(device) = executor.device() else { return Ok(Self::Host(data)) };
        countable(count)?;
        Ok(Self::Device(device.upload(&data)?))
    }

    /// How many elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Host(data) => data.len(),
            Self::Device(buffer) => buffer.len(),
        }
    }

    /// What `read` makes of them, here or brought here.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&[T]) -> R) -> Result<R, IntegerError> {
        match self {
            Self::Host(data) => Ok(read(data)),
            Self::Device(buffer) => Ok(read(&buffer.download()?)),
        }
    }

    /// Brings it to the host.
    pub(crate) fn into_vec(self) -> Result<Vec<T>, IntegerError> {
        match self {
            Self::Host(data) => Ok(data),
            Self::Device(buffer) => Ok(buffer.download()?),
        }
    }

    /// A copy, in the same place, which is the executor's.
    pub(crate) fn try_clone(&self, executor: &Executor) -> Result<Self, IntegerError> {
        match self {
            Self::Host(data) => Ok(Self::Host(data.clone())),
            Self::Device(buffer) => {
                let mut copy = executor.gpu()?.device().alloc(buffer.len())?;
                copy.copy_from(buffer)?;
                Ok(Self::Device(copy))
            }
        }
    }
}

/// Refuses more numbers than kernels can count.
pub(crate) fn countable(count: usize) -> Result<(), IntegerError> {
    match u32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(IntegerError::TooMany { count, most: u32::MAX }),
    }
}

/// count·each zeros in the host's memory; `None` if there is not so much.
pub(crate) fn host_zeros<T: Pod>(count: usize, each: usize) -> Option<Vec<T>> {
    let len = count.checked_mul(each)?;
    // Zeroed memory that is not yet touched costs nothing, but does not fail with an error.
    Vec::<T>::new().try_reserve_exact(len).ok()?;
    Some(vec![T::zeroed(); len])
}
