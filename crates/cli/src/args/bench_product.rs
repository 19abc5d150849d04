//! The arguments of `warpint bench product`.

use std::path::PathBuf;

use clap::Args;

use super::transforms::{Lengths, MeasureArgs, lengths_to};

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint bench product
  warpint bench product --device cuda --plot product.svg
  warpint bench product --device cuda --bits 24,28,30,32 --json
  warpint bench product --device cpu --bits 16..20 --threads 1";

#[derive(Debug, Args)]
pub(crate) struct BenchProductArgs {
    /// Bits of each factor, as exponents of two: 20..24, both ends included, or 24,28,30; from 6 to 34
    /// [default: 20,22,24,26,28,30,32 on a GPU, 14,16,18,20,22,24 on the CPU].
    #[arg(long, value_name = "LOG2", value_parser = bits, value_delimiter = ',')]
    pub(crate) bits: Vec<Lengths>,

    #[command(flatten)]
    pub(crate) measure: MeasureArgs,

    /// Draw the times against the number of bits into this SVG file. An existing file is replaced. A
    /// path that cannot be written is refused before anything is measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Print only the results, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn bits(text: &str) -> Result<Lengths, String> {
    const MOST: u32 = 34;
    lengths_to(MOST, text)
}
