//! The union of the numbers that the unit files of several directories cover.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use pyo3::prelude::*;
use warpint::collatz::evidence::secret;
use warpint::collatz::report::MergeReport;
use warpint::collatz::runs::{Files, Folder};
use warpint::progress::StopToken;

use super::pooled::pool;
use crate::failure::Failure;
use crate::watched::{Counter, News, watched};

/// Merges the unit files of directories, and returns the report as JSON.
#[pyfunction]
pub(crate) fn collatz_merge(
    py: Python<'_>,
    directories: Vec<PathBuf>,
    check: bool,
    audits: u64,
    audit_seed: Option<u64>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
) -> PyResult<String> {
    watched(py, observer, |stop, news| {
        let job = || merge(&directories, check, audits, audit_seed, stop, &news);
        match pool(threads)? {
            Some(pool) => pool.install(job),
            None => job(),
        }
    })
}

fn merge(
    directories: &[PathBuf],
    check: bool,
    audits: u64,
    audit_seed: Option<u64>,
    stop: &StopToken,
    news: &Sender<News>,
) -> Result<String, Failure> {
    let folders: Result<Vec<_>, _> = directories.iter().map(|dir| Folder::existing(dir)).collect();
    let paths = Files::list(&folders?)?;
    let counter = Counter::new(stop, news.clone(), paths.len() as u128);
    let mut files = Files::read(&paths, check, &counter).ok_or_else(Failure::stopped)?;
    let (mut seed, mut done) = (None, vec![]);
    if audits > 0 {
        let drawn = audit_seed.map_or_else(secret, Ok)?;
        let planned = files.plan_audits(audits, drawn);
        let numbers = planned.iter().map(|audit| audit.region.numbers()).sum();
        let counter = Counter::new(stop, news.clone(), numbers);
        let all: Option<Vec<_>> =
            planned.into_iter().map(|audit| files.audit(audit, &counter)).collect();
        (seed, done) = (Some(drawn), all.ok_or_else(Failure::stopped)?);
    }
    Ok(serde_json::to_string(&MergeReport::new(&files.merged(), seed, &done))?)
}
