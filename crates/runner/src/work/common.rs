//! What the workers of a process have in common.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpint_mersenne::Number;

use super::entry::Key;
use super::worker::Tally;
use crate::RunError;

/// The state that the workers of a process share: the numbers that they test, the lines that are neither tried
/// nor reported again, the tally, and which workers have work.
///
/// The operating system's locks exclude other processes. Within the process, this state prevents that a worker
/// tries to lock what another one holds.
#[derive(Debug)]
pub(super) struct Common {
    /// Whether workers without work wait for new lines instead of ending.
    waits: bool,
    state: Mutex<State>,
    /// Locked while a worker changes a list. The text of the last warning that the lines of a file of additions
    /// could not be moved; `None` if lines have been moved since. The same warning is not repeated.
    lists: Mutex<Option<String>>,
}

#[derive(Debug)]
struct State {
    /// The numbers that workers of this process have reserved.
    reserved: HashSet<Number>,
    /// The lines that are not assignments for this program and have been reported to the user. Each
    /// line is reported only once for the same reason.
    told: HashSet<(Vec<u8>, String)>,
    /// The lines whose assignments failed, or that could not be removed after their assignments
    /// were done. These assignments are not tried again.
    given_up: HashSet<Key>,
    /// The counts of lines that were not done, by the path of their list, at the last look at the list.
    left: HashMap<PathBuf, Left>,
    /// The counts of the tally, except those of `left`, and its time up to `since`.
    tally: Tally,
    /// The number of workers that do assignments or have not looked for one yet.
    working: usize,
    /// The number of workers that look for work again, after they had none.
    looking: usize,
    /// The number of workers that have no work.
    resting: usize,
    /// The time since which a worker has had work; `None` if none has.
    since: Option<Instant>,
    /// Whether the end of the work has been reported to the user, and no worker has had work since.
    reported: bool,
    /// Whether the workers end, because none has work.
    over: bool,
    /// The number of times that an assignment became free or was given up: since then, a worker might find what it
    /// did not find before.
    changes: u64,
    /// For each worker whose last look found nothing, the value of `changes` when that look began.
    fruitless: HashMap<u64, u64>,
    /// The number of workers that there have been.
    members: u64,
}

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// The worker does an assignment, or has not looked for one yet.
    Works,
    /// The worker looks for work again, after it had none.
    Looks,
    /// The worker has no work.
    Rests,
}

/// The counts of the lines of a list that were not done.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Left {
    pub(super) malformed: u32,
    pub(super) foreign: u32,
    /// The number of assignments that workers of other processes have claimed.
    pub(super) busy: u32,
}

/// A number that a worker has reserved within the process, until the value is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    common: Arc<Common>,
    number: Number,
}

/// A worker of the process, until the value is dropped.
#[derive(Debug)]
pub(super) struct Member {
    common: Arc<Common>,
    id: u64,
    doing: Doing,
    /// The value of [`State::changes`] when the last look began.
    looked: u64,
}

impl Member {
    /// Adds a worker, which has not looked for work yet.
    pub(super) fn of(common: &Arc<Common>) -> Self {
        let id = common.state().enter();
        Self { common: Arc::clone(common), id, doing: Doing::Works, looked: 0 }
    }

    /// Records that the worker begins to look for an assignment.
    pub(super) fn look(&mut self) {
        self.looked = self.common.state().changes;
    }

    /// Returns what the workers of the process have in common.
    pub(super) fn common(&self) -> &Arc<Common> {
        &self.common
    }

    /// Returns what the worker does.
    pub(super) fn doing(&self) -> Doing {
        self.doing
    }

    /// Returns whether a worker has changed something since the last look began, so that the next look might find
    /// an assignment.
    pub(super) fn should_look(&self) -> bool {
        self.looked != self.common.state().changes
    }

    /// Records that the worker ceases to do one thing and begins another. Returns false, and records nothing, if it
    /// would begin an assignment after the workers have been told to end.
    pub(super) fn turn(&mut self, to: Doing) -> bool {
        let mut state = self.common.state();
        match to {
            Doing::Works if state.over => return false,
            Doing::Works => drop(state.fruitless.remove(&self.id)),
            Doing::Rests => drop(state.fruitless.insert(self.id, self.looked)),
            Doing::Looks => {}
        }
        *state.count(self.doing) -= 1;
        *state.count(to) += 1;
        state.keep_time();
        self.doing = to;
        true
    }
}

impl Drop for Member {
    /// The other workers do not wait for one that has ended, in whatever way.
    fn drop(&mut self) {
        let mut state = self.common.state();
        *state.count(self.doing) -= 1;
        state.fruitless.remove(&self.id);
        state.keep_time();
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut state = self.common.state();
        state.reserved.remove(&self.number);
        state.changes += 1;
    }
}

impl Common {
    /// Creates the state of a process without workers. `tally` has the numbers that its workers will have.
    pub(super) fn new(waits: bool, tally: Tally) -> Arc<Self> {
        let state = State {
            reserved: HashSet::new(),
            told: HashSet::new(),
            given_up: HashSet::new(),
            left: HashMap::new(),
            tally,
            working: 0,
            looking: 0,
            resting: 0,
            since: None,
            reported: false,
            over: false,
            changes: 0,
            fruitless: HashMap::new(),
            members: 0,
        };
        Arc::new(Self { waits, state: Mutex::new(state), lists: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other worker of the process changes a list. The caller changes lists while it holds the
    /// returned value, which is the last warning about a file of additions.
    pub(super) fn change_lists(&self) -> MutexGuard<'_, Option<String>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a number. Returns `None` if another worker of the process has reserved it.
    pub(super) fn reserve(self: &Arc<Self>, number: Number) -> Option<Reserved> {
        let is_new = self.state().reserved.insert(number);
        is_new.then(|| Reserved { common: Arc::clone(self), number })
    }

    /// Records that a line is reported for a reason. Returns false if it was reported before.
    pub(super) fn tell(&self, line: &[u8], reason: &str) -> bool {
        self.state().told.insert((line.to_vec(), reason.to_owned()))
    }

    /// Returns whether an assignment is not tried again.
    pub(super) fn is_given_up(&self, key: &Key) -> bool {
        self.state().given_up.contains(key)
    }

    /// Records that an assignment is not tried again.
    pub(super) fn give_up(&self, key: Key, error: RunError) {
        let mut state = self.state();
        state.given_up.insert(key);
        state.changes += 1;
        state.tally.failed += 1;
        state.tally.errors.push(error);
    }

    /// Records that an assignment is done.
    pub(super) fn add_done(&self) {
        self.state().tally.done += 1;
    }

    /// Records that a worker ended with an error.
    pub(super) fn add_error(&self, error: RunError) {
        self.state().tally.errors.push(error);
    }

    /// Records the squarings of a test, and whether the test has ended with a result.
    pub(super) fn add_squarings(&self, squarings: u64, ended: bool) {
        let mut state = self.state();
        state.tally.squarings += squarings;
        state.tally.tests += u32::from(ended && squarings > 0);
    }

    /// Records what a look at a list has found.
    pub(super) fn looked(&self, list: &Path, left: Left) {
        self.state().left.insert(list.to_owned(), left);
    }

    /// Returns the tally, without errors, to one of the workers if none of them has work: each time that this
    /// becomes true. None has work if the last look of each of them found nothing, and began after the last change
    /// by a worker. If workers do not wait, all of them end then.
    pub(super) fn conclude(&self) -> Option<Tally> {
        let mut state = self.state();
        let workers = state.working + state.looking + state.resting;
        let is_settled = state.fruitless.values().all(|&looked| looked == state.changes);
        if state.reported || state.fruitless.len() < workers || !is_settled {
            return None;
        }
        state.reported = true;
        state.over = !self.waits;
        Some(state.tally())
    }

    /// Returns whether the workers end, because none has work.
    pub(super) fn is_over(&self) -> bool {
        self.state().over
    }

    /// Returns the tally, without errors.
    pub(super) fn tally(&self) -> Tally {
        self.state().tally()
    }

    /// Returns the tally and takes its errors.
    pub(super) fn take_tally(&self) -> Tally {
        let mut state = self.state();
        let errors = std::mem::take(&mut state.tally.errors);
        Tally { errors, ..state.tally() }
    }
}

impl State {
    /// Adds a worker. Returns its number among the workers of the process.
    fn enter(&mut self) -> u64 {
        self.working += 1;
        self.members += 1;
        self.keep_time();
        self.members
    }

    fn count(&mut self, doing: Doing) -> &mut usize {
        match doing {
            Doing::Works => &mut self.working,
            Doing::Looks => &mut self.looking,
            Doing::Rests => &mut self.resting,
        }
    }

    /// Starts or stops the clock of the time during which a worker has work.
    fn keep_time(&mut self) {
        match (self.working, self.since) {
            (0, Some(since)) => {
                self.tally.seconds += since.elapsed().as_secs_f64();
                self.since = None;
            }
            (1.., None) => {
                self.since = Some(Instant::now());
                self.reported = false;
            }
            _ => {}
        }
    }

    fn tally(&self) -> Tally {
        let sum = |of: fn(&Left) -> u32| self.left.values().map(of).sum();
        let running = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        Tally {
            status: "no work left",
            malformed: sum(|left| left.malformed),
            foreign: sum(|left| left.foreign),
            busy: sum(|left| left.busy),
            seconds: self.tally.seconds + running.as_secs_f64(),
            errors: vec![],
            ..self.tally
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_two(waits: bool) -> (Arc<Common>, [Member; 2]) {
        let common = Common::new(waits, Tally::default());
        let members = [Member::of(&common), Member::of(&common)];
        (common, members)
    }

    #[test]
    fn a_number_has_one_worker_at_a_time() {
        let common = Common::new(false, Tally::default());
        let number = "3*2^189+1".parse().unwrap();
        let first = common.reserve(number);
        assert!(first.is_some() && common.reserve(number).is_none());
        drop(first);
        assert!(common.reserve(number).is_some());
    }

    #[test]
    fn the_work_ends_when_no_worker_has_any() {
        use Doing::{Looks, Rests};
        let (common, [mut one, mut other]) = of_two(false);
        let number = "3*2^189+1".parse().unwrap();
        let reserved = common.reserve(number);
        one.turn(Rests);
        assert!(common.conclude().is_none());
        // The other one ends an assignment, and finds nothing more.
        drop(reserved);
        other.look();
        other.turn(Rests);
        assert!(common.conclude().is_none() && !common.is_over(), "one has not looked since");
        assert!(one.should_look() && !other.should_look());
        one.turn(Looks);
        one.look();
        assert!(common.conclude().is_none());
        one.turn(Rests);
        assert!(common.conclude().is_some_and(|tally| tally.status == "no work left"));
        assert!(common.conclude().is_none() && common.is_over());
        assert!(!one.turn(Doing::Works), "what is added now is left for the next run");
    }

    #[test]
    fn workers_that_look_again_do_not_keep_the_others_from_ending() {
        let (common, [mut one, mut other]) = of_two(false);
        one.turn(Doing::Rests);
        one.turn(Doing::Looks);
        other.turn(Doing::Rests);
        assert!(common.conclude().is_some() && common.is_over());
    }

    #[test]
    fn one_that_leaves_does_not_keep_the_others_from_ending() {
        let (common, [mut one, other]) = of_two(false);
        one.turn(Doing::Rests);
        drop(other);
        assert!(common.conclude().is_some() && common.is_over());
    }

    #[test]
    fn workers_that_wait_report_each_time_that_work_runs_out() {
        use Doing::{Looks, Rests, Works};
        let (common, [mut one, mut other]) = of_two(true);
        for _ in 0..2 {
            one.turn(Rests);
            other.turn(Rests);
            assert!(common.conclude().is_some() && common.conclude().is_none());
            one.turn(Looks);
            one.turn(Rests);
            assert!(common.conclude().is_none(), "nothing was done since");
            one.turn(Looks);
            one.turn(Works);
            other.turn(Works);
        }
        assert!(!common.is_over());
    }

    #[test]
    fn the_tally_has_the_last_counts_of_each_list() {
        let common = Common::new(false, Tally::default());
        let left = |malformed, busy| Left { malformed, foreign: 0, busy };
        common.looked(Path::new("worktodo.txt"), left(1, 1));
        common.looked(Path::new("worktodo-0.txt"), left(2, 0));
        common.looked(Path::new("worktodo.txt"), left(3, 0));
        common.add_squarings(100, true);
        common.add_squarings(0, true);
        common.add_squarings(50, false);
        let tally = common.tally();
        assert_eq!((tally.malformed, tally.busy), (5, 0));
        assert_eq!((tally.tests, tally.squarings), (1, 150));
    }
}
