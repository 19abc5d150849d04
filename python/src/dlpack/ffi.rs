//! The structures of DLPack 1.0, which libraries exchange arrays with, and of the C exchange API of
//! DLPack 1.3 (dlpack.h of dmlc/dlpack).

use std::ffi::{CStr, c_int, c_void};

/// The kinds of devices that are exchanged.
pub(super) const CPU: i32 = 1;
pub(super) const CUDA: i32 = 2;
/// The code of unsigned integers.
pub(super) const UINT: u8 = 1;
/// The consumer may not write.
pub(super) const READ_ONLY: u64 = 1;
/// The memory is a copy for the consumer alone.
pub(super) const IS_COPIED: u64 = 2;

/// The names of capsules, before and after a consumer has taken the array.
pub(super) const NAME: &CStr = c"dltensor";
pub(super) const USED: &CStr = c"used_dltensor";
pub(super) const VERSIONED_NAME: &CStr = c"dltensor_versioned";
pub(super) const VERSIONED_USED: &CStr = c"used_dltensor_versioned";

/// The name of the capsule with the C exchange API of a class.
pub(super) const EXCHANGE_NAME: &CStr = c"dlpack_exchange_api";

/// A kind of device, and the index of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Device {
    pub(super) kind: i32,
    pub(super) index: i32,
}

/// The type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct DataType {
    pub(super) code: u8,
    pub(super) bits: u8,
    pub(super) lanes: u16,
}

/// An array. Strides count elements; null means C-contiguous.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Tensor {
    pub(super) data: *mut c_void,
    pub(super) device: Device,
    pub(super) dimensions: i32,
    pub(super) of: DataType,
    pub(super) shape: *mut i64,
    pub(super) strides: *mut i64,
    pub(super) byte_offset: u64,
}

/// An array that its consumer gives back by calling `deleter`, of DLPack before 1.0.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Managed {
    pub(super) tensor: Tensor,
    pub(super) context: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// A version of DLPack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Version {
    pub(super) major: u32,
    pub(super) minor: u32,
}

/// An array that its consumer gives back by calling `deleter`, since DLPack 1.0.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ManagedVersioned {
    pub(super) version: Version,
    pub(super) context: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut Self)>,
    pub(super) flags: u64,
    pub(super) tensor: Tensor,
}

/// The functions by which native code exchanges arrays of a class without capsules, since DLPack 1.3.
/// The functions that are not used here have no type.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ExchangeApi {
    pub(super) version: Version,
    /// The same functions of an earlier version, or null.
    pub(super) previous: *const Self,
    allocator: *const c_void,
    /// Makes an array of a Python object of the class. Does not order work. Returns 0, or −1 with
    /// Python's error indicator set.
    pub(super) from_object:
        Option<unsafe extern "C" fn(*mut c_void, *mut *mut ManagedVersioned) -> c_int>,
    to_object: *const c_void,
    tensor_from_object: *const c_void,
    /// Writes the stream of a device (kind, index) to which the library submits work at present.
    /// Null if the library has no such stream. Returns as `from_object`.
    pub(super) current_stream: Option<unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> c_int>,
}
