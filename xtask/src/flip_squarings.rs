//! Flips bits in the memory of a device or of the CPU during squarings whose check is on.

use std::time::Instant;

use clap::Args;
use warpint_device::{CPU, Device};
use warpint_selftest::faults::{flip_squarings, flip_squarings_on_cpu};

/// The options of `flip-squarings`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The device: cpu, sim, cuda, cuda:N
    #[arg(long, default_value = "sim")]
    device: String,
    /// The number of flips, each in a run of its own
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: u64,
    /// The number of the first flip: several processes can share the flips, some hundred each
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    first: u64,
}

/// Makes the flips. Returns an error if a wrong residue passed.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let begun = Instant::now();
    let told = if options.device == CPU {
        flip_squarings_on_cpu(options.first, options.count)
    } else {
        flip_squarings(&Device::open(&options.device)?, options.first, options.count)
    };
    let told = told.map_err(anyhow::Error::msg)?;
    println!("{told}; {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}
