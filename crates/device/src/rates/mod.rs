//! What a device reaches.

use crate::{Source, fp64_rate};

/// The sources of this crate's own kernels, for those who compile without a device.
#[must_use]
pub fn own_sources() -> Vec<Source> {
    vec![fp64_rate::source()]
}
