//! The keys of configuration files.

use clap::{Arg, Command};

/// A key of a configuration file. It sets the option of the same name.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// A line of a file that sets the key.
    pub(super) example: &'static str,
    /// The commands to which the key applies. A command with subcommands stands for all of them.
    pub(super) commands: &'static [&'static str],
}

/// The type of the value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Whole,
    Seconds,
}

/// The commands that keep their files in a work directory, whose file they read.
pub(super) const TESTS: &[&str] = &["work", "prp", "ll", "test"];

const WORK: &[&str] = &["work"];

/// The commands with the options `--device` or `--threads`, except those whose command line states all
/// that is measured or tested: `bench`, `collatz bench` and `selftest`.
const COMPUTING: &[&str] = &[
    "work",
    "prp",
    "ll",
    "test",
    "proof verify",
    "batch",
    "audit-keys",
    "calc",
    "collatz verify",
    "collatz merge",
    "collatz delay",
    "make-keys",
    "tune",
    "stress",
];

/// All keys, in the order of `warpint config`. Each is an option of `warpint work`.
pub(crate) const KEYS: &[Key] = &[
    Key { name: "user", kind: Kind::Text, example: "user = \"ada\"", commands: WORK },
    Key { name: "computer", kind: Kind::Text, example: "computer = \"attic\"", commands: WORK },
    Key { name: "device", kind: Kind::Text, example: "device = \"cuda:0\"", commands: COMPUTING },
    Key {
        name: "engine",
        kind: Kind::Text,
        example: "engine = \"fp64\"",
        commands: &["work", "prp", "ll", "test", "proof verify"],
    },
    Key { name: "threads", kind: Kind::Whole, example: "threads = 8", commands: COMPUTING },
    Key {
        name: "checkpoint-interval",
        kind: Kind::Seconds,
        example: "checkpoint-interval = 300",
        commands: TESTS,
    },
    Key { name: "proof-power", kind: Kind::Whole, example: "proof-power = 9", commands: WORK },
    Key { name: "workers", kind: Kind::Whole, example: "workers = 2", commands: WORK },
    Key { name: "together", kind: Kind::Whole, example: "together = 16", commands: WORK },
];

impl Key {
    /// Returns whether the key applies to the command of this name, such as `collatz verify`.
    pub(super) fn applies_to(&self, command: &str) -> bool {
        self.commands.iter().any(|&name| {
            let rest = command.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Whole => "a whole number",
            Self::Seconds => "a number",
        }
    }
}

/// Returns the option of a command that a key sets. `None` if the command has no such option.
pub(crate) fn option_of<'a>(command: &'a Command, key: &Key) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(key.name))
}
