//! The arguments of `warpint bench bigprime`.

use std::path::PathBuf;

use clap::Args;
use warpint::arith::gfn::{Form, PRIMES};
use warpint::mersenne::DeviceChoice;
use warpint_bench::bigprime::Way;

use super::arithmetic::threads;
use super::{at_least_one, named};

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint bench bigprime
  warpint bench bigprime --device cuda --plot bigprime.svg
  warpint bench bigprime --device cuda --prime 8,16 --lengths 10,15,20 --json
  warpint bench bigprime --device cpu --prime 4 --lengths 8..12
  warpint bench bigprime --prime \"(2^63+2^34)^8+1\" --lengths 12";

#[derive(Debug, Args)]
pub(crate) struct BenchBigprimeArgs {
    /// Primes r^k + 1. Each is given by the k of one of the seven known primes (2, 4, 8, 16, 32,
    /// 64, 128), or by a form such as "(2^63+2^34)^8+1", which is proven prime first [default: all
    /// seven].
    #[arg(long = "prime", value_name = "PRIMES", value_parser = prime, value_delimiter = ',')]
    pub(crate) primes: Vec<Form>,

    /// Lengths of transforms, as exponents of two: 10..22, both ends included, or 12,16,20; from 1
    /// to 30 [default: 10..22 on a GPU, 6..10 on the CPU].
    #[arg(long, value_name = "LOG2", value_parser = lengths, value_delimiter = ',')]
    pub(crate) lengths: Vec<Lengths>,

    /// The method: big (the big-prime method), small (the small-primes method, on devices only) or both
    /// [default: both on a GPU, big on the CPU].
    #[arg(long, value_name = "WAY", value_parser = named(&Way::ALL, Way::name, Way::about), hide_possible_values = true)]
    pub(crate) way: Option<Way>,

    /// Runs of which the median is taken, 1 to 1000 [default: 15, or 3 for transforms that take
    /// long].
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    /// Where to compute: auto (a GPU if there is one that works, otherwise the CPU), cpu, cuda or
    /// cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Draw into this SVG file the ratio of the times of both methods against the length, or the times of
    /// one method if only one runs. An existing file is replaced. A path that cannot be written is refused
    /// before anything is measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Print only the results, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A range of transform lengths, as exponents of two. It includes both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// log2 of the length of the longest transform that may be requested.
const MOST: u32 = 30;

fn lengths(text: &str) -> Result<Lengths, String> {
    let one = |part: &str| {
        let log2 = part.parse().ok().filter(|log2| (1..=MOST).contains(log2));
        log2.ok_or_else(|| {
            let what = if part == text { String::new() } else { format!(" in '{text}'") };
            format!("'{part}'{what} is not an exponent of two from 1 to {MOST}")
        })
    };
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (one(from)?, one(to)?),
        None => (one(text)?, one(text)?),
    };
    if from > to {
        return Err(format!("'{text}' ends before it begins"));
    }
    Ok(Lengths { from, to })
}

fn prime(text: &str) -> Result<Form, String> {
    let known = |k: usize| PRIMES.into_iter().find(|form| form.digits() == k);
    match text.parse::<usize>() {
        Ok(k) => known(k).ok_or_else(|| {
            format!("no prime of {k} digits is known: use 2, 4, 8, 16, 32, 64 or 128")
        }),
        Err(_) => text.parse().map_err(|e| format!("'{text}' is not a supported number: {e}")),
    }
}

fn runs(text: &str) -> Result<usize, String> {
    const MOST: u64 = 1000;
    let n = at_least_one(text)?;
    if n > MOST {
        Err(format!("{n} runs are too many: give at most {MOST}"))
    } else {
        Ok(n as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_numbers_and_ranges() {
        assert_eq!(lengths("10..22"), Ok(Lengths { from: 10, to: 22 }));
        assert_eq!(lengths("7"), Ok(Lengths { from: 7, to: 7 }));
        for wrong in ["0", "31", "5..4", "..", "x", "3..", "1..40", "-1", "1...3", ""] {
            assert!(lengths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn primes_are_known_ones_or_forms() {
        for form in PRIMES {
            assert_eq!(prime(&form.digits().to_string()), Ok(form));
            assert_eq!(prime(&form.to_string()), Ok(form));
        }
        for wrong in ["3", "256", "2^64-2^32+1", "(2^63+2^34)^3+1", "x", ""] {
            assert!(prime(wrong).is_err(), "{wrong}");
        }
    }
}
