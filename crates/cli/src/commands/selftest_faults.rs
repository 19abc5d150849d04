//! `warpint selftest --faults [FILTER] [--device …]`

use anyhow::Context;
use warpint::mersenne::engine::places::device_on;
use warpint::mersenne::{DeviceChoice, PlanRequest};
use warpint_selftest::Summary;
use warpint_selftest::faults::{self, FaultReport, Sizes, run_on_cpu, run_on_device};

use super::selftest::{conclude, families};
use crate::exit::Exit;
use crate::report;
use crate::run::settle_for_any;
use crate::units;

pub(crate) fn run(device: DeviceChoice, filter: Option<&str>) -> anyhow::Result<Exit> {
    let request = settle_for_any(&PlanRequest { device, ..PlanRequest::default() })?;
    let families = families(device, &request)?;
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut printed = Ok(());
    let mut print = |fault: &FaultReport| {
        let written = report::write_out(format!("{}\n", line(fault)).as_bytes());
        if printed.is_ok() {
            printed = written;
        }
    };
    let mut summaries = vec![];
    if let DeviceChoice::On(id) = request.device {
        let device = device_on(id)?;
        summaries.push(run_on_device(&device, &Sizes::of(&device), filter, &mut print));
    }
    if matches!(device, DeviceChoice::Auto | DeviceChoice::Cpu) {
        summaries.push(run_on_cpu(filter, &mut print));
    }
    summaries.push(faults::run(&families, Some(&program), filter, &mut print));
    printed?;
    let passed = summaries.iter().map(|summary| summary.passed).sum();
    let failed = summaries.iter().map(|summary| summary.failed).sum();
    conclude(&Summary { passed, failed }, filter)
}

fn line(of: &FaultReport) -> String {
    let name = format!("{}::{}", of.family, of.fault);
    let verdict = match &of.result {
        Ok(how) => format!("ok: {how}"),
        Err(reason) => format!("FAILED: {}", reason.replace('\n', " ")),
    };
    format!("{name:<48} {:>9}  {verdict}", units::elapsed(of.elapsed))
}
