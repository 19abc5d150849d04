//! Checkpoints: what a test needs to go on, safely on disk.
//!
//! A checkpoint is one file: a text header whose first line a person can read,
//! the residues as little-endian bytes, and a SHA-256 of all that
//! ([`State::to_bytes`]). The store ([`CheckpointStore`]) writes each to a new
//! file, syncs it and renames it into place, keeps several generations, and
//! never lets an unverified one displace a verified one. A process killed at
//! any instant loses at most the work since the last save.

mod format;
mod lock;
mod store;

pub use format::{Confirmation, FormatError, GerbiczState, LeastLength, State};
pub use store::{CheckpointError, CheckpointStore, Saved};
