//! The program `warpint`: arguments → options → work → report.

mod args;
mod commands;
mod exit;
#[cfg(test)]
mod fuzz;
mod lengths;
mod meter;
mod misuse;
mod no_result;
mod progress;
mod proof_view;
mod proofs;
mod report;
mod run;
mod signals;
mod stored;
mod units;
mod whole_file;
mod work;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let exit = match args::Cli::try_parse() {
        Ok(cli) => commands::run(cli.command).unwrap_or_else(|e| exit::report(&e)),
        Err(e) => misuse::report(&e),
    };
    signals::end_as_asked(exit);
    exit.into()
}
