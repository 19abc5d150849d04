//! Errors about transform lengths that cannot be used.

use warpint::mersenne::{PlanError, PlanRequest};

/// Adds the nearest usable lengths to an error about the length of a request whose place is
/// decided.
pub(crate) fn explain(error: PlanError, request: &PlanRequest) -> anyhow::Error {
    error.of_request(request).into()
}
