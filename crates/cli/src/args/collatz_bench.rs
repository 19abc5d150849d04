//! The arguments of `warpint collatz bench`, with their help.

use std::path::PathBuf;

use clap::Args;
use warpint::mersenne::DeviceChoice;

use super::collatz_runs::{MethodChoice, method};
use warpint::batch::expression::natural;

pub(crate) const BENCH_EXAMPLES: &str = "\
Examples:
  warpint collatz bench
  warpint collatz bench --device cuda --below-bits 71 --classes 16384 --class-bits 39
  warpint collatz bench --device cuda --method table --classes 0 --from 2^64 --interval-bits 47
  warpint collatz bench --classes 0 --step 13
  warpint collatz bench --classes 0 --interval-bits 0 --delays
  warpint collatz bench --delays --plot collatz.svg

Numbers that a sieve excludes count as verified, like those that are walked. Time is wall time
from the first class to the last. The time to compile kernels and make tables is reported
separately.";

#[derive(Debug, Args)]
pub(crate) struct CollatzBenchArgs {
    /// auto (the fastest method for the device), plain, table or sieve.
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = method(), hide_possible_values = true)]
    pub(crate) method: MethodChoice,

    /// Where to compute: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// The classes consist of numbers below 2^N.
    #[arg(long, value_name = "N", default_value_t = 71, value_parser = clap::value_parser!(u32).range(20..=84))]
    pub(crate) below_bits: u32,

    /// Number of random residue classes, at most 2^24; 0 for none. A sieve excludes most of them at once.
    #[arg(long, value_name = "COUNT", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(0..=1 << 24))]
    pub(crate) classes: u32,

    /// Each class has 2^M numbers [default: such that all classes together take some seconds, on the CPU half a minute].
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(16..=70))]
    pub(crate) class_bits: Option<u32>,

    /// The first number of the interval, rounded down to a multiple of its length [default: 2^70].
    /// With --delays, it is also the first number whose delay is computed [default: 2^40].
    #[arg(long, value_name = "A", value_parser = natural)]
    pub(crate) from: Option<u128>,

    /// The interval has 2^M numbers [default: such that it takes some seconds, on the CPU half a minute]; 0 for none.
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(0..=70))]
    pub(crate) interval_bits: Option<u32>,

    /// Steps that the sieve's tables look ahead, 10 to 32 [default: by the size of the work].
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(10..=32))]
    pub(crate) look: Option<u32>,

    /// Bits of a step of the sieve's walk, 8 to 13 [default: from tune collatz, else 12].
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(8..=13))]
    pub(crate) step: Option<u32>,

    /// Bits of the tables of --method table, 2 to 15, on GPUs 8 to 15 [default: from tune collatz, else 12
    /// on the CPU and 14 on GPUs].
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(2..=15))]
    pub(crate) table_bits: Option<u32>,

    /// Also measure delays per second.
    #[arg(long)]
    pub(crate) delays: bool,

    /// The seed that chooses the classes.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Draw the rates into this SVG file, beside those of other programs on a GPU or on the CPU. An
    /// existing file is replaced. A path that cannot be written is refused before anything is
    /// measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
