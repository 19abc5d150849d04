//! The loop of a worker over the lines of its lists.

use std::collections::HashSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use warpint_gimps::{Assignment, Line, Work, WorkFile};
use warpint_mersenne::proof::{Points, power_for};
use warpint_mersenne::{Exponent, Number, StopToken, TestKind};
use warpint_progress::units;

use super::entry::{Entry, Key, depends_on_others, entries, position};
use super::task::{Errand, Place, Task};
use super::worker::{Ended, Tally, Worker};
use super::{Claim, StartFile, Watch, spec_of};
use crate::RunError;
use crate::candidate::Candidate;
use crate::error::{one_line, with_causes};
use crate::job::{Job, Order, TF_LIMIT};
use crate::note::Note;
use crate::observer::{Reporter, RunEvent};
use crate::report::{Credit, Report};
use crate::warning::Warning;

/// The largest number of lines that are reported one by one in a look at the lists.
const MOST_TOLD: usize = 20;

/// The interval at which a worker without work reads its lists.
const POLL: Duration = Duration::from_secs(2);
/// The interval at which a waiting worker looks for a stop request.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The state of a worker while it does the assignments of its lists.
pub(super) struct Shift<'a> {
    options: &'a Worker,
    /// The lists of the worker. Certifications from all lists come first. Other assignments of a
    /// list are done only when the lists before it have none that can be done.
    lists: Vec<WorkFile>,
    watch: &'a Watch,
    reporter: Reporter,
    stop: &'a StopToken,
    /// The lines that are not assignments for this program and have been reported to the user. Each
    /// line is reported only once for the same reason.
    told: HashSet<(Vec<u8>, String)>,
    /// The lines whose assignments failed, or that could not be removed after their assignments
    /// were done. These assignments are not tried again.
    given_up: HashSet<Key>,
    /// The text of the last warning that the lines of a file of additions could not be moved;
    /// `None` if lines have been moved since. The same warning is not repeated.
    stuck: Option<String>,
    tally: Tally,
}

impl<'a> Shift<'a> {
    pub(super) fn new(
        options: &'a Worker,
        lists: Vec<WorkFile>,
        watch: &'a Watch,
        reporter: Reporter,
        stop: &'a StopToken,
    ) -> Self {
        Self {
            options,
            lists,
            watch,
            reporter,
            stop,
            told: HashSet::new(),
            given_up: HashSet::new(),
            stuck: None,
            tally: Tally { worker: options.number, ..Tally::default() },
        }
    }

    /// Does assignments until none is left that this worker can do, or until a stop is requested.
    /// If [`Worker::wait`] is true, waits for new lines when none is left.
    pub(super) fn all(mut self) -> Result<Ended, RunError> {
        let reporter = self.reporter.clone();
        StartFile::clear_finished(&self.options.dir, &mut |note| reporter.say(&note));
        let mut waiting = false;
        loop {
            self.reporter.event(&RunEvent::Saves(false));
            if self.stop.is_stopped() {
                return Ok(Ended::Stopped);
            }
            self.merge_added();
            if let Some(task) = self.next()? {
                waiting = false;
                if self.work(&task)? {
                    return Ok(Ended::Stopped);
                }
            } else if self.options.wait {
                if !waiting {
                    let summary = self.summary();
                    self.reporter.say(&Note::NoWorkLeft { summary, waits: true });
                    self.watch.waits();
                    waiting = true;
                }
                self.reporter.event(&RunEvent::Saves(true));
                if !pause(self.stop) {
                    return Ok(Ended::Stopped);
                }
            } else {
                break;
            }
        }
        self.tally.status = "no work left";
        let summary = self.summary();
        self.reporter.say(&Note::NoWorkLeft { summary, waits: false });
        self.reporter.observer.no_work_left(&self.tally).map_err(RunError::Undelivered)?;
        Ok(Ended::NoWorkLeft(self.tally))
    }

    /// Moves the lines that other programs have written to files of additions, such as
    /// `worktodo.add`, to the lists.
    fn merge_added(&mut self) {
        for list in 0..self.lists.len() {
            let merged = self.lists[list].merge_added_unless(depends_on_others);
            self.pass_notices(list);
            let added = self.lists[list].path().with_extension("add");
            let added = added.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match merged {
                Ok(0) => {}
                Ok(lines) => {
                    self.stuck = None;
                    self.reporter.say(&Note::MovedOver { lines, from: added });
                }
                // The lines of the list itself can still be done.
                Err(e) => {
                    let warning = Warning::AdditionsStay { file: added, reason: e.to_string() };
                    let line = warning.to_string();
                    if self.stuck.as_ref() != Some(&line) {
                        self.reporter.warn(&warning);
                        self.stuck = Some(line);
                    }
                }
            }
        }
    }

    /// Returns the first assignment that can be done and that no other worker has claimed. Returns
    /// `None` if there is no such assignment. Certifications come first: they are short, and
    /// another user's credit for a test depends on them.
    fn next(&mut self) -> Result<Option<Task>, RunError> {
        'again: loop {
            let mut places = self.read()?;
            // All lines are reported at once, while the line numbers match those in the file.
            self.tell_of_others(&places);
            self.tally.busy = 0;
            places.sort_by_key(|place| !place.is_cert());
            for place in places {
                if self.given_up.contains(&place.key()) {
                    continue;
                }
                let errand = match Errand::of(&place.entry) {
                    None => continue,
                    Some(Ok(errand)) => errand,
                    Some(Err(e)) => {
                        self.give_up(&place, e.into());
                        continue;
                    }
                };
                match self.claim(errand.number()) {
                    Ok(Some(_claim)) if !self.is_there(&place)? => continue 'again,
                    Ok(Some(claim)) => return Ok(Some(Task { place, errand, _claim: claim })),
                    Ok(None) => self.tally.busy += 1,
                    Err(e) => self.give_up(&place, e),
                }
            }
            return Ok(None);
        }
    }

    /// Returns the lines of all lists, list by list.
    fn read(&self) -> Result<Vec<Place>, RunError> {
        let mut places = vec![];
        for (list, file) in self.lists.iter().enumerate() {
            let lines = file.read()?;
            let meanings: Vec<Entry> = entries(&lines).collect();
            let place = |(line, entry)| Place { list, line, entry };
            places.extend(lines.into_iter().zip(meanings).map(place));
        }
        Ok(places)
    }

    /// Counts the lines that are not assignments for this program, and reports each line to the
    /// user once. Of many lines that are found at a time, only the first ones are reported one by one.
    fn tell_of_others(&mut self, places: &[Place]) {
        (self.tally.malformed, self.tally.foreign) = (0, 0);
        let (mut told, mut untold) = (0, 0);
        for place in places {
            let why = match &place.entry {
                Entry::Nothing | Entry::Assignment(_) | Entry::Candidate(_) => continue,
                // The header above the line is reported.
                Entry::BelowMalformed => {
                    self.tally.malformed += 1;
                    continue;
                }
                Entry::Malformed(why) => {
                    self.tally.malformed += 1;
                    why
                }
                Entry::Foreign(why) => {
                    self.tally.foreign += 1;
                    why
                }
            };
            if !self.told.insert((place.line.bytes.clone(), why.clone())) {
                continue;
            }
            if told == MOST_TOLD {
                untold += 1;
                continue;
            }
            told += 1;
            let reason = why.clone();
            self.reporter.warn(&Warning::NotOurs { place: self.at(place), reason });
        }
        if untold > 0 {
            self.reporter.warn(&Warning::MoreNotOurs { count: untold });
        }
    }

    fn claim(&self, number: Number) -> Result<Option<Claim>, RunError> {
        let path = Claim::of_number(&self.options.dir, number);
        let folder = path.parent().unwrap_or(&self.options.dir);
        fs::create_dir_all(folder)
            .and_then(|()| Claim::try_take(&path))
            .map_err(|source| RunError::Claim { path: folder.to_owned(), source })
    }

    /// Returns whether a line is still in its list. Another worker may have done the assignment and
    /// removed the line.
    fn is_there(&self, place: &Place) -> Result<bool, RunError> {
        let lines = self.lists[place.list].read()?;
        Ok(position(&lines, &place.key()).is_some())
    }

    /// Runs the test of a task. Returns true if a stop request ended the test.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    fn work(&mut self, task: &Task) -> Result<bool, RunError> {
        match &task.errand {
            Errand::Assignment(assignment, exponent) => {
                self.do_assignment(task, assignment, *exponent)
            }
            Errand::Candidate(candidate) => self.test_candidate(task, candidate),
        }
    }

    fn do_assignment(
        &mut self,
        task: &Task,
        assignment: &Assignment,
        exponent: Exponent,
    ) -> Result<bool, RunError> {
        let (options, work) = (self.options, &assignment.work);
        let spec = match spec_of(&options.dir, work, exponent) {
            Ok(spec) => spec,
            Err(e) => {
                self.give_up(&task.place, e);
                return Ok(false);
            }
        };
        let (p, kind) = (exponent.get(), spec.kind);
        let credit = self.credit(assignment);
        // Exponents assigned by the server have been searched for factors.
        let searched = assignment.aid.is_some() || work.has_factoring_history();
        let double_check = work.is_double_check();
        let wants_proof = kind == TestKind::Prp && options.proofs;
        // An exponent too small for the power gets no proof.
        let proof_power = options
            .proof_power
            .or_else(|| power_for(p))
            .filter(|&power| wants_proof && Points::new(p, power).is_some());
        let order = Order { credit, double_check, watch: self.watch, candidate: None };
        let job = Job {
            proof: proof_power,
            tf_limit: (!searched && !double_check).then_some(TF_LIMIT),
            ..Job::new(spec, &options.dir)
        };
        self.run(task, job, order)
    }

    /// Tests a candidate as `warpint test` does.
    fn test_candidate(&mut self, task: &Task, candidate: &Candidate) -> Result<bool, RunError> {
        let job = candidate.job(None, Candidate::FACTOR_LIMIT, &self.options.dir);
        candidate.notes(job.spec.kind).iter().for_each(|note| self.reporter.say(note));
        let order = Order {
            credit: self.credit_for(candidate.name().into(), None),
            double_check: false,
            watch: self.watch,
            candidate: Some(candidate.name()),
        };
        self.run(task, job, order)
    }

    /// Runs the job of a task, and removes its line if the result is recorded. Returns true if a stop
    /// request ended the test.
    ///
    /// # Errors
    /// [`RunError::NotKept`] if the result is neither stored nor recorded, as on a full disk: the results of
    /// all further tests would be lost, too. Other errors are only reported.
    fn run<'j>(
        &mut self,
        task: &'j Task,
        job: Job<'j>,
        order: Order<'j>,
    ) -> Result<bool, RunError> {
        let kind = job.spec.kind;
        self.watch.begin(job.spec.number, kind, &order.credit);
        let job = Job {
            request: self.options.request,
            checkpoint_interval: self.options.checkpoint_interval,
            order: Some(order),
            ..job
        };
        match job.run(&self.reporter.observer, self.stop) {
            Ok(Report::Stopped(_)) => return Ok(true),
            Ok(_) => self.finish(task, kind),
            Err(e @ RunError::NotKept { recorded: false, .. }) => return Err(e),
            Err(e) => self.give_up(&task.place, e),
        }
        Ok(false)
    }

    fn credit(&self, assignment: &Assignment) -> Credit {
        let work = &assignment.work;
        let name = format!("{} {}", work.keyword(), work.exponent());
        self.credit_for(name, assignment.aid.clone())
    }

    fn credit_for(&self, assignment: String, aid: Option<String>) -> Credit {
        let options = self.options;
        Credit {
            assignment,
            aid,
            user: options.user.clone(),
            computer: options.computer.clone(),
            worker: options.number.unwrap_or(0),
            numbered: options.number.is_some(),
        }
    }

    /// Finishes a task whose result is recorded. Removes the line of the task, and then, for a
    /// certification, the start residue. If the process is killed in between,
    /// [`StartFile::clear_finished`] removes the residue later.
    fn finish(&mut self, task: &Task, kind: TestKind) {
        let place = &task.place;
        let key = place.key();
        let removed = self.lists[place.list].remove_chosen(|lines| position(lines, &key));
        self.pass_notices(place.list);
        match removed {
            Ok(was_there) => {
                if !was_there {
                    self.reporter.warn(&Warning::LineGone { place: self.at(place) });
                }
                if let Errand::Assignment(Assignment { work, .. }, _) = &task.errand
                    && matches!(work, Work::Cert { .. })
                {
                    self.remove_start(work, kind);
                }
                self.tally.done += 1;
                self.watch.ended(true);
            }
            Err(source) => self.give_up(place, RunError::LineStays { source }),
        }
    }

    /// Removes the start residue of a finished certification. Keeps the residue if one of the
    /// worker's lists has another certification with the same exponent and number of squarings,
    /// which needs the residue.
    fn remove_start(&self, work: &Work, kind: TestKind) {
        let start = StartFile::new(&self.options.dir, work.exponent());
        let removed = self.read().and_then(|places| {
            let awaited = |place: &Place| match &place.line.line {
                Line::Work(other) => other.work == *work,
                _ => false,
            };
            if places.iter().any(awaited) { Ok(()) } else { Ok(start.remove(kind)?) }
        });
        if let Err(e) = removed {
            let (exponent, reason) = (work.exponent(), with_causes(&e));
            self.reporter.warn(&Warning::StartStays { exponent, reason });
        }
    }

    fn give_up(&mut self, place: &Place, error: RunError) {
        let warning = Warning::Failed { place: self.at(place), reason: one_line(&error) };
        self.reporter.warn(&warning);
        self.given_up.insert(place.key());
        self.tally.failed += 1;
        self.tally.errors.push(error);
        self.watch.ended(false);
    }

    /// Formats a place as `worktodo.txt, line 3`.
    fn at(&self, place: &Place) -> String {
        format!("{}, line {}", self.lists[place.list].path().display(), place.line.number)
    }

    fn pass_notices(&mut self, list: usize) {
        for notice in self.lists[list].take_notices() {
            self.reporter.say(&Note::LockTakenOver(notice));
        }
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
            (busy, "taken by other workers"),
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

/// Waits until the lists are to be read again. Returns false if a stop was requested.
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
