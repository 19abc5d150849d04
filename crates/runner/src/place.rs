//! The choice of the device or CPU and of the plan of a test.

use warpint_mersenne::{DeviceChoice, Number, Plan, PlanRequest, TunedTimes};

use crate::RunError;
use crate::observer::{Observer, RunEvent};
use crate::warning::Warning;

/// Returns the request with its device chosen: a request with
/// [`DeviceChoice::Auto`](warpint_mersenne::DeviceChoice::Auto) is given a GPU or the CPU. Sends a
/// warning if a GPU exists but cannot be used.
pub(crate) fn resolved(
    request: &PlanRequest,
    number: Number,
    observer: &dyn Observer,
) -> Result<PlanRequest, RunError> {
    let resolved = request.resolved(number).map_err(|e| e.of_request(request))?;
    if let Some(warning) = resolved.warning {
        observer.event(&RunEvent::Warning(&Warning::OfPlan(warning)));
    }
    Ok(resolved.request)
}

/// Returns the request, with the CPU in place of a device on which no engine that the request allows computes
/// modulo the number.
pub(crate) fn or_on_cpu(request: &PlanRequest, number: Number) -> Result<PlanRequest, RunError> {
    let on_cpu = PlanRequest { device: DeviceChoice::Cpu, ..*request };
    let takes = request.takes(number).map_err(|e| e.of_request(request))?;
    Ok(if takes || request.is_on_cpu() { *request } else { on_cpu })
}

/// Returns the fastest plans for the two engines of a test; the second engine recomputes the test.
/// The device of the first request must be chosen already: see [`resolved`]. Returns
/// [`RunError::SameEngine`] if the engines are the same, because an engine may make the same error
/// twice.
pub(crate) fn two_plans(
    number: Number,
    [first, second]: [&PlanRequest; 2],
    observer: &dyn Observer,
) -> Result<(Plan, Plan), RunError> {
    let second = resolved(second, number, observer)?;
    let refusal = |engine| RunError::SameEngine { number, engine };
    // Checked before seconds are spent on choosing a length.
    if let (Some(engine), true) = (first.engine, first.engine == second.engine) {
        return Err(refusal(engine));
    }
    let plan = |request: &PlanRequest| {
        Plan::fastest(number, request, &TunedTimes::open()).map_err(|e| e.of_request(request))
    };
    let (first, second) = (plan(first)?, plan(&second)?);
    if first.engine() == second.engine() {
        return Err(refusal(first.engine()));
    }
    Ok((first, second))
}
