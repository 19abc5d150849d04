//! `warpint selftest [FILTER] [--device …]`

use warpint::mersenne::engine::places::{Families, families_on_cpu};
use warpint::mersenne::{DeviceChoice, PlanRequest};
use warpint_selftest::{CaseReport, Summary};

use crate::exit::Exit;
use crate::report;
use crate::run::settle_for_any;
use crate::units;

pub(crate) fn run(device: DeviceChoice, filter: Option<&str>) -> anyhow::Result<Exit> {
    let families = families(device)?;
    let mut printed = Ok(());
    let Summary { passed, failed } = warpint_selftest::run(&families, filter, &mut |case| {
        let written = report::write_out(format!("{}\n", line(case)).as_bytes());
        if printed.is_ok() {
            printed = written;
        }
    });
    printed?;
    if passed + failed == 0 {
        anyhow::bail!("no case has '{}' in its name", filter.unwrap_or_default());
    }
    report::write_out(format!("{passed} passed, {failed} failed\n").as_bytes())?;
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// Those of the device asked for; with `auto` those of the CPU and of a GPU
/// that works.
fn families(device: DeviceChoice) -> anyhow::Result<Families> {
    let request = PlanRequest { device, ..PlanRequest::default() };
    let request = settle_for_any(&request)?;
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
