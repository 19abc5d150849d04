//! The command `warpint collatz verify`: verifies the Collatz conjecture for a range of numbers.

mod report;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use rayon::ThreadPoolBuilder;
use warpint::collatz::Watch;
use warpint::collatz::names::unresolved;
use warpint::collatz::open::{Opened, open_taking};
use warpint::collatz::runs::{Event, Folder, FolderError, Layout, Outcome, Run, Selection};
use warpint::collatz::sizes::TunedSizes;
use warpint::mersenne::StopToken;

use super::numbers::about;
use super::places::{by_option, places, refused};
use super::text::printable;
use crate::args::VerifyArgs;
use crate::exit::{BadRequest, Exit};
use crate::meter::Meter;
use crate::report::{notice, warn};
use crate::signals::Signals;
use crate::units;
use report::Report;

/// The longest interval between two updates of the progress.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let (from, to) = match (args.below, args.from, args.to) {
        (Some(below), ..) => (0, below),
        (None, from, to) => (from.unwrap_or(0), to.unwrap_or(0)),
    };
    if (from, to) == (0, 1) {
        let text = "there is nothing to verify below 1: no claim is made about 0";
        return Err(BadRequest(text.into()).into());
    }
    // Errors in the request are reported before anything is created or opened.
    let asked = |unit_bits| -> anyhow::Result<(Layout, Selection)> {
        let layout = Layout::new(from, to, unit_bits).map_err(refused)?;
        let selection = selection(args, layout.units()).map_err(refused)?;
        Ok((layout, selection))
    };
    match args.unit_bits {
        Some(bits) => drop(asked(bits)?),
        None => drop(Layout::new(from, to, 127).map_err(refused)?),
    }
    if let Some(threads) = args.threads {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.with_context(|| format!("cannot start {threads} threads"))?;
    }
    let known = match Folder::existing(&args.dir) {
        Ok(folder) => folder.unit_bits(from, to)?,
        Err(error @ FolderError::NotADirectory { .. }) => return Err(refused(error).into()),
        Err(_) => None,
    };
    let cut = |opened: &Opened| {
        let unit_bits = Layout::unit_bits_for(opened.unit_bits, opened.verifiers.len(), to - from);
        asked(args.unit_bits.or(known).unwrap_or(unit_bits))
    };
    let (places, tuned) = (places(args.device)?, TunedSizes::open());
    let opened = open_taking(args.method.0, &places, &tuned, |opened| {
        let (layout, selection) = cut(opened)?;
        Ok(layout.hardest(selection))
    });
    warn(tuned.take_warnings());
    let opened = opened.map_err(by_option)?;
    let (layout, selection) = cut(&opened)?;
    let verifiers = opened.verifiers;
    let folder = Folder::open(&args.dir)?;

    let places = verifiers.iter().map(|verifier| verifier.place()).collect();
    let method = verifiers.first().map(|verifier| verifier.method());
    let silent = args.quiet || args.json;
    let selected = selection.units().filter_map(|unit| layout.region(unit));
    let numbers = selected.map(|region| region.numbers()).sum();
    let mut view = View::new(Meter::new(String::new(), silent), selection.count(), numbers);
    let watch = Progress { stop: signals.save_first().clone(), numbers: Mutex::new(0) };
    let (events, told) = mpsc::channel();
    let run = Run { layout: &layout, folder: &folder, selection };
    let ended = std::thread::scope(|scope| {
        let watch = &watch;
        let worker = scope.spawn(move || run.go(verifiers, watch, events));
        view.follow(&told, watch);
        worker.join()
    });
    view.meter.end();
    let outcome = ended.map_err(|_| anyhow::anyhow!("a thread ended unexpectedly"))??;
    let exit = exit_of(&outcome);
    if let (Some(asked), false) = (args.method.0, silent) {
        let others = outcome.methods.iter().filter(|((name, ..), _)| name != asked.name());
        let others: u64 = others.map(|(_, count)| count).sum();
        if others > 0 {
            notice(&format!(
                "note: {} of {} were done by another method than {asked} and are not done again; to verify the range by {asked} as well, use another --dir and merge both",
                others,
                units::count(outcome.methods.values().sum::<u64>(), "file"),
                asked = asked.name()
            ));
        }
    }
    let report = Report::new(&layout, &folder, method, places, outcome);
    crate::report::print(&report, args.json)?;
    Ok(exit)
}

fn selection(
    args: &VerifyArgs,
    units: u64,
) -> Result<Selection, warpint::collatz::runs::SelectionError> {
    match (args.units, args.shard) {
        (Some((first, last)), _) => Selection::range(first, last, units),
        (None, Some((index, parts))) => Selection::shard(index, parts, units),
        (None, None) => Ok(Selection::all(units)),
    }
}

fn exit_of(outcome: &Outcome) -> Exit {
    if outcome.is_good() {
        Exit::Done
    } else if outcome.stopped && outcome.failed.is_empty() && outcome.unresolved.is_empty() {
        Exit::Stopped
    } else if !outcome.unresolved.is_empty() {
        Exit::Negative
    } else {
        Exit::Failed
    }
}

/// The count of numbers that the verifiers have processed, and the token that stops them.
struct Progress {
    stop: StopToken,
    numbers: Mutex<u128>,
}

impl Progress {
    fn numbers(&self) -> u128 {
        *self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Progress {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn done(&self, numbers: u128) {
        *self.numbers.lock().unwrap_or_else(PoisonError::into_inner) += numbers;
    }
}

/// The messages and the progress of a running verification.
struct View {
    meter: Meter,
    begin: Instant,
    /// The count of selected units.
    units: u64,
    numbers: u128,
    /// The count of units that are done, by this run and by earlier ones.
    resolved: u64,
    before: u128,
}

impl View {
    fn new(meter: Meter, units: u64, numbers: u128) -> Self {
        Self { meter, begin: Instant::now(), units, numbers, resolved: 0, before: 0 }
    }

    /// Shows events and progress until the run ends.
    fn follow(&mut self, told: &Receiver<Event>, progress: &Progress) {
        loop {
            match told.recv_timeout(LOOK_EVERY) {
                Ok(event) => self.tell(&event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.show(progress.numbers());
        }
    }

    fn tell(&mut self, event: &Event) {
        let line = match event {
            Event::Begun { .. } => return,
            Event::Done(_) => {
                self.resolved += 1;
                return;
            }
            Event::Before(unit) => {
                self.resolved += 1;
                self.before += unit.numbers;
                return;
            }
            Event::SetAside { path, reason, .. } => format!(
                "a unit's file is not sound ({reason}): it is set aside as {}, and the unit is done again",
                path.display()
            ),
            Event::Unresolved { unit, numbers } => format!("unit {unit}: {}", unresolved(numbers)),
            Event::UnresolvedFile { path, numbers } => {
                format!("{}: {}", path.display(), unresolved(numbers))
            }
            Event::NoLocks => "warning: the file system has no locks, so other processes may do the same units: give each process its own part with --shard".into(),
            Event::Failed { unit, place, reason } => {
                format!("unit {unit} failed on {place}: {reason}")
            }
        };
        self.meter.say(&printable(&line));
    }

    fn show(&mut self, now: u128) {
        const PARTS: u64 = 1 << 20;
        let (done, all) = ((self.before + now) as f64, self.numbers.max(1) as f64);
        let share = (done / all).min(1.0);
        let time = self.begin.elapsed().as_secs_f64();
        let (resolved, units) = (self.resolved, self.units);
        let line = || {
            let rate = now as f64 / time.max(1e-9);
            let mut line = format!(
                "{} of {} numbers ({:.1} %), {} a second, {resolved} of {}",
                about(done),
                about(all),
                100.0 * share,
                about(rate),
                units::count(units, "unit"),
            );
            if rate > 0.0 {
                let left = Duration::try_from_secs_f64((all - done).max(0.0) / rate);
                line += &format!(", ETA {}", units::clock(left.unwrap_or(Duration::MAX)));
            }
            line
        };
        self.meter.show((share * PARTS as f64) as u64, PARTS, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_tell_what_came_of_it() {
        let done = Outcome { selected: 3, done: 2, before: 1, ..Outcome::default() };
        let part = Outcome { done: 1, ..done.clone() };
        let stopped = Outcome { stopped: true, ..part.clone() };
        for (outcome, exit) in [
            (done.clone(), Exit::Done),
            (Outcome { unresolved: vec![27], ..done.clone() }, Exit::Negative),
            (Outcome { failed: vec![2], ..part.clone() }, Exit::Failed),
            (part, Exit::Failed),
            (stopped.clone(), Exit::Stopped),
            (Outcome { unresolved: vec![27], ..stopped.clone() }, Exit::Negative),
            (Outcome { failed: vec![2], ..stopped }, Exit::Failed),
        ] {
            assert_eq!(exit_of(&outcome), exit, "{outcome:?}");
        }
    }
}
