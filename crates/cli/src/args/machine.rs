//! The arguments of `warpint tune`, `warpint selftest` and `warpint stress`, which measure and test
//! a machine.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use warpint::collatz::sizes::Tunable;
use warpint::mersenne::{DeviceChoice, DeviceId, Exponent};

use super::arithmetic::{ArithmeticArgs, threads};
use super::{at_least_one, gpu, named};
use crate::units;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TuneArgs {
    #[command(subcommand)]
    pub(crate) what: Option<Tune>,

    /// Time the transform lengths of these exponents [default: exponents of several sizes].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Time every length in this range, for example 64K..36M, instead of those of some exponents.
    #[arg(long, value_name = "FROM..TO", value_parser = units::parse_word_range, conflicts_with = "exponents")]
    pub(crate) lengths: Option<RangeInclusive<usize>>,

    /// Try at most N variants of each length, the most promising ones first.
    #[arg(long, value_name = "N", value_parser = variants, default_value_t = 24)]
    pub(crate) variants: usize,

    /// Time for each exponent. The variants that promise most are timed first; lengths that are much
    /// slower than the fastest are not searched further.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds, conflicts_with = "lengths")]
    pub(crate) budget: Duration,

    /// Write the fastest variant of each length into this file as a table. An existing file is replaced.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Print only the results, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object, with all that was timed.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The subcommands of `warpint tune`. Without a subcommand, the command tunes transforms of
/// Mersenne numbers.
#[derive(Debug, Subcommand)]
pub(crate) enum Tune {
    /// Measure which method multiplies integers of each width fastest on a GPU, for batches.
    ///
    /// Without these measurements, methods are chosen by a formula that was fitted on an NVIDIA H200. At
    /// each width only those methods are timed that may be the fastest, judging by the times known so far.
    /// The time of a method at a width is called its price. Each price is stored as soon as it is
    /// measured: Ctrl-C loses none, and the same command measures the rest. All methods compute the same
    /// numbers.
    #[command(
        after_help = "Examples:\n  warpint tune batch\n  warpint tune batch --device cuda:1 --again --json"
    )]
    Batch(TuneBatchArgs),
    /// Measure which table sizes are the fastest for the Collatz conjecture on this machine.
    ///
    /// Measures the table method and the sieve, and on GPUs the computation of delays too. Each
    /// size is timed on the same numbers, and the fastest is stored for this GPU or CPU model:
    /// collatz verify, collatz delay and collatz bench use it. No result depends on the sizes. But
    /// checksums of units can be compared only if the sizes are the same: tune before you begin a
    /// range that is to be verified twice. A range that was begun can be continued with other
    /// sizes.
    #[command(
        after_help = "Examples:\n  warpint tune collatz\n  warpint tune collatz sieve delays --device cuda:1 --json"
    )]
    Collatz(TuneCollatzArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TuneCollatzArgs {
    /// sieve, table or delays [default: all that the device has sizes for].
    #[arg(value_name = "WHAT", value_parser = named(&Tunable::ALL, Tunable::name, Tunable::about), hide_possible_values = true)]
    pub(crate) what: Vec<Tunable>,

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

    /// Measure everything again, also what is stored.
    #[arg(long)]
    pub(crate) again: bool,

    /// Print only the results, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object, with all that was measured.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const SELFTEST_EXAMPLES: &str = "\
Examples:
  warpint selftest
  warpint selftest fp64::
  warpint selftest --device cuda
  warpint selftest --device cuda --thorough batch
  warpint selftest --faults

  $ warpint selftest word:: --quiet
  19 passed, 0 failed";

#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Only the cases whose suite::case contains this text.
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Option<String>,

    /// Run all cases, not only the quick ones. On the CPU all cases are quick.
    #[arg(long)]
    pub(crate) thorough: bool,

    /// Instead, inject faults into tests whose answers are known: flipped bits, failing devices, full
    /// disks, kills. On a GPU, batches and transforms are also computed on a device that is made to be
    /// dead, to return zeros or to flip bits. Each fault must be detected or have no effect. Takes about a
    /// minute on the CPU.
    #[arg(long, conflicts_with = "thorough")]
    pub(crate) faults: bool,

    /// What to test: auto (the CPU, and a GPU if there is one that works), cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Print only the cases that fail, and the last line.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object at the end: suite, case, passed, seconds and message of each case.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StressArgs {
    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// How long, in seconds [default: until Ctrl-C].
    #[arg(long, visible_alias = "seconds", value_name = "SECONDS", value_parser = units::parse_seconds)]
    pub(crate) time: Option<Duration>,

    /// Use only this exponent [default: exponents of several sizes, in turns].
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponent: Option<Exponent>,

    /// Use this transform length [default: the shortest safe one].
    #[arg(long, value_name = "N", value_parser = units::parse_words, requires = "exponent")]
    pub(crate) length: Option<usize>,

    /// Print only the tally, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print the tally as one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}

fn variants(text: &str) -> Result<usize, String> {
    at_least_one(text).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}
