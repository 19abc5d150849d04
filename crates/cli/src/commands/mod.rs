//! One file per command.

mod bench;
mod bench_device;
mod completions;
mod devices;
mod ll;
mod prp;
mod selftest;
mod selftest_faults;
mod stress;
mod tune;

use crate::args::{Bench, Command};
use crate::exit::Exit;

pub(crate) fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Prp { test } => prp::run(&test),
        Command::Ll { start, test } => ll::run(start, &test),
        Command::Bench { what: Bench::Mersenne(args) } => bench::mersenne(&args),
        Command::Bench { what: Bench::Device(args) } => bench_device::run(&args),
        Command::Selftest { filter, faults: false, device } => {
            selftest::run(device.device, filter.as_deref())
        }
        Command::Selftest { filter, faults: true, device } => {
            selftest_faults::run(device.device, filter.as_deref())
        }
        Command::Tune(args) => tune::run(&args),
        Command::Stress(args) => stress::run(&args),
        Command::Devices { json } => devices::run(json),
        Command::Completions { shell } => completions::run(shell),
    }
}
