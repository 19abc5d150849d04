//! Verification of a range in units.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use pyo3::prelude::*;
use warpint::collatz::names::unresolved;
use warpint::collatz::open::{Opened, Places, open_taking};
use warpint::collatz::report::VerifyReport;
use warpint::collatz::runs::{Event, Folder, FolderError, Layout, Run, Selection};
use warpint::collatz::sizes::TunedSizes;
use warpint::collatz::{Method, Verifier};
use warpint::device::{Device, DeviceChoice, DeviceId};
use warpint::progress::{StopToken, Watch};

use super::pooled::{Pooled, pool};
use crate::choice::device;
use crate::failure::Failure;
use crate::watched::{Counter, News, watched};

/// The options of a verification, which Python passes as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct VerifyOptions {
    from: u128,
    to: u128,
    directory: PathBuf,
    /// `plain`, `table`, `sieve`; `None` for the fastest.
    method: Option<String>,
    /// `auto`, `all`, `cpu`, `cuda:0`, …
    device: String,
    threads: Option<usize>,
    unit_bits: Option<u32>,
    /// The first and the last selected unit.
    units: Option<(u64, u64)>,
    /// The index of a part of the units, and the number of parts.
    shard: Option<(u64, u64)>,
}

/// Verifies a range, and returns the report as JSON.
#[pyfunction]
pub(crate) fn collatz_verify(
    py: Python<'_>,
    options: VerifyOptions,
    observer: &Bound<'_, PyAny>,
) -> PyResult<String> {
    watched(py, observer, |stop, news| verify(&options, stop, &news))
}

fn verify(
    options: &VerifyOptions,
    stop: &StopToken,
    news: &Sender<News>,
) -> Result<String, Failure> {
    let (from, to) = (options.from, options.to);
    let asked = |unit_bits: u32| -> Result<(Layout, Selection), Failure> {
        let layout = Layout::new(from, to, unit_bits)?;
        let selection = options.selection(layout.units())?;
        Ok((layout, selection))
    };
    // Errors in the request are reported before anything is created or opened.
    match options.unit_bits {
        Some(bits) => drop(asked(bits)?),
        None => drop(Layout::new(from, to, 127)?),
    }
    let pool = pool(options.threads)?;
    let known = match Folder::existing(&options.directory) {
        Ok(folder) => folder.unit_bits(from, to)?,
        Err(error @ FolderError::NotADirectory { .. }) => return Err(error.into()),
        Err(_) => None,
    };
    let cut = |opened: &Opened| {
        let unit_bits = Layout::unit_bits_for(opened.unit_bits, opened.verifiers.len(), to - from);
        asked(options.unit_bits.or(known).unwrap_or(unit_bits))
    };
    let (method, places, tuned) = (options.method()?, options.places()?, TunedSizes::open());
    let opened = open_taking(method, &places, &tuned, |opened| {
        let (layout, selection) = cut(opened)?;
        Ok::<_, Failure>(layout.hardest(selection))
    });
    for warning in tuned.take_warnings() {
        let _ = news.send(News::Warning(warning));
    }
    let opened = opened?;
    let (layout, selection) = cut(&opened)?;
    let folder = Folder::open(&options.directory)?;
    let places = opened.verifiers.iter().map(|verifier| verifier.place()).collect();
    let method = opened.verifiers.first().map(|verifier| verifier.method());
    let verifiers = match &pool {
        None => opened.verifiers,
        Some(pool) => {
            let pooled =
                |verifier| Box::new(Pooled { verifier, pool: pool.clone() }) as Box<dyn Verifier>;
            opened.verifiers.into_iter().map(pooled).collect()
        }
    };
    let selected = selection.units().filter_map(|unit| layout.region(unit));
    let numbers = selected.map(|region| region.numbers()).sum();
    let counter = Counter::new(stop, news.clone(), numbers);
    let run = Run { layout: &layout, folder: &folder, selection };
    let outcome = thread::scope(|scope| {
        let (events, told) = mpsc::channel();
        let counter = &counter;
        scope.spawn(move || follow(&told, counter, news));
        run.go(verifiers, counter, events)
    })?;
    if outcome.stopped {
        return Err(Failure::stopped());
    }
    Ok(serde_json::to_string(&VerifyReport::new(&layout, &folder, method, places, &outcome))?)
}

impl VerifyOptions {
    fn selection(&self, units: u64) -> Result<Selection, Failure> {
        Ok(match (self.units, self.shard) {
            (Some((first, last)), _) => Selection::range(first, last, units)?,
            (None, Some((index, parts))) => Selection::shard(index, parts, units)?,
            (None, None) => Selection::all(units),
        })
    }

    fn method(&self) -> Result<Option<Method>, Failure> {
        let Some(name) = self.method.as_deref() else { return Ok(None) };
        let method = Method::ALL.into_iter().find(|method| method.name() == name);
        let names = Method::ALL.map(Method::name).join(", ");
        method.map(Some).ok_or_else(|| {
            Failure::request(format!("'{name}' is not a method; the methods are {names}"))
        })
    }

    fn places(&self) -> Result<Places, Failure> {
        if self.device == "all" {
            let count = Device::list().devices.len() as u32;
            if count == 0 {
                // Its error states what is missing.
                device("cuda")?;
            }
            return Ok(Places::Devices((0..count).map(DeviceId::Cuda).collect()));
        }
        Ok(match device(&self.device)? {
            DeviceChoice::On(id) => Places::Devices(vec![id]),
            DeviceChoice::Cpu => Places::Cpu,
            DeviceChoice::Auto => Places::Auto,
        })
    }
}

/// Passes the events of a run on, until the run ends.
fn follow(told: &Receiver<Event>, counter: &Counter, news: &Sender<News>) {
    for event in told {
        let line = match event {
            Event::Begun { .. } | Event::Done(_) => continue,
            Event::Before(unit) => {
                counter.done(unit.numbers);
                continue;
            }
            Event::SetAside { path, reason, .. } => format!(
                "a unit's file is not sound ({reason}): it is set aside as {}, and the unit is done \
                 again",
                path.display()
            ),
            Event::Unresolved { unit, numbers } => format!("unit {unit}: {}", unresolved(&numbers)),
            Event::UnresolvedFile { path, numbers } => {
                format!("{}: {}", path.display(), unresolved(&numbers))
            }
            Event::NoLocks => "the file system has no locks, so other processes may do the same \
                               units: give each process its own part with shard"
                .into(),
            Event::Failed { unit, place, reason } => {
                format!("unit {unit} failed on {place}: {reason}")
            }
        };
        let _ = news.send(News::Warning(line));
    }
}
