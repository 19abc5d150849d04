//! `warpint selftest [FILTER] [--device …]`

use warpint::integer::Executor;
use warpint::mersenne::engine::places::{Families, device_on, families_on_cpu};
use warpint::mersenne::{DeviceChoice, PlanRequest};
use warpint_selftest::batches::Sizes;
use warpint_selftest::{
    CaseReport, Summary, collatz, run_batches, run_collatz, run_kernels, run_transforms,
    run_transforms_on_cpu, transform_big, transform_small,
};

use super::batch::place::gpu;
use crate::exit::{BadRequest, Exit};
use crate::report;
use crate::run::settle_for_any;
use crate::units;

pub(crate) fn run(device: DeviceChoice, filter: Option<&str>) -> anyhow::Result<Exit> {
    let request = settle_for_any(&PlanRequest { device, ..PlanRequest::default() })?;
    let families = families(device, &request)?;
    let mut printed = Ok(());
    let mut print = |case: &CaseReport| {
        let written = report::write_out(format!("{}\n", line(case)).as_bytes());
        if printed.is_ok() {
            printed = written;
        }
    };
    let mut summaries = vec![];
    if let DeviceChoice::On(id) = request.device {
        let device = device_on(id)?;
        summaries.push(run_kernels(&device, filter, &mut print));
        summaries.push(run_batches(&gpu(id)?.into(), &Sizes::of_gpus(), filter, &mut print));
        let sizes = collatz::Sizes::of_gpus();
        summaries.push(run_collatz(&device, &sizes, filter, &mut print));
        let sizes = (&transform_big::Sizes::of_gpus(), &transform_small::Sizes::of_gpus());
        summaries.push(run_transforms(&device, sizes, filter, &mut print));
    }
    if matches!(device, DeviceChoice::Auto | DeviceChoice::Cpu) {
        summaries.push(run_batches(&Executor::cpu(), &Sizes::usual(), filter, &mut print));
        summaries.push(run_transforms_on_cpu(filter, &mut print));
    }
    summaries.push(warpint_selftest::run(&families, filter, &mut print));
    printed?;
    let passed = summaries.iter().map(|summary| summary.passed).sum();
    let failed = summaries.iter().map(|summary| summary.failed).sum();
    conclude(&Summary { passed, failed }, filter)
}

/// The last line, and the exit code.
pub(super) fn conclude(summary: &Summary, filter: Option<&str>) -> anyhow::Result<Exit> {
    let Summary { passed, failed } = summary;
    if passed + failed == 0 {
        let filter = filter.unwrap_or_default();
        let line = format!("no case has '{filter}' in its name: without a filter all are run");
        return Err(BadRequest(line).into());
    }
    report::write_out(format!("{passed} passed, {failed} failed\n").as_bytes())?;
    Ok(if *failed == 0 { Exit::Done } else { Exit::Negative })
}

/// Those of the device asked for; with `auto` those of the CPU and of a GPU
/// that works.
pub(super) fn families(device: DeviceChoice, request: &PlanRequest) -> anyhow::Result<Families> {
    let mut families =
        if device == DeviceChoice::Auto { families_on_cpu() } else { Families::new() };
    if request.device != DeviceChoice::Cpu || families.is_empty() {
        families.extend(request.families()?.0);
    }
    Ok(families)
}

fn line(case: &CaseReport) -> String {
    let name = format!("{}::{}", case.family, case.case);
    let verdict = match &case.result {
        Ok(()) => "ok".into(),
        Err(reason) => format!("FAILED: {reason}"),
    };
    format!("{name:<48} {:>9}  {verdict}", units::elapsed(case.elapsed))
}
