//! Errors about transform lengths that cannot be used.

use warpint::mersenne::{PlanError, PlanRequest};

/// Returns an error, with the nearest usable lengths added if it is about the length of a request
/// whose place is decided.
pub(crate) fn explain(error: PlanError, request: &PlanRequest) -> anyhow::Error {
    error.of_request(request).into()
}
