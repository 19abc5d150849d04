//! The command `warpint collatz merge`: reports which numbers the units of several directories
//! cover.

mod report;

use std::path::PathBuf;

use warpint::collatz::evidence::secret;
use warpint::collatz::report::MergeReport;
use warpint::collatz::runs::{Audit, AuditOutcome, Files, Folder, Merged};

use super::places::refused;
use super::text::printable;
use super::view::View;
use crate::args::MergeArgs;
use crate::exit::Exit;
use crate::report::{notice, write_out};
use crate::signals::Signals;
use crate::threads;
use report::Report;

/// The result of a merge, the directories that were merged, and the audits.
struct Findings {
    folders: Vec<PathBuf>,
    merged: Merged,
    /// The seed from which the units to audit were drawn; `None` if none are audited.
    audit_seed: Option<u64>,
    audits: Vec<Audit>,
}

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<Exit> {
    let folders: Result<Vec<_>, _> = args.dirs.iter().map(|dir| Folder::existing(dir)).collect();
    let folders = folders.map_err(refused)?;
    threads::set(args.threads)?;
    let signals = Signals::install()?;
    let silent = args.quiet || args.json;
    let stopped = || {
        notice("stopped: nothing is reported");
        Ok(Exit::Stopped)
    };

    let paths = Files::list(&folders)?;
    let view = View::new(signals.save_first(), "file", paths.len() as u128, silent);
    let files = Files::read(&paths, !args.no_check, &view);
    view.end();
    let Some(mut files) = files else { return stopped() };
    let (mut audit_seed, mut audits) = (None, vec![]);
    if args.audit > 0 {
        let seed = match args.audit_seed {
            Some(seed) => seed,
            None => secret()?,
        };
        let planned = files.plan_audits(args.audit, seed);
        let numbers = planned.iter().map(|audit| audit.region.numbers()).sum();
        let view = View::new(signals.save_first(), "audited number", numbers, silent);
        let done: Option<Vec<_>> =
            planned.into_iter().map(|audit| files.audit(audit, &view)).collect();
        view.end();
        let Some(done) = done else { return stopped() };
        (audit_seed, audits) = (Some(seed), done);
    }
    let folders = args.dirs.iter().map(|dir| named(dir)).collect();
    let findings = Findings { folders, merged: files.merged(), audit_seed, audits };

    findings.complain();
    let text = if args.json {
        serde_json::to_string(&MergeReport::new(&findings.merged, audit_seed, &findings.audits))?
    } else {
        Report(&findings).to_string()
    };
    write_out((text + "\n").as_bytes())?;
    Ok(findings.exit())
}

/// Returns the path of a directory in a form that contains the directory's name: `.`, `..` and
/// similar paths are made absolute.
fn named(dir: &std::path::Path) -> PathBuf {
    match dir.file_name() {
        Some(_) => dir.to_owned(),
        // `.`, `..` and similar paths.
        None => std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned()),
    }
}

impl Findings {
    /// Prints on standard error which files are unusable, lack evidence or contradict each other.
    fn complain(&self) {
        let say = |line: String| notice(&printable(&line));
        let merged = &self.merged;
        for file in merged.unusable.iter().chain(&merged.refused) {
            say(format!("{}: {}: not counted", file.path.display(), file.reason));
        }
        for path in &merged.lacking {
            say(format!("{}: it lacks evidence that the work was done", path.display()));
        }
        for disagreement in &merged.disagreements {
            let (first, second) = (disagreement.first.display(), disagreement.second.display());
            say(format!(
                "DISAGREEMENT: {} of {first} and {second} differ: verify both once more elsewhere",
                disagreement.what
            ));
        }
        for overlap in &merged.overlaps {
            let (first, second) = (overlap.first.display(), overlap.second.display());
            let places = match overlap.places {
                1 => String::new(),
                n => format!(", and in {}", crate::units::count(n - 1, "other place")),
            };
            say(format!(
                "overlap: {first} and {second} have common numbers{places}, but are cut differently: their totals cannot be compared"
            ));
        }
        for audit in &self.audits {
            let (path, method) = (audit.path.display(), audit.method.name());
            match &audit.outcome {
                AuditOutcome::Differs(what) => say(format!(
                    "DISAGREEMENT: {what} of {path} are not those that an audit by method {method} found: verify that unit once more elsewhere"
                )),
                AuditOutcome::Failed(reason) => {
                    say(format!("{path}: cannot be audited by method {method}: {reason}"));
                }
                AuditOutcome::Planned | AuditOutcome::Agrees => {}
            }
        }
    }

    fn exit(&self) -> Exit {
        let any = |is: fn(&AuditOutcome) -> bool| self.audits.iter().any(|a| is(&a.outcome));
        let differs = any(|outcome| matches!(outcome, AuditOutcome::Differs(_)));
        let merged = &self.merged;
        if differs || !merged.disagreements.is_empty() || !merged.refused.is_empty() {
            Exit::Negative
        } else if !merged.unusable.is_empty() {
            Exit::BadInput
        } else if any(|outcome| *outcome != AuditOutcome::Agrees) {
            Exit::Failed
        } else if self.complete().is_some() {
            Exit::Done
        } else {
            Exit::Negative
        }
    }

    /// Returns the range that the units verify: its first number, and the number after its last.
    /// Returns `None` if the exit code of the merge is not [`Exit::Done`].
    fn complete(&self) -> Option<(u128, u128)> {
        MergeReport::complete(&self.merged, &self.audits)
    }
}
