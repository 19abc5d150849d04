//! What to say of a transform length that cannot be used.

use warpint::mersenne::{PlanError, PlanRequest};

/// The error, with the nearest lengths that would do, if it is about the length of a request whose
/// place is decided.
pub(crate) fn explain(error: PlanError, request: &PlanRequest) -> anyhow::Error {
    error.of_request(request).into()
}
