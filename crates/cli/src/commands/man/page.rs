//! The man page of one command.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::help::{self, Part};

/// Returns the man page of a command as roff, in ASCII: other characters are escaped, so that `man` shows what the
/// locale has in their place.
pub(super) fn page(command: &Command) -> io::Result<Vec<u8>> {
    // The foot of the page shows the version where other pages show their date.
    let version = concat!("warpint ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).date(version).source("warpint").manual("warpint manual");
    let mut page = vec![];
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if !help::below(command).is_empty() {
        man.render_subcommands_section(&mut page)?;
    }
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    sections(&after).to_writer(&mut page)?;
    see_also(command).to_writer(&mut page)?;
    let page = String::from_utf8(page).map_err(io::Error::other)?;
    Ok(page.chars().map(escaped).collect::<String>().into_bytes())
}

/// Returns a character as roff writes it in ASCII.
fn escaped(c: char) -> String {
    match c {
        '…' => "...".into(),
        _ if c.is_ascii() => c.into(),
        _ => format!("\\[u{:04X}]", u32::from(c)),
    }
}

/// Formats the help text that follows the options. Its titles become sections, and its indented
/// lines are not filled.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    for part in help::parts(text) {
        match part {
            Part::Title(title) => {
                roff.control("SH", [title.to_uppercase().as_str()]);
            }
            Part::Lines(lines) => {
                roff.control("PP", []).control("nf", []);
                for line in lines {
                    roff.text([roman(line)]);
                }
                roff.control("fi", []);
            }
            Part::Prose(prose) => {
                roff.control("PP", []).text([roman(prose)]);
            }
        }
    }
    roff
}

/// Refers from the page of a subcommand to the pages of the commands above it, and from the first
/// page to the repository.
fn see_also(command: &Command) -> Roff {
    let words: Vec<_> = command.get_bin_name().unwrap_or_default().split(' ').collect();
    let above = (1..words.len()).rev().map(|count| format!("{}(1)", words[..count].join("-")));
    let above: Vec<_> = above.collect();
    let text = match above.is_empty() {
        true => {
            concat!("The book, with guides and references: ", env!("CARGO_PKG_REPOSITORY")).into()
        }
        false => above.join(", "),
    };
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]).text([roman(text)]);
    roff
}

#[cfg(test)]
mod tests {
    use super::super::{commands, page_name};
    use super::*;

    fn text(name: &str) -> String {
        let cli = commands();
        let command = help::shown(&cli).into_iter().find(|command| page_name(command) == name);
        String::from_utf8(page(command.unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn a_page_has_the_sections_of_its_command() {
        let page = text("warpint-batch-mul");
        let heads: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let all = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"SEE ALSO\""];
        assert_eq!(heads, all, "{page}");
        assert!(page.contains("\n.TH warpint-batch-mul 1 "), "{page}");
        assert!(page.ends_with("\nwarpint\\-batch(1), warpint(1)\n"), "{page}");
    }

    #[test]
    fn a_page_is_ascii() {
        let cli = commands();
        for command in help::shown(&cli) {
            assert!(page(command).unwrap().is_ascii(), "{}", page_name(command));
        }
        let escapes: String = "…²≤a\\".chars().map(escaped).collect();
        assert_eq!(escapes, "...\\[u00B2]\\[u2264]a\\");
    }

    #[test]
    fn the_first_page_lists_commands_and_exit_codes() {
        let page = text("warpint");
        for part in ["warpint\\-make\\-keys(1)", ".SH \"EXIT CODES\"", env!("CARGO_PKG_REPOSITORY")]
        {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(text("warpint-make-keys").ends_with("\nwarpint(1)\n"));
    }

    #[test]
    fn lines_of_examples_are_not_filled_and_not_taken_for_requests() {
        let text = sections("Examples:\n  .first\n  second").to_roff();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines, [".SH EXAMPLES", ".PP", ".nf", "\\&.first", "second", ".fi"]);
    }
}
