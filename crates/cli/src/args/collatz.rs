//! The subcommands of `warpint collatz`.

use clap::Subcommand;

use super::collatz_bench::{BENCH_EXAMPLES, CollatzBenchArgs};
use super::collatz_delays::{DELAY_EXAMPLES, DelayArgs, PATH_EXAMPLES, PathArgs};
use super::collatz_runs::{MERGE_EXAMPLES, MergeArgs, VERIFY_EXAMPLES, VerifyArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint collatz verify --below 2^40
  warpint collatz path 27";

#[derive(Debug, Subcommand)]
pub(crate) enum Collatz {
    /// Verify that every number of a range reaches 1.
    ///
    /// With --below X, all numbers from 1 to X − 1 are verified. With A and B, the numbers A ≤ n < B are
    /// verified, given that all numbers below A reach 1. The range ends at 2^127 at the latest and is cut
    /// into units. Each finished unit has a file in DIR and is not done again. The same command continues a
    /// stopped run, and several processes with one DIR share the units. The exit code is 1 if a number does
    /// not come below its start, and 4 if a unit fails.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Report which numbers the files of warpint collatz verify cover together.
    ///
    /// Reads every ….json of the directories, and recomputes the sample and the evidence of each
    /// unit. Exit code 0: the units make up one range without gaps, disagreements or unresolved
    /// numbers, and each unit has evidence. 1: they do not, or the check or an audit refuted a
    /// unit. 2: a file cannot be read, is damaged or is not a unit. 4: a disk failed or an audit
    /// could not be done.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Measure how many numbers are verified per second.
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(CollatzBenchArgs),
    /// Follow one number of any size to 1: count its odd and even steps, and find its maximum.
    #[command(after_help = PATH_EXAMPLES)]
    Path(PathArgs),
    /// Compute the delays of all numbers A ≤ n < B, their sum and the largest delay; with
    /// --records, find all records.
    ///
    /// The delay of n is the number of steps n/2 and 3n + 1 until 1: that of 63,728,127 is 949.
    #[command(after_help = DELAY_EXAMPLES)]
    Delay(DelayArgs),
}
