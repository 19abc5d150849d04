//! `warpint selftest --faults [FILTER] [--device …]`

use anyhow::Context;
use warpint::mersenne::PlanRequest;
use warpint_selftest::faults::{self, FaultReport};

use super::selftest::{Case, Tally, families};
use crate::args::SelftestArgs;
use crate::exit::Exit;
use crate::run::settle_for_any;
use crate::threads;

pub(crate) fn run(args: &SelftestArgs) -> anyhow::Result<Exit> {
    threads::set(args.threads)?;
    let device = args.device.device;
    let request = settle_for_any(&PlanRequest { device, ..PlanRequest::default() })?;
    let families = families(device, &request)?;
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut tally = Tally::new(args);
    let filter = args.filter.as_deref();
    faults::run(&families, Some(&program), filter, &mut |fault| tally.take(fault.into()));
    tally.conclude(args)
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
