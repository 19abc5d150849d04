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

/// Returns a structure in memory, in 64-bit words, whose members have the values and the types of `args`, in this
/// order. It is laid out as C++ lays out a `struct`, for a kernel that reads its arguments from memory.
///
/// The pointers of the structure are not checked when a kernel is launched.
#[must_use]
pub fn structure(args: &[Arg]) -> Vec<u64> {
    let mut words: Vec<u64> = vec![];
    // Whether the upper half of the last word is free.
    let mut has_room = false;
    for arg in args {
        let (value, is_long) = match *arg {
            Arg::Pointer(v) => (v.address(), true),
            Arg::U64(v) => (v, true),
            Arg::I64(v) => (v as u64, true),
            Arg::F64(v) => (v.to_bits(), true),
            Arg::U32(v) => (u64::from(v), false),
            Arg::I32(v) => (u64::from(v as u32), false),
        };
        match words.last_mut() {
            Some(last) if has_room && !is_long => {
                *last |= value << 32;
                has_room = false;
            }
            _ => {
                words.push(value);
                has_room = !is_long;
            }
        }
    }
    words
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_those_of_cpp() {
        let args = [
            Arg::Pointer(Pointer::anywhere(1 << 40)),
            Arg::F64(-0.5),
            Arg::U32(7),
            Arg::I32(-9),
            Arg::U64(u64::MAX),
            Arg::I64(-1),
            Arg::U32(5),
        ];
        let expected = [1 << 40, 0xbfe0 << 48, 0xffff_fff7_0000_0007, u64::MAX, u64::MAX, 5];
        assert_eq!(structure(&args), expected);
        // A long member begins at a word of its own.
        assert_eq!(structure(&[Arg::U32(3), Arg::U64(4), Arg::I32(-1)]), [3, 4, 0xffff_ffff]);
    }
}
