//! Threads of the CPU.

use anyhow::Context;
use rayon::ThreadPoolBuilder;

/// From now on what is done side by side on the CPU has so many threads; without a number, one for
/// each core. Once a process, before any such work.
pub(crate) fn set(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.with_context(|| format!("cannot start {threads} threads"))
}
