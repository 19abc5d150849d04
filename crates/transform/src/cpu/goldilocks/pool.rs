//! Work spread over threads, or done at once by the caller.

use std::ops::Range;

use rayon::prelude::*;

/// Ranges handed out per thread: a few, so that a thread that is held up does
/// not hold up the others.
const RANGES_PER_THREAD: usize = 4;

/// Threads for passes over the entries of transforms.
pub struct Pool {
    /// `None`: everything on the caller's thread.
    threads: Option<rayon::ThreadPool>,
}

impl Pool {
    /// As many threads; one, or threads that cannot be had, mean the caller's.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        Self { threads: if threads > 1 { pool() } else { None } }
    }

    /// `work` on `0..n` in ranges, results in ascending order.
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

    /// `work` on each of `0..n` as a job of its own, results in ascending order.
    pub fn each<R: Send>(&self, n: usize, work: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
        match &self.threads {
            None => (0..n).map(work).collect(),
            Some(pool) => pool.install(|| (0..n).into_par_iter().map(work).collect()),
        }
    }

    /// `work` on one of the threads, from where the others are quickly called.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            None => work(),
            Some(pool) => pool.install(work),
        }
    }

    /// `work` on each chunk of `len` entries, with its number.
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
