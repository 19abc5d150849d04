//! The arguments of `warpint work` and `warpint status`, with their help.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use warpint::mersenne::{DeviceChoice, PlanRequest};
use warpint::runner::work::MOST_TOGETHER;

use super::Places;
use super::arithmetic::EngineArgs;
use crate::units;

pub(crate) const WORK_EXAMPLES: &str = "\
Examples:
  warpint work                              do what warpint-work/worktodo.txt lists
  warpint work --add PRP=N/A,1,2,216091,-1  put a line there; starts nothing
  warpint work --add '3*2^20909+1'          the same for a number k*b^n+1 or k*b^n-1
  warpint work gimps --device all --wait    one worker on each GPU, until Ctrl-C
  warpint work gimps --device cuda:1 --worker 1
  warpint work sieved --together 16         16 numbers of 10^6 bits at a time on one GPU
  warpint work gimps --serve 8080           and show a page at http://127.0.0.1:8080/
  warpint status gimps                      from another terminal: how far it is

  $ warpint work gimps --add PRP=N/A,1,2,67,-1
  added 1 line to gimps/worktodo.txt
  $ warpint work gimps
  M67 is composite: it has the factor 193707721 = 2·1445580·67 + 1
  no work left in gimps/worktodo.txt: 1 assignment done

A list may also have numbers k*b^n+1 and k*b^n-1: a number in each line, or lines of integers below
headers of ABC or NewPGen files. Their results go to DIR/candidates.jsonl and DIR/lresults.txt.

Ctrl-C saves a checkpoint and stops; the same command goes on from it.";

pub(super) const STATUS_EXAMPLES: &str = "\
Examples:
  warpint status               of warpint-work
  warpint status gimps --json  of another directory, for a script

  $ warpint work todo --add PRP=N/A,1,2,216091,-1
  added 1 line to todo/worktodo.txt
  $ warpint status todo
  no worker has been here
  todo/worktodo.txt: 1 assignment left";

#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// Directory of worktodo.txt, results, checkpoints, log and status.
    #[arg(value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// Append this line to DIR/worktodo.txt, then exit. May be given several times.
    #[arg(long, value_name = "LINE")]
    pub(crate) add: Vec<String>,

    /// If several workers share DIR, the number of this worker. Numbers begin with 0, as in PRPLL. Its
    /// results go to results-N.txt, its log to warpint-N.log. It does the lines of worktodo-N.txt before
    /// those of worktodo.txt. Each worker takes the first line that no other worker has taken.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..1000))]
    pub(crate) worker: Option<u32>,

    /// Start N workers, numbered from 0, each a process of its own; with --device all, N on each
    /// GPU. On the CPU they share its cores.
    #[arg(long, value_name = "N", value_parser = workers, conflicts_with = "worker")]
    pub(crate) workers: Option<usize>,

    /// Test up to N numbers at the same time in each process, each by a worker with a number of its own, with
    /// --workers by N workers in each process. Use it for numbers that are too small to fill a GPU: 32 for
    /// 10^6 bits, 2 for 2·10^7, at most 64. On the CPU the tests share its cores.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = together)]
    pub(crate) together: u32,

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

    /// Make no proofs.
    #[arg(long)]
    pub(crate) no_proof: bool,

    /// The power of proofs [default: the power that GIMPS uses, 8 to 11 by the exponent]. Proofs of
    /// candidates k*b^n+1 and k*b^n-1 are made only with this option. A power higher by 1 halves the work of
    /// certifying the proof, and doubles the disk space during the test.
    #[arg(long, value_name = "POWER", value_parser = super::proof::proof_power, conflicts_with = "no_proof")]
    pub(crate) proof_power: Option<u32>,

    /// Time between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds)]
    pub(crate) checkpoint_interval: Duration,

    /// Show the page of DIR (see warpint report) to web browsers while the work is done: at this port of this
    /// machine, or at an IP address and a port. Port 0 is a free port, which is printed. Without passwords:
    /// everyone who can reach another address than 127.0.0.1 can read the page.
    #[arg(long, value_name = "PORT", value_parser = super::report::address, conflicts_with = "add")]
    pub(crate) serve: Option<SocketAddr>,

    /// Print only the results, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print each result as one JSON object, and a summary as the last one; progress stays on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

impl WorkArgs {
    /// Returns the request for a plan on `device` with the chosen engine and number of threads.
    pub(crate) fn plan_request(&self, device: DeviceChoice) -> PlanRequest {
        self.how.plan_request(device, None)
    }
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The directory of warpint work.
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

fn together(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=MOST_TOGETHER).contains(n))
        .ok_or_else(|| format!("'{text}' is not a number of tests from 1 to {MOST_TOGETHER}"))
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
