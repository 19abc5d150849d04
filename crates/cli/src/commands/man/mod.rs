//! The command `warpint man DIR`: writes the man pages.

mod page;

use std::path::Path;

use clap::Command;
use warpint_files::Folder;

use crate::config::grammar;
use crate::exit::Exit;
use crate::{help, report};

pub(crate) fn run(dir: &Path) -> anyhow::Result<Exit> {
    let cli = commands();
    let folder = Folder::at(dir);
    folder.make()?;
    for command in help::shown(&cli) {
        folder.replace(format!("{}.1", page_name(command)), &[&page::page(command)?])?;
    }
    report::write_out(format!("wrote the man pages to {}\n", dir.display()).as_bytes())?;
    Ok(Exit::Done)
}

/// Returns the command line with the full name of each subcommand, such as `warpint-batch-mul`.
fn commands() -> Command {
    let mut cli = grammar().disable_help_subcommand(true);
    cli.build();
    cli
}

/// Returns the name of a page, such as `warpint-batch-mul`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}
