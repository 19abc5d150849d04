//! Code shared by the tasks that kill the program.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The time between checkpoints, in seconds. It is short, so that many kills occur while a
/// checkpoint is being saved.
pub(crate) const CHECKPOINT_SECONDS: f64 = 0.2;

/// The options for the program to kill, and for the seed of the random moments.
#[derive(Debug, Args)]
pub(crate) struct Killed {
    /// The seed of all random values; by default random, and printed
    #[arg(long)]
    seed: Option<u64>,
    /// The path of the program
    #[arg(long, default_value = "target/release/warpint")]
    program: PathBuf,
}

impl Killed {
    /// Returns the absolute path of the program. Returns an error if the program does not exist.
    pub(crate) fn program(&self) -> anyhow::Result<PathBuf> {
        fs::canonicalize(&self.program).with_context(|| {
            format!("{} is not there: cargo build --release", self.program.display())
        })
    }

    /// Returns the random generator for the moments of the kills, and prints its seed.
    pub(crate) fn moments(&self) -> ChaCha8Rng {
        let seed = self.seed.unwrap_or_else(rand::random);
        println!("seed {seed}");
        ChaCha8Rng::seed_from_u64(seed)
    }
}

/// Waits until the process ends by itself, until `enough` returns true, or until the time `most`
/// has passed. Checks at intervals of `poll`. Returns the exit status. Returns `None` if the
/// process is still running.
pub(crate) fn wait(
    child: &mut Child,
    most: Duration,
    poll: Duration,
    mut enough: impl FnMut() -> bool,
) -> anyhow::Result<Option<ExitStatus>> {
    let end = Instant::now() + most;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || enough() {
            return Ok(None);
        }
        thread::sleep(left.min(poll));
    }
}
