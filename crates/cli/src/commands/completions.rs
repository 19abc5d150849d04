//! The command `warpint completions SHELL`: prints a completion script for a shell.

use crate::config::grammar;
use crate::exit::Exit;
use crate::report;

pub(crate) fn run(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    // Written to memory first, because the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut grammar(), "warpint", &mut script);
    report::write_out(&script)?;
    Ok(Exit::Done)
}
