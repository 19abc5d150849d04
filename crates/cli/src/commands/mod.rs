//! The commands of the program, one file or folder each.

mod audit_keys;
mod batch;
mod bench;
mod calc;
mod collatz;
mod completions;
mod config;
mod devices;
mod ll;
mod make_keys;
mod man;
mod proof;
mod prp;
mod report;
mod selftest;
mod selftest_faults;
mod status;
mod stress;
mod test;
mod tune;
mod work;

use crate::args::{Cli, Command, Proof};
use crate::exit::Exit;

pub(crate) fn run(cli: Cli) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Prp { test, factors, proof } => prp::run(&test, &factors, proof),
        Command::Ll { start, verify_with, check, test } => {
            ll::run(start, verify_with, check, &test)
        }
        Command::Test(args) => test::run(&args),
        Command::Proof { what: Proof::Verify(args) } => proof::verify(&args),
        Command::AuditKeys(args) => audit_keys::run(&args),
        Command::Batch { what } => batch::run(&what),
        Command::Calc { what } => calc::run(&what),
        Command::Collatz { what } => collatz::run(&what),
        Command::Bench { what } => bench::run(&what),
        Command::Selftest(args) if args.faults => selftest_faults::run(&args),
        Command::Selftest(args) => selftest::run(&args),
        Command::Work(args) => work::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Config(args) => config::run(&args, cli.no_config),
        Command::Report(args) => report::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Stress(args) => stress::run(&args),
        Command::Devices { json } => devices::run(json),
        Command::MakeKeys(args) => make_keys::run(&args),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { dir } => man::run(&dir),
    }
}
