//! The command-line program `warpint`: parses arguments, runs the command, and prints its report.

mod args;
mod commands;
mod config;
mod console;
mod exit;
#[cfg(test)]
mod fuzz;
mod help;
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

fn main() -> ExitCode {
    limits::bear_the_file_size();
    let exit = match config::command_line(std::env::args_os().collect()) {
        Ok(cli) => commands::run(cli).unwrap_or_else(|e| exit::report(&e)),
        Err(e) => match e.downcast_ref() {
            Some(error) => misuse::report(error),
            None => exit::report(&e),
        },
    };
    signals::end_as_asked(exit);
    exit.into()
}
