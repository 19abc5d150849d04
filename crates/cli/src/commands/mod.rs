//! One file per command.

mod batch;
mod bench;
mod bench_device;
mod collatz;
mod completions;
mod devices;
mod ll;
mod proof;
mod prp;
mod selftest;
mod selftest_faults;
mod status;
mod stress;
mod tune;
mod tune_batch;
mod work;

use crate::args::{Bench, Command, Proof, Tune, TuneArgs};
use crate::exit::Exit;

pub(crate) fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Prp { test, factors, proof } => prp::run(&test, &factors, proof),
        Command::Ll { start, verify_with, test } => ll::run(start, verify_with, &test),
        Command::Proof { what: Proof::Verify(args) } => proof::verify(&args),
        Command::Batch { what } => batch::run(&what),
        Command::Collatz { what } => collatz::run(&what),
        Command::Bench { what: Bench::Mersenne(args) } => bench::mersenne(&args),
        Command::Bench { what: Bench::Batch(args) } => bench::batch::run(&args),
        Command::Bench { what: Bench::Bigprime(args) } => bench::bigprime::run(&args),
        Command::Bench { what: Bench::Checks(args) } => bench::checks::run(&args),
        Command::Bench { what: Bench::Device(args) } => bench_device::run(&args),
        Command::Bench { what: Bench::Jacobi(args) } => bench::jacobi::run(&args),
        Command::Selftest(args) if args.faults => selftest_faults::run(&args),
        Command::Selftest(args) => selftest::run(&args),
        Command::Work(args) => work::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Tune(TuneArgs { what: Some(Tune::Batch(args)), .. }) => tune_batch::run(&args),
        Command::Tune(TuneArgs { what: Some(Tune::Collatz(args)), .. }) => {
            collatz::tune::run(&args)
        }
        Command::Tune(args) => tune::run(&args),
        Command::Stress(args) => stress::run(&args),
        Command::Devices { json } => devices::run(json),
        Command::Completions { shell } => completions::run(shell),
    }
}
