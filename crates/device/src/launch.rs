//! The shape of a launch, and the arguments of a kernel.

use bytemuck::Pod;

use crate::view::Place;
use crate::{Buffer, Cells, Device, View};

/// The shape of a launch: the number of blocks, the threads per block, and the dynamic shared
/// memory per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// The numbers of blocks in x, y and z.
    pub grid: [u32; 3],
    /// The numbers of threads per block in x, y and z.
    pub block: [u32; 3],
    /// The dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

impl Launch {
    /// Returns the one-dimensional shape with `blocks` blocks of `threads` threads each, without
    /// dynamic shared memory.
    #[must_use]
    pub fn linear(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0 }
    }

    /// Returns the same shape with `bytes` bytes of dynamic shared memory.
    #[must_use]
    pub fn shared(self, bytes: u32) -> Self {
        Self { shared_bytes: bytes, ..self }
    }
}

/// One argument of a kernel. Its variant must match the type of the kernel's parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arg {
    /// A pointer to device memory.
    Pointer(Pointer),
    /// A value of the C++ type `unsigned`.
    U32(u32),
    /// A value of the C++ type `int`.
    I32(i32),
    /// A value of the C++ type `unsigned long long`.
    U64(u64),
    /// A value of the C++ type `long long`.
    I64(i64),
    /// A value of the C++ type `double`.
    F64(f64),
}

impl Arg {
    /// A null pointer, for a parameter that the kernel permits to be null.
    pub const NULL: Self = Self::Pointer(Pointer { address: 0, device: None });
}

/// The address of elements in a device's memory. A pointer is only made by converting a [`Buffer`],
/// a [`View`] or [`Cells`] to an [`Arg`], except for [`Arg::NULL`]. A pointer has no lifetime, so
/// it may outlive the object from which it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    address: u64,
    /// The number that identifies the device in this process; `None` for a null pointer.
    device: Option<usize>,
}

impl Pointer {
    /// Returns the address in the device's memory; 0 for a null pointer.
    #[must_use]
    pub fn address(self) -> u64 {
        self.address
    }

    /// Returns whether the pointer may be passed to a kernel of `device`: it points to memory of
    /// this device or is null.
    pub(crate) fn is_of(self, device: &Device) -> bool {
        self.device.is_none_or(|of| of == device.identity())
    }

    #[cfg(test)]
    pub(crate) fn anywhere(address: u64) -> Self {
        Self { address, device: None }
    }
}

impl From<Place<'_>> for Arg {
    fn from(place: Place<'_>) -> Self {
        let device = Some(place.device.identity());
        Arg::Pointer(Pointer { address: place.address, device })
    }
}

impl<T: Pod> From<&Buffer<T>> for Arg {
    fn from(buffer: &Buffer<T>) -> Self {
        buffer.place().into()
    }
}

impl<T: Pod> From<&mut Buffer<T>> for Arg {
    fn from(buffer: &mut Buffer<T>) -> Self {
        buffer.place().into()
    }
}

impl<T: Pod> From<View<'_, T>> for Arg {
    fn from(view: View<'_, T>) -> Self {
        view.place().into()
    }
}

impl<T: Pod> From<Cells<'_, T>> for Arg {
    fn from(cells: Cells<'_, T>) -> Self {
        cells.place().into()
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
