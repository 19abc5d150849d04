//! `work` and `status`: their grammar and help.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use warpint::mersenne::{DeviceChoice, PlanRequest};

use super::Places;
use super::arithmetic::EngineArgs;
use crate::units;

pub(crate) const WORK_EXAMPLES: &str = "\
Examples:
  warpint work                              do what warpint-work/worktodo.txt lists
  warpint work --add PRP=N/A,1,2,216091,-1  put a line there; starts nothing
  warpint work gimps --device all --wait    one worker on each GPU, until Ctrl-C
  warpint work gimps --device cuda:1 --worker 1
  warpint status gimps                      from another terminal: how far it is

Ctrl-C saves a checkpoint and stops; the same command goes on from it.";

#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// Where worktodo.txt is, and where results, checkpoints, log and status go.
    #[arg(value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// Put this line into DIR/worktodo.txt and end; may be given several times.
    #[arg(long, value_name = "LINE")]
    pub(crate) add: Vec<String>,

    /// The number of this worker, if several work on DIR, from 0 as PRPLL counts them: its results
    /// go into results-N.txt, its log into warpint-N.log, and lines of worktodo-N.txt are its own,
    /// before those of worktodo.txt. Each takes the first line that no other has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..1000))]
    pub(crate) worker: Option<u32>,

    /// Start N workers, numbered from 0, each a process of its own; with --device all, N on each
    /// GPU. On the CPU they share its cores.
    #[arg(long, value_name = "N", value_parser = workers, conflicts_with = "worker")]
    pub(crate) workers: Option<usize>,

    /// When no line is left that can be done, wait for new ones.
    #[arg(long)]
    pub(crate) wait: bool,

    /// Your name on the GIMPS server, for the results.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) user: Option<String>,

    /// The name of this computer, for the results.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) computer: Option<String>,

    #[command(flatten)]
    pub(crate) how: EngineArgs,

    /// Where to compute: auto (a GPU if there is one that works and the exponent is large enough
    /// for it, otherwise the CPU), cpu, cuda, cuda:N, or all (one worker on each GPU).
    #[arg(long, value_name = "DEVICE", default_value_t = Places::One(DeviceChoice::Auto))]
    pub(crate) device: Places,

    /// Make no proofs of PRP tests.
    #[arg(long)]
    pub(crate) no_proof: bool,

    /// The power of proofs [default: as GIMPS wants it, 8 to 11 by the exponent]. Each more halves
    /// the work of whoever certifies the proof, and doubles the disk that it needs meanwhile.
    #[arg(long, value_name = "POWER", value_parser = super::proof::proof_power, conflicts_with = "no_proof")]
    pub(crate) proof_power: Option<u32>,

    /// Time between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds)]
    pub(crate) checkpoint_interval: Duration,

    /// Print nothing but the results, and what goes wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print each result as one JSON object, and one more at the end; the rest stays on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

impl WorkArgs {
    /// A plan of these on a device.
    pub(crate) fn plan_request(&self, device: DeviceChoice) -> PlanRequest {
        self.how.plan_request(device, None)
    }
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The directory that was given to warpint work.
    #[arg(value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn workers(text: &str) -> Result<usize, String> {
    const MOST: usize = 64;
    text.parse()
        .ok()
        .filter(|n| (1..=MOST).contains(n))
        .ok_or_else(|| format!("'{text}' is not a number of workers from 1 to {MOST}"))
}

fn name(text: &str) -> Result<String, String> {
    const MOST: usize = 64;
    let sound = !text.trim().is_empty()
        && text.chars().count() <= MOST
        && !text.chars().any(char::is_control);
    if sound {
        Ok(text.to_owned())
    } else {
        Err(format!("'{}' is not a name of 1 to {MOST} characters", text.escape_debug()))
    }
}
