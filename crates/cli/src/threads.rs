//! The number of CPU threads.

use anyhow::Context;
use rayon::ThreadPoolBuilder;

/// Sets the number of CPU threads for parallel work; `None` keeps the default of one per
/// logical CPU. The function must be called at most once per process, before any parallel work.
pub(crate) fn set(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.with_context(|| format!("cannot start {threads} threads"))
}
