//! The command `warpint bench jacobi [P…]`: times Jacobi symbols of residues.

use std::time::Duration;

use warpint_bench::mersenne::jacobi::{Measured, usual_exponents};

use super::{Plot, cores, say, say_all};
use crate::args::BenchJacobiArgs;
use crate::exit::Exit;
use crate::units;

pub(crate) fn run(args: &BenchJacobiArgs) -> anyhow::Result<Exit> {
    let plot = Plot::new(args.plot.as_deref())?;
    let exponents =
        if args.exponents.is_empty() { usual_exponents() } else { args.exponents.clone() };
    let mut measured = Measured::new(args.threads.unwrap_or_else(cores));
    let threads = units::count(measured.threads as u64, "thread");
    let head = format!("{}, {threads}\n\n{:>11} {:>7}  time", measured.cpu, "p", "symbol");
    say(args.json, &head)?;
    for p in exponents {
        let row = measured.measure(p);
        let time = units::elapsed(Duration::from_secs_f64(row.seconds));
        say(args.json, &format!("{:>11} {:>7}  {time}", row.exponent, row.symbol))?;
    }
    say_all(args.json, &measured)?;
    plot.write(|| measured.chart())?;
    Ok(Exit::Done)
}
