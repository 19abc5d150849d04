//! The search for the fastest plan, method or table, which later runs read from the store.

pub mod batch;
pub mod collatz;
pub mod mersenne;
mod search;
mod storing;

pub use storing::Storing;
