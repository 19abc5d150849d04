//! The command `warpint status [DIR]`: the states of the workers of a directory.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;
use warpint::runner::work::{ListStatus, Overview, State, WorkerStatus};

use crate::args::StatusArgs;
use crate::exit::{BadRequest, Exit};
use crate::report;
use crate::units;

pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<Exit> {
    let dir = args.dir.as_path();
    if !dir.is_dir() {
        return Err(BadRequest(format!("the directory {} is not there", dir.display())).into());
    }
    let (overview, unreadable) = Overview::of(dir)?;
    for line in unreadable {
        report::notice(&format!("warning: {line}"));
    }
    report::print(&Status(overview), args.json)?;
    Ok(Exit::Done)
}

/// The overview of the workers and lists of a directory, with its text form.
#[derive(Serialize)]
#[serde(transparent)]
struct Status(Overview);

/// The counts of lines in a list, formatted as `DIR/worktodo.txt: 3 assignments left, 1 malformed`.
struct Left<'a>(&'a ListStatus);

impl Display for Left<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ListStatus { file, assignments, candidates, malformed, foreign } = self.0;
        write!(f, "{file}: {}", units::count(*assignments, "assignment"))?;
        if *candidates > 0 {
            write!(f, " and {}", units::count(*candidates, "candidate"))?;
        }
        f.write_str(" left")?;
        if *malformed > 0 {
            write!(f, ", {malformed} malformed")?;
        }
        if *foreign > 0 {
            write!(f, ", {foreign} for other programs")?;
        }
        Ok(())
    }
}

impl Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overview { workers, lines, own_lists } = &self.0;
        if workers.is_empty() {
            writeln!(f, "no worker has been here")?;
        }
        for worker in workers {
            describe(f, worker)?;
        }
        write!(f, "{}", Left(lines))?;
        own_lists.iter().try_for_each(|list| write!(f, "\n{}", Left(list)))
    }
}

/// Writes the state of a worker as `worker 0 (process 7, since 2026-01-02 03:04:05 UTC): testing
/// M216091, PRP-3, on cpu: …`.
fn describe(f: &mut fmt::Formatter<'_>, worker: &WorkerStatus) -> fmt::Result {
    let WorkerStatus { worker: number, pid, since, updated, done, failed, .. } = worker;
    write!(f, "worker {number} (process {pid}, since {since} UTC): ")?;
    f.write_str(match worker.state {
        State::Preparing => "preparing",
        State::Testing => "testing",
        State::Proving => "building the proof of",
        State::Waiting => "waiting for work",
        State::Finished => "ended, no work was left",
        State::Failed => "ended with an error, see its log",
        State::Stopped => "stopped",
        State::Killed => "no longer running, last at",
    })?;
    if let Some(test) = &worker.test {
        write!(f, " {}, {}", test.name(), test.worktype)?;
        if let (Some(device), Some(engine), Some(n)) = (&test.device, &test.engine, test.fft_length)
        {
            write!(f, ", on {device} by {engine} in {}", units::count_words(n))?;
        }
        write!(f, ": {} of {} ({:.2} %)", test.iteration, test.total, test.percent)?;
        if let Some(percent) = test.proof_percent {
            write!(f, ", proof built to {percent:.2} %")?;
        }
        if let Some(us) = test.us_per_iteration {
            write!(f, ", {us:.1} µs/it")?;
        }
        if let Some(seconds) = test.eta_seconds {
            write!(f, ", ETA {}", units::clock(Duration::from_secs(seconds)))?;
        }
        if let Some(round_off) = test.round_off {
            write!(f, ", round-off max {:.4}", round_off.max)?;
            if let Some(z) = round_off.z {
                write!(f, " Z {z:.0}")?;
            }
        }
        if let Some(verified) = test.verified {
            write!(f, ", verified to {verified}")?;
        }
        if let Some(sensors) = &test.sensors {
            write!(f, ", {sensors}")?;
        }
        let errors = test.errors.checks + test.errors.round_off + test.errors.device;
        match errors {
            0 => f.write_str(", no errors")?,
            n => write!(f, ", {} overcome", units::count(n, "error"))?,
        }
    }
    write!(f, "; {done} done")?;
    if *failed > 0 {
        write!(f, ", {failed} failed")?;
    }
    writeln!(f, "; as of {updated} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint::device::Telemetry;
    use warpint::runner::work::{ErrorStatus, TestStatus};

    #[test]
    fn a_proof_is_told_with_its_share() {
        let test = TestStatus {
            number: None,
            exponent: 9689,
            worktype: "PRP-3".into(),
            aid: None,
            device: Some("cpu".into()),
            engine: Some("fp64".into()),
            fft_length: Some(512),
            since: "2026-01-02 03:04:05".into(),
            iteration: 9689,
            total: 9689,
            percent: 100.0,
            proof_percent: Some(37.5),
            us_per_iteration: None,
            eta_seconds: Some(75),
            saved: None,
            verified: None,
            round_off: None,
            sensors: None,
            errors: ErrorStatus::default(),
        };
        let worker = |state, test| WorkerStatus {
            worker: 0,
            pid: 7,
            state,
            since: "2026-01-02 03:04:05".into(),
            updated: "2026-01-02 03:04:06".into(),
            done: 1,
            failed: 0,
            test: Some(test),
        };
        let said = |worker: WorkerStatus| {
            let lines = ListStatus::default();
            let status = Status(Overview { workers: vec![worker], lines, own_lists: vec![] });
            status.to_string().lines().next().unwrap_or_default().to_owned()
        };
        let line = said(worker(State::Proving, test.clone()));
        let expected = "building the proof of M9689, PRP-3, on cpu by fp64 in 512 words: \
                        9689 of 9689 (100.00 %), proof built to 37.50 %, ETA ";
        assert!(line.contains(expected), "{line}");
        let json = serde_json::to_value(worker(State::Proving, test.clone())).unwrap();
        assert_eq!(
            (&json["state"], &json["test"]["proof-percent"]),
            (&"proving".into(), &37.5.into())
        );
        let sensors = Telemetry { temperature_celsius: Some(61), ..Telemetry::default() };
        let warm = TestStatus { sensors: Some(sensors), ..test.clone() };
        let line = said(worker(State::Testing, warm));
        assert!(line.contains(", 61 °C, no errors"), "{line}");
        // A status file of an earlier version has no percentage.
        let line = said(worker(State::Testing, TestStatus { proof_percent: None, ..test }));
        assert!(line.contains("): testing M9689") && !line.contains("proof"), "{line}");
    }
}
