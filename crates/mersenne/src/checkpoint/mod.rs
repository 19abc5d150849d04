//! Checkpoints: the states from which a test resumes, stored on disk.
//!
//! A checkpoint is one file. It contains a text header, the residues as little-endian bytes, and
//! the SHA-256 of header and residues ([`State::to_bytes`]). The first line of the header describes
//! the checkpoint for people. The store ([`CheckpointStore`]) writes each checkpoint to a new file,
//! syncs it and renames it into place. It keeps several generations and never removes a verified
//! checkpoint for an unverified one. A process killed at any instant loses at most the work since
//! the last save.

mod format;
mod lock;
mod store;

pub use format::{Confirmation, FormatError, GerbiczState, LeastLength, LucasState, State};
pub use store::{CheckpointError, CheckpointStore, Saved};
