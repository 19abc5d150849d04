//! The union of the numbers that the unit files of several directories cover.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use pyo3::prelude::*;
use serde_json::{Value, json};
use warpint::collatz::evidence::secret;
use warpint::collatz::names::claim;
use warpint::collatz::runs::{Audit, AuditOutcome, Files, Folder, Merged, Rejected};
use warpint::progress::StopToken;

use super::pooled::pool;
use super::{methods, peak, texts};
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
    let report = watched(py, observer, |stop, news| {
        let job = || merge(&directories, check, audits, audit_seed, stop, &news);
        match pool(threads)? {
            Some(pool) => pool.install(job),
            None => job(),
        }
    })?;
    Ok(report.to_string())
}

fn merge(
    directories: &[PathBuf],
    check: bool,
    audits: u64,
    audit_seed: Option<u64>,
    stop: &StopToken,
    news: &Sender<News>,
) -> Result<Value, Failure> {
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
    Ok(report(&files.merged(), seed, &done))
}

/// Returns the verified range, if nothing is in doubt and all audits agree.
fn complete(merged: &Merged, audits: &[Audit]) -> Option<(u128, u128)> {
    let agree = audits.iter().all(|audit| audit.outcome == AuditOutcome::Agrees);
    merged.complete().filter(|_| agree)
}

/// Returns the report, with the fields of the JSON of the command line.
fn report(merged: &Merged, audit_seed: Option<u64>, audits: &[Audit]) -> Value {
    let complete = complete(merged, audits);
    let intervals = |list: &[(u128, u128)]| -> Value {
        list.iter()
            .map(|(from, to)| json!({"from": from.to_string(), "to": to.to_string()}))
            .collect()
    };
    let rejected = |files: &[Rejected]| -> Value {
        files
            .iter()
            .map(|file| json!({"path": file.path.display().to_string(), "reason": file.reason}))
            .collect()
    };
    let missing = merged.missing.iter().map(|missing| {
        json!({
            "bits": missing.bits,
            "low-bits": missing.low_bits,
            "classes": missing.classes.to_string(),
            "some": texts(&missing.some),
        })
    });
    let disagreements = merged.disagreements.iter().map(|d| {
        let (first, second) = (d.first.display().to_string(), d.second.display().to_string());
        json!({"first": first, "second": second, "what": d.what})
    });
    let overlaps = merged.overlaps.iter().map(|o| {
        let (first, second) = (o.first.display().to_string(), o.second.display().to_string());
        json!({"first": first, "second": second, "places": o.places})
    });
    let lacking = merged.lacking.iter().map(|path| path.display().to_string());
    let mut report = json!({
        "complete": complete.is_some(),
        "units": merged.units,
        "duplicates": merged.duplicates,
        "covered": intervals(&merged.covered),
        "gaps": merged.gaps,
        "first-gaps": intervals(&merged.first_gaps),
        "missing": missing.collect::<Value>(),
        "disagreements": disagreements.collect::<Value>(),
        "overlaps": overlaps.collect::<Value>(),
        "compared": merged.compared,
        "checked": merged.is_checked,
        "unusable": rejected(&merged.unusable),
        "refused": rejected(&merged.refused),
        "lacking-evidence": lacking.collect::<Vec<_>>(),
        "audits": audits.iter().map(audit_object).collect::<Value>(),
        "unresolved": texts(&merged.unresolved),
        "highest": peak(merged.highest.as_ref()),
        "methods": methods(&merged.methods),
        "seconds": merged.seconds,
    });
    if let Some((from, to)) = complete {
        report["claim"] = claim(from, to).into();
    }
    if let Some(seed) = audit_seed {
        report["audit-seed"] = seed.to_string().into();
    }
    report
}

fn audit_object(audit: &Audit) -> Value {
    let mut object = json!({
        "path": audit.path.display().to_string(),
        "method": audit.method.name(),
        "region": audit.region.to_string(),
        "numbers": audit.region.numbers().to_string(),
        "whole": audit.is_whole,
        "agrees": audit.outcome == AuditOutcome::Agrees,
    });
    match &audit.outcome {
        AuditOutcome::Differs(what) => object["reason"] = format!("{what} differ").into(),
        AuditOutcome::Failed(reason) => object["reason"] = reason.as_str().into(),
        AuditOutcome::Planned | AuditOutcome::Agrees => {}
    }
    object
}
