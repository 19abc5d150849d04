//! The shape of a launch, and what is passed to a kernel.

use crate::Buffer;

/// Blocks, threads of a block, and dynamic shared memory of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
}

impl Launch {
    /// `blocks` × `threads` in one dimension.
    #[must_use]
    pub fn linear(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0 }
    }

    /// With dynamic shared memory.
    #[must_use]
    pub fn shared(self, bytes: u32) -> Self {
        Self { shared_bytes: bytes, ..self }
    }
}

/// One argument of a kernel, of the type that its parameter has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arg {
    /// A pointer to device memory.
    Pointer(u64),
    /// `unsigned`.
    U32(u32),
    /// `int`.
    I32(i32),
    /// `unsigned long long`.
    U64(u64),
    /// `long long`.
    I64(i64),
    /// `double`.
    F64(f64),
}

impl<T: bytemuck::Pod> From<&Buffer<T>> for Arg {
    fn from(buffer: &Buffer<T>) -> Self {
        Arg::Pointer(buffer.address())
    }
}

macro_rules! from_number {
    ($($number:ty => $variant:ident),*) => {
        $(impl From<$number> for Arg {
            fn from(value: $number) -> Self {
                Arg::$variant(value)
            }
        })*
    };
}

from_number!(u32 => U32, i32 => I32, u64 => U64, i64 => I64, f64 => F64);
