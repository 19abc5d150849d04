//! `warpint work [DIR]`: the assignments of a worktodo.txt, one after the other.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use warpint::gimps::{self, Assignment, Line, NumberedLine, WorkFile};
use warpint::mersenne::proof::power_for;
use warpint::mersenne::{DeviceChoice, Exponent, TestKind};

use crate::args::WorkArgs;
use crate::exit::{self, BadRequest, Exit};
use crate::report::{self, Credit};
use crate::run::{self, Job, Order};
use crate::signals::Signals;
use crate::units;
use crate::work::{self, Claim, State, Watch};

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
    let request = args.arithmetic.plan_request(None);
    if let DeviceChoice::On(_) = request.device {
        // One that cannot be used is told of before anything is touched.
        run::settle_for_any(&request)?;
    }
    gimps::check_results_path(&work::results_path(dir, args.worker))?;
    let file = WorkFile::new(dir, PATIENCE);
    // The same of what is no list: a folder, a FIFO.
    file.read()?;
    let signals = Signals::install()?;
    let _claim = claim_worker(dir, args.worker)?;
    let mut worker = Worker {
        args,
        dir,
        file,
        watch: Watch::new(dir, args.worker),
        told: HashSet::new(),
        given_up: HashSet::new(),
        tally: Tally::default(),
        exit: Exit::Done,
    };
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

/// How it went.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Tally {
    /// `no work left`.
    status: &'static str,
    done: u32,
    failed: u32,
    /// Lines that are kept: malformed, for other programs, taken by other workers.
    malformed: u32,
    foreign: u32,
    busy: u32,
}

/// A line to be worked on.
struct Task {
    line: NumberedLine,
    assignment: Assignment,
    exponent: Exponent,
    _claim: Claim,
}

struct Worker<'a> {
    args: &'a WorkArgs,
    dir: &'a Path,
    file: WorkFile,
    watch: Watch,
    /// Lines that a person has been told of.
    told: HashSet<Vec<u8>>,
    /// Lines that failed, or that could not be removed: not tried again.
    given_up: HashSet<Vec<u8>>,
    tally: Tally,
    /// The gravest class of what failed.
    exit: Exit,
}

impl Worker<'_> {
    /// Until there is no line left that this worker can do.
    fn all(&mut self, signals: &Signals) -> anyhow::Result<Exit> {
        loop {
            if signals.leave_at_once().is_stopped() {
                return Ok(Exit::Stopped);
            }
            let merged = self.file.merge_added();
            self.pass_notices();
            match merged {
                Ok(0) => {}
                Ok(n) => {
                    let lines = units::count(n as u64, "line");
                    self.say(&format!("{lines} moved over from worktodo.add"));
                }
                // What is in worktodo.txt can be done all the same.
                Err(e) => self.warn(&format!("warning: worktodo.add is left as it is: {e}")),
            }
            let Some(task) = self.next()? else { break };
            if self.work(&task, signals) == Exit::Stopped {
                return Ok(Exit::Stopped);
            }
        }
        self.tally.status = "no work left";
        let line = self.summary();
        self.say(&line);
        if self.args.json {
            report::write_out(format!("{}\n", serde_json::to_string(&self.tally)?).as_bytes())?;
        }
        Ok(self.exit)
    }

    /// The first line that can be done and that no other worker has.
    fn next(&mut self) -> anyhow::Result<Option<Task>> {
        'again: loop {
            let lines = self.file.read()?;
            // All at once, while the numbers are those that a person sees.
            self.tell_of_others(&lines);
            self.tally.busy = 0;
            for line in lines {
                let Line::Work(assignment) = &line.line else { continue };
                if self.given_up.contains(&line.bytes) {
                    continue;
                }
                let exponent = match Exponent::new(assignment.work.exponent().into()) {
                    Ok(exponent) => exponent,
                    Err(e) => {
                        self.give_up(&line, &e.into());
                        continue;
                    }
                };
                match self.claim(exponent.get()) {
                    Ok(Some(_claim)) if !self.is_there(&line)? => continue 'again,
                    Ok(Some(claim)) => {
                        let assignment = assignment.clone();
                        return Ok(Some(Task { line, assignment, exponent, _claim: claim }));
                    }
                    Ok(None) => self.tally.busy += 1,
                    Err(e) => self.give_up(&line, &e),
                }
            }
            return Ok(None);
        }
    }

    /// Counts the lines that are no work for this program, and tells of those
    /// that are new.
    fn tell_of_others(&mut self, lines: &[NumberedLine]) {
        (self.tally.malformed, self.tally.foreign) = (0, 0);
        for line in lines {
            let why = match &line.line {
                Line::Blank | Line::Comment | Line::Work(_) => continue,
                Line::Malformed(why) => {
                    self.tally.malformed += 1;
                    why.to_string()
                }
                Line::Foreign(why) => {
                    self.tally.foreign += 1;
                    why.to_string()
                }
            };
            if self.told.insert(line.bytes.clone()) {
                self.warn(&format!("{}: {why}; the line is kept", self.at(line)));
            }
        }
    }

    fn claim(&self, p: u32) -> anyhow::Result<Option<Claim>> {
        let path = Claim::of_exponent(self.dir, p);
        let folder = path.parent().unwrap_or(self.dir);
        fs::create_dir_all(folder)
            .and_then(|()| Claim::try_take(&path))
            .with_context(|| format!("cannot use {}", folder.display()))
    }

    /// Whether a line is in the file still: another worker may have done it.
    fn is_there(&self, line: &NumberedLine) -> anyhow::Result<bool> {
        Ok(self.file.read()?.iter().any(|other| other.bytes == line.bytes))
    }

    fn work(&mut self, task: &Task, signals: &Signals) -> Exit {
        let (args, work) = (self.args, &task.assignment.work);
        let credit = Credit {
            assignment: format!("{} {}", work.keyword(), work.exponent()),
            aid: task.assignment.aid.clone(),
            user: args.user.clone(),
            computer: args.computer.clone(),
            worker: args.worker,
        };
        let p = task.exponent.get();
        let spec = match work::spec_of(self.dir, work, task.exponent) {
            Ok(spec) => spec,
            Err(e) => {
                self.give_up(&task.line, &e);
                return Exit::Done;
            }
        };
        self.watch.begin(p, spec.kind, &credit);
        let wants_proof = spec.kind == TestKind::Prp && !args.no_proof;
        let proof = args.proof_power.or_else(|| power_for(p)).filter(|_| wants_proof);
        let job = Job {
            spec,
            request: args.arithmetic.plan_request(None),
            proof,
            verify_with: None,
            dir: self.dir,
            results: None,
            checkpoint_interval: args.checkpoint_interval,
            // The server gives out what has been searched for factors.
            tf_limit: None,
            restart: false,
            quiet: args.quiet,
            json: args.json,
            order: Some(Order { credit, double_check: work.is_double_check(), watch: &self.watch }),
        };
        match run::run(&job, signals) {
            Ok(Exit::Stopped) => return Exit::Stopped,
            Ok(_) => self.finish(&task.line),
            Err(e) => {
                self.give_up(&task.line, &e);
            }
        }
        Exit::Done
    }

    /// The result is recorded: the line may go.
    fn finish(&mut self, line: &NumberedLine) {
        let removed = self.file.remove_line(&line.bytes);
        self.pass_notices();
        match removed {
            Ok(was_there) => {
                if !was_there {
                    self.warn(&format!(
                        "{} is gone already; its result is recorded",
                        self.at(line)
                    ));
                }
                self.tally.done += 1;
                self.watch.ended(true);
            }
            Err(e) => {
                let e = anyhow::Error::new(e).context("the result is recorded, but the line stays");
                self.give_up(line, &e);
            }
        }
    }

    fn give_up(&mut self, line: &NumberedLine, error: &anyhow::Error) {
        self.warn(&format!(
            "error: {}: {}; the line is kept",
            self.at(line),
            exit::one_line(error)
        ));
        self.given_up.insert(line.bytes.clone());
        self.tally.failed += 1;
        self.exit = self.exit.max(exit::class_of(error));
        self.watch.ended(false);
    }

    /// `worktodo.txt, line 3`.
    fn at(&self, line: &NumberedLine) -> String {
        format!("{}, line {}", self.file.path().display(), line.number)
    }

    fn pass_notices(&mut self) {
        for notice in self.file.take_notices() {
            self.say(&notice);
        }
    }

    fn warn(&self, line: &str) {
        report::notice(line);
        self.watch.log(line);
    }

    fn say(&self, line: &str) {
        if !self.args.quiet {
            report::notice(line);
        }
        self.watch.log(line);
    }

    fn summary(&self) -> String {
        let Tally { done, failed, malformed, foreign, busy, .. } = self.tally;
        let mut line = format!(
            "no work left in {}: {} done",
            self.file.path().display(),
            units::count(done, "assignment")
        );
        for (n, what) in [
            (failed, "failed"),
            (busy, "in the hands of other workers"),
            (malformed, "malformed"),
            (foreign, "for other programs"),
        ] {
            if n > 0 {
                line += &format!(", {n} {what}");
            }
        }
        line
    }
}
