//! Errors about transform lengths that cannot be used.

use warpint::mersenne::{PlanError, PlanRequest};

/// Converts an error of a plan into the error that the program prints. If the requested length
/// cannot be used, the error names the nearest lengths that can. The device of the request must be
/// chosen already.
pub(crate) fn explain(error: PlanError, request: &PlanRequest) -> anyhow::Error {
    error.of_request(request).into()
}
