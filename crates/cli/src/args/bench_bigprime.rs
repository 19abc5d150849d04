//! The arguments of `warpint bench bigprime`.

use std::path::PathBuf;

use clap::Args;
use warpint::arith::gfn::{Form, PRIMES};
use warpint_bench::bigprime::Way;

use super::named;
use super::transforms::{Lengths, MeasureArgs, lengths};

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

    #[command(flatten)]
    pub(crate) measure: MeasureArgs,

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

fn prime(text: &str) -> Result<Form, String> {
    let known = |k: usize| PRIMES.into_iter().find(|form| form.digits() == k);
    match text.parse::<usize>() {
        Ok(k) => known(k).ok_or_else(|| {
            format!("no prime of {k} digits is known: use 2, 4, 8, 16, 32, 64 or 128")
        }),
        Err(_) => text.parse().map_err(|e| format!("'{text}' is not a supported number: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
