//! The command `warpint tune collatz`: measures the sizes of the tables of the Collatz methods.

use std::fmt::{self, Display};

use serde::Serialize;
use warpint::collatz::sizes::{Tunable, TunedSizes};
use warpint::device::device_on;
use warpint::mersenne::DeviceChoice;
use warpint_bench::tune::collatz::{Report, Tuner, tunable};

use super::Unstored;
use crate::args::TuneCollatzArgs;
use crate::commands::batch::place::resolved;
use crate::commands::collatz::numbers::about;
use crate::exit::{BadRequest, Exit};
use crate::report;
use crate::signals::Signals;
use crate::steps::Steps;

pub(super) fn run(args: &TuneCollatzArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let device = match resolved(args.device)? {
        DeviceChoice::On(id) => Some(device_on(id)?),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    };
    let tuned = TunedSizes::open();
    let there = tunable(device.as_ref());
    let asked: Vec<Tunable> =
        Tunable::ALL.into_iter().filter(|what| args.what.contains(what)).collect();
    if let Some(what) = asked.iter().find(|what| !there.contains(what)) {
        let text = format!("{} has one size on the CPU: give --device", what.name());
        return Err(BadRequest(text).into());
    }
    let tuner = Tuner::new(device.as_ref(), &tuned, args.bits);
    report::warn(tuned.take_warnings());
    let mut tuner = tuner?;
    let mut unstored = Unstored::new("sizes", tuner.storing());
    let asked = if asked.is_empty() { there } else { asked };
    let counted = |timed, all| format!("{timed} of {all}");
    let steps = Steps::new(signals.save_first(), counted, args.json);
    let report = tuner.measure(&asked, &steps);
    steps.meter().end();
    unstored.look_at(tuner.storing());
    report::warn(tuned.take_warnings());
    report::print(&Table(&report), args.json)?;
    let failed = report.rows.iter().any(|row| row.error.is_some());
    Ok(match (report.is_wrong, failed, report.stopped) {
        (true, ..) => Exit::Negative,
        (false, true, _) => Exit::Failed,
        (false, false, true) => Exit::Stopped,
        (false, false, false) => unstored.exit,
    })
}

/// The results of tuning, formatted as a table by `Display`.
#[derive(Serialize)]
struct Table<'a>(&'a Report);

impl Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        writeln!(f, "{}  {}\n", report.device, report.name)?;
        write!(f, "{:<8}  {:<32}  {:>9}", "what", "size", "a second")?;
        for row in &report.rows {
            let said = match (&row.per_second, &row.error) {
                (Some(speed), _) => format!("{:>9}", about(*speed)),
                (None, error) => error.clone().unwrap_or_default(),
            };
            let remark = if row.stored { "  fastest, stored" } else { "" };
            write!(f, "\n{:<8}  {:<32}  {said}{remark}", row.what, row.size)?;
        }
        if report.stopped {
            write!(f, "\nstopped: what is not complete is not stored")?;
        }
        Ok(())
    }
}
