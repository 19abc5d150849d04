//! Threads of the CPU.

use anyhow::Context;
use rayon::ThreadPoolBuilder;

/// Sets the number of CPU threads for parallel work; the default is one per core. Called once per
/// process, before any such work.
pub(crate) fn set(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.with_context(|| format!("cannot start {threads} threads"))
}
