//! The arguments that all commands for one test have in common.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use warpint::runner::Job;

use crate::units;

/// Where a test keeps its files, how it goes on, and what it prints.
#[derive(Debug, Args)]
pub(crate) struct SittingArgs {
    /// Directory of checkpoints and results.
    #[arg(long, value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// Time between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds)]
    checkpoint_interval: Duration,

    /// Delete the stored result and the checkpoints of this test, and begin anew.
    #[arg(long)]
    restart: bool,

    /// Print only the result, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print the result as one JSON object; progress and notices stay on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

impl SittingArgs {
    /// Sets the options of a job, except its directory.
    pub(super) fn set(&self, job: &mut Job<'_>) {
        job.checkpoint_interval = self.checkpoint_interval;
        job.restart = self.restart;
    }
}
