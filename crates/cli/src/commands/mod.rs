//! One file per command.

mod bench;
mod completions;
mod devices;
mod ll;
mod prp;
mod selftest;

use crate::args::{Bench, Command};
use crate::exit::Exit;

pub(crate) fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Prp { test } => prp::run(&test),
        Command::Ll { start, test } => ll::run(start, &test),
        Command::Bench { what: Bench::Mersenne(args) } => bench::mersenne(&args),
        Command::Selftest { filter } => selftest::run(filter.as_deref()),
        Command::Devices { json } => devices::run(json),
        Command::Completions { shell } => completions::run(shell),
    }
}
