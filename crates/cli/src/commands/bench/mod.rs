//! The command `warpint bench`, and the code that its subcommands have in common.

mod batch;
mod bigprime;
mod checks;
mod device;
mod jacobi;
mod mersenne;
mod ntt;
mod product;
mod same_plan;

use std::fmt::Display;
use std::path::Path;

use serde::Serialize;
use warpint::device::{Device, device_on};
use warpint::mersenne::{DeviceChoice, DeviceId, PlanRequest};
use warpint_bench::columns::Machine;
use warpint_files::{FileError, WholeFile};

pub(super) use self::batch::figures;
use super::batch::place::resolved;
use crate::args::Bench;
use crate::exit::{BadRequest, Exit};
use crate::report;
use crate::units;

pub(super) fn run(what: &Bench) -> anyhow::Result<Exit> {
    match what {
        Bench::Mersenne(args) => mersenne::run(args),
        Bench::Batch(args) => batch::run(args),
        Bench::Bigprime(args) => bigprime::run(args),
        Bench::Ntt(args) => ntt::run(args),
        Bench::Product(args) => product::run(args),
        Bench::Checks(args) => checks::run(args),
        Bench::Device(args) => device::run(args),
        Bench::Jacobi(args) => jacobi::run(args),
    }
}

/// The file of the option `--plot`, if it is given.
pub(in crate::commands) struct Plot(Option<WholeFile>);

impl Plot {
    /// Tests whether the file can be written. Call this first, so that no minutes are lost if it
    /// cannot.
    ///
    /// # Errors
    /// Also returns an error for the name of an image of another kind, such as `x.png`.
    pub(in crate::commands) fn new(path: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(path) = path
            && path.extension().is_some_and(|kind| !kind.eq_ignore_ascii_case("svg"))
        {
            let svg = path.with_extension("svg");
            let (path, svg) = (path.display(), svg.display());
            let line =
                format!("plots are SVG images, which {path} does not say: write --plot {svg}");
            return Err(BadRequest(line).into());
        }
        Ok(Self(path.map(WholeFile::new).transpose()?))
    }

    /// Writes the chart into the file. Does nothing if the option is not given.
    pub(in crate::commands) fn write<C: Display>(
        &self,
        chart: impl FnOnce() -> C,
    ) -> Result<(), FileError> {
        self.0.as_ref().map_or(Ok(()), |file| file.write(&chart().to_string()))
    }
}

/// Prints text at once. Does nothing if `json` is true, because a single JSON object is printed at
/// the end.
fn say(json: bool, text: &str) -> anyhow::Result<()> {
    if !json {
        report::write_out(format!("{text}\n").as_bytes())?;
    }
    Ok(())
}

/// Prints all measurements as a single JSON object if `json` is true; otherwise does nothing.
fn say_all(json: bool, measured: &impl Serialize) -> anyhow::Result<()> {
    if json {
        report::write_out((serde_json::to_string(measured)? + "\n").as_bytes())?;
    }
    Ok(())
}

/// Returns the device of a request. Returns `None` if the request is for the CPU.
fn device_of(request: &PlanRequest) -> Option<DeviceId> {
    match request.device {
        DeviceChoice::On(id) => Some(id),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    }
}

/// Opens the device of a choice. Returns `None` if the choice is the CPU, or is `auto` and there is
/// no device that works.
fn opened(choice: DeviceChoice) -> anyhow::Result<Option<Device>> {
    match resolved(choice)? {
        DeviceChoice::On(id) => Ok(Some(device_on(id)?)),
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(None),
    }
}

/// Formats the device or CPU as `cuda:0  NVIDIA H200, 580.159.04 (CUDA 13.0)`.
fn place_line(machine: &Machine) -> String {
    let Machine { device, name, driver, threads } = machine;
    let threads = threads.map(|n| units::count(n as u64, "thread"));
    let more = driver.clone().or(threads).filter(|text| !text.is_empty());
    let more = more.map_or_else(String::new, |text| format!(", {text}"));
    format!("{device}  {name}{more}")
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Formats a number with `digits` digits after the point. Formats `None` as a dash.
fn optional(x: Option<f64>, digits: usize) -> String {
    x.map_or_else(|| "–".into(), |x| format!("{x:.digits$}"))
}
