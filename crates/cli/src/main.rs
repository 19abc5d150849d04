//! The command-line program `warpint`: parses arguments, runs the command, and prints its report.

mod args;
mod commands;
mod console;
mod exit;
#[cfg(test)]
mod fuzz;
mod lengths;
mod limits;
mod meter;
mod misuse;
mod progress;
mod proof_view;
#[cfg(test)]
mod reference;
mod report;
mod run;
mod signals;
mod steps;
mod threads;
mod together;
mod units;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    limits::bear_the_file_size();
    let exit = match args::Cli::try_parse() {
        Ok(cli) => commands::run(cli.command).unwrap_or_else(|e| exit::report(&e)),
        Err(e) => misuse::report(&e),
    };
    signals::end_as_asked(exit);
    exit.into()
}
