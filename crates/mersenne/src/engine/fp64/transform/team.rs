//! The threads of a transform, and the working memory of each thread.
//!
//! A squaring consists of passes of about a millisecond, and every pass ends when all threads have
//! finished. Waking a sleeping thread takes up to a tenth of that. So the threads of a team spin for
//! a moment after each pass before they sleep.

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Thread};

/// The number of times that a thread looks for work before it sleeps. On a processor of 3 GHz this
/// is about a quarter of a millisecond.
const SPINS: usize = 10_000;

/// The threads of a transform and the working memory W of each. The caller's thread does a part of
/// all work.
pub(super) struct Team<W> {
    workers: Vec<W>,
    board: Arc<Board>,
    helpers: Vec<JoinHandle<()>>,
}

/// The work of a pass: called once by each thread with the thread's number.
type Job = *const (dyn Fn(usize) + Sync);

/// Where the caller's thread announces work to the other threads.
struct Board {
    /// The number of passes so far. It changes when `job` has been set.
    pass: AtomicUsize,
    job: UnsafeCell<Option<Job>>,
    /// The number of helpers that have not finished the pass.
    busy: AtomicUsize,
    end: AtomicBool,
    /// The panic of a helper, for the caller's thread.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `job` is written by the caller's thread only while no helper is busy, before the change of
// `pass`, and read by helpers only after that change, while `busy` counts them. The job itself is
// `Sync`, and the caller's thread waits for the helpers before it ends the job's life.
unsafe impl Send for Board {}
// SAFETY: as above.
unsafe impl Sync for Board {}

/// Waits until the condition holds: at first spins, then lets other threads run, or sleeps until it
/// is woken if `sleep`.
fn wait(sleep: bool, condition: impl Fn() -> bool) {
    let mut spins = 0;
    while !condition() {
        spins += 1;
        if spins < SPINS {
            std::hint::spin_loop();
        } else if sleep {
            std::thread::park();
        } else {
            std::thread::yield_now();
        }
    }
}

impl Board {
    /// Does the work of every pass as thread number `index`, until the team ends.
    fn help(&self, index: usize) {
        let mut seen = 0;
        loop {
            wait(true, || {
                self.pass.load(Ordering::Acquire) != seen || self.end.load(Ordering::Acquire)
            });
            if self.end.load(Ordering::Acquire) {
                return;
            }
            seen = self.pass.load(Ordering::Acquire);
            // SAFETY: the pass has changed, so the job was set, and it lives until this thread is
            // no longer busy.
            let result = unsafe {
                let job = *self.job.get();
                catch_unwind(AssertUnwindSafe(|| job.map(|job| (*job)(index))))
            };
            if let Err(panic) = result {
                self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
            }
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }

    /// Calls `job` on the caller's thread with number 0, and on every helper with its number.
    fn execute(&self, helpers: &[&Thread], job: &(dyn Fn(usize) + Sync)) {
        // SAFETY: the lifetime of the job is only forgotten until the end of this function, which
        // waits for all helpers. No helper is busy now, so none reads `job`.
        unsafe {
            let job = std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(
                job,
            );
            *self.job.get() = Some(job);
        }
        self.busy.store(helpers.len(), Ordering::Relaxed);
        self.pass.fetch_add(1, Ordering::Release);
        helpers.iter().for_each(|thread| thread.unpark());
        let result = catch_unwind(AssertUnwindSafe(|| job(0)));
        wait(false, || self.busy.load(Ordering::Acquire) == 0);
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = result.err().or(panic) {
            resume_unwind(panic);
        }
    }
}

/// A value that one thread takes. Each is taken by the thread that has drawn its index.
struct Item<T>(UnsafeCell<Option<T>>);

// SAFETY: only the thread that drew the index of an item accesses it.
unsafe impl<T: Send> Sync for Item<T> {}

impl<T> Item<T> {
    /// Takes the value.
    ///
    /// # Safety
    /// No other thread may access the item at the same time.
    unsafe fn take(&self) -> Option<T> {
        // SAFETY: the caller's promise.
        unsafe { (*self.0.get()).take() }
    }
}

impl<W: Send> Team<W> {
    /// Starts `threads` − 1 threads, which work together with the caller's thread. `worker` makes
    /// the working memory of one thread. Returns an error if a thread cannot be started.
    pub(super) fn new(threads: usize, worker: impl Fn() -> W) -> Result<Self, String> {
        let board = Arc::new(Board {
            pass: AtomicUsize::new(0),
            job: UnsafeCell::new(None),
            busy: AtomicUsize::new(0),
            end: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        let workers = (0..threads.max(1)).map(|_| worker()).collect();
        let mut team = Self { workers, board, helpers: vec![] };
        for index in 1..threads {
            let board = Arc::clone(&team.board);
            let helper = Builder::new()
                .spawn(move || board.help(index))
                .map_err(|e| format!("no threads: {e}"))?;
            team.helpers.push(helper);
        }
        Ok(team)
    }

    /// Returns the working memory of all threads.
    pub(super) fn workers(&mut self) -> &mut [W] {
        &mut self.workers
    }

    /// Calls `work` once for every item, in parallel. The first argument is the working memory of
    /// the thread that makes the call. A thread that has finished an item takes the next one.
    pub(super) fn share<T: Send>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(&mut W, T) + Sync,
    ) {
        if let [worker] = self.workers.as_mut_slice() {
            return items.into_iter().for_each(|item| work(worker, item));
        }
        let items: Vec<_> =
            items.into_iter().map(|item| Item(UnsafeCell::new(Some(item)))).collect();
        let workers: Vec<_> =
            self.workers.iter_mut().map(|worker| Item(UnsafeCell::new(Some(worker)))).collect();
        let next = AtomicUsize::new(0);
        let helpers: Vec<&Thread> = self.helpers.iter().map(JoinHandle::thread).collect();
        self.board.execute(&helpers, &|index| {
            // SAFETY: each thread has another number, and each draws other items.
            unsafe {
                let Some(worker) = workers[index].take() else { return };
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(item) = item.take() {
                        work(worker, item);
                    }
                }
            }
        });
    }
}

impl<W> Drop for Team<W> {
    fn drop(&mut self) {
        self.board.end.store(true, Ordering::Release);
        for helper in self.helpers.drain(..) {
            helper.thread().unpark();
            // A panic of a helper was passed on by `execute`.
            helper.join().unwrap_or(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once_with_any_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            let mut team = Team::new(threads, || 0usize).unwrap();
            for count in [0, 1, 2, 5, 1000] {
                let mut items = vec![0; count];
                team.share(items.iter_mut().enumerate(), |calls, (i, item)| {
                    *item += i + 1;
                    *calls += 1;
                });
                assert!(items.iter().enumerate().all(|(i, &item)| item == i + 1));
            }
            assert_eq!(team.workers.len(), threads);
            assert_eq!(team.workers.iter().sum::<usize>(), 1008);
        }
    }

    #[test]
    fn a_sleeping_team_wakes_up_and_a_panic_is_passed_on() {
        let mut team = Team::new(3, || ()).unwrap();
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let done = AtomicUsize::new(0);
            team.share(0..100, |(), _| {
                done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(done.into_inner(), 100);
        }
        let failing = || team.share(0..100, |(), i| assert_ne!(i, 50));
        assert!(catch_unwind(AssertUnwindSafe(failing)).is_err());
        let done = AtomicUsize::new(0);
        team.share(0..10, |(), _| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 10);
    }
}
