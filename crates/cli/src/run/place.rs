//! Where a test is computed, and with what.

use warpint::mersenne::{DeviceChoice, DeviceId, Exponent, Plan, PlanRequest, TunedTimes};

use crate::lengths;
use crate::report;

/// The fastest plan of the engine that computes everything once more.
pub(super) fn second_plan(exponent: Exponent, request: &PlanRequest) -> anyhow::Result<Plan> {
    let request = settle(request, exponent)?;
    Plan::fastest(exponent, &request, &TunedTimes::open())
        .map_err(|e| lengths::explain(e, &request))
}

/// Decides where to compute; a GPU that is there and cannot be used is told of.
pub(crate) fn settle(request: &PlanRequest, exponent: Exponent) -> anyhow::Result<PlanRequest> {
    let settled = request.settled(exponent).map_err(|e| lengths::explain(e, request))?;
    if let Some(warning) = settled.warning {
        report::notice(&format!("warning: {warning}"));
    }
    Ok(settled.request)
}

/// The same for work that is not of one exponent: what can be used for one that
/// is worth a GPU can be used for the rest.
pub(crate) fn settle_for_any(request: &PlanRequest) -> anyhow::Result<PlanRequest> {
    let p = if request.device == DeviceChoice::On(DeviceId::Sim) { 9_941 } else { 216_091 };
    settle(request, Exponent::new(p)?)
}

/// Exponents of several sizes for the place of a request.
pub(crate) fn exponents_for(
    request: &PlanRequest,
    on_cpu: &[u64],
    on_gpu: &[u64],
) -> anyhow::Result<Vec<Exponent>> {
    const ON_SIMULATOR: [u64; 2] = [1_279, 9_941];
    let list = match request.device {
        DeviceChoice::On(DeviceId::Cuda(_)) => on_gpu,
        DeviceChoice::On(DeviceId::Sim) => &ON_SIMULATOR,
        DeviceChoice::Auto | DeviceChoice::Cpu => on_cpu,
    };
    Ok(list.iter().map(|&p| Exponent::new(p)).collect::<Result<_, _>>()?)
}
