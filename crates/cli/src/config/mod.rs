//! Configuration files: options that a user sets for good.
//!
//! A file `warpint.toml` in the work directory, and one in the user's configuration folder, have
//! values of options. [`command_line`] puts them in front of the options that the user gave. So one
//! parser reads the value of an option, wherever it comes from.

mod file;
#[cfg(test)]
mod fuzz;
mod keys;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, Parser};
use warpint::device::config_folder;

use crate::args::Cli;
use crate::misuse;
pub(crate) use file::{ConfigFile, Place, Setting};
pub(crate) use keys::{KEYS, Key, Kind, option_of};

/// The name of a configuration file.
pub(crate) const FILE: &str = "warpint.toml";

/// Parses the words of a command line, of which the first is the program's name. Options that are
/// not given get the values of the configuration files.
///
/// # Errors
/// A [`clap::Error`] for the command line; other errors for the files.
pub(crate) fn command_line(words: Vec<OsString>) -> anyhow::Result<Cli> {
    let matches = grammar().try_get_matches_from(&words)?;
    if matches.get_flag("no_config") {
        return Ok(Cli::try_parse_from(words)?);
    }
    let asked = Asked::of(&matches);
    if !KEYS.iter().any(|key| key.applies_to(&asked.name)) {
        return Ok(Cli::try_parse_from(words)?);
    }
    let files = files(asked.directory())?;
    Ok(Cli::try_parse_from(asked.with_options_of(&files, words))?)
}

/// Reads the configuration files: that of a work directory, then that of the user.
///
/// # Errors
/// A file cannot be read, or its content is wrong. A missing file is no error.
pub(crate) fn files(directory: Option<&Path>) -> anyhow::Result<Vec<ConfigFile>> {
    let of_directory = directory.map(|path| (Place::Directory, path.to_owned()));
    let of_user = config_folder().map(|path| (Place::User, path));
    let folders = of_directory.into_iter().chain(of_user);
    folders.map(|(place, folder)| ConfigFile::read(place, folder.join(FILE))).collect()
}

/// Returns the grammar of the command line. The help of each option that the files can set says so.
pub(crate) fn grammar() -> Command {
    noted(Cli::command(), "")
}

/// Adds notes to the help of the options of a command and its subcommands. `name` is the name of the
/// command without `warpint`.
fn noted(command: Command, name: &str) -> Command {
    let command = command.mut_args(|arg| {
        let of = |key: &&Key| arg.get_long() == Some(key.name) && key.applies_to(name);
        let Some(key) = KEYS.iter().find(of) else { return arg };
        let note = |help: &dyn ToString| format!("{} [in {FILE}: {}]", help.to_string(), key.name);
        let short = arg.get_help().map(|help| note(help));
        let long = arg.get_long_help().map(|help| note(help));
        let arg = if let Some(short) = short { arg.help(short) } else { arg };
        if let Some(long) = long { arg.long_help(long) } else { arg }
    });
    command.mut_subcommands(|below| {
        let name = format!("{name} {}", below.get_name());
        noted(below, name.trim_start())
    })
}

/// The command that a command line asks for.
struct Asked<'a> {
    /// The names of the command and its subcommands, such as `collatz verify`.
    name: String,
    /// The number of names.
    depth: usize,
    grammar: Command,
    given: &'a ArgMatches,
}

impl<'a> Asked<'a> {
    fn of(matches: &'a ArgMatches) -> Self {
        let (mut names, mut grammar, mut given) = (vec![], grammar(), matches);
        while let Some((name, below)) = given.subcommand() {
            let Some(found) = grammar.find_subcommand(name) else { break };
            (grammar, given) = (found.clone(), below);
            names.push(name);
        }
        Self { name: names.join(" "), depth: names.len(), grammar, given }
    }

    /// Returns the work directory of the command. `None` if it has none.
    fn directory(&self) -> Option<&Path> {
        let has_one = keys::TESTS.contains(&self.name.as_str());
        let path = has_one.then(|| self.given.get_one::<PathBuf>("dir")).flatten();
        path.map(PathBuf::as_path)
    }

    /// Returns the words of a command line with the options that the files add.
    fn with_options_of(&self, files: &[ConfigFile], mut words: Vec<OsString>) -> Vec<OsString> {
        let keys = KEYS.iter().filter(|key| key.applies_to(&self.name) && self.leaves_open(key));
        let options = keys.filter_map(|key| {
            let settings = files.iter().filter_map(|file| file.get(key));
            settings.map(Setting::option).find(|option| self.accepts(option))
        });
        // Only names of commands are in front of the options of the last subcommand.
        let first = 1 + self.depth;
        words.splice(first..first, options.collect::<Vec<_>>());
        words
    }

    /// Returns whether the command has the option of a key, and the command line neither sets it nor
    /// has an option that excludes it.
    fn leaves_open(&self, key: &Key) -> bool {
        let is_given = |arg: &clap::Arg| {
            self.given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
        };
        option_of(&self.grammar, key).is_some_and(|arg| {
            let excluding = self.grammar.get_arg_conflicts_with(arg);
            !is_given(arg) && !excluding.into_iter().any(is_given)
        })
    }

    /// Returns whether the command accepts an option with its value. For example, most commands do
    /// not accept `--device=all`.
    fn accepts(&self, option: &OsString) -> bool {
        let parsed = self.grammar.clone().no_binary_name(true).try_get_matches_from([option]);
        // Arguments that are missing make no difference.
        parsed.err().is_none_or(|error| misuse::reason(&error).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Command as Asking;
    use std::fs;

    /// Returns the options that two files add to a command line.
    fn added(line: &str, directory: &str, user: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let read = |place, name: &str, text| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            ConfigFile::read(place, path).unwrap()
        };
        let files = [read(Place::Directory, "a", directory), read(Place::User, "b", user)];
        let words: Vec<OsString> =
            ["warpint"].into_iter().chain(line.split(' ')).map(Into::into).collect();
        let matches = grammar().try_get_matches_from(&words).unwrap();
        let with = Asked::of(&matches).with_options_of(&files, words.clone());
        assert!(Cli::try_parse_from(&with).is_ok(), "{with:?}");
        let options: Vec<_> = with.iter().filter(|word| !words.contains(word)).collect();
        options.iter().map(|option| option.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_command_line_comes_before_the_directory_and_the_directory_before_the_user() {
        let (directory, user) = ("threads = 3", "threads = 5\nengine = 'goldilocks'");
        assert_eq!(added("prp 7", directory, user), "--engine=goldilocks --threads=3");
        assert_eq!(added("prp 7", "", user), "--engine=goldilocks --threads=5");
        assert_eq!(added("prp 7 --threads 1 --engine auto", directory, user), "");
        assert_eq!(added("prp 7", "", ""), "");
    }

    #[test]
    fn a_value_is_the_same_as_the_option() {
        let text = "user = 'a b'\ncomputer = '-c'\ndevice = 'all'\nengine = 'fp64'\nthreads = 0x10\n\
                    checkpoint-interval = 1_0.5\nproof-power = 9\nworkers = 2\ntogether = 3\n";
        let read = |text: &str| {
            let words = ["warpint", "work", "--", "-x/y"].map(Into::into).to_vec();
            let matches = grammar().try_get_matches_from(&words).unwrap();
            let file = ConfigFile { settings: file::parse(text).unwrap(), ..ConfigFile::default() };
            match Cli::try_parse_from(Asked::of(&matches).with_options_of(&[file], words)) {
                Ok(Cli { command: Asking::Work(args), .. }) => format!("{args:?}"),
                other => panic!("{other:?}"),
            }
        };
        let line = "warpint work --user|a b|--computer=-c|--device=all|--engine=fp64|--threads=16|\
                    --checkpoint-interval=10.5|--proof-power=9|--workers=2|--together=3|--|-x/y";
        let words = line.replace("warpint work ", "warpint|work|");
        let Asking::Work(args) = Cli::try_parse_from(words.split('|')).unwrap().command else {
            panic!()
        };
        assert_eq!(read(text), format!("{args:?}"));
    }

    #[test]
    fn an_option_that_excludes_another_excludes_the_value_of_its_key() {
        let file = "workers = 2\nproof-power = 9\ntogether = 4";
        assert_eq!(added("work", file, ""), "--proof-power=9 --workers=2 --together=4");
        assert_eq!(added("work --worker 1", file, ""), "--proof-power=9 --together=4");
        assert_eq!(added("work --no-proof", file, ""), "--workers=2 --together=4");
    }

    #[test]
    fn a_device_that_a_command_does_not_accept_is_passed_over() {
        let (directory, user) = ("device = 'all'", "device = 'cuda:1'");
        for (line, option) in [
            ("work", "--device=all"),
            ("collatz verify --below 9", "--device=all"),
            ("ll 7", "--device=cuda:1"),
            ("tune batch", "--device=cuda:1"),
            ("tune", "--device=cuda:1"),
            ("batch mul 1 2 -o -", "--device=cuda:1"),
        ] {
            assert_eq!(added(line, directory, user), option, "{line}");
        }
        assert_eq!(added("ll 7", directory, ""), "");
        assert_eq!(added("tune batch", "device = 'cpu'", ""), "");
        assert_eq!(added("tune collatz", "device = 'cpu'", ""), "--device=cpu");
    }

    #[test]
    fn what_is_measured_or_tested_is_on_the_command_line_alone() {
        let file = "device = 'cpu'\nthreads = 1\nengine = 'fp64'\ncheckpoint-interval = 9";
        for line in ["selftest", "bench mersenne", "bench batch", "collatz bench", "status"] {
            assert_eq!(added(line, file, ""), "", "{line}");
        }
        assert_eq!(added("stress", file, ""), "--device=cpu --threads=1");
        // The interval is one between checkpoints of tests.
        assert_eq!(added("batch mul 1 2 -o -", file, ""), "--device=cpu --threads=1");
    }

    #[test]
    fn every_option_of_a_key_is_set_by_it_or_left_out_on_purpose() {
        fn all(command: &Command, name: &str, found: &mut Vec<(String, &'static str, bool)>) {
            for key in KEYS {
                if let Some(arg) = option_of(command, key) {
                    let note = format!("[in {FILE}: {}]", key.name);
                    let help = arg.get_long_help().or(arg.get_help()).unwrap().to_string();
                    assert_eq!(help.ends_with(&note), key.applies_to(name), "{name}: {help}");
                    found.push((name.to_owned(), key.name, key.applies_to(name)));
                }
            }
            for below in command.get_subcommands() {
                let name = format!("{name} {}", below.get_name());
                all(below, name.trim_start(), found);
            }
        }
        let mut found = vec![];
        all(&grammar(), "", &mut found);
        let without = found.iter().filter(|(_, _, applies)| !applies);
        let without: Vec<_> = without.map(|(name, key, _)| format!("{name} {key}")).collect();
        for option in &without {
            let measures = ["bench ", "collatz bench ", "selftest "];
            let other = ["tune engine", "stress engine"].contains(&option.as_str())
                || option.starts_with("batch ") && option.ends_with(" checkpoint-interval");
            assert!(other || measures.iter().any(|begin| option.starts_with(begin)), "{option}");
        }
        for key in KEYS {
            for name in key.commands {
                let is_of = |of: &str| of == *name || of.starts_with(&format!("{name} "));
                let has = found.iter().any(|(of, _, applies)| *applies && is_of(of));
                assert!(has, "{name} has no option of a key");
            }
            let of_work = |(name, of, _): &&(String, &str, bool)| name == "work" && *of == key.name;
            assert_eq!(found.iter().filter(of_work).count(), 1, "{}", key.name);
        }
    }
}
