//! The command `warpint work [DIR]`: does the assignments of a worktodo.txt.

mod serve;
mod several;

use std::thread;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use warpint::gimps::WorkFile;
use warpint::mersenne::{DeviceChoice, PlanRequest};
use warpint::runner::work::{
    Appended, Ended, MOST_WORKERS, Team, Worker, append, check_line, share_of,
};

use crate::args::{Places, WorkArgs};
use crate::console::Console;
use crate::exit::{self, BadRequest, Exit};
use crate::report;
use crate::run;
use crate::together::Together;
use crate::units;

pub(crate) fn run(args: &WorkArgs) -> anyhow::Result<Exit> {
    if !args.add.is_empty() {
        return add(args);
    }
    let dir = args.dir.as_path();
    if !dir.is_dir() {
        let is_file = dir.is_file();
        let dir = dir.display();
        return Err(BadRequest(if is_file {
            format!("{dir} is a file, not a directory: copy it to DIR/worktodo.txt and name DIR")
        } else {
            format!(
                "the directory {dir} is not there: put assignments into {dir}/worktodo.txt, or give one by --add"
            )
        })
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
        // The workers run in this process.
        (&[device], None) => device,
        (devices, workers) => {
            WorkFile::new(dir, Duration::ZERO).read()?;
            return several::run(args, devices, workers.unwrap_or(1));
        }
    };
    if let (Some(first), together @ 2..) = (args.worker, args.together)
        && first + together > MOST_WORKERS as u32
    {
        let line = format!(
            "--worker {first} with --together {together}: worker numbers are below {MOST_WORKERS}"
        );
        return Err(BadRequest(line).into());
    }
    let request = args.plan_request(device);
    if let DeviceChoice::On(_) = request.device {
        // An unusable device is reported before any file is changed.
        run::resolve_for_any(&request)?;
    }
    serve::start(dir, args.serve, args.quiet)?;
    let worker = worker(args, request);
    let ended = if args.together > 1 {
        let team = Team::of(&worker, args.together)?;
        let (observers, stop) = Together::install(args.quiet, args.json, args.together as usize)?;
        team.run(&observers, &stop)?
    } else {
        let (console, stop) = Console::install(args.quiet, args.json)?;
        worker.run(&console, &stop)?
    };
    Ok(match ended {
        Ended::Stopped => Exit::Stopped,
        Ended::NoWorkLeft(tally) => {
            exit::end_if_closed(&tally.errors);
            let classes = tally.errors.iter().map(|error| exit::class_of_error(error));
            classes.max().unwrap_or(Exit::Done)
        }
    })
}

fn worker(args: &WorkArgs, request: PlanRequest) -> Worker {
    let mut worker = Worker::new(&args.dir);
    worker.number = args.worker;
    worker.request = request;
    if args.together > 1 && request.threads.is_none() {
        let cores = thread::available_parallelism().map_or(1, |n| n.get());
        worker.request.threads = Some(share_of(cores, args.together as usize));
    }
    worker.wait = args.wait;
    worker.user = args.user.clone();
    worker.computer = args.computer.clone();
    worker.proofs = !args.no_proof;
    worker.proof_power = args.proof_power;
    worker.checkpoint_interval = args.checkpoint_interval;
    worker
}

/// Handles the option `--add`: appends lines to the list of assignments, either all of them or
/// none.
fn add(args: &WorkArgs) -> anyhow::Result<Exit> {
    let checked = args.add.iter().map(|line| check_line(line).context("--add"));
    let lines: Vec<String> = checked.collect::<anyhow::Result<_>>()?;
    let Appended { path, notices } = append(&args.dir, &lines)?;
    for line in notices {
        report::notice(&line);
    }
    let file = path.display().to_string();
    let added = lines.len();
    if args.json {
        report::print(&Added { added, file }, true)?;
    } else if !args.quiet {
        report::notice(&format!("added {} to {file}", units::count(added as u64, "line")));
    }
    Ok(Exit::Done)
}

/// The report of `--add`: the number of lines that were added, and the list.
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
