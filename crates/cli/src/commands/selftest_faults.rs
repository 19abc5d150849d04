//! The command `warpint selftest --faults [FILTER] [--device …]`: injects faults into tests whose
//! answers are known.

use anyhow::Context;
use warpint::device::device_on;
use warpint::mersenne::{DeviceChoice, PlanRequest};
use warpint_selftest::faults::{self, FaultReport, Sizes, run_on_cpu, run_on_device};

use super::selftest::{Case, Tally, families};
use crate::args::SelftestArgs;
use crate::exit::Exit;
use crate::run::resolve_for_any;
use crate::threads;

pub(crate) fn run(args: &SelftestArgs) -> anyhow::Result<Exit> {
    threads::set(args.threads)?;
    let device = args.device;
    let request = resolve_for_any(&PlanRequest { device, ..PlanRequest::default() })?;
    let families = families(device, &request)?;
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut tally = Tally::new(args);
    let filter = args.filter.as_deref();
    let mut take = |fault: &FaultReport| tally.take(fault.into());
    if matches!(device, DeviceChoice::Auto | DeviceChoice::Cpu) {
        faults::run_collatz(None, filter, &mut take);
        run_on_cpu(filter, &mut take);
    }
    if let DeviceChoice::On(id) = request.device {
        let device = device_on(id)?;
        faults::run_collatz(Some(&device), filter, &mut take);
        run_on_device(&device, &Sizes::of(&device), filter, &mut take);
    }
    faults::run(&families, Some(&program), filter, &mut take);
    tally.conclude(args, false)
}

impl From<&FaultReport> for Case {
    fn from(of: &FaultReport) -> Self {
        Self {
            suite: of.family.clone(),
            case: of.fault.to_owned(),
            passed: of.result.is_ok(),
            seconds: of.elapsed.as_secs_f64(),
            message: match &of.result {
                Ok(how) | Err(how) => how.clone(),
            },
        }
    }
}
