//! Memory of a batch, where its executor works.

use bytemuck::Pod;

use crate::{Executor, IntegerError, Width};

/// Elements where the executor of their batch works.
#[derive(Debug)]
pub(crate) enum Storage<T> {
    /// In the host's memory.
    Host(Vec<T>),
}

impl<T: Pod + Send> Storage<T> {
    /// Zeros, `each` for each of `count` numbers of `width`.
    pub(crate) fn zeros(
        executor: &Executor,
        count: usize,
        each: usize,
        width: Width,
    ) -> Result<Self, IntegerError> {
        debug_assert!(executor.is_cpu());
        let zeros = host_zeros(count, each).ok_or(IntegerError::Memory { count, width })?;
        Ok(Self::Host(zeros))
    }

    /// Takes what the host has.
    pub(crate) fn from_vec(executor: &Executor, data: Vec<T>) -> Result<Self, IntegerError> {
        debug_assert!(executor.is_cpu());
        Ok(Self::Host(data))
    }

    /// A copy for the host.
    pub(crate) fn to_vec(&self) -> Result<Vec<T>, IntegerError> {
        match self {
            Self::Host(data) => Ok(data.clone()),
        }
    }

    /// Brings it to the host.
    pub(crate) fn into_vec(self) -> Result<Vec<T>, IntegerError> {
        match self {
            Self::Host(data) => Ok(data),
        }
    }
}

/// count·each zeros in the host's memory; `None` if there is not so much.
pub(crate) fn host_zeros<T: Pod>(count: usize, each: usize) -> Option<Vec<T>> {
    let len = count.checked_mul(each)?;
    // Zeroed memory that is not yet touched costs nothing, but does not fail with an error.
    Vec::<T>::new().try_reserve_exact(len).ok()?;
    Some(vec![T::zeroed(); len])
}
