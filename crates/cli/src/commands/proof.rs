//! The command `warpint proof verify FILE`: the verification of a proof file.

use warpint::runner::proofs::verify_file;

use crate::args::ProofVerifyArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::report;

pub(crate) fn verify(args: &ProofVerifyArgs) -> anyhow::Result<Exit> {
    // Nothing needs saving, so that a signal ends the verification at once.
    let (console, stop) = Console::install(args.quiet, args.json)?;
    let request = args.arithmetic.plan_request(None);
    let Some(report) = verify_file(&args.file, &request, &*console, &stop)? else {
        return Ok(Exit::Stopped);
    };
    report::print(&report, args.json)?;
    Ok(if report.is_valid() { Exit::Done } else { Exit::Negative })
}
