//! The arguments of `warpint collatz verify` and `warpint collatz merge`, with their help.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use warpint::collatz::Method;
use warpint::mersenne::DeviceChoice;

use super::arithmetic::threads;
use warpint::batch::expression::natural;

pub(crate) const VERIFY_EXAMPLES: &str = "\
Examples:
  warpint collatz verify --below 2^40
  warpint collatz verify 2^70 2^70+2^53 --device all
  warpint collatz verify --below 2^52 --unit-bits 44 --shard $SLURM_ARRAY_TASK_ID/16
  warpint collatz merge warpint-collatz

  $ warpint collatz verify --below 2^24 --quiet
  verified: every n from 1 up and below 2^24 reaches 1
  1 unit of up to 2^24 numbers in warpint-collatz: 1 done now, 0 before, 1 selected
  1 file: 1 by sieve 1 (last=10,look=auto24,step=12,rules=descent+preimages+runs+mod9)
  16777216 numbers (0 is counted, not claimed) in 747.79 ms: 2.24e7 a second, sieve on cpu
  highest value walked: 60342610919632, on the path of 6631675

Ctrl-C stops the run. Finished units are kept, and the same command does the rest. Machines that
share a range by --shard or --units must use the same range and --unit-bits.";

pub(crate) const MERGE_EXAMPLES: &str = "\
Examples:
  warpint collatz merge warpint-collatz
  warpint collatz merge machine-1 machine-2 --json
  warpint collatz merge machine-* --audit 20

  $ warpint collatz merge warpint-collatz | head -n 1
  verified: every n from 1 up and below 2^24 reaches 1

The check recomputes the sample and the evidence of each unit. This takes 0.1 to 0.2 s of computing
time per unit, rarely up to 1 s. Audits verify random units, or random parts of large units, once
more by another method.";

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The first number: 123456, 10^12, 2^70+5.
    #[arg(value_name = "A", value_parser = natural, allow_negative_numbers = true, required_unless_present = "below", requires = "to")]
    pub(crate) from: Option<u128>,

    /// The number after the last, at most 2^127.
    #[arg(value_name = "B", value_parser = natural, allow_negative_numbers = true)]
    pub(crate) to: Option<u128>,

    /// All numbers below X, instead of A and B.
    #[arg(long, value_name = "X", value_parser = natural, allow_negative_numbers = true, conflicts_with_all = ["from", "to"])]
    pub(crate) below: Option<u128>,

    /// auto (the fastest one for the device), plain (every number step by step), table (some bits
    /// at a time, by tables) or sieve (residue classes, refined bit by bit from the lowest; classes
    /// that provably descend are skipped).
    #[arg(long, value_name = "METHOD", default_value = AUTO, value_parser = method(), hide_possible_values = true)]
    pub(crate) method: MethodChoice,

    /// Where to compute: auto (a GPU if one works, otherwise the CPU), cpu, cuda, cuda:N, or all (every GPU takes
    /// units).
    #[arg(long, value_name = "DEVICE", default_value = AUTO)]
    pub(crate) device: Places,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Directory for the files of finished units.
    #[arg(long, value_name = "DIR", default_value = "warpint-collatz")]
    pub(crate) dir: PathBuf,

    /// Units of 2^M numbers [default: as in the files of this range in DIR; if there are none, such
    /// that a unit takes some seconds].
    #[arg(long, value_name = "M", value_parser = unit_bits)]
    pub(crate) unit_bits: Option<u32>,

    /// Only these units: 7, or 5..9 with both ends included. Units are numbered from 0.
    #[arg(long, visible_alias = "unit", value_name = "UNITS", value_parser = units, conflicts_with = "shard")]
    pub(crate) units: Option<(u64, u64)>,

    /// Divide the units into N parts of consecutive units, of about equal size and numbered from 0,
    /// and do only part I.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<(u64, u64)>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only the result and problems.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Directories with the files of units.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) dirs: Vec<PathBuf>,

    /// Believe the samples and the evidence in the files.
    #[arg(long)]
    pub(crate) no_check: bool,

    /// Verify N random units, or random parts of units, by another method on the CPU.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) audit: u64,

    /// Choose the same units as an earlier audit. Each audit reports its seed.
    #[arg(long, value_name = "SEED", requires = "audit")]
    pub(crate) audit_seed: Option<u64>,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Print one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const AUTO: &str = "auto";

/// The method of verification; `None` selects the fastest for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MethodChoice(pub(crate) Option<Method>);

pub(super) fn method() -> impl TypedValueParser<Value = MethodChoice> {
    let names = [AUTO].into_iter().chain(Method::ALL.map(Method::name));
    PossibleValuesParser::new(names)
        .map(|name| MethodChoice(Method::ALL.into_iter().find(|method| method.name() == name)))
}

/// The value of `--device` of commands that can use all GPUs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// All GPUs of this machine.
    All,
    /// One GPU, the CPU, or the automatic choice between them.
    One(DeviceChoice),
}

impl FromStr for Places {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        text.parse().map(Self::One).map_err(|unknown| format!("{unknown}, all"))
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::One(device) => device.fmt(f),
        }
    }
}

fn unit_bits(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|bits| *bits <= 127)
        .ok_or_else(|| format!("'{text}' is not a number of bits from 0 to 127"))
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

fn units(text: &str) -> Result<(u64, u64), String> {
    let range = match text.split_once("..") {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(text).map(|unit| (unit, unit)),
    };
    range.ok_or_else(|| {
        format!("'{text}' is not a choice of units: give one, such as 7, or several, such as 5..9")
    })
}

fn shard(text: &str) -> Result<(u64, u64), String> {
    let part = text.split_once('/').and_then(|(index, parts)| number(index).zip(number(parts)));
    part.ok_or_else(|| {
        format!("'{text}' is not a part: give 0/8 for the first of 8, 7/8 for the last")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        assert_eq!(units("7"), Ok((7, 7)));
        assert_eq!(units("5..9"), Ok((5, 9)));
        assert_eq!(shard("0/8"), Ok((0, 8)));
        assert_eq!("all".parse(), Ok(Places::All));
        assert_eq!("cpu".parse(), Ok(Places::One(DeviceChoice::Cpu)));
        for text in ["", "x", "5..", "..", "-1", "+5", "5...9", "1e3"] {
            assert!(units(text).is_err() && shard(text).is_err(), "{text}");
        }
        assert!("gpu".parse::<Places>().unwrap_err().ends_with("cuda:N, sim, all"));
    }
}
