//! The command `warpint audit-keys`: finds weak public RSA keys in files.

mod report;

use std::collections::HashSet;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use warpint::device::device_on;
use warpint::keys::audit::{Audit, Finding, Settings};
use warpint::keys::batch_gcd::Times;
use warpint::keys::read::{Reader, files};
use warpint::keys::{KeyList, KeysError, Store};
use warpint::mersenne::{DeviceChoice, StopToken};
use warpint::progress::Watch;
use warpint_files::{WholeFile, given};

use super::batch::place::resolved;
use crate::args::{AuditKeysArgs, Form};
use crate::exit::{BadRequest, Exit};
use crate::meter::Meter;
use crate::report::{notice, warn};
use crate::signals::Signals;
use crate::units;
use report::{Counts, Report};

/// The largest count of unreadable entries that are reported one by one.
const MOST_PROBLEMS: u64 = 20;

pub(crate) fn run(args: &AuditKeysArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    // Checked first, so that nothing is computed if the factors cannot be written.
    let factors = args.factors.as_deref().map(new_file).transpose()?;
    let view = View::new(signals.save_first(), args.quiet || args.json);
    let done = audited(args, &view);
    view.meter().end();
    let done = match done {
        Err(error) if matches!(error.downcast_ref(), Some(KeysError::Stopped)) => {
            notice(match args.store {
                None => "stopped: nothing is reported",
                Some(_) => "stopped: nothing is reported; the same command goes on from the store",
            });
            return Ok(Exit::Stopped);
        }
        done => done?,
    };
    let Audited { list, findings, counts, times, failure } = done;
    if let Some(why) = failure {
        warn(vec![format!("the device was given up, and the CPU computed the trees: {why}")]);
    }
    if list.is_empty() && list.unreadable() == 0 {
        return Err(BadRequest(format!("no RSA key in {}", report::sources(&list))).into());
    }
    let report = Report::new(&list, &findings, counts);
    // The findings are shown even if the factors cannot be written, and the other way round.
    let printed = report.print(args.json);
    if printed.is_ok() && !view.silent {
        notice(&times);
    }
    if let Some(file) = factors {
        let mut draft = file.begin_private()?;
        report.write_factors(&mut |line| draft.write(line.as_bytes()))?;
        // A file that has appeared at the path during the audit is not replaced either.
        draft.finish_new().map_err(|error| match error.io_kind() {
            io::ErrorKind::AlreadyExists => exists(file.path()),
            _ => error.into(),
        })?;
    }
    printed?;
    match list.unreadable() {
        _ if findings.iter().any(|finding| !finding.kind.is_notice()) => Ok(Exit::Negative),
        0 => Ok(Exit::Done),
        count => {
            let what = if count == 1 { "entry" } else { "entries" };
            Err(BadRequest(format!("{count} {what} could not be read; the others have no finding"))
                .into())
        }
    }
}

/// An audit that is complete.
struct Audited {
    list: KeyList,
    findings: Vec<Finding>,
    counts: Counts,
    /// The times of its parts, in one line.
    times: String,
    /// Why the device was given up, if it was.
    failure: Option<String>,
}

/// Reads the keys and audits them.
fn audited(args: &AuditKeysArgs, view: &View) -> anyhow::Result<Audited> {
    let mut last = Instant::now();
    let mut lap = || {
        let now = Instant::now();
        units::elapsed(now - std::mem::replace(&mut last, now))
    };
    // First, so that no key is read if the store cannot be used.
    let store = args.store.as_deref().map(Store::open).transpose()?;
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.unwrap_or_else(all);
    let device = match resolved(args.device)? {
        DeviceChoice::On(id) => Some(device_on(id)?),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    };
    lap();
    let list = read(args, threads, view)?;
    let reading = lap();
    let mut audit = Audit::new(list, Settings { threads, memory: args.memory, device });
    if let Some(store) = store {
        audit = audit.with_store(store, view)?;
    }
    let sorting = lap();
    audit.check_each(view)?;
    let checks = lap();
    let mut planned = |work: &str| {
        if !view.silent {
            view.meter().say(&format!("shared primes: {work}"));
        }
    };
    audit.check_together(&mut planned, view)?;
    let Times { trees, roots, remainders, gcds } = audit.times();
    let [trees, roots, remainders] = [trees, roots, remainders].map(units::elapsed);
    // The CPU computes the gcds of leaves within the remainder trees.
    let gcds =
        if gcds.is_zero() { String::new() } else { format!(", gcds {}", units::elapsed(gcds)) };
    let times = format!(
        "times: reading {reading}, sorting {sorting}, checks of each modulus {checks}, shared primes {} \
         (product trees {trees}, roots {roots}, remainder trees {remainders}{gcds})",
        lap()
    );
    let known = args.store.is_some().then(|| audit.known());
    let counts = Counts { distinct: audit.distinct(), known };
    let failure = audit.failure().map(ToOwned::to_owned);
    let (list, findings) = audit.finish();
    Ok(Audited { list, findings, counts, times, failure })
}

/// Reads the keys of all files. The first unreadable entries are reported one by one.
fn read(args: &AuditKeysArgs, threads: usize, view: &View) -> Result<KeyList, KeysError> {
    let mut problems = 0;
    let mut report = |entry: &warpint::keys::read::BadEntry| {
        problems += 1;
        if problems <= MOST_PROBLEMS {
            view.meter().say(&entry.to_string());
        }
    };
    let mut reader = Reader::new(view, &mut report).threads(threads);
    if let Form::Raw(raw) = args.format {
        reader = reader.raw(raw);
    }
    // The files of a store below a directory of keys are no keys.
    let store = args.store.as_deref().and_then(|path| path.canonicalize().ok());
    let in_store = |file: &Path| {
        store.is_some() && file.parent().and_then(|folder| folder.canonicalize().ok()) == store
    };
    let mut seen = HashSet::new();
    for path in &args.files {
        if path == Path::new("-") {
            reader.stream("standard input", io::stdin().lock())?;
            continue;
        }
        for file in files(std::slice::from_ref(path))? {
            // A file that is named twice, or once below a directory, has its keys once.
            let is_new = file.canonicalize().map_or(true, |real| seen.insert(real));
            if is_new && !in_store(&file) {
                reader.file(&file)?;
            }
        }
    }
    let list = reader.finish();
    if problems > MOST_PROBLEMS {
        view.meter().say(&format!("… and {} more", problems - MOST_PROBLEMS));
    }
    Ok(list)
}

/// Checks that a file can be created at a path at which there is none. A file of keys that is named
/// after `--factors` by mistake is not replaced.
fn new_file(path: &Path) -> anyhow::Result<WholeFile> {
    if given::look(path)? != given::Found::Nothing {
        return Err(exists(path));
    }
    Ok(WholeFile::new(path)?)
}

fn exists(path: &Path) -> anyhow::Error {
    let path = path.display();
    BadRequest(format!("--factors: {path} exists already: give the name of a new file")).into()
}

/// The [`Watch`] of an audit: shows its progress, and passes requests to stop on.
struct View<'a> {
    stop: &'a StopToken,
    silent: bool,
    shown: Mutex<(Meter, u128)>,
}

impl<'a> View<'a> {
    fn new(stop: &'a StopToken, silent: bool) -> Self {
        let shown = Mutex::new((Meter::new(String::new(), silent), 0));
        Self { stop, silent, shown }
    }

    fn shown(&self) -> MutexGuard<'_, (Meter, u128)> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn meter(&self) -> Shown<'_> {
        Shown(self.shown())
    }
}

/// The meter of a view, while no thread uses it.
struct Shown<'a>(MutexGuard<'a, (Meter, u128)>);

impl std::ops::Deref for Shown<'_> {
    type Target = Meter;

    fn deref(&self) -> &Meter {
        &self.0.0
    }
}

impl Watch for View<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn done(&self, bytes: u128) {
        let mut shown = self.shown();
        let (meter, read) = &mut *shown;
        *read += bytes;
        let read = *read as u64;
        meter.show(read, None, || format!("{} read", units::bytes(read)));
    }

    fn step(&self, done: u64, total: u64, what: &dyn Display) {
        let percent = 100.0 * done as f64 / total.max(1) as f64;
        self.shown().0.show(done, total, || format!("{percent:.0} %, {what}"));
    }
}
