//! Where a test is computed, and with what.

use warpint_mersenne::{Exponent, Plan, PlanRequest, TunedTimes};

use crate::RunError;
use crate::observer::{Observer, RunEvent};
use crate::warning::Warning;

/// Decides where to compute; a GPU that is there and cannot be used is told of.
pub(crate) fn resolved(
    request: &PlanRequest,
    exponent: Exponent,
    observer: &dyn Observer,
) -> Result<PlanRequest, RunError> {
    let resolved = request.resolved(exponent).map_err(|e| e.of_request(request))?;
    if let Some(warning) = resolved.warning {
        observer.event(&RunEvent::Warning(&Warning::OfPlan(warning)));
    }
    Ok(resolved.request)
}

/// The fastest plan of a test, and that of the engine that computes everything once more: another
/// one, for what an engine gets wrong it may get wrong twice.
pub(crate) fn two_plans(
    exponent: Exponent,
    [first, second]: [&PlanRequest; 2],
    observer: &dyn Observer,
) -> Result<(Plan, Plan), RunError> {
    let second = resolved(second, exponent, observer)?;
    let refusal = |engine| RunError::SameEngine { exponent: exponent.get(), engine };
    // Before seconds are spent on choosing a length.
    if let (Some(engine), true) = (first.engine, first.engine == second.engine) {
        return Err(refusal(engine));
    }
    let plan = |request: &PlanRequest| {
        Plan::fastest(exponent, request, &TunedTimes::open()).map_err(|e| e.of_request(request))
    };
    let (first, second) = (plan(first)?, plan(&second)?);
    if first.engine() == second.engine() {
        return Err(refusal(first.engine()));
    }
    Ok((first, second))
}
