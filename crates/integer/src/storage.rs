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
        let memory = || IntegerError::Memory { count, width };
        let len = count.checked_mul(each).ok_or_else(memory)?;
        debug_assert!(executor.is_cpu());
        // Zeroed memory that is never touched costs nothing, but is not to be had with an error.
        Vec::<T>::new().try_reserve_exact(len).map_err(|_| memory())?;
        Ok(Self::Host(vec![T::zeroed(); len]))
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
