//! The arguments of `warpint bench batch`.

use std::path::PathBuf;

use clap::Args;
use warpint::integer::Width;
use warpint::mersenne::DeviceChoice;
use warpint_bench::batch::{Methods, Operation};

use super::arithmetic::threads;
use super::{at_least_one, named};

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint bench batch
  warpint bench batch --device cuda --plot batch.svg
  warpint bench batch --device cuda --op mul --method all --json
  warpint bench batch --op mullo --bits 256,384 --count 100000
  warpint bench batch --op mul,divrem
  warpint bench batch --op gcd,gcd-by-division --bits 256,1024";

#[derive(Debug, Args)]
pub(crate) struct BenchBatchArgs {
    #[arg(
        long = "op",
        help = operations(),
        value_name = "OPS",
        value_parser = named(&Operation::ALL, Operation::name, Operation::about),
        value_delimiter = ',',
        default_value = "add,mul,sqr",
        hide_possible_values = true
    )]
    pub(crate) operations: Vec<Operation>,

    /// Widths in bits, multiples of 32 [default: the powers of 2 from 64 to 262144 that the method
    /// can do; for gcd-by-division only up to 4096].
    #[arg(long, value_name = "BITS", value_parser = width, value_delimiter = ',')]
    pub(crate) bits: Vec<Width>,

    /// Count of numbers in a batch [default: as many as fill 256 MiB, on the CPU 16 MiB, at most
    /// what fits into the free memory].
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) count: Option<usize>,

    /// How a device multiplies: single, karatsuba1 … karatsuba5, ntt3 … ntt11, or all: a row for each
    /// possible method [default: the library's choice, by the prices of tune batch or an estimate].
    #[arg(long, value_name = "METHOD", value_parser = methods)]
    pub(crate) method: Option<Methods>,

    /// Where to compute: auto (a GPU if there is one that works, otherwise the CPU), cpu, cuda or
    /// cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Draw the operands from this seed [default: random; --json shows it].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u32>,

    /// Draw the times and floors against the width into this SVG file. An existing file is replaced.
    /// A path that cannot be written is refused before anything is measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns the help of the option `--op`, which lists all operations with their formulas.
fn operations() -> String {
    let all =
        Operation::ALL.map(|operation| format!("{} ({})", operation.name(), operation.about()));
    format!(
        "Operations on numbers of n bits: {}. The column ÷/× of divrem is its time divided by that of a \
         product of n by n bits",
        all.join(", ")
    )
}

fn methods(text: &str) -> Result<Methods, String> {
    match text {
        "all" => Ok(Methods::All),
        _ => text.parse().map(Methods::One).map_err(|e| format!("{e}, or all")),
    }
}

fn width(text: &str) -> Result<Width, String> {
    let bits: u32 = text.parse().map_err(|_| format!("'{text}' is not a number of bits"))?;
    Width::new(bits).map_err(|e| e.to_string())
}

fn count(text: &str) -> Result<usize, String> {
    let most = u32::MAX as usize;
    let n = at_least_one(text)?;
    usize::try_from(n)
        .ok()
        .filter(|&n| n <= most)
        .ok_or_else(|| format!("{n} numbers are too many: a batch has at most {most}"))
}
