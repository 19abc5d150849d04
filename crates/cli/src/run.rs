//! Runs the test of `warpint prp`, `warpint ll` and `warpint test`, and chooses the device for a request.

use std::sync::Arc;

use warpint::device::{Device, DeviceError};
use warpint::mersenne::{DeviceChoice, DeviceId, Exponent, PlanRequest, StopToken};
use warpint::runner::{Job, Observer, Report};

use crate::args::TestArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::lengths;
use crate::report;

/// Runs a test and prints the result; returns the exit code.
pub(crate) fn one(job: &Job<'_>, args: &TestArgs) -> anyhow::Result<Exit> {
    let (console, stop) = Console::install(args.sitting.quiet, args.sitting.json)?;
    run_job(job, &console, &stop)
}

/// Runs a test whose reports go to `console`; returns the exit code.
pub(crate) fn run_job(
    job: &Job<'_>,
    console: &Arc<dyn Observer>,
    stop: &StopToken,
) -> anyhow::Result<Exit> {
    Ok(match job.run(console, stop)? {
        Report::Stopped(_) => Exit::Stopped,
        Report::Test(_) | Report::Factor(_) => Exit::Done,
    })
}

/// Returns a request with its device chosen for an exponent. Prints a warning if a GPU exists but
/// cannot be used.
pub(crate) fn resolve(request: &PlanRequest, exponent: Exponent) -> anyhow::Result<PlanRequest> {
    let resolved = request.resolved(exponent).map_err(|e| lengths::explain(e, request))?;
    if let Some(warning) = resolved.warning {
        report::notice(&format!("warning: {warning}"));
    }
    Ok(resolved.request)
}

/// Returns a request with its device chosen for work that is not tied to one exponent. The device
/// is chosen as for an exponent that is large enough for a GPU.
pub(crate) fn resolve_for_any(request: &PlanRequest) -> anyhow::Result<PlanRequest> {
    let p = if request.device == DeviceChoice::On(DeviceId::Sim) { 9_941 } else { 216_091 };
    resolve(request, Exponent::new(p)?)
}

/// Returns the identifiers of all GPUs of this machine, including those that cannot be used. If
/// there is no GPU, returns an error.
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
