//! `warpint work [DIR]`: the assignments of a worktodo.txt, one after the other.

mod several;
mod worker;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use warpint::gimps::{self, Line, ResultsFile, WorkFile};
use warpint::mersenne::{DeviceChoice, Exponent};

use crate::args::{Places, WorkArgs};
use crate::exit::{BadRequest, Exit};
use crate::report;
use crate::run;
use crate::signals::Signals;
use crate::units;
use crate::work::{self, Claim, State};
use worker::Worker;

/// Other programs hold their lock while they talk to a server.
const PATIENCE: Duration = Duration::from_secs(120);
/// `warpint status` may hold a worker's claim for an instant.
const CLAIM_TRIES: u32 = 20;

pub(crate) fn run(args: &WorkArgs) -> anyhow::Result<Exit> {
    if !args.add.is_empty() {
        return add(args);
    }
    let dir = args.dir.as_path();
    if !dir.is_dir() {
        let dir = dir.display();
        return Err(BadRequest(format!(
            "the directory {dir} is not there: put assignments into {dir}/worktodo.txt, or give one by --add"
        ))
        .into());
    }
    let devices = match args.device {
        Places::All => {
            run::all_gpus().context("--device all")?.into_iter().map(DeviceChoice::On).collect()
        }
        Places::One(device) => vec![device],
    };
    if args.worker.is_some() && devices.len() > 1 {
        let line = "--worker is the number of one worker: without it, --device all counts from 0";
        return Err(BadRequest(line.into()).into());
    }
    let device = match (devices.as_slice(), args.workers) {
        // One worker alone is an ordinary one.
        (&[device], None) => device,
        (devices, workers) => {
            WorkFile::new(dir, PATIENCE).read()?;
            return several::run(args, devices, workers.unwrap_or(1));
        }
    };
    let request = args.plan_request(device);
    if let DeviceChoice::On(_) = request.device {
        // One that cannot be used is told of before anything is touched.
        run::settle_for_any(&request)?;
    }
    gimps::check_results_path(ResultsFile::Own(&work::results_path(dir, args.worker)))?;
    // The same of what is no list: a folder, a FIFO.
    let lists = lists(dir, args.worker);
    for list in &lists {
        list.read()?;
    }
    let signals = Signals::install()?;
    let stop = signals.leave_at_once().clone();
    let stopped = move || stop.is_stopped();
    let lists = lists.into_iter().map(|list| list.stopped_by(stopped.clone())).collect();
    let _claim = claim_worker(dir, args.worker.unwrap_or(0))?;
    let mut worker = Worker::new(args, request, lists);
    worker.watch.log("begins");
    let ended = worker.all(&signals);
    let state = match &ended {
        Ok(Exit::Stopped) => State::Stopped,
        _ => State::Finished,
    };
    if let Err(e) = &ended {
        worker.watch.log(&format!("error: {e:#}"));
    }
    worker.watch.leave(state);
    ended
}

/// What a worker works on: its own list, if it has a number, and that of all.
fn lists(dir: &Path, worker: Option<u32>) -> Vec<WorkFile> {
    let own = worker.map(|worker| WorkFile::of_worker(dir, worker, PATIENCE));
    own.into_iter().chain([WorkFile::new(dir, PATIENCE)]).collect()
}

/// `--add`: all lines or none.
fn add(args: &WorkArgs) -> anyhow::Result<Exit> {
    for line in &args.add {
        let refused = match Line::parse(line.as_bytes()) {
            Line::Work(assignment) => {
                Exponent::new(assignment.work.exponent().into()).context("--add")?;
                continue;
            }
            Line::Foreign(why) => why.to_string(),
            Line::Malformed(why) => why.to_string(),
            Line::Blank | Line::Comment => "it is no assignment".into(),
        };
        return Err(BadRequest(format!("--add: {refused}")).into());
    }
    fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot make the directory {}", args.dir.display()))?;
    let mut file = WorkFile::new(&args.dir, PATIENCE);
    let lines: Vec<&[u8]> = args.add.iter().map(|line| line.trim().as_bytes()).collect();
    file.append(&lines)?;
    for notice in file.take_notices() {
        report::notice(&notice);
    }
    let added = args.add.len();
    if args.json {
        report::print(&Added { added, file: file.path().display().to_string() }, true)?;
    } else if !args.quiet {
        let lines = units::count(added as u64, "line");
        report::notice(&format!("added {lines} to {}", file.path().display()));
    }
    Ok(Exit::Done)
}

/// What `--add` did.
#[derive(Serialize)]
struct Added {
    added: usize,
    file: String,
}

impl std::fmt::Display for Added {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} added to {}", self.added, self.file)
    }
}

fn claim_worker(dir: &Path, worker: u32) -> anyhow::Result<Claim> {
    let path = Claim::of_worker(dir, worker);
    for _ in 0..CLAIM_TRIES {
        let claim = Claim::try_take(&path)
            .with_context(|| format!("cannot use the lock {}", path.display()))?;
        if let Some(claim) = claim {
            return Ok(claim);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(BadRequest(format!(
        "worker {worker} is already at work in {}: give this one another number with --worker N",
        dir.display()
    ))
    .into())
}
