//! The command `warpint config [DIR]`: shows the values that configuration files set.

use std::fmt::{self, Display};
use std::path::Path;

use clap::Command;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

use crate::args::ConfigArgs;
use crate::config::{self, ConfigFile, KEYS, Key, Kind, Place, option_of};
use crate::exit::Exit;
use crate::report;
use crate::units;

pub(crate) fn run(args: &ConfigArgs, no_config: bool) -> anyhow::Result<Exit> {
    let files = if no_config { vec![] } else { config::files(Some(&args.dir))? };
    report::print(&Config::of(&files), args.json)?;
    Ok(Exit::Done)
}

/// The report on all keys.
#[derive(Debug, Serialize)]
struct Config {
    files: Vec<FileReport>,
    keys: Vec<KeyReport>,
}

#[derive(Debug, Serialize)]
struct FileReport {
    place: PlaceName,
    path: String,
    exists: bool,
    /// The number of keys that the file sets.
    #[serde(skip)]
    keys: usize,
}

/// The value of a key, and where it comes from.
#[derive(Debug, Serialize)]
struct KeyReport {
    key: &'static str,
    /// The value. `None` if no file sets the key, and the option has no fixed default.
    #[serde(serialize_with = "typed")]
    value: Option<(Kind, String)>,
    /// The place of the file that sets the key. `None` for the default.
    place: Option<PlaceName>,
    file: Option<String>,
    line: Option<usize>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum PlaceName {
    Directory,
    User,
}

impl From<Place> for PlaceName {
    fn from(place: Place) -> Self {
        match place {
            Place::Directory => Self::Directory,
            Place::User => Self::User,
        }
    }
}

impl Config {
    fn of(files: &[ConfigFile]) -> Self {
        let grammar = config::grammar();
        let work = grammar.find_subcommand("work");
        let file = |of: &ConfigFile| FileReport {
            place: of.place.into(),
            path: name_of(&of.path),
            exists: of.exists,
            keys: of.settings.len(),
        };
        let keys = KEYS.iter().map(|key| KeyReport::of(key, files, work)).collect();
        Self { files: files.iter().map(file).collect(), keys }
    }
}

impl KeyReport {
    fn of(key: &'static Key, files: &[ConfigFile], work: Option<&Command>) -> Self {
        let found = files.iter().find_map(|file| Some((file, file.get(key)?)));
        let default = || {
            let values = option_of(work?, key)?.get_default_values();
            Some(values.first()?.to_string_lossy().into_owned())
        };
        let value = found.map(|(_, setting)| setting.value.clone()).or_else(default);
        Self {
            key: key.name,
            value: value.map(|value| (key.kind, value)),
            place: found.map(|(file, _)| file.place.into()),
            file: found.map(|(file, _)| name_of(&file.path)),
            line: found.map(|(_, setting)| setting.line),
        }
    }
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}

/// Writes a value as a JSON string or number.
fn typed<S: Serializer>(value: &Option<(Kind, String)>, to: S) -> Result<S::Ok, S::Error> {
    let json = value.as_ref().map(|(kind, text)| match (kind, text.parse::<Number>()) {
        (Kind::Whole | Kind::Seconds, Ok(number)) => Value::Number(number),
        _ => Value::String(text.clone()),
    });
    json.serialize(to)
}

impl Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// What stands for a value that is not set.
        const NONE: &str = "-";
        for file in &self.files {
            let keys = units::count(file.keys as u64, "key");
            let state = if file.exists { keys } else { "not there".into() };
            writeln!(f, "{}: {state}", file.path)?;
        }
        let text = |of: &KeyReport| of.value.as_ref().map_or(NONE.into(), |(_, text)| text.clone());
        let width = self.keys.iter().map(|of| text(of).chars().count()).max().unwrap_or(0);
        let lines = self.keys.iter().map(|of| {
            let origin = match (&of.file, of.line) {
                (Some(file), Some(line)) => format!("{file}:{line}"),
                _ => "default".into(),
            };
            format!("{:<19}  {:<width$}  {origin}", of.key, text(of))
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}
