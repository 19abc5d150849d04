//! Batches of natural numbers of a fixed width: millions of independent
//! operations at once, on the CPU or on a GPU, always exact.

mod error;
pub mod gpu;
mod width;

pub use error::IntegerError;
pub use width::Width;
