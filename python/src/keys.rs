//! Audits of public RSA keys.

use std::collections::HashSet;
use std::fmt::Display;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use pyo3::prelude::*;
use serde_json::{Value, json};
use warpint::keys::audit::{Audit, Finding, FindingObject, Settings};
use warpint::keys::read::{Reader, files};
use warpint::keys::{KeyList, KeysError, Store};
use warpint::natural::radix::hex;
use warpint::progress::{StopToken, Watch};

use crate::choice::{opened, thread_count};
use crate::failure::Failure;
use crate::watched::{News, watched};

/// The largest count of unreadable entries that are reported one by one.
const MOST_PROBLEMS: u64 = 20;

/// The options of an audit, which Python passes as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AuditOptions {
    /// Files and directories of keys.
    paths: Vec<PathBuf>,
    /// Moduli in hexadecimal digits, one a line.
    moduli: String,
    device: String,
    threads: Option<usize>,
    /// Bytes for the search for shared primes.
    memory: u64,
    /// The directory of earlier audits.
    store: Option<PathBuf>,
}

/// Audits keys, and returns the report as JSON.
#[pyfunction]
pub(crate) fn audit(
    py: Python<'_>,
    options: AuditOptions,
    observer: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let report = watched(py, observer, |stop, news| audited(&options, stop, &news))?;
    Ok(report.to_string())
}

/// Reports the steps of an audit, and passes requests to stop on.
struct Steps<'a> {
    stop: &'a StopToken,
    news: Sender<News>,
}

impl Watch for Steps<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn step(&self, done: u64, total: u64, _what: &dyn Display) {
        let (done, total) = (done.into(), total.into());
        let _ = self.news.send(News::Progress { done, total, each: 0.0 });
    }
}

fn audited(
    options: &AuditOptions,
    stop: &StopToken,
    news: &Sender<News>,
) -> Result<Value, Failure> {
    // First, so that no key is read if the store cannot be used.
    let store = options.store.as_deref().map(Store::open).transpose()?;
    let threads = thread_count(options.threads)?;
    let device = opened(&options.device, news)?;
    let watch = Steps { stop, news: news.clone() };
    let list = read(options, threads, &watch)?;
    let mut audit = Audit::new(list, Settings { threads, memory: options.memory, device });
    if let Some(store) = store {
        audit = audit.with_store(store, &watch)?;
    }
    audit.check_each(&watch)?;
    let mut planned = |work: &str| {
        let _ = news.send(News::Note(format!("shared primes: {work}")));
    };
    audit.check_together(&mut planned, &watch)?;
    if let Some(why) = audit.failure() {
        let line = format!("the device was given up, and the CPU computed the trees: {why}");
        let _ = news.send(News::Warning(line));
    }
    let distinct = audit.distinct();
    let known = options.store.is_some().then(|| audit.known());
    let (list, findings) = audit.finish();
    Ok(report(&list, &findings, distinct, known))
}

/// Reads the keys of all files, and the moduli.
fn read(options: &AuditOptions, threads: usize, watch: &Steps<'_>) -> Result<KeyList, KeysError> {
    let mut problems = 0;
    let mut report = |entry: &warpint::keys::read::BadEntry| {
        problems += 1;
        if problems <= MOST_PROBLEMS {
            let _ = watch.news.send(News::Warning(entry.to_string()));
        }
    };
    let mut reader = Reader::new(watch, &mut report).threads(threads);
    let mut seen = HashSet::new();
    let store = options.store.as_deref().and_then(|path| path.canonicalize().ok());
    for path in &options.paths {
        for file in files(std::slice::from_ref(path))? {
            // A file that is named twice has its keys once. The files of a store are no keys.
            let is_new = file.canonicalize().map_or(true, |real| seen.insert(real));
            let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
            if is_new && (store.is_none() || folder != store) {
                reader.file(&file)?;
            }
        }
    }
    if !options.moduli.is_empty() {
        reader.stream("moduli", Cursor::new(options.moduli.as_bytes()))?;
    }
    Ok(reader.finish())
}

/// Returns the report: counts, and for each finding the object of the command line, the factor and a
/// description.
fn report(list: &KeyList, findings: &[Finding], distinct: usize, known: Option<usize>) -> Value {
    let described = |finding: &Finding| {
        json!({
            "object": FindingObject::new(list, finding),
            "factor": finding.factor.as_deref().map(hex::format),
            "notice": finding.kind.is_notice(),
            "says": finding.kind.says(),
        })
    };
    json!({
        "keys": list.len(),
        "distinct": distinct,
        "known": known,
        "files": list.files(),
        "unreadable": list.unreadable(),
        "others": list.others(),
        "findings": findings.iter().map(described).collect::<Value>(),
    })
}
