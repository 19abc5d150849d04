//! The arguments of `warpint collatz path` and `warpint collatz delay`.

use std::path::PathBuf;

use clap::Args;
use num_bigint::BigUint;
use warpint::mersenne::DeviceChoice;

use warpint::batch::expression::{large_natural, natural};

pub(super) const PATH_EXAMPLES: &str = "\
Examples:
  warpint collatz path 27
  warpint collatz path 2^1000-1 --json

  $ warpint collatz path 7
  7 reaches 1 after 16 steps (5 odd, 11 even) and rises to 52; it is below itself after 11 steps";

pub(super) const DELAY_EXAMPLES: &str = "\
Examples:
  warpint collatz delay 1 10^9 --records
  warpint collatz delay 2^40 2^40+10^6 --out delays.txt
  warpint collatz delay 1 1000 --out - | sort -nk2 | tail
  warpint collatz delay 2^40 2^41 --device cuda --json

  $ warpint collatz delay 1 6 --out - 2> report.txt
  1 0
  2 1
  3 7
  4 2
  5 5";

#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// The number: decimal digits, or like 2^1000-1.
    #[arg(value_name = "N", value_parser = large_natural, allow_negative_numbers = true)]
    pub(crate) n: BigUint,

    /// Print one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DelayArgs {
    /// The first number, at least 1: digits, or like 10^12 or 2^40+1.
    #[arg(value_name = "A", value_parser = natural, allow_negative_numbers = true)]
    pub(crate) from: u128,

    /// The number after the last, at most 2^96.
    #[arg(value_name = "B", value_parser = natural, allow_negative_numbers = true)]
    pub(crate) to: u128,

    /// Where to compute: auto (a GPU if there is one that works and the range is long, otherwise the CPU), cpu,
    /// cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Also find all numbers that take more steps, or rise higher, than all smaller ones of the range. From A = 1
    /// these are the known delay and path records.
    #[arg(long)]
    pub(crate) records: bool,

    /// The largest delay of the numbers below A. Only larger ones are records.
    #[arg(long, value_name = "DELAY", requires = "records")]
    pub(crate) delay_record: Option<u32>,

    /// The largest maximum of the paths of the numbers below A. Only larger ones are records.
    #[arg(long, value_name = "MAXIMUM", requires = "records", value_parser = large_natural)]
    pub(crate) path_record: Option<BigUint>,

    /// Write all delays to FILE, a line `n delay` for each number. With -, they go to standard output, and the
    /// report to standard error.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}
