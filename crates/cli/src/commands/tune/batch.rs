//! The command `warpint tune batch`: measures the methods for products of batches on a GPU.

use std::path::Path;
use std::time::Duration;

use warpint::device::{TuningStore, device_on};
use warpint_bench::tune::batch::{Row, Tuned, Tuner};

use super::Unstored;
use crate::args::TuneBatchArgs;
use crate::commands::bench::figures;
use crate::exit::Exit;
use crate::report;
use crate::signals::Signals;
use crate::steps::Steps;
use crate::units;

pub(super) fn run(args: &TuneBatchArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let device = device_on(args.device)?;
    let mut tuner = Tuner::new(&device, TuningStore::open()?, args.again)?;
    let mut unstored = Unstored::new("prices", tuner.storing());
    let counted = |timed, all| format!("{timed} of {all}");
    let steps = Steps::new(signals.save_first(), counted, args.quiet);
    let tuned = tuner.measure(&steps)?;
    steps.meter().end();
    unstored.look_at(tuner.storing());
    report::warn(tuner.take_warnings());
    if args.json {
        report::write_out((serde_json::to_string(&tuned)? + "\n").as_bytes())?;
    } else {
        let is_stored = unstored.exit == Exit::Done;
        report::write_out(text(&tuned, &tuner.path(), is_stored).as_bytes())?;
    }
    let failed = |row: &Row| row.error.is_some();
    Ok(match (tuned.stopped, !tuned.rows.is_empty() && tuned.rows.iter().all(failed)) {
        (true, _) => Exit::Stopped,
        (false, true) => Exit::Failed,
        (false, false) => unstored.exit,
    })
}

const HEADER: &str = "op   from bits    to bits  method      ns/product  chosen by";

fn text(tuned: &Tuned, path: &Path, is_stored: bool) -> String {
    let driver =
        if tuned.driver.is_empty() { String::new() } else { format!(", {}", tuned.driver) };
    let mut text = format!("{}  {}{driver}\n\n{HEADER}\n", tuned.device, tuned.name);
    for rung in &tuned.ladder {
        text += &format!(
            "{:<3}  {:>9}  {:>9}  {:<10}  {:>10}  {}\n",
            rung.operation,
            rung.from_bits,
            rung.to_bits,
            rung.method,
            figures(rung.ns_per_product),
            rung.chosen_by,
        );
    }
    let measured = tuned.rows.iter().filter(|row| row.error.is_none()).count();
    let what = units::count(measured as u64, "price");
    let kept = match is_stored {
        true => format!("kept in {}", path.display()),
        false => "not stored".to_owned(),
    };
    let time = units::elapsed(Duration::try_from_secs_f64(tuned.seconds).unwrap_or_default());
    text += &match (tuned.stopped, tuned.rows.is_empty()) {
        (false, true) => {
            format!("\nall prices are known, in {}; --again measures them anew\n", path.display())
        }
        (false, false) => format!("\n{what} measured in {time}, {kept}\n"),
        (true, _) => {
            format!("\nstopped: {what} measured in {time}, {kept}; the same command goes on\n")
        }
    };
    text
}
