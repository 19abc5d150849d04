//! The reports of errors in the command line.

use std::error::Error;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::{self, Exit, OutputError};
use crate::report;

/// Prints the error that clap found, or the requested help, and returns the exit code. For an
/// invalid value, and for the mistakes that [`detached_power`] and [`misplaced`] explain, prints a
/// message of this program in one line. In all other cases, prints the text of clap.
pub(crate) fn report(error: &clap::Error) -> Exit {
    let args: Vec<_> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let printed = match bad_value(error)
        .or_else(|| detached_power(error, &args))
        .or_else(|| misplaced(error))
    {
        Some(line) => {
            report::notice(&line);
            Ok(())
        }
        // Help without a final newline may still be in a buffer.
        None => error.print().and_then(|()| io::stdout().flush()),
    };
    match printed {
        // If even this cannot be printed, the exit code still shows the error.
        _ if error.use_stderr() => Exit::BadInput,
        Ok(()) => Exit::Done,
        Err(e) => exit::report(&OutputError(e).into()),
    }
}

fn bad_value(error: &clap::Error) -> Option<String> {
    // For an option without a value, clap's own text says what to give.
    let is_absent = error.kind() == ErrorKind::InvalidValue
        && text(error, ContextKind::InvalidValue).is_none_or(str::is_empty);
    let reason = reason(error).filter(|_| !is_absent)?;
    let argument = text(error, ContextKind::InvalidArg)?;
    Some(match argument.split([' ', '[']).next().filter(|a| a.starts_with("--")) {
        Some(name) => format!("error: {name}: {reason}"),
        None => format!("error: {reason}"),
    })
}

/// Returns why a value of an argument is invalid. `None` if the error is another one.
pub(crate) fn reason(error: &clap::Error) -> Option<String> {
    match error.kind() {
        ErrorKind::ValueValidation => Some(error.source()?.to_string()),
        ErrorKind::InvalidValue => {
            let value = text(error, ContextKind::InvalidValue)?;
            let ContextValue::Strings(valid) = error.get(ContextKind::ValidValue)? else {
                return None;
            };
            Some(format!("'{value}' is none of {}", valid.join(", ")))
        }
        _ => None,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns an explanation of the error for a command line such as `prp 216091 --proof 5`, in which
/// clap takes the 5 for a second exponent. Returns `None` for other errors.
fn detached_power(error: &clap::Error, args: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_number = |text: &String| text.bytes().all(|b| b.is_ascii_digit());
    let power = args.windows(2).find(|pair| pair[0] == "--proof").map(|pair| &pair[1])?;
    (is_number(unknown) && is_number(power))
        .then(|| format!("error: --proof: give the power behind a '=', as --proof={power}"))
}

/// Returns an explanation of the error for the option `--no-config` behind a command, for which clap
/// suggests another option. Returns `None` for other errors.
fn misplaced(error: &clap::Error) -> Option<String> {
    let is_it = error.kind() == ErrorKind::UnknownArgument
        && text(error, ContextKind::InvalidArg) == Some("--no-config");
    is_it.then(|| {
        "error: --no-config: give this option in front of the command, as in warpint --no-config work"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;

    #[test]
    fn bad_values_are_one_line_that_names_them() {
        for (args, expected) in [
            ("prp 12x", "error: '12x' is not a whole number"),
            ("prp -7", "error: '-7' is not a whole number"),
            ("ll 7 --start 5", "error: --start: '5' is none of 4, 10, 2/3"),
            (
                "ll 7 --engine fft",
                "error: --engine: 'fft' is none of auto, exact, word, fp64, goldilocks, hybrid, hybrid-fast, plain",
            ),
            // The program has the simulator when it is built for tests, but not when it is built as
            // usual.
            (
                "prp 7 --device gpu",
                "error: --device: 'gpu' is none of auto, cpu, cuda, cuda:N, sim",
            ),
            (
                "prp 7 --threads 0",
                "error: --threads: '0' is not a number of threads from 1 to 1024",
            ),
            ("prp 7 --iterations 0", "error: --iterations: '0' is not a number from 1 up"),
            (
                "prp 7 --length 3x",
                "error: --length: '3x' is not a length: give words like 393216, 384K or 4M",
            ),
            (
                "prp 7 --checkpoint-interval 0",
                "error: --checkpoint-interval: '0' is not a number of seconds above 0 and up to a day",
            ),
            ("completions tcsh", "error: 'tcsh' is none of bash, elvish, fish, powershell, zsh"),
        ] {
            let words = ["warpint"].into_iter().chain(args.split(' '));
            let error = Cli::try_parse_from(words).unwrap_err();
            assert_eq!(bad_value(&error).as_deref(), Some(expected), "{args}");
        }
    }

    #[test]
    fn an_option_behind_its_command_is_answered_with_its_place() {
        let said = |line: &str| misplaced(&Cli::try_parse_from(line.split(' ')).unwrap_err());
        let expected = "error: --no-config: give this option in front of the command, as in warpint \
                        --no-config work";
        for line in ["warpint work --no-config", "warpint batch mul --no-config 1 2"] {
            assert_eq!(said(line).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(said("warpint work --no-conf"), None);
    }

    #[test]
    fn a_power_without_its_sign_is_answered_with_the_right_form() {
        let said = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            detached_power(&Cli::try_parse_from(&words).unwrap_err(), &words)
        };
        let expected = "error: --proof: give the power behind a '=', as --proof=5";
        for line in ["warpint prp 9689 --proof 5", "warpint prp --proof 5 9689"] {
            assert_eq!(said(line).as_deref(), Some(expected), "{line}");
        }
        for line in ["warpint prp 9689 5", "warpint prp 9689 --proof x", "warpint ll 7 --prof 5"] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
