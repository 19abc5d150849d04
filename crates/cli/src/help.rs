//! The structure of the help: the commands that it shows, and the parts of the text that follows
//! the options. The reference and the man pages are made from it.

use clap::Command;

/// Returns a command, its subcommands, their subcommands and so on, except hidden ones.
pub(crate) fn shown(command: &Command) -> Vec<&Command> {
    std::iter::once(command).chain(below(command).into_iter().flat_map(shown)).collect()
}

/// Returns the subcommands of a command, except hidden ones and `help`.
pub(crate) fn below(command: &Command) -> Vec<&Command> {
    let all = command.get_subcommands();
    all.filter(|below| !below.is_hide_set() && below.get_name() != "help").collect()
}

/// A part of the help text that follows the options.
#[derive(Debug, PartialEq)]
pub(crate) enum Part<'a> {
    /// The title of the next part, without its colon.
    Title(&'a str),
    /// Lines that are shown as they are, without their indentation of two spaces. There is at least
    /// one line.
    Lines(Vec<&'a str>),
    /// A paragraph.
    Prose(&'a str),
}

/// Splits the help text that follows the options. Blank lines separate parts. A first line that
/// ends with a colon, above indented lines, is a title.
pub(crate) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = vec![];
    for part in
        text.split("\n\n").map(|part| part.trim_matches('\n')).filter(|part| !part.is_empty())
    {
        let titled = part.split_once('\n').filter(|(_, rest)| rest.starts_with("  "));
        let titled = titled.and_then(|(title, rest)| Some((title.strip_suffix(':')?, rest)));
        let rest = match titled {
            Some((title, rest)) => {
                parts.push(Part::Title(title));
                rest
            }
            None => part,
        };
        parts.push(if rest.starts_with("  ") {
            Part::Lines(rest.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect())
        } else {
            Part::Prose(rest)
        });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lines_and_prose_are_told_apart() {
        let text = "Examples:\n  warpint a\n    b\n\nNot a title:\nprose.\n\n  $ warpint c\n";
        let all = [
            Part::Title("Examples"),
            Part::Lines(vec!["warpint a", "  b"]),
            Part::Prose("Not a title:\nprose."),
            Part::Lines(vec!["$ warpint c"]),
        ];
        assert_eq!(parts(text), all);
    }
}
