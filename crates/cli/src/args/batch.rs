//! The arguments of `warpint batch` and its operations.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use warpint::batch::{Bits, Check, Format};
use warpint::mersenne::DeviceChoice;

use super::arithmetic::threads;
use super::at_least_one;
use crate::units;

pub(super) const BATCH_EXAMPLES: &str = "\
Examples:
  warpint batch mul a.txt b.txt -o products.txt
  warpint batch sqr a.npy -o squares.npy --device cuda
  warpint batch add a.bin b.hex --bits 4096 -o sums.txt --check 1000
  warpint batch divrem a.txt b.txt -o quotients.txt --rem remainders.txt
  warpint batch powm x.txt 65537 n.txt -o r.txt
  seq 100 | warpint batch sqr - -o - > squares.txt";

const ADD_EXAMPLES: &str = "\
Examples:
  warpint batch add a.txt b.txt -o sums.txt

  $ warpint batch add 2^64 1 -o - --quiet
  18446744073709551617";

const SUB_EXAMPLES: &str = "\
Examples:
  warpint batch sub a.txt b.txt -o differences.txt

  $ warpint batch sub 2^64 1 -o - --quiet
  18446744073709551615";

const MUL_EXAMPLES: &str = "\
Examples:
  warpint batch mul a.txt b.txt -o products.txt

  $ warpint batch mul 2^64 3 -o - --quiet
  55340232221128654848";

const MULLO_EXAMPLES: &str = "\
Examples:
  warpint batch mullo a.npy b.npy -o products.npy

  $ warpint batch mullo 2^32-1 2^32-1 -o - --quiet
  1";

const SQR_EXAMPLES: &str = "\
Examples:
  warpint batch sqr a.npy -o squares.npy --device cuda

  $ warpint batch sqr 10^20 -o - --quiet
  10000000000000000000000000000000000000000";

const DIVREM_EXAMPLES: &str = "\
Examples:
  warpint batch divrem a.txt b.txt -o quotients.txt --rem remainders.txt

  $ warpint batch divrem 10^20 7 -o - --quiet
  14285714285714285714";

const GCD_EXAMPLES: &str = "\
Examples:
  warpint batch gcd a.txt b.txt -o divisors.txt

  $ warpint batch gcd 2^60-1 2^48-1 -o - --quiet
  4095";

const MODINV_EXAMPLES: &str = "\
Examples:
  warpint batch modinv a.txt 2^255-19 -o inverses.txt

  $ warpint batch modinv 3 2^61-1 -o - --quiet
  1537228672809129301";

const SQRT_EXAMPLES: &str = "\
Examples:
  warpint batch sqrt a.txt -o roots.txt --rem remainders.txt

  $ warpint batch sqrt 10^41 -o - --quiet
  316227766016837933199";

const POWM_EXAMPLES: &str = "\
Examples:
  warpint batch powm x.txt 65537 n.txt -o r.txt

  $ warpint batch powm 3 2^61-2 2^61-1 -o - --quiet
  1";

const ISPRIME_EXAMPLES: &str = "\
Examples:
  warpint batch isprime a.txt -o primes.txt

  $ warpint batch isprime 2^521-1 -o - --quiet
  1";

/// The operation on the numbers of files.
#[derive(Debug, Subcommand)]
pub(crate) enum Batch {
    /// a + b; in npy and raw files 32 bits wider than the wider operand.
    #[command(after_help = ADD_EXAMPLES)]
    Add(PairArgs),
    /// a − b; no result if a < b.
    #[command(after_help = SUB_EXAMPLES)]
    Sub(PairArgs),
    /// a·b; in npy and raw files as wide as both operands together.
    #[command(after_help = MUL_EXAMPLES)]
    Mul(PairArgs),
    /// a·b mod 2^w, where w is the width of the wider operand: for text, that of the longest number of a
    /// file, rounded up to a multiple of 32 bits.
    #[command(after_help = MULLO_EXAMPLES)]
    Mullo(PairArgs),
    /// a²; in npy and raw files twice as wide as a.
    #[command(after_help = SQR_EXAMPLES)]
    Sqr(SquareArgs),
    /// ⌊a/b⌋ and, with --rem, a mod b; no result if b = 0.
    #[command(after_help = DIVREM_EXAMPLES)]
    Divrem(DivideArgs),
    /// The greatest common divisor of a and b.
    #[command(after_help = GCD_EXAMPLES)]
    Gcd(PairArgs),
    /// x < b with a·x ≡ 1 mod b; no result if a and b have a common divisor greater than 1.
    #[command(after_help = MODINV_EXAMPLES)]
    Modinv(PairArgs),
    /// ⌊√a⌋ and, with --rem, a − ⌊√a⌋².
    #[command(after_help = SQRT_EXAMPLES)]
    Sqrt(RootArgs),
    /// a^e mod m; no result if m = 0.
    #[command(after_help = POWM_EXAMPLES)]
    Powm(PowerArgs),
    /// 1 if a is a prime or a Baillie–PSW probable prime, otherwise 0; in npy and raw files of 32 bits.
    ///
    /// The Baillie–PSW test is trial division, a strong test to base 2 and a strong Lucas test. All
    /// primes pass. No composite number is known that passes, and none below 2^64 does; this is no
    /// proof that a larger number is prime.
    #[command(after_help = ISPRIME_EXAMPLES)]
    Isprime(SquareArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PairArgs {
    /// The numbers a: a file, a pipe, - for standard input, or one number, such as 5, 0x10001 or
    /// 2^127-1. If a file of that name exists, the file is read. Pipes are read to their end first.
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(crate) a: PathBuf,

    /// The numbers b, given like a. Both operands have equal counts, or one has a single number, which
    /// is used with every number of the other.
    #[arg(value_name = "B", allow_negative_numbers = true)]
    pub(crate) b: PathBuf,

    #[command(flatten)]
    pub(crate) rest: BatchArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SquareArgs {
    /// The numbers a: a file, a pipe, - for standard input, or one number, such as 5, 0x10001 or
    /// 2^127-1. If a file of that name exists, the file is read. Pipes are read to their end first.
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(crate) a: PathBuf,

    #[command(flatten)]
    pub(crate) rest: BatchArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DivideArgs {
    #[command(flatten)]
    pub(crate) pair: PairArgs,

    #[command(flatten)]
    pub(crate) second: SecondArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RootArgs {
    #[command(flatten)]
    pub(crate) single: SquareArgs,

    #[command(flatten)]
    pub(crate) second: SecondArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PowerArgs {
    /// The numbers a: a file, a pipe, - for standard input, or one number, such as 5, 0x10001 or
    /// 2^127-1. If a file of that name exists, the file is read. Pipes are read to their end first.
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(crate) a: PathBuf,

    /// The exponents, given like a.
    #[arg(value_name = "E", allow_negative_numbers = true)]
    pub(crate) e: PathBuf,

    /// The moduli, given like a. All operands have equal counts; an operand of a single number is used
    /// with every number of the others.
    #[arg(value_name = "M", allow_negative_numbers = true)]
    pub(crate) m: PathBuf,

    #[command(flatten)]
    pub(crate) rest: BatchArgs,
}

/// The arguments of operations that have a remainder.
#[derive(Debug, Args)]
pub(crate) struct SecondArgs {
    /// Write the remainders to this file. Its format is that of --out-format, else the one given by
    /// the end of its name, else that of OUT.
    #[arg(long, value_name = "REM")]
    pub(crate) rem: Option<PathBuf>,
}

/// The arguments that all operations have in common.
#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    /// Where the results go: a file, a pipe, a device such as /dev/null, or - for standard output.
    /// A file is replaced atomically when all is done; it may equal an operand, and symlinks are
    /// followed. With - the report goes to standard error. A stopped run leaves OUT.partial and
    /// OUT.partial.json, and the same command goes on from there. A run that writes to a stream
    /// cannot be resumed.
    #[arg(short, long = "output", value_name = "OUT")]
    pub(crate) out: PathBuf,

    /// The format of all operand files: dec, hex, npy or raw [default: by the end of the name (.txt or
    /// .dec, .hex, .npy, .bin or .raw), else by content].
    #[arg(long, value_name = "FORMAT", value_parser = format(), hide_possible_values = true)]
    pub(crate) format: Option<Format>,

    /// The format of OUT [default: by the end of its name, else that of the first operand that is a file or
    /// a pipe].
    #[arg(long, value_name = "FORMAT", value_parser = format(), hide_possible_values = true)]
    pub(crate) out_format: Option<Format>,

    /// The width of the numbers, a multiple of 32 up to 1048576: one width for all operands, or one for
    /// each, separated by commas. Needed for raw files [default for text: the widest number].
    #[arg(long, value_name = "N[,N…]")]
    pub(crate) bits: Option<Bits>,

    /// Where to compute: auto (a GPU if there is one that works, otherwise the CPU), cpu, cuda or
    /// cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Work on this number of items at a time [default: at most 65536; fewer if they do not fit
    /// into 256 MiB of memory, or would take more than about a second on the CPU].
    #[arg(long, value_name = "COUNT", value_parser = at_least_one)]
    pub(crate) chunk: Option<u64>,

    /// Write nothing unless every number has a result.
    #[arg(long)]
    pub(crate) strict: bool,

    /// How results are checked. identity: compare every result with its operands modulo 2^61 − 1
    /// (for powm and isprime, compute a random sample again on the CPU). none: no check. N: compute N random
    /// results again by slow arithmetic from the text of the operands, and compare the text of the
    /// results. Combine two with a comma: identity,N or none,N [default: identity on a device, none
    /// on the CPU; N alone is in addition to this default].
    ///
    /// identity costs the host one read of operands and results. On the device, mullo takes twice
    /// as long and gcd about four times as long; modinv needs one more product and one more
    /// quotient. A piece that fails is computed again. If it fails again, OUT is not written and
    /// the exit code is 1.
    #[arg(long, value_name = "WHAT")]
    pub(crate) check: Option<Check>,

    /// The seed that chooses the results to check [default: random].
    #[arg(long, value_name = "SEED", requires = "check")]
    pub(crate) seed: Option<u64>,

    /// Discard the partial results of a stopped run, and begin anew.
    #[arg(long)]
    pub(crate) restart: bool,

    /// Time between two records of progress, from which the same command goes on.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = units::parse_seconds)]
    pub(crate) checkpoint_interval: Duration,

    /// Print warnings and errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns a parser of the names of formats.
fn format() -> impl TypedValueParser<Value = Format> {
    let name = |format: Format| {
        PossibleValue::new(format.name()).help(match format {
            Format::Decimal => "A line of decimal digits each",
            Format::Hex => "A line of hexadecimal digits each",
            Format::Npy => {
                "A NumPy array of shape (count, limbs) of uint32 or uint64, the lowest limb first"
            }
            Format::Raw => "width/8 bytes each, the lowest first",
        })
    };
    PossibleValuesParser::new(Format::ALL.map(name)).try_map(|text| text.parse::<Format>())
}
