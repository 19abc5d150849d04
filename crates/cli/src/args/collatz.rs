//! `collatz`: its commands.

use clap::Subcommand;

use super::collatz_bench::{BENCH_EXAMPLES, CollatzBenchArgs};
use super::collatz_delays::{DELAY_EXAMPLES, DelayArgs, PATH_EXAMPLES, PathArgs};
use super::collatz_runs::{MERGE_EXAMPLES, MergeArgs, VERIFY_EXAMPLES, VerifyArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum Collatz {
    /// Verify that every number of a range reaches 1.
    ///
    /// Below X: all numbers from 1 to X − 1. From A to B: the numbers A ≤ n < B, given that all below A reach 1.
    /// The range, which ends at 2^127 at the latest, is cut into units; each finished one has a file in DIR and
    /// is not done again. The same command goes on where one was stopped, and several on one DIR share the
    /// units. Exit code 1 if a number is not seen to come down, or a unit failed.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Say what the files of warpint collatz verify cover together.
    ///
    /// Reads every ….json of the directories. Exit code 0 if they make up one range without gaps, disagreements
    /// and unresolved numbers, 2 if a file cannot be read or is damaged or something else, otherwise 1.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Measure how many numbers are verified in a second.
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(CollatzBenchArgs),
    /// Follow one number of any size to 1: how many steps, odd and even ones, and how high.
    #[command(after_help = PATH_EXAMPLES)]
    Path(PathArgs),
    /// Compute the delays of all numbers A ≤ n < B, their sum and the largest; with --records, who breaks records.
    ///
    /// The delay of n is the number of steps n/2 and 3n + 1, each counted, until 1: 63,728,127 has 949.
    #[command(after_help = DELAY_EXAMPLES)]
    Delay(DelayArgs),
}
