//! The arguments of `warpint bench` and its subcommands.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use warpint::mersenne::{DeviceId, Exponent};

use super::arithmetic::{ArithmeticArgs, threads};
use super::{BenchBatchArgs, BenchBigprimeArgs, BenchNttArgs, BenchProductArgs, gpu};
use crate::units;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint bench mersenne
  warpint bench batch --device cuda --json";

const CHECKS_EXAMPLES: &str = "\
Examples:
  warpint bench checks
  warpint bench checks 82589933 --device cuda --dir /mnt/disk --checks 3
  warpint bench checks --device cuda --plot checks.svg";

const DEVICE_EXAMPLES: &str = "\
Examples:
  warpint bench device
  warpint bench device --device cuda:1 --json
  warpint bench device --plot rates.svg";

const BENCH_EXAMPLES: &str = "\
Examples:
  warpint bench mersenne
  warpint bench mersenne --device cuda --plot speed.svg
  warpint bench mersenne 136279841 --device cuda --engine fp64 --json
  warpint bench mersenne --device cuda --same-plan
  warpint bench mersenne --device cuda --same-plan=64K,2M --plot plans.svg";

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Time a squaring mod 2^P − 1 with each engine, beside a floor for comparison.
    ///
    /// On the CPU the floor is the time of a bare real FFT and its inverse (realfft), on one thread,
    /// at the length of fp64; fp64 with several threads can be faster. If libfftw3 is installed, the
    /// same pair is timed by FFTW. On a GPU at least 20000 squarings
    /// of each engine are timed; the engines take turns. On a GPU there are two floors. They are
    /// lower bounds, computed from rates that are measured at the start: memory traffic (two reads
    /// and two writes of the spectrum, at the rate of a copy of about its size) and arithmetic
    /// (operations counted in the kernels: for fp64, hybrid and hybrid-fast, FP64 instructions; for goldilocks, products, and
    /// the points of the transforms times their levels). The share of each kernel is measured by
    /// separate launches. All exponents are timed on one device; with --device auto it is the
    /// device chosen for the largest exponent.
    #[command(after_help = BENCH_EXAMPLES)]
    Mersenne(BenchArgs),
    /// Time sums, products, quotients, common divisors and powers of many integers at once, by
    /// default of 64 to 262144 bits.
    ///
    /// Operands and results stay in the memory of the device. Sums and products allocate nothing
    /// and report no carries. Each row is the median of 9 runs by the device's clock, after a first
    /// run that compiles the kernel. Some results of the first run are computed limb by limb on the
    /// CPU too; a difference is an error. On the CPU a row is the median of 9 runs. If libgmp is
    /// installed, GMP computes the same operations on as many threads; its runs and those of
    /// warpint take turns, and its results are compared too. gcd-by-division
    /// is timed in 3 runs by the host's clock, and all its results are compared with those of gcd.
    /// The floor is the time of a copy of as many bytes as are read and written.
    #[command(after_help = super::bench_batch::EXAMPLES)]
    Batch(BenchBatchArgs),
    /// Time transforms and convolutions over big prime fields Z/pZ, p = r^k + 1, by two methods.
    ///
    /// The big-prime method computes in the field, where the roots of unity of order 2k are powers
    /// of r. The small-primes method computes the same transform modulo many primes below 2^50; its
    /// outputs are equal, bit for bit. Operands stay in the memory of the device. Each time is the
    /// median of some runs by the device's clock, after a first run. The outputs of both methods
    /// are compared with each other, some outputs are compared with the definition, and the output
    /// of the inverse transform is compared with the input; a difference is an error. The floor is
    /// the larger of two: memory (the bytes that the passes read and write, at the rate of a copy)
    /// and arithmetic (products of digits, at the rate of products mod 2^64 − 2^32 + 1). A row that
    /// needs more memory than the device has says so. The last lines say which method is faster at
    /// which lengths.
    #[command(after_help = super::bench_bigprime::EXAMPLES)]
    Bigprime(BenchBigprimeArgs),
    /// Time transforms modulo 2^64 − 2^32 + 1 or a prime below 2^50, forward and inverse.
    ///
    /// On a GPU operands stay in the memory of the device, transforms are in place, and each time is
    /// the median of some runs by the device's clock, after a first run. Short transforms are repeated
    /// within a timed span, and are submitted while the GPU is busy, so that it does not wait for the
    /// host. There are two floors: memory (one read and one write of the batch in each pass, at the
    /// rate of a copy of about its size) and arithmetic (the points times the levels, log2 of the
    /// length rounded up, at a rate that is measured at the start: that of transforms in registers for
    /// goldilocks, a quarter of the rate of FP64 operations for f50). The column time/floor is the
    /// time of the forward transforms divided by the larger floor. First some outputs are compared with
    /// the definition, and the output of the inverse transform is compared with the input; a difference
    /// is an error. A row that needs more memory than the device has says so. On the CPU,
    /// transforms modulo 2^64 − 2^32 + 1 are in natural order.
    #[command(after_help = super::bench_ntt::EXAMPLES)]
    Ntt(BenchNttArgs),
    /// Time products, squares, divisions and decimal conversions of numbers of 2^k bits.
    ///
    /// Results are verified modulo 2^61 − 1. On a GPU the numbers are in its memory, and the times of
    /// products and squares, by the GPU's clock, include the residues for the verification. A third
    /// time, by the host's clock, is that of a product of numbers in host memory, with all copies. The
    /// others are also by the host's clock: divisions of 2n by n bits in the memory of the GPU, with the
    /// reciprocal, and conversions from numbers to digits in host memory and back. Each time is the
    /// median of some runs, after a first run. A row that needs more memory than the GPU has says so.
    /// On the CPU all threads compute.
    #[command(after_help = super::bench_product::EXAMPLES)]
    Product(BenchProductArgs),
    /// Measure what checks and checkpoints cost a PRP test.
    ///
    /// Compares the time of the squarings of a PRP test, with and without checkpoints, with that of
    /// bare squarings before and after the test. This takes some minutes. The cost of checkpoints
    /// depends on the disk. They are written to a new folder in DIR; this folder is removed at the
    /// end. The whole test of P must take 10 seconds or more; for smaller exponents the cost of
    /// checks is lost in the noise.
    #[command(after_help = CHECKS_EXAMPLES)]
    Checks(BenchChecksArgs),
    /// Measure the rates of a GPU: memory, FP64, kernels in a graph, and products and transforms
    /// mod 2^64 − 2^32 + 1 in registers. A wrong result is an error.
    #[command(after_help = DEVICE_EXAMPLES)]
    Device(BenchDeviceArgs),
    /// Time the Jacobi symbol of a random residue mod 2^P − 1, the check of a Lucas–Lehmer test.
    #[command(
        after_help = "Examples:\n  warpint bench jacobi\n  warpint bench jacobi 332192831 --threads 16\n  warpint bench jacobi --plot jacobi.svg"
    )]
    Jacobi(BenchJacobiArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BenchJacobiArgs {
    /// Exponents [default: 1257787 6972593 20996011 82589933].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Draw the times against the exponent into this SVG file. An existing file is replaced. A path that cannot be
    /// written is refused before anything is measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchDeviceArgs {
    /// The GPU: cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "cuda", value_parser = gpu)]
    pub(crate) device: DeviceId,

    /// Draw the rates into this SVG file, beside those of the data sheet for an H100 or H200. An
    /// existing file is replaced. A path that cannot be written is refused before anything is
    /// measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

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

    /// Draw the times and floors against the exponent into this SVG file, or with --same-plan the time
    /// per bit of the exponent against N. An existing file is replaced. A path that cannot be written is
    /// refused before anything is measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Also draw the times of other programs, which this file has: a line `P MICROSECONDS NAME` for each,
    /// and comments that begin with #.
    #[arg(long, value_name = "FILE", requires = "plot")]
    pub(crate) beside: Option<PathBuf>,

    /// On a GPU: time fp64 with N complex numbers against goldilocks with N integers, both with the
    /// same rows, columns and radices [default: each N = 2^16 … 2^24]. At most four such shapes of
    /// each N are tried, the most promising ones first.
    #[arg(
        long,
        value_name = "N",
        value_parser = units::parse_words,
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        conflicts_with_all = ["exponents", "engine", "beside"],
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

    /// End after this number of checks, or at the end of the test.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = checks)]
    pub(crate) checks: usize,

    /// Draw the costs in percent, beside the noise, into this SVG file. An existing file is replaced. A path that cannot be
    /// written is refused before anything is measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn checks(text: &str) -> Result<usize, String> {
    let n = text.parse().ok().filter(|n| (1..=1_000).contains(n));
    n.ok_or_else(|| format!("'{text}' is not a number of checks from 1 to 1000"))
}
