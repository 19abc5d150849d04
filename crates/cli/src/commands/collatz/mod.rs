//! `warpint collatz`

mod bench;
mod merge;
mod numbers;
mod verifiers;
mod verify;

use crate::args::Collatz;
use crate::exit::Exit;

pub(crate) fn run(what: &Collatz) -> anyhow::Result<Exit> {
    match what {
        Collatz::Verify(args) => verify::run(args),
        Collatz::Merge(args) => merge::run(args),
        Collatz::Bench(args) => bench::run(args),
    }
}
