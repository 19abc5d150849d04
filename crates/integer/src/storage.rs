//! The memory of a batch: host memory for the CPU, device memory for a device.

use bytemuck::Pod;
use warpint_device::Buffer;

use crate::host::Host;
use crate::{Executor, IntegerError, Width};

/// The elements of a batch, in the memory of its executor: the CPU or a device.
#[derive(Debug)]
pub(crate) enum Storage<T> {
    /// In the host's memory.
    Host(Host<T>),
    /// In a device's memory.
    Device(Buffer<T>),
}

impl<T: Pod + Send> Storage<T> {
    /// Allocates `count`·`each` zeros: `each` elements per number. `width`, the width of the
    /// numbers, is used only for the error [`IntegerError::Memory`].
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

    /// Like [`Self::zeros`], but memory on a device is not cleared. The next operation must
    /// overwrite all elements.
    pub(crate) fn for_results(
        executor: &Executor,
        count: usize,
        each: usize,
        width: Width,
    ) -> Result<Self, IntegerError> {
        let memory = IntegerError::Memory { count, width };
        let Some(device) = executor.device() else {
            return host_zeros(count, each).map(Self::from).ok_or(memory);
        };
        countable(count)?;
        let len = count.checked_mul(each).ok_or(memory)?;
        Ok(Self::Device(device.alloc(len)?))
    }

    /// Stores `data`, the elements of `count` numbers, in the memory of the executor. Copies the
    /// elements only if the executor is a device.
    pub(crate) fn from_vec(
        executor: &Executor,
        count: usize,
        data: Vec<T>,
    ) -> Result<Self, IntegerError> {
        let Some(device) = executor.device() else { return Ok(data.into()) };
        countable(count)?;
        Ok(Self::Device(device.upload(&data)?))
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Host(data) => data.len(),
            Self::Device(buffer) => buffer.len(),
        }
    }

    /// Calls `read` with the elements and returns the result of the call. If the elements are on a
    /// device, they are first copied to the host.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&[T]) -> R) -> Result<R, IntegerError> {
        match self {
            Self::Host(data) => Ok(read(data)),
            Self::Device(buffer) => Ok(read(&buffer.download()?)),
        }
    }

    /// Returns the elements as a vector in the host's memory.
    pub(crate) fn into_vec(self) -> Result<Vec<T>, IntegerError> {
        match self {
            Self::Host(data) => Ok(data.into_vec()),
            Self::Device(buffer) => Ok(buffer.download()?),
        }
    }

    /// Returns a copy on the same CPU or device. `executor` is the executor of the original.
    pub(crate) fn try_clone(&self, executor: &Executor) -> Result<Self, IntegerError> {
        match self {
            Self::Host(data) => Ok(data.to_vec().into()),
            Self::Device(buffer) => {
                let mut copy = executor.gpu()?.device().alloc(buffer.len())?;
                copy.copy_from(buffer)?;
                Ok(Self::Device(copy))
            }
        }
    }
}

impl<T> From<Vec<T>> for Storage<T> {
    fn from(data: Vec<T>) -> Self {
        Self::Host(data.into())
    }
}

/// Returns an error if `count` exceeds 2^32 − 1, the largest count of numbers that kernels can
/// index.
pub(crate) fn countable(count: usize) -> Result<(), IntegerError> {
    match u32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(IntegerError::TooMany { count, most: u32::MAX }),
    }
}

/// Returns `count`·`each` zeros in the host's memory. Returns `None` if the memory cannot be
/// allocated.
pub(crate) fn host_zeros<T: Pod>(count: usize, each: usize) -> Option<Vec<T>> {
    let len = count.checked_mul(each)?;
    // A zeroed allocation is lazy and would not report a lack of memory, so try a reservation
    // first.
    Vec::<T>::new().try_reserve_exact(len).ok()?;
    Some(vec![T::zeroed(); len])
}
