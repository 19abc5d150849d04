//! The threads of a transform, and the working memory of each thread.

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::block::{GAP, WIDTH};
use super::buffer::Buffer;

/// The working memory of one thread.
pub(super) struct Worker {
    pub(super) block: Buffer,
    pub(super) scratch: Buffer,
    pub(super) rows: [Buffer; 2],
    pub(super) factor_rows: [Buffer; 2],
    pub(super) carry: Vec<f64>,
}

/// The threads of a transform and their memory. Without a pool, the caller's thread does all work.
pub(super) struct Team {
    pool: Option<ThreadPool>,
    workers: Vec<Worker>,
}

impl Team {
    /// Starts `threads` threads for transforms of `rows` rows and `columns` columns. If `threads`
    /// is 1, starts none, and the caller's thread does all work. Each working thread has `scratch`
    /// points of scratch memory. Returns an error if the threads cannot be started.
    pub(super) fn new(
        rows: usize,
        columns: usize,
        scratch: usize,
        threads: usize,
    ) -> Result<Self, String> {
        let pool = (threads > 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()
            .map_err(|e| format!("no threads: {e}"))?;
        let pair = || [Buffer::new(columns), Buffer::new(columns)];
        let worker = || Worker {
            block: Buffer::new(WIDTH * (rows + GAP)),
            scratch: Buffer::new(scratch),
            rows: pair(),
            factor_rows: pair(),
            carry: vec![0.0; rows],
        };
        Ok(Self { pool, workers: (0..threads.max(1)).map(|_| worker()).collect() })
    }

    /// Calls `work` once for every item, in parallel. The first argument is the working memory of
    /// the thread that makes the call. Each thread processes a contiguous share of the items.
    pub(super) fn share<T: Send>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(&mut Worker, T) + Sync,
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
