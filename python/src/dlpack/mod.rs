//! Exchange of arrays with other libraries by DLPack and by CUDA's array interface.

mod export;
mod ffi;
pub(crate) mod import;
