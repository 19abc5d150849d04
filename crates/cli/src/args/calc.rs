//! The arguments of `warpint calc` and its calculations.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use warpint::batch::Format;
use warpint::mersenne::DeviceChoice;

use super::Places;
use super::arithmetic::threads;

pub(super) const CALC_EXAMPLES: &str = "\
Examples:
  warpint calc mul a.txt b.txt -o product.txt
  warpint calc divrem a.hex b.hex -o quotient.hex --rem remainder.hex
  warpint calc pow 2 136279841 -o power.bin
  warpint calc fac 33554432 -o factorial.txt --threads 16
  warpint calc todec power.bin -o power.txt";

const MUL_EXAMPLES: &str = "\
Examples:
  warpint calc mul a.txt b.txt -o product.txt

  $ warpint calc mul 2^64 3 -o - --quiet
  55340232221128654848";

const SQR_EXAMPLES: &str = "\
Examples:
  warpint calc sqr a.bin -o square.bin

  $ warpint calc sqr 10^20 -o - --quiet
  10000000000000000000000000000000000000000";

const DIVREM_EXAMPLES: &str = "\
Examples:
  warpint calc divrem a.txt b.txt -o quotient.txt --rem remainder.txt

  $ warpint calc divrem 10^20 7 -o - --quiet
  14285714285714285714";

const GCD_EXAMPLES: &str = "\
Examples:
  warpint calc gcd a.txt b.txt -o divisor.txt

  $ warpint calc gcd 2^60-1 2^48-1 -o - --quiet
  4095";

const SQRT_EXAMPLES: &str = "\
Examples:
  warpint calc sqrt a.txt -o root.txt --rem remainder.txt

  $ warpint calc sqrt 10^41 -o - --quiet
  316227766016837933199";

const POW_EXAMPLES: &str = "\
Examples:
  warpint calc pow 3 10000000 -o power.txt

  $ warpint calc pow 3 100 -o - --quiet
  515377520732011331036461129765621272702107522001";

const FAC_EXAMPLES: &str = "\
Examples:
  warpint calc fac 1000000 -o factorial.txt

  $ warpint calc fac 25 -o - --quiet
  15511210043330985984000000";

const PRIMORIAL_EXAMPLES: &str = "\
Examples:
  warpint calc primorial 1000000 -o primorial.txt

  $ warpint calc primorial 50 -o - --quiet
  614889782588491410";

const TODEC_EXAMPLES: &str = "\
Examples:
  warpint calc todec a.bin -o a.txt

  $ warpint calc todec 0xffffffffffffffff -o - --quiet
  18446744073709551615";

const TOHEX_EXAMPLES: &str = "\
Examples:
  warpint calc tohex a.txt -o a.hex

  $ warpint calc tohex 2^64-1 -o - --quiet
  ffffffffffffffff";

/// The calculation.
#[derive(Debug, Subcommand)]
pub(crate) enum Calc {
    /// a·b.
    #[command(after_help = MUL_EXAMPLES)]
    Mul(TwoArgs),
    /// a².
    #[command(after_help = SQR_EXAMPLES)]
    Sqr(OneArgs),
    /// ⌊a/b⌋ and, with --rem, a mod b.
    #[command(after_help = DIVREM_EXAMPLES)]
    Divrem(DivremArgs),
    /// The greatest common divisor of a and b.
    #[command(after_help = GCD_EXAMPLES)]
    Gcd(TwoArgs),
    /// ⌊√a⌋ and, with --rem, a − ⌊√a⌋².
    #[command(after_help = SQRT_EXAMPLES)]
    Sqrt(SqrtArgs),
    /// a^e for e below 2^64.
    #[command(after_help = POW_EXAMPLES)]
    Pow(PowArgs),
    /// n! for n below 2^64.
    #[command(after_help = FAC_EXAMPLES)]
    Fac(CountArgs),
    /// The product of all primes up to n.
    #[command(after_help = PRIMORIAL_EXAMPLES)]
    Primorial(CountArgs),
    /// a in decimal digits.
    #[command(after_help = TODEC_EXAMPLES)]
    Todec(OneArgs),
    /// a in hexadecimal digits.
    #[command(after_help = TOHEX_EXAMPLES)]
    Tohex(OneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The number a: a file of one number, a pipe, - for standard input, or a number of at most 2^20
    /// bits, such as 5, 0x10001 or 2^127-1. If a file of that name exists, the file is read.
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(crate) a: PathBuf,

    #[command(flatten)]
    pub(crate) rest: CalcArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TwoArgs {
    /// The number a: a file of one number, a pipe, - for standard input, or a number of at most 2^20
    /// bits, such as 5, 0x10001 or 2^127-1. If a file of that name exists, the file is read.
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(crate) a: PathBuf,

    /// The number b, given like a.
    #[arg(value_name = "B", allow_negative_numbers = true)]
    pub(crate) b: PathBuf,

    #[command(flatten)]
    pub(crate) rest: CalcArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DivremArgs {
    #[command(flatten)]
    pub(crate) two: TwoArgs,

    #[command(flatten)]
    pub(crate) second: RemainderArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SqrtArgs {
    #[command(flatten)]
    pub(crate) one: OneArgs,

    #[command(flatten)]
    pub(crate) second: RemainderArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PowArgs {
    /// The number a: a file of one number, a pipe, - for standard input, or a number of at most 2^20
    /// bits, such as 5, 0x10001 or 2^127-1. If a file of that name exists, the file is read.
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(crate) a: PathBuf,

    /// The exponent, given like a.
    #[arg(value_name = "E", allow_negative_numbers = true)]
    pub(crate) e: PathBuf,

    #[command(flatten)]
    pub(crate) rest: CalcArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    /// The number n below 2^64, such as 1000000, 10^6 or 2^25.
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub(crate) n: PathBuf,

    #[command(flatten)]
    pub(crate) rest: CalcArgs,
}

/// The arguments of calculations that have a remainder.
#[derive(Debug, Args)]
pub(crate) struct RemainderArgs {
    /// Write the remainder to this file. Its format is that of --format, else the one given by the end
    /// of its name, else that of OUT.
    #[arg(long, value_name = "REM")]
    pub(crate) rem: Option<PathBuf>,
}

/// How results are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalcCheck {
    /// Compare residues modulo five primes
    Residues,
    /// Check nothing
    None,
}

/// The arguments that all calculations have in common.
#[derive(Debug, Args)]
pub(crate) struct CalcArgs {
    /// Where the result goes: a file, a pipe, a device such as /dev/null, or - for standard output. A
    /// file gets its name when it is complete. With - the report goes to standard error.
    #[arg(short, long = "output", value_name = "OUT")]
    pub(crate) out: PathBuf,

    /// The format of the results: dec, hex or raw [default: by the end of the name of OUT (.txt or .dec,
    /// .hex, .bin or .raw), else that of the first operand that is a file or a pipe, else dec].
    #[arg(long, value_name = "FORMAT", value_parser = format(), hide_possible_values = true)]
    pub(crate) format: Option<Format>,

    /// The format of the operands: dec, hex or raw [default: by the end of the name, else by content].
    #[arg(long, value_name = "FORMAT", value_parser = format(), hide_possible_values = true)]
    pub(crate) in_format: Option<Format>,

    /// Replace OUT and REM if they exist. OUT may then be an operand.
    #[arg(long)]
    pub(crate) force: bool,

    /// How results are checked: residues or none. residues: the digits of the result are compared with
    /// the digits of the operands modulo five primes near 2^61. For gcd and primorial only the
    /// conversion of the result is checked. If a check fails, nothing is written and the exit code is 1.
    #[arg(long, value_enum, default_value_t = CalcCheck::Residues, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) check: CalcCheck,

    /// Where long products are computed: cpu, auto (a GPU if there is one that works, otherwise the
    /// CPU), cuda or cuda:N, or all (all GPUs; they share products of more than 2^34 bits, and cuda:0
    /// computes the others). The other work is done by the CPU. If a GPU fails or computes a wrong
    /// product, the CPU goes on alone, with a warning.
    #[arg(long, value_name = "DEVICE", default_value_t = Places::One(DeviceChoice::Cpu))]
    pub(crate) device: Places,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Print warnings and errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns a parser of the names of formats for a single number.
fn format() -> impl TypedValueParser<Value = Format> {
    let name =
        |(format, help): (Format, &'static str)| PossibleValue::new(format.name()).help(help);
    let formats = [
        (Format::Decimal, "Decimal digits"),
        (Format::Hex, "Hexadecimal digits"),
        (Format::Raw, "Bytes, the lowest first"),
    ];
    PossibleValuesParser::new(formats.map(name)).try_map(|text| text.parse::<Format>())
}
