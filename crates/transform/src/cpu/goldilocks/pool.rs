//! Runs work on several threads, or on the caller's thread.

use std::ops::Range;

use rayon::prelude::*;

/// The number of ranges per thread into which work is split. With several ranges per thread, other
/// threads can process the ranges of a delayed thread.
const RANGES_PER_THREAD: usize = 4;

/// A pool of threads for passes over the entries of transforms.
pub struct Pool {
    /// The threads; `None` if all work runs on the caller's thread.
    threads: Option<rayon::ThreadPool>,
}

impl Pool {
    /// Creates a pool of `threads` threads. If `threads` is 0 or 1, or threads cannot be created,
    /// all work runs on the caller's thread.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        Self { threads: if threads > 1 { pool() } else { None } }
    }

    /// Divides `0..n` into ranges and calls `work` for each range. Returns the results in ascending
    /// order of the ranges.
    pub fn each_range<R: Send>(
        &self,
        n: usize,
        work: impl Fn(Range<usize>) -> R + Sync + Send,
    ) -> Vec<R> {
        let Some(pool) = &self.threads else {
            return vec![work(0..n)];
        };
        let ranges = n.min(pool.current_num_threads() * RANGES_PER_THREAD);
        let range = |i: usize| i * n / ranges..(i + 1) * n / ranges;
        pool.install(|| (0..ranges).into_par_iter().map(|i| work(range(i))).collect())
    }

    /// Calls `work(i)` for each i in `0..n` as a separate job. Returns the results in ascending
    /// order of i.
    pub fn each<R: Send>(&self, n: usize, work: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
        match &self.threads {
            None => (0..n).map(work).collect(),
            Some(pool) => pool.install(|| (0..n).into_par_iter().map(work).collect()),
        }
    }

    /// Runs `work` on one of the threads of the pool, and returns its result. Calls of the pool's
    /// other methods within `work` start quickly, because they are made on a thread of the pool.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            None => work(),
            Some(pool) => pool.install(work),
        }
    }

    /// Splits `data` into chunks of `len` entries, and calls `work` with the index and the entries
    /// of each chunk. Entries beyond the last whole chunk are not processed.
    pub fn each_chunk<T: Send>(
        &self,
        data: &mut [T],
        len: usize,
        work: impl Fn(usize, &mut [T]) + Sync + Send,
    ) {
        match &self.threads {
            None => data.chunks_exact_mut(len).enumerate().for_each(|(i, chunk)| work(i, chunk)),
            Some(pool) => pool.install(|| {
                data.par_chunks_exact_mut(len).enumerate().for_each(|(i, chunk)| work(i, chunk));
            }),
        }
    }
}
