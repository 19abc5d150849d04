//! The command `warpint collatz delay A B`: computes the delays of the numbers from A to B − 1.

use std::fmt::{self, Display, Write as _};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use warpint::collatz::Watch;
use warpint::collatz::delay::{Delays, Found, Records, Standing, check_range, search};
use warpint::collatz::open::delays_on;
use warpint::collatz::report::DelayReport;
use warpint::collatz::sizes::TunedSizes;
use warpint::device::device_on;
use warpint::mersenne::DeviceChoice;
use warpint_files::WholeFile;

use super::view::View;
use crate::args::DelayArgs;
use crate::commands::batch::place::resolved;
use crate::exit::{BadRequest, Exit};
use crate::report::{notice, print, report_line, warn, write_out};
use crate::signals::Signals;
use crate::units;

/// The least count of numbers for which `auto` selects a GPU. For fewer numbers, the CPU finishes
/// before a GPU has loaded its kernels.
const WORTH_A_GPU: u128 = 1 << 25;
/// The count of numbers whose delays are computed and written at a time.
const WRITTEN: u128 = 1 << 20;

pub(super) fn run(args: &DelayArgs) -> anyhow::Result<Exit> {
    let (from, to) = (args.from, args.to);
    check_range(from, to).map_err(|e| BadRequest(e.to_string()))?;
    let signals = Signals::install()?;
    let to_standard = args.out.as_deref().is_some_and(|out| out == Path::new("-"));
    let file = args.out.as_deref().filter(|_| !to_standard).map(WholeFile::new).transpose()?;
    let mut engine = engine(args.device, to - from)?;
    let standing = args
        .records
        .then(|| Standing { delay: args.delay_record, maximum: args.path_record.clone() });

    let view = View::new(signals.save_first(), "number", to - from, args.json);
    let found = match &file {
        None if to_standard => {
            written(&mut *engine, from, to, standing, &view, &mut |text| write_out(text))?
        }
        None => search(&mut *engine, from, to, standing, &view)?,
        Some(file) => {
            let mut draft = file.begin()?;
            let write = &mut |text: &[u8]| Ok(draft.write(text)?);
            let found = written(&mut *engine, from, to, standing, &view, write)?;
            if found.to == to {
                draft.finish()?;
            }
            found
        }
    };
    let time = view.end();
    let stopped = found.to < to;
    if stopped {
        let nothing = if file.is_some() { "; no file is written" } else { "" };
        let (done, total) = (found.to - from, to - from);
        notice(&format!("stopped after {done} of {total} numbers{nothing}"));
    }
    let report = Report::new(&found, args.records, stopped, engine.place(), time);
    if to_standard {
        // Standard output has the delays, so the report goes to standard error.
        notice(&report_line(&report, args.json)?);
    } else {
        print(&report, args.json)?;
    }
    Ok(if stopped { Exit::Stopped } else { Exit::Done })
}

/// Opens the device, or the CPU, that computes `numbers` delays.
fn engine(device: DeviceChoice, numbers: u128) -> anyhow::Result<Box<dyn Delays>> {
    let device = match device {
        DeviceChoice::Auto if numbers < WORTH_A_GPU => DeviceChoice::Cpu,
        device => resolved(device)?,
    };
    let device = match device {
        DeviceChoice::On(id) => Some(device_on(id)?),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    };
    let tuned = TunedSizes::open();
    let opened = delays_on(device.as_ref(), &tuned);
    warn(tuned.take_warnings());
    Ok(opened?.0)
}

/// Computes the delays of a range in pieces of [`WRITTEN`] numbers, until the end of the range or a
/// request to stop. Writes the delays of each piece, one line `n delay` per number n. Returns the
/// sum of the delays, the largest delay and the records.
fn written(
    engine: &mut dyn Delays,
    from: u128,
    to: u128,
    standing: Option<Standing>,
    watch: &dyn Watch,
    write: &mut dyn FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<Found> {
    let mut found = Found { from, to: from, sum: 0, longest: None, records: Records::default() };
    let mut standing = standing;
    let mut delays = vec![];
    while found.to < to && !watch.is_stopped() {
        let end = to.min(found.to + WRITTEN);
        let part = search(engine, found.to, end, standing.clone(), watch)?;
        delays.resize((part.to - part.from) as usize, 0);
        if !delays.is_empty() {
            engine.fill(part.from, &mut delays)?;
        }
        let mut text = String::new();
        for (n, delay) in (part.from..part.to).zip(&delays) {
            writeln!(text, "{n} {delay}")?;
        }
        write(text.as_bytes())?;
        if let Some(standing) = &mut standing {
            standing.delay = part.records.delays.last().map(|r| r.delay).or(standing.delay);
            let maximum = part.records.paths.last().map(|r| r.maximum.clone());
            standing.maximum = maximum.or(standing.maximum.take());
        }
        found.to = part.to;
        found.sum += part.sum;
        found.longest = match (found.longest, part.longest) {
            (Some(a), Some(b)) => Some(a.longer(b)),
            (a, b) => a.or(b),
        };
        found.records.delays.extend(part.records.delays);
        found.records.paths.extend(part.records.paths);
    }
    Ok(found)
}

/// The report as JSON and as text.
#[derive(Serialize)]
#[serde(transparent)]
struct Report {
    object: DelayReport,
    #[serde(skip)]
    mean: f64,
}

impl Report {
    fn new(found: &Found, records: bool, stopped: bool, device: String, time: Duration) -> Self {
        let mean = found.sum as f64 / (found.to - found.from).max(1) as f64;
        Self { object: DelayReport::new(found, records, stopped, device, time), mean }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, mean } = self;
        let DelayReport { from, to, numbers, sum, device, .. } = object;
        for record in object.delay_records.iter().flatten() {
            writeln!(f, "delay record: {} takes {} steps", record.n, record.delay)?;
        }
        for record in object.path_records.iter().flatten() {
            writeln!(f, "path record: {} rises to {}", record.n, record.maximum)?;
        }
        let delays = if numbers == "1" { "delay" } else { "delays" };
        write!(f, "{numbers} {delays} from {from} to below {to}: sum {sum}, mean {mean:.3}")?;
        if let Some(longest) = &object.longest {
            write!(f, ", the largest {} of {}", longest.delay, longest.n)?;
        }
        let time = units::elapsed(Duration::try_from_secs_f64(object.seconds).unwrap_or_default());
        write!(f, "; {time} on {device}, {:.2e}/s", object.numbers_per_second)
    }
}
