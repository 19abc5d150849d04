//! One worker on its lists.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;
use warpint::gimps::{Assignment, Line, NumberedLine, Work, WorkFile};
use warpint::mersenne::proof::power_for;
use warpint::mersenne::{Exponent, PlanRequest, StopToken, TestKind};

use crate::args::{TF_LIMIT, WorkArgs};
use crate::exit::{self, Exit};
use crate::report::{self, Credit};
use crate::run::{self, Job, Order};
use crate::signals::Signals;
use crate::units;
use crate::work::{self, Claim, StartFile, Watch};

/// `--wait`: the lists are read this often.
const POLL: Duration = Duration::from_secs(2);
/// How soon a request to stop is seen meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How it went.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Tally {
    /// `no work left`.
    status: &'static str,
    /// Absent for the only worker of a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<u32>,
    done: u32,
    failed: u32,
    /// Lines that are kept: malformed, for other programs, taken by other workers.
    malformed: u32,
    foreign: u32,
    busy: u32,
}

/// A line, and the list that it is in.
struct Place {
    list: usize,
    line: NumberedLine,
}

/// A line to be worked on.
struct Task {
    place: Place,
    assignment: Assignment,
    exponent: Exponent,
    _claim: Claim,
}

pub(super) struct Worker<'a> {
    args: &'a WorkArgs,
    dir: &'a Path,
    request: PlanRequest,
    /// The first that has a line that can be done gives the next one.
    lists: Vec<WorkFile>,
    pub(super) watch: Watch,
    /// Lines that a person has been told of.
    told: HashSet<Vec<u8>>,
    /// Lines that failed, or that could not be removed: not tried again.
    given_up: HashSet<Vec<u8>>,
    /// What was last said of additions that could not be moved over.
    stuck: Option<String>,
    tally: Tally,
    /// The gravest class of what failed.
    exit: Exit,
}

impl<'a> Worker<'a> {
    pub(super) fn new(args: &'a WorkArgs, request: PlanRequest, lists: Vec<WorkFile>) -> Self {
        let dir = args.dir.as_path();
        Self {
            args,
            dir,
            request,
            lists,
            watch: Watch::new(dir, args.worker),
            told: HashSet::new(),
            given_up: HashSet::new(),
            stuck: None,
            tally: Tally { worker: args.worker, ..Tally::default() },
            exit: Exit::Done,
        }
    }

    /// Until there is no line left that this worker can do, or with `--wait` until it is stopped.
    pub(super) fn all(&mut self, signals: &Signals) -> anyhow::Result<Exit> {
        StartFile::clear_finished(self.dir, &mut |line| self.say(line));
        let mut waiting = false;
        loop {
            if signals.leave_at_once().is_stopped() {
                return Ok(Exit::Stopped);
            }
            self.merge_added();
            if let Some(task) = self.next()? {
                waiting = false;
                if self.work(&task, signals) == Exit::Stopped {
                    return Ok(Exit::Stopped);
                }
            } else if self.args.wait {
                if !waiting {
                    let line = format!("{}; waiting for more, until Ctrl-C", self.summary());
                    self.say(&line);
                    self.watch.waits();
                    waiting = true;
                }
                if !pause(signals.save_first()) {
                    return Ok(Exit::Stopped);
                }
            } else {
                break;
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

    /// Moves over what others have put into the files of additions.
    fn merge_added(&mut self) {
        for list in 0..self.lists.len() {
            let merged = self.lists[list].merge_added();
            self.pass_notices(list);
            let added = self.lists[list].path().with_extension("add");
            let added = added.file_name().unwrap_or_default().to_string_lossy();
            match merged {
                Ok(0) => {}
                Ok(n) => {
                    self.stuck = None;
                    let lines = units::count(n as u64, "line");
                    self.say(&format!("{lines} moved over from {added}"));
                }
                // What is in the list itself can be done all the same.
                Err(e) => {
                    let line = format!("warning: {added} is left as it is: {e}");
                    if self.stuck.as_ref() != Some(&line) {
                        self.warn(&line);
                        self.stuck = Some(line);
                    }
                }
            }
        }
    }

    /// The first line that can be done and that no other worker has. Certifications come before
    /// all others: they are short, and the credit of somebody else's test waits for them.
    fn next(&mut self) -> anyhow::Result<Option<Task>> {
        'again: loop {
            let mut places = self.read()?;
            // All at once, while the numbers are those that a person sees.
            self.tell_of_others(&places);
            self.tally.busy = 0;
            places.sort_by_key(|place| !is_cert(&place.line));
            for place in places {
                let Line::Work(assignment) = &place.line.line else { continue };
                if self.given_up.contains(&place.line.bytes) {
                    continue;
                }
                let exponent = match Exponent::new(assignment.work.exponent().into()) {
                    Ok(exponent) => exponent,
                    Err(e) => {
                        self.give_up(&place, &e.into());
                        continue;
                    }
                };
                match self.claim(exponent.get()) {
                    Ok(Some(_claim)) if !self.is_there(&place)? => continue 'again,
                    Ok(Some(claim)) => {
                        let assignment = assignment.clone();
                        return Ok(Some(Task { place, assignment, exponent, _claim: claim }));
                    }
                    Ok(None) => self.tally.busy += 1,
                    Err(e) => self.give_up(&place, &e),
                }
            }
            return Ok(None);
        }
    }

    /// All lines, list by list.
    fn read(&self) -> anyhow::Result<Vec<Place>> {
        let mut places = vec![];
        for (list, file) in self.lists.iter().enumerate() {
            places.extend(file.read()?.into_iter().map(|line| Place { list, line }));
        }
        Ok(places)
    }

    /// Counts the lines that are no work for this program, and tells of those
    /// that are new.
    fn tell_of_others(&mut self, places: &[Place]) {
        (self.tally.malformed, self.tally.foreign) = (0, 0);
        for place in places {
            let why = match &place.line.line {
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
            if self.told.insert(place.line.bytes.clone()) {
                self.warn(&format!("{}: {why}; the line is kept", self.at(place)));
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

    /// Whether a line is in its list still: another worker may have done it.
    fn is_there(&self, place: &Place) -> anyhow::Result<bool> {
        let lines = self.lists[place.list].read()?;
        Ok(lines.iter().any(|other| other.bytes == place.line.bytes))
    }

    fn work(&mut self, task: &Task, signals: &Signals) -> Exit {
        let (args, work) = (self.args, &task.assignment.work);
        let aid = task.assignment.aid.clone();
        let p = task.exponent.get();
        // What the server gives out has been searched for factors.
        let searched = aid.is_some() || work.has_factoring_history();
        let credit = Credit {
            assignment: format!("{} {}", work.keyword(), work.exponent()),
            aid,
            user: args.user.clone(),
            computer: args.computer.clone(),
            worker: args.worker.unwrap_or(0),
            numbered: args.worker.is_some(),
        };
        let spec = match work::spec_of(self.dir, work, task.exponent) {
            Ok(spec) => spec,
            Err(e) => {
                self.give_up(&task.place, &e);
                return Exit::Done;
            }
        };
        let kind = spec.kind;
        self.watch.begin(p, kind, &credit);
        let wants_proof = kind == TestKind::Prp && !args.no_proof;
        let proof = args.proof_power.or_else(|| power_for(p)).filter(|_| wants_proof);
        let double_check = work.is_double_check();
        let job = Job {
            spec,
            request: self.request,
            proof,
            verify_with: None,
            dir: self.dir,
            results: None,
            checkpoint_interval: args.checkpoint_interval,
            tf_limit: (!searched && !double_check).then_some(TF_LIMIT),
            restart: false,
            quiet: args.quiet,
            json: args.json,
            order: Some(Order { credit, double_check, watch: &self.watch }),
        };
        match run::run(&job, signals) {
            Ok(Exit::Stopped) => return Exit::Stopped,
            Ok(_) => self.finish(task, kind),
            Err(e) => {
                self.give_up(&task.place, &e);
            }
        }
        Exit::Done
    }

    /// The result is recorded: the line may go, and then the residue that a certification began
    /// with. A process that is killed between the two leaves the residue for
    /// [`StartFile::clear_finished`].
    fn finish(&mut self, task: &Task, kind: TestKind) {
        let place = &task.place;
        let removed = self.lists[place.list].remove_line(&place.line.bytes);
        self.pass_notices(place.list);
        match removed {
            Ok(was_there) => {
                if !was_there {
                    self.warn(&format!(
                        "{} is gone already; its result is recorded",
                        self.at(place)
                    ));
                }
                if let Work::Cert { .. } = task.assignment.work {
                    self.remove_start(&task.assignment.work, kind);
                }
                self.tally.done += 1;
                self.watch.ended(true);
            }
            Err(e) => {
                let e = anyhow::Error::new(e).context("the result is recorded, but the line stays");
                self.give_up(place, &e);
            }
        }
    }

    /// Removes the residue that a finished certification began with, unless an equal certification
    /// (of the same exponent and number of squarings) waits for it too.
    fn remove_start(&self, work: &Work, kind: TestKind) {
        let start = StartFile::new(self.dir, work.exponent());
        let removed = self.read().and_then(|places| {
            let awaited = |place: &Place| match &place.line.line {
                Line::Work(other) => other.work == *work,
                _ => false,
            };
            if places.iter().any(awaited) { Ok(()) } else { start.remove(kind) }
        });
        if let Err(e) = removed {
            let p = work.exponent();
            self.warn(&format!("M{p}: the result is recorded, but {e:#}"));
        }
    }

    fn give_up(&mut self, place: &Place, error: &anyhow::Error) {
        self.warn(&format!(
            "error: {}: {}; the line is kept",
            self.at(place),
            exit::one_line(error)
        ));
        self.given_up.insert(place.line.bytes.clone());
        self.tally.failed += 1;
        self.exit = self.exit.max(exit::class_of(error));
        self.watch.ended(false);
    }

    /// `worktodo.txt, line 3`.
    fn at(&self, place: &Place) -> String {
        format!("{}, line {}", self.lists[place.list].path().display(), place.line.number)
    }

    fn pass_notices(&mut self, list: usize) {
        for notice in self.lists[list].take_notices() {
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
        let paths: Vec<_> =
            self.lists.iter().map(|list| list.path().display().to_string()).collect();
        let mut line = format!(
            "no work left in {}: {} done",
            paths.join(" and "),
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

fn is_cert(line: &NumberedLine) -> bool {
    matches!(&line.line, Line::Work(Assignment { work: Work::Cert { .. }, .. }))
}

/// Waits until the lists are to be read again; not if it was asked to stop.
fn pause(stop: &StopToken) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < POLL {
        if stop.is_stopped() {
            return false;
        }
        thread::sleep(LOOK_EVERY);
    }
    true
}
