//! The command `warpint collatz` and its subcommands.

mod bench;
mod delay;
mod merge;
pub(super) mod numbers;
mod path;
mod places;
mod text;
mod verify;
mod view;

use crate::args::Collatz;
use crate::exit::Exit;

pub(crate) fn run(what: &Collatz) -> anyhow::Result<Exit> {
    match what {
        Collatz::Verify(args) => verify::run(args),
        Collatz::Merge(args) => merge::run(args),
        Collatz::Bench(args) => bench::run(args),
        Collatz::Path(args) => path::run(args),
        Collatz::Delay(args) => delay::run(args),
    }
}
