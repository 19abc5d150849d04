//! `bench` and its kinds.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use warpint::mersenne::{DeviceId, Exponent};

use super::arithmetic::{ArithmeticArgs, threads};
use super::{BenchBatchArgs, BenchBigprimeArgs, gpu};
use crate::units;

const BENCH_EXAMPLES: &str = "\
Examples:
  warpint bench mersenne
  warpint bench mersenne --device cuda --plot speed.svg
  warpint bench mersenne 136279841 --device cuda --engine fp64 --json
  warpint bench mersenne --device cuda --same-plan
  warpint bench mersenne --device cuda --same-plan=64K,2M";

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Time a squaring mod 2^P − 1 with each engine, beside the time that it needs at least.
    ///
    /// On the CPU that floor is the bare real FFT and its inverse, on one thread, at the length that
    /// fp64 uses. On a GPU at least 20000 squarings are timed, in laps that the engines take in
    /// turns, and there are two floors, both by rates that are measured first, as bench device does:
    /// traffic (two reads and two writes of the spectrum, at the rate of a copy in place of about
    /// its size) and arithmetic (the instructions, or products and points·levels, that the kernels
    /// have by count). The share of each kernel is measured with launches kept apart. All exponents
    /// are timed at one place, with --device auto that of the largest.
    #[command(after_help = BENCH_EXAMPLES)]
    Mersenne(BenchArgs),
    /// Time sums, products, quotients, common divisors and powers of many integers at once, for widths
    /// from 64 to 262144 bits.
    ///
    /// Operands lie in the memory of the device and results go there: sums and products allocate
    /// nothing, and no carries are asked for. Each row is the median of 9 runs by the device's clock, after a first
    /// one (which compiles the kernel) some results of which are compared with those found limb by limb
    /// on the CPU; a difference is an error. On the CPU it is the median of 5 runs on all cores. All
    /// common divisors found by division are compared with those of gcd; they are timed in 3 runs
    /// by the host's clock. The floor is the time in which as many bytes as are read and written are
    /// copied.
    #[command(after_help = super::bench_batch::EXAMPLES)]
    Batch(BenchBatchArgs),
    /// Time transforms over big prime fields Z/pZ, p = r^k + 1, and convolutions there, by both ways.
    ///
    /// The big-prime way is passes over points whose roots are powers of r; the small-primes way is the same
    /// transform by transforms modulo primes below 2^50, and has the same outputs bit for bit. Operands lie in the memory of
    /// the device. Each time is the median of some runs by the device's clock, after a first one. Outputs of both ways are
    /// compared, the inverse with what it is to give back, and some outputs with the definition; a
    /// difference is an error. The floor is the larger of two: memory (what the passes read and write, at the rate of a copy)
    /// and arithmetic (products of digits, at the rate of products mod 2^64 − 2^32 + 1). A row that has no
    /// room in memory says so. The last lines tell which way is the faster one at which lengths.
    #[command(after_help = super::bench_bigprime::EXAMPLES)]
    Bigprime(BenchBigprimeArgs),
    /// Measure what checks and checkpoints cost a PRP test: the time of its squarings, without and
    /// with checkpoints, beside that of bare ones before and after it.
    ///
    /// Takes some minutes, and a folder in DIR, which is gone in the end: what checkpoints cost is
    /// what they cost on that disk. P must be so large that its whole test takes 10 seconds or more: a
    /// smaller one is refused, since its checks are lost in the noise.
    Checks(BenchChecksArgs),
    /// Measure what a GPU reaches: products and transforms mod 2^64 − 2^32 + 1 in registers, memory,
    /// kernels in a graph, FP64. A wrong result is an error.
    Device(BenchDeviceArgs),
    /// Time the Jacobi symbol of a random residue mod 2^P − 1, the check of a Lucas–Lehmer test.
    #[command(
        after_help = "Examples:\n  warpint bench jacobi\n  warpint bench jacobi 332192831 --threads 16"
    )]
    Jacobi(BenchJacobiArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BenchJacobiArgs {
    /// Exponents [default: 1257787 6972593 20996011 82589933].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    /// Threads of the CPU [default: one for each core].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchDeviceArgs {
    /// The GPU: cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "cuda", value_parser = gpu)]
    pub(crate) device: DeviceId,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Exponents [default: 216091 1257787 6972593 20996011 on the CPU, 6972593 43112609 57885161
    /// 82589933 136279841 332192831 on a GPU].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Draw the times and floors against the exponent into this SVG file, which is replaced if it is
    /// there. A path that cannot be written is refused before anything is measured.
    #[arg(long, value_name = "FILE", conflicts_with = "same_plan")]
    pub(crate) plot: Option<PathBuf>,

    /// On a GPU: time fp64 with N complex numbers against goldilocks with N integers where both
    /// have one number of rows and of columns and the same radices [default: each N = 2^16 … 2^24].
    /// Of each N at most four such cuts are tried, those first that both engines expect most of.
    #[arg(
        long,
        value_name = "N",
        value_parser = units::parse_words,
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        conflicts_with_all = ["exponents", "engine"],
    )]
    pub(crate) same_plan: Option<Vec<usize>>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchChecksArgs {
    /// The exponent [default: 82589933 on a GPU, 1257787 on the CPU]; its test must take 10 seconds
    /// or more.
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponent: Option<Exponent>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Where checkpoints go: measure on the disk that tests write to.
    #[arg(long, value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// End after so many checks, or at the end of the test.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = checks)]
    pub(crate) checks: usize,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn checks(text: &str) -> Result<usize, String> {
    let n = text.parse().ok().filter(|n| (1..=1_000).contains(n));
    n.ok_or_else(|| format!("'{text}' is not a number of checks from 1 to 1000"))
}
