//! The search for the fastest plan, method or table size. Later runs read the result from the
//! store.

pub mod batch;
pub mod collatz;
pub mod mersenne;
mod search;
mod storing;

pub use storing::Storing;
