//! The loop of a worker over the lines of its lists.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use warpint_gimps::{Assignment, Line, Work, WorkFile};
use warpint_mersenne::proof::{Points, Subject, power_for};
use warpint_mersenne::{Exponent, Number, StopToken, TestKind};

use super::common::{Common, Doing, Left, Member};
use super::entry::{Entry, depends_on_others, entries, position};
use super::task::{Errand, Held, Place, Task};
use super::worker::{Tally, Worker};
use super::{Claim, StartFile, Watch, spec_of};
use crate::RunError;
use crate::candidate::Candidate;
use crate::error::{one_line, text_of_panic, with_causes};
use crate::job::{Job, Order, TF_LIMIT};
use crate::note::Note;
use crate::observer::{Reporter, RunEvent};
use crate::report::{Credit, Report};
use crate::warning::Warning;

/// The largest number of lines that are reported one by one in a look at the lists.
const MOST_TOLD: usize = 20;

/// The interval at which a worker without work reads its lists.
const POLL: Duration = Duration::from_secs(2);
/// The interval at which a worker without work looks for a stop request and for the end of the others' work.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The way in which a worker ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// No line is left that the worker can do.
    NoWorkLeft,
    /// The worker was stopped by the stop token.
    Stopped,
}

/// The state of a worker while it does the assignments of its lists.
pub(super) struct Shift<'a> {
    options: &'a Worker,
    /// The lists of the worker. Certifications from all lists come first. Other assignments of a
    /// list are done only when the lists before it have none that can be done.
    lists: Vec<WorkFile>,
    watch: &'a Watch,
    reporter: Reporter,
    stop: &'a StopToken,
    /// This worker among those of the process, and what they have in common.
    member: Member,
    common: Arc<Common>,
}

impl<'a> Shift<'a> {
    pub(super) fn new(
        options: &'a Worker,
        lists: Vec<WorkFile>,
        watch: &'a Watch,
        reporter: Reporter,
        stop: &'a StopToken,
        member: Member,
    ) -> Self {
        let common = Arc::clone(member.common());
        Self { options, lists, watch, reporter, stop, member, common }
    }

    /// Does assignments until no worker of the process finds one that it can do, or until a stop is requested.
    /// A worker that finds none waits, because lines may be added while others work. If [`Worker::wait`] is
    /// true, the workers also wait for new lines when none of them has work.
    pub(super) fn all(mut self) -> Result<Until, RunError> {
        let reporter = self.reporter.clone();
        StartFile::clear_finished(&self.options.dir, &mut |note| reporter.say(&note));
        loop {
            self.reporter.event(&RunEvent::Saves(false));
            if self.stop.is_stopped() {
                return Ok(Until::Stopped);
            }
            self.member.look();
            self.merge_added();
            if let Some(task) = self.next()? {
                if !self.member.turn(Doing::Works) {
                    return Ok(Until::NoWorkLeft);
                }
                if self.work(&task)? {
                    return Ok(Until::Stopped);
                }
            } else {
                if self.member.doing() == Doing::Works {
                    self.watch.waits();
                }
                self.member.turn(Doing::Rests);
                if let Some(until) = self.rest()? {
                    return Ok(until);
                }
                self.member.turn(Doing::Looks);
            }
        }
    }

    /// Waits until the lists are to be read again: for some time, or until another worker of the process has ended an
    /// assignment. Returns how the worker ends, if it does.
    fn rest(&self) -> Result<Option<Until>, RunError> {
        let begin = Instant::now();
        self.reporter.event(&RunEvent::Saves(true));
        while begin.elapsed() < POLL && !self.member.should_look() {
            if self.stop.is_stopped() {
                return Ok(Some(Until::Stopped));
            }
            if let Some(tally) = self.common.conclude() {
                self.report(&tally)?;
                return Ok((!self.options.wait).then_some(Until::NoWorkLeft));
            }
            if self.common.is_over() {
                self.watch.log("ends, no work is left");
                return Ok(Some(Until::NoWorkLeft));
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(None)
    }

    /// Reports that no worker of the process has work.
    fn report(&self, tally: &Tally) -> Result<(), RunError> {
        let waits = self.options.wait;
        let paths: Vec<_> =
            self.lists.iter().map(|list| list.path().display().to_string()).collect();
        let places = match tally.together {
            None => paths.join(" and "),
            // Each of them also has a list of its own.
            Some(_) => paths.last().cloned().unwrap_or_default(),
        };
        let summary = format!("no work left in {places}: {tally}");
        self.reporter.say(&Note::NoWorkLeft { summary, waits });
        if waits {
            return Ok(());
        }
        self.reporter.observer.no_work_left(tally).map_err(RunError::Undelivered)
    }

    /// Moves the lines that other programs have written to files of additions, such as
    /// `worktodo.add`, to the lists.
    fn merge_added(&mut self) {
        let common = Arc::clone(&self.common);
        let mut stuck = common.change_lists();
        for list in 0..self.lists.len() {
            let merged = self.lists[list].merge_added_unless(depends_on_others);
            self.pass_notices(list);
            let added = self.lists[list].path().with_extension("add");
            let added = added.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match merged {
                Ok(0) => {}
                Ok(lines) => {
                    *stuck = None;
                    self.reporter.say(&Note::MovedOver { lines, from: added });
                }
                // The lines of the list itself can still be done.
                Err(e) => {
                    let warning = Warning::AdditionsStay { file: added, reason: e.to_string() };
                    let line = warning.to_string();
                    if stuck.as_ref() != Some(&line) {
                        self.reporter.warn(&warning);
                        *stuck = Some(line);
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
            let mut left = self.tell_of_others(&places);
            places.sort_by_key(|place| !place.is_cert());
            for place in places {
                if self.common.is_given_up(&place.key()) {
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
                let Some(reserved) = self.common.reserve(errand.number()) else { continue };
                match self.claim(errand.number()) {
                    Ok(Some(claim)) => {
                        let held = Held { _claim: claim, _reserved: reserved };
                        if !self.is_there(&place)? {
                            continue 'again;
                        }
                        // Another worker of the process may have tried it meanwhile.
                        if !self.common.is_given_up(&place.key()) {
                            return Ok(Some(Task { place, errand, _held: held }));
                        }
                    }
                    Ok(None) => left[place.list].busy += 1,
                    Err(e) => self.give_up(&place, e),
                }
            }
            for (list, left) in self.lists.iter().zip(left) {
                self.common.looked(list.path(), left);
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

    /// Counts the lines that are not assignments for this program, list by list, and reports each line to the
    /// user once. Of many lines that are found at a time, only the first ones are reported one by one.
    fn tell_of_others(&self, places: &[Place]) -> Vec<Left> {
        let mut left = vec![Left::default(); self.lists.len()];
        let (mut told, mut untold) = (0, 0);
        for place in places {
            let why = match &place.entry {
                Entry::Nothing | Entry::Assignment(_) | Entry::Candidate(_) => continue,
                // The header above the line is reported.
                Entry::BelowMalformed => {
                    left[place.list].malformed += 1;
                    continue;
                }
                Entry::Malformed(why) => {
                    left[place.list].malformed += 1;
                    why
                }
                Entry::Foreign(why) => {
                    left[place.list].foreign += 1;
                    why
                }
            };
            if !self.common.tell(&place.line.bytes, why) {
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
        left
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
        let options = self.options;
        let mut job = candidate.job(None, Candidate::FACTOR_LIMIT, &options.dir);
        // No server takes these proofs, so they are made on request only.
        let subject = Subject::new(job.spec.kind, candidate.number());
        job.proof = options.proof_power.filter(|&power| {
            let points = subject.and_then(|subject| Points::new(subject.iterations(), power));
            options.proofs && points.is_some()
        });
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
    /// request ended the test. If the test panics, which is an error of this program, the assignment fails, and
    /// the worker goes on.
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
            measures: self.options.measures,
            order: Some(order),
            ..job
        };
        // What a panic leaves behind is dropped, but for the log and the status, which each event updates.
        let run = || job.run(&self.reporter.observer, self.stop);
        let ended = panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            self.reporter.event(&RunEvent::TestEnds);
            Err(RunError::Panicked { what: text_of_panic(panic.as_ref()) })
        });
        let finished = matches!(ended, Ok(Report::Test(_)));
        self.common.add_squarings(self.watch.take_squarings(finished), finished);
        match ended {
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
        let removed = {
            let _alone = self.common.change_lists();
            self.lists[place.list].remove_chosen(|lines| position(lines, &key))
        };
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
                self.common.add_done();
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
        self.common.give_up(place.key(), error);
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
}
