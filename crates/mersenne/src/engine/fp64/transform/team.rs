//! The threads of a transform, and the working memory of each thread.

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads of a transform and the working memory W of each. Without a pool, the caller's thread
/// does all work.
pub(super) struct Team<W> {
    pool: Option<ThreadPool>,
    workers: Vec<W>,
}

impl<W: Send> Team<W> {
    /// Starts `threads` threads, each with working memory from `worker`. If `threads` is 1, starts
    /// none, and the caller's thread does all work. Returns an error if the threads cannot be
    /// started.
    pub(super) fn new(threads: usize, worker: impl Fn() -> W) -> Result<Self, String> {
        let pool = (threads > 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()
            .map_err(|e| format!("no threads: {e}"))?;
        Ok(Self { pool, workers: (0..threads.max(1)).map(|_| worker()).collect() })
    }

    /// Calls `work` once for every item, in parallel. The first argument is the working memory of
    /// the thread that makes the call. Each thread processes a contiguous share of the items.
    pub(super) fn share<T: Send>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(&mut W, T) + Sync,
    ) {
        match (&self.pool, self.workers.as_mut_slice()) {
            (Some(pool), workers) => {
                let items: Vec<T> = items.into_iter().collect();
                let each = items.len().div_ceil(workers.len());
                let mut items = items.into_iter();
                let work = &work;
                pool.scope(|scope| {
                    for worker in workers {
                        let mine: Vec<T> = items.by_ref().take(each).collect();
                        scope.spawn(move |_| mine.into_iter().for_each(|item| work(worker, item)));
                    }
                });
            }
            (None, [worker, ..]) => items.into_iter().for_each(|item| work(worker, item)),
            (None, []) => {}
        }
    }
}
