//! `tune` and `stress`: what a machine does best, and whether it does it right.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use warpint::mersenne::{DeviceChoice, DeviceId, Exponent};

use super::arithmetic::ArithmeticArgs;
use super::{at_least_one, gpu};
use crate::units;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TuneArgs {
    #[command(subcommand)]
    pub(crate) what: Option<Tune>,

    /// Exponents whose transform lengths are to be timed [default: of several sizes].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Instead of lengths for some exponents, every length in this range, as 64K..36M.
    #[arg(long, value_name = "FROM..TO", value_parser = units::parse_word_range, conflicts_with = "exponents")]
    pub(crate) lengths: Option<RangeInclusive<usize>>,

    /// Of each length try only the first N variants, which promise most.
    #[arg(long, value_name = "N", value_parser = variants, default_value_t = 24)]
    pub(crate) variants: usize,

    /// Write the fastest of each length into this file as a table, with whatever was there gone.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Print one JSON object, with all that was timed.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What else can be tuned.
#[derive(Debug, Subcommand)]
pub(crate) enum Tune {
    /// Measure which method multiplies integers of which width fastest on a GPU, for batches.
    ///
    /// Without it methods are chosen by a formula that was fitted on an NVIDIA H200. Of each width
    /// those methods are timed that may be the fastest by what is known so far. A price is stored
    /// when it is measured: Ctrl-C loses none, and the same command measures what is left. The numbers
    /// that a batch computes are the same by all methods.
    #[command(
        after_help = "Examples:\n  warpint tune batch\n  warpint tune batch --device cuda:1 --again --json"
    )]
    Batch(TuneBatchArgs),
    /// Measure which table sizes are the fastest for the Collatz conjecture on this machine.
    ///
    /// For the table method and the sieve, and on GPUs for delays. Each size is timed on the same numbers,
    /// and the fastest is stored for the product: collatz verify, delay and bench take it from then on. No result
    /// depends on them, but units of collatz verify say with which parameters they were done, and their
    /// checksums can be compared only where these are the same: tune before a range is begun that
    /// is verified twice. A range that was begun goes on in any case.
    #[command(
        after_help = "Examples:\n  warpint tune collatz\n  warpint tune collatz sieve delays --device cuda:1 --json"
    )]
    Collatz(TuneCollatzArgs),
}

/// What of the Collatz conjecture is tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tuned {
    /// The bits of a step of the sieve's walk.
    Sieve,
    /// The bits of the tables of the table method.
    Table,
    /// The tables, threads and blocks of delays.
    Delays,
}

impl Tuned {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Sieve, Self::Table, Self::Delays];

    /// Its name for users.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sieve => "sieve",
            Self::Table => "table",
            Self::Delays => "delays",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TuneCollatzArgs {
    /// sieve, table or delays [default: all that the device has sizes for].
    #[arg(value_name = "WHAT", hide_possible_values = true)]
    pub(crate) what: Vec<Tuned>,

    /// Where: auto (a GPU if there is one that works, otherwise the CPU), cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Time 2^M numbers, instead of as many as take a second.
    #[arg(long, value_name = "M", hide = true, value_parser = clap::value_parser!(u32).range(12..=56))]
    pub(crate) bits: Option<u32>,

    /// Print one JSON object, with all that was timed.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneBatchArgs {
    /// The GPU: cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "cuda", value_parser = gpu)]
    pub(crate) device: DeviceId,

    /// Measure anew what is stored.
    #[arg(long)]
    pub(crate) again: bool,

    /// Print one JSON object, with all that was measured.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StressArgs {
    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// How long, in seconds.
    #[arg(long, visible_alias = "seconds", value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds)]
    pub(crate) time: Duration,

    /// Only at this exponent [default: of several sizes, in turns].
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponent: Option<Exponent>,

    /// At this transform length [default: the shortest safe one].
    #[arg(long, value_name = "N", value_parser = units::parse_words, requires = "exponent")]
    pub(crate) length: Option<usize>,

    /// Print the tally as one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}

fn variants(text: &str) -> Result<usize, String> {
    at_least_one(text).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}
