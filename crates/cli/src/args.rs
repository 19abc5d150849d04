//! The command line: its grammar, its help, and what it says of a value that makes no sense.

mod arithmetic;
mod batch;
mod bench;
mod bench_batch;
mod bench_bigprime;
mod collatz;
mod collatz_bench;
mod collatz_delays;
mod collatz_runs;
mod machine;
mod natural;
mod proof;
mod test;
mod work;

use clap::{Parser, Subcommand};
use warpint::mersenne::{DeviceChoice, DeviceId};

use crate::exit::CODES;
pub(crate) use arithmetic::EngineName;
use arithmetic::{DeviceArgs, engine_parser};
pub(crate) use batch::{Batch, BatchArgs, Bits, Format, PairArgs, RootArgs};
pub(crate) use bench::{Bench, BenchArgs, BenchChecksArgs, BenchDeviceArgs, BenchJacobiArgs};
pub(crate) use bench_batch::{BenchBatchArgs, Methods, Operation};
pub(crate) use bench_bigprime::{BenchBigprimeArgs, Way};
pub(crate) use collatz::Collatz;
pub(crate) use collatz_bench::CollatzBenchArgs;
pub(crate) use collatz_delays::{DelayArgs, PathArgs};
pub(crate) use collatz_runs::{MergeArgs, MethodChoice, Places, VerifyArgs};
pub(crate) use machine::{StressArgs, Tune, TuneArgs, TuneBatchArgs, TuneCollatzArgs, Tuned};
use proof::proof_power;
pub(crate) use proof::{Proof, ProofVerifyArgs};
use test::TEST_EXAMPLES;
pub(crate) use test::{Start, TestArgs};
pub(crate) use work::{StatusArgs, WorkArgs};

/// Exact arithmetic on large integers: primality tests of Mersenne numbers 2^P − 1.
#[derive(Debug, Parser)]
#[command(name = "warpint", version, after_help = EXAMPLES.to_owned() + CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  warpint prp 216091            is 2^216091 − 1 a probable prime?
  warpint ll 44497              is 2^44497 − 1 prime?
  warpint work                  do the assignments of warpint-work/worktodo.txt
  warpint batch mul A B -o OUT  multiply the numbers of two files, pair by pair
  warpint bench mersenne        time a squaring for exponents of several sizes

A test that was stopped, by Ctrl-C or by a power cut, goes on with the same command.

";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Test 2^P − 1 by Fermat's test to base 3, guarded by Gerbicz–Li checks.
    ///
    /// Finds composite or probable prime. An error of the hardware is noticed and repaired.
    #[command(after_help = TEST_EXAMPLES)]
    Prp {
        #[command(flatten)]
        test: TestArgs,

        /// Known factors of 2^P − 1, separated by commas: tests whether what they leave is a
        /// probable prime (residue type 5).
        #[arg(long, value_name = "FACTORS", value_delimiter = ',')]
        factors: Vec<String>,

        /// Make a proof that the test was done, of this power [default: as GIMPS wants it], in
        /// DIR/proof. The residues for it, whose size is told, stay below DIR meanwhile.
        #[arg(long, value_name = "POWER", num_args = 0..=1, require_equals = true, value_parser = proof_power, conflicts_with = "iterations")]
        proof: Option<Option<u32>>,
    },
    /// Prove 2^P − 1 prime or composite by Lucas–Lehmer.
    ///
    /// The result of a start other than 4 is kept beside its checkpoints but not appended to the
    /// results file, whose readers take every LL residue for that of 4.
    #[command(after_help = TEST_EXAMPLES)]
    Ll {
        /// The first term of the sequence: 4, 10 or 2/3.
        #[arg(long, value_enum, default_value_t, value_name = "S0", hide_possible_values = true)]
        start: Start,

        /// Compute everything with this engine too, stretch by stretch, and compare: takes the time
        /// of both, and finds every error of one of them. It must be another one than the test's.
        #[arg(long, value_name = "ENGINE", value_parser = engine_parser(), hide_possible_values = true)]
        verify_with: Option<EngineName>,

        #[command(flatten)]
        test: TestArgs,
    },
    /// Do GIMPS assignments: the lines of DIR/worktodo.txt, one after the other.
    ///
    /// PRP, PRPDC, Test, DoubleCheck and Cert of Mersenne numbers, PRP also of cofactors and with
    /// proofs. A result is appended to
    /// DIR/results.txt, then its line removed; other lines stay as they are. No factors are looked
    /// for, and nothing is sent anywhere. If an assignment fails, the others are done, and the exit
    /// code is that of the gravest failure: 2 for bad input, 4 for a failure of the machine.
    #[command(after_help = work::WORK_EXAMPLES)]
    Work(WorkArgs),
    /// Say what the workers of a directory do, and how many assignments are left.
    #[command(after_help = "Examples:\n  warpint status\n  warpint status gimps --json")]
    Status(StatusArgs),
    /// Add, multiply, divide … the numbers of files, number by number.
    ///
    /// A file has a number a line, decimal or hexadecimal, or is a NumPy array or raw bytes. Results
    /// go to OUT in the order of the numbers. Where there is none, for want of a number, since a < b, for a
    /// divisor or modulus 0, or for want of an inverse, that is told, OUT has the line `none` or zeros, and the
    /// exit code is 2.
    #[command(after_help = batch::BATCH_EXAMPLES)]
    Batch {
        #[command(subcommand)]
        what: Batch,
    },
    /// The Collatz conjecture: verify it over ranges of numbers; paths, delays and records.
    Collatz {
        #[command(subcommand)]
        what: Collatz,
    },
    /// Check proofs that a probable-prime test was done.
    Proof {
        #[command(subcommand)]
        what: Proof,
    },
    /// Measure how fast this machine is.
    Bench {
        #[command(subcommand)]
        what: Bench,
    },
    /// Find the fastest transforms on this machine and store their times.
    ///
    /// Times every engine of the device at every length worth trying and in every variant. Tests
    /// choose by the stored times from then on, which hold for all exponents that need the same
    /// lengths; without them a test begins with a short measurement. `tune batch` is for batches of
    /// integers, `tune collatz` for the Collatz conjecture.
    #[command(
        after_help = "Examples:\n  warpint tune\n  warpint tune 82589933 136279841 --device cuda\n  warpint tune batch\n  warpint tune collatz"
    )]
    Tune(TuneArgs),
    /// Keep a GPU or CPU busy with squarings whose results are checked.
    ///
    /// Powers of 3 under Gerbicz–Li checks at several transform lengths, each begun again from
    /// time to time and compared with its first run. Exit code 1 if anything is ever wrong.
    #[command(
        after_help = "Examples:\n  warpint stress\n  warpint stress --device cuda:1 --time 3600 --json"
    )]
    Stress(StressArgs),
    /// Check the arithmetic of this program on this machine; about a minute, and some more on a GPU
    /// while its kernels are compiled for the first time.
    ///
    /// Every engine against slow, obvious oracles and known answers; with --device auto those of the
    /// CPU and of a GPU, if there is one. Exit code 1 if a case fails.
    #[command(
        after_help = "Examples:\n  warpint selftest\n  warpint selftest fp64::\n  warpint selftest --device cuda\n  warpint selftest --faults"
    )]
    Selftest {
        /// Only the cases whose family::case contains this text.
        #[arg(value_name = "FILTER")]
        filter: Option<String>,
        /// Instead, make faults on purpose in tests whose answers are known, about a minute on the
        /// CPU: flipped bits, failing devices, full disks, kills; on a GPU also dead, zero-returning and
        /// bit-flipping devices under batches and transforms. Each must be noticed and do no harm.
        #[arg(long)]
        faults: bool,
        #[command(flatten)]
        device: DeviceArgs,
    },
    /// List the GPUs, and what is missing to use them.
    ///
    /// Memory, compute capability, driver and run-time compiler (NVRTC) of each, and whether it
    /// computes in FP64 at full rate, measured in a second. That there is none is no error.
    #[command(after_help = "Examples:\n  warpint devices\n  warpint devices --json")]
    Devices {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  warpint completions bash > ~/.local/share/bash-completion/completions/warpint"
    )]
    Completions {
        /// bash, elvish, fish, powershell or zsh.
        #[arg(value_name = "SHELL", hide_possible_values = true)]
        shell: clap_complete::Shell,
    },
}

fn at_least_one(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| format!("'{text}' is not a number from 1 up"))
}

fn gpu(text: &str) -> Result<DeviceId, String> {
    match text.parse() {
        Ok(DeviceChoice::On(id)) => Ok(id),
        _ => Err(format!("'{text}' is no GPU: give cuda, or cuda:1 for the second")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }
}
