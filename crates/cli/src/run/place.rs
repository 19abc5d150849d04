//! Where a test is computed, and with what.

use warpint::device::{Device, DeviceError};
use warpint::mersenne::{DeviceChoice, DeviceId, Exponent, Plan, PlanRequest, TunedTimes};

use crate::exit::BadRequest;
use crate::lengths;
use crate::report;

/// The fastest plan of a test, and that of the engine that computes everything once more: another
/// one, for what an engine gets wrong it may get wrong twice.
pub(super) fn two_plans(
    exponent: Exponent,
    [first, second]: [&PlanRequest; 2],
) -> anyhow::Result<(Plan, Plan)> {
    let second = settle(second, exponent)?;
    let refuse = |engine: &str| {
        BadRequest(format!(
            "--verify-with wants another engine, and the test of M{exponent} is itself computed by \
             {engine}: give another one there, or by --engine for the test"
        ))
    };
    // Before seconds are spent on choosing a length.
    if let (Some(engine), true) = (first.engine, first.engine == second.engine) {
        return Err(refuse(engine).into());
    }
    let plan = |request: &PlanRequest| {
        Plan::fastest(exponent, request, &TunedTimes::open())
            .map_err(|e| lengths::explain(e, request))
    };
    let (first, second) = (plan(first)?, plan(&second)?);
    if first.engine() == second.engine() {
        return Err(refuse(first.engine()).into());
    }
    Ok((first, second))
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

/// All GPUs of this machine, whether they can be used or not; an error if there is none.
pub(crate) fn all_gpus() -> Result<Vec<DeviceId>, DeviceError> {
    let list = Device::list();
    if list.devices.is_empty() {
        let why = match list.missing.as_slice() {
            [] => "there is no GPU".into(),
            missing => missing.join("; "),
        };
        return Err(DeviceError::NoDevice(why));
    }
    Ok((0..list.devices.len() as u32).map(DeviceId::Cuda).collect())
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
