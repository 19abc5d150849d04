//! The arguments of `warpint bench ntt`.

use std::path::PathBuf;

use clap::Args;
use warpint_bench::ntt::{Modulus, ODD_FACTORS, Orders};

use super::named;
use super::transforms::{Lengths, MeasureArgs, exponent, lengths};

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint bench ntt
  warpint bench ntt --device cuda --plot ntt.svg
  warpint bench ntt --device cuda --lengths 12..16 --batch 24 --order bit-reversed
  warpint bench ntt --device cuda --field f50 --lengths 20,24 --odd 3
  warpint bench ntt --device cpu --lengths 16,20 --threads 1 --json";

#[derive(Debug, Args)]
pub(crate) struct BenchNttArgs {
    /// Lengths of transforms, as exponents of two: 10..22, both ends included, or 12,16,20; from 1
    /// to 30 [default: 12,14,16,18,20,22,24,26,28 on a GPU, 10,12,14,16,18,20 on the CPU].
    #[arg(long, value_name = "LOG2", value_parser = lengths, value_delimiter = ',')]
    pub(crate) lengths: Vec<Lengths>,

    /// The field: goldilocks (modulo 2^64 − 2^32 + 1) or f50 (modulo the largest prime below 2^50 that
    /// has roots of unity for all lengths).
    #[arg(long, value_name = "FIELD", default_value = Modulus::default().name(), value_parser = named(&Modulus::ALL, Modulus::name, Modulus::about), hide_possible_values = true)]
    pub(crate) field: Modulus,

    /// Multiply all lengths by this number: 1, 3 or 5. On the CPU, 3 and 5 need --field f50.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = odd)]
    pub(crate) odd: u32,

    /// The order of the outputs: natural, bit-reversed or both. On the CPU, bit-reversed order needs
    /// --field f50 [default: both, or natural if only this is supported].
    #[arg(long, value_name = "ORDER", value_parser = named(&Orders::ALL, Orders::name, Orders::about), hide_possible_values = true)]
    pub(crate) order: Option<Orders>,

    /// Transform a batch of vectors with 2^LOG2 points in all, LOG2 from 1 to 36. A longer vector is
    /// a batch of its own [default: one vector].
    #[arg(long, value_name = "LOG2", value_parser = batch)]
    pub(crate) batch: Option<u32>,

    #[command(flatten)]
    pub(crate) measure: MeasureArgs,

    /// Draw into this SVG file the time per point of the forward transforms against the length, and the
    /// floors. An existing file is replaced. A path that cannot be written is refused before anything is
    /// measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Print only the results, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn odd(text: &str) -> Result<u32, String> {
    let factor = text.parse().ok().filter(|factor| ODD_FACTORS.contains(factor));
    factor.ok_or_else(|| format!("'{text}' is not 1, 3 or 5"))
}

fn batch(text: &str) -> Result<u32, String> {
    const MOST: u32 = 36;
    exponent(text, MOST)
        .ok_or_else(|| format!("'{text}' is not an exponent of two from 1 to {MOST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_factor_is_one_of_three() {
        assert_eq!(["1", "3", "5"].map(odd), [Ok(1), Ok(3), Ok(5)]);
        for text in ["", "0", "2", "7", "-3", "3.0"] {
            assert_eq!(odd(text), Err(format!("'{text}' is not 1, 3 or 5")));
        }
    }

    #[test]
    fn a_batch_is_an_exponent() {
        assert_eq!((batch("1"), batch("36")), (Ok(1), Ok(36)));
        for wrong in ["0", "37", "-1", "2..3", "x", ""] {
            assert!(batch(wrong).is_err(), "{wrong}");
        }
    }
}
