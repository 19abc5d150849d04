//! Reading a configuration file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;
use toml::{Spanned, Value};
use warpint_files::{ErrorKind, FileError, given};

use super::grammar;
use super::keys::{KEYS, Key, Kind};
use crate::exit::BadRequest;
use crate::misuse;

/// The largest size of a file in bytes. A file that is larger is not read.
const MOST: u64 = 1 << 16;

/// The place of a configuration file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The work directory.
    Directory,
    /// The user's configuration folder.
    #[default]
    User,
}

/// A configuration file.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    pub(crate) place: Place,
    pub(crate) path: PathBuf,
    pub(crate) exists: bool,
    /// The keys that the file sets, in the order of its lines.
    pub(crate) settings: Vec<Setting>,
}

/// A value that a file sets.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    /// The value as text, as an option has it.
    pub(crate) value: String,
    /// The number of the line, counted from 1.
    pub(crate) line: usize,
}

/// A mistake in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The position: a line, and a column in characters, both counted from 1.
    line: usize,
    column: usize,
    what: String,
}

impl ConfigFile {
    /// Reads a file. If there is no file, the result has no settings.
    ///
    /// # Errors
    /// The file cannot be read, or has a mistake. Every key must be known, and every value valid.
    pub(super) fn read(place: Place, path: PathBuf) -> anyhow::Result<Self> {
        let Some(bytes) = bytes_of(&path)? else {
            return Ok(Self { place, path, ..Self::default() });
        };
        let settings = text_of(&bytes).and_then(parse).map_err(|mistake| {
            let Mistake { line, column, what } = mistake;
            BadRequest(format!("{}:{line}:{column}: {what}", path.display()))
        })?;
        Ok(Self { place, path, exists: true, settings })
    }

    /// Returns the setting of a key. `None` if the file does not set it.
    pub(crate) fn get(&self, key: &Key) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key.name == key.name)
    }
}

impl Setting {
    /// Returns the setting as an option, in one word.
    pub(super) fn option(&self) -> OsString {
        format!("--{}={}", self.key.name, self.value).into()
    }
}

/// Returns the bytes of a file. `None` if there is no file.
fn bytes_of(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match given::read(path, MOST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.is_missing() && path.is_symlink() => {
            let line = format!(
                "{} is a link to a missing file (`warpint --no-config COMMAND` does without)",
                path.display()
            );
            Err(BadRequest(line).into())
        }
        Err(e) if e.is_missing() => Ok(None),
        // A folder of another user, as with the HOME of root.
        Err(e) if e.kind() == ErrorKind::BadInput && cannot_be_looked_up(path) => Ok(None),
        // The work directory is a file; the command itself reports this.
        Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotADirectory => {
            Ok(None)
        }
        Err(e) => Err(e).context(
            "the configuration file cannot be used (`warpint --no-config COMMAND` does without)",
        ),
    }
}

/// Returns whether the folder of a path may not be searched.
fn cannot_be_looked_up(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied)
}

/// Returns the text of a file.
fn text_of(bytes: &[u8]) -> Result<&str, Mistake> {
    std::str::from_utf8(bytes).map_err(|e| {
        let before = String::from_utf8_lossy(bytes.get(..e.valid_up_to()).unwrap_or_default());
        Mistake::at(&before, before.len(), "not text in UTF-8".into())
    })
}

/// Parses the text of a file.
pub(super) fn parse(text: &str) -> Result<Vec<Setting>, Mistake> {
    // A mark at the beginning, as some editors of Windows write it, is not part of the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table: BTreeMap<Spanned<String>, Spanned<Value>> = toml::from_str(text).map_err(|e| {
        let start = e.span().map_or(0, |span| span.start);
        Mistake::at(text, start, syntax(text, start, e.message()))
    })?;
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let grammar = grammar();
    let work = grammar.find_subcommand("work");
    let setting = |(name, value): (Spanned<String>, Spanned<Value>)| {
        let (of_name, of_value) = (name.span().start, value.span().start);
        let mistake_at = |start| move |what| Mistake::at(text, start, what);
        let key = key_of(name.get_ref(), value.get_ref()).map_err(mistake_at(of_name))?;
        let value = value_of(key, value.get_ref()).map_err(mistake_at(of_value))?;
        let setting = Setting { key, value, line: Mistake::at(text, of_name, String::new()).line };
        work.map_or(Ok(()), |work| check(work, &setting)).map_err(mistake_at(of_value))?;
        Ok(setting)
    };
    entries.into_iter().map(setting).collect()
}

/// Describes a mistake of syntax at a byte of a text, with an example if its line sets a known key.
fn syntax(text: &str, byte: usize, message: &str) -> String {
    let message = message.lines().collect::<Vec<_>>().join(", ");
    let begin = text.get(..byte).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let name = line.split('=').next().unwrap_or_default().trim();
    match KEYS.iter().find(|key| key.name == name) {
        Some(key) if message == "duplicate key" => format!("{} is set a second time", key.name),
        Some(key) if key.kind == Kind::Text => {
            format!("not valid TOML: {} is a string in quotes, like {}", key.name, key.example)
        }
        Some(key) => format!("not valid TOML: {message}; write it like {}", key.example),
        None => format!("not valid TOML: {message}"),
    }
}

/// Returns the key of a name, which the file sets to `value`.
fn key_of(name: &str, value: &Value) -> Result<&'static Key, String> {
    /// The least similarity of a name to the key that the message suggests.
    const SIMILAR: f64 = 0.7;
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Ok(key);
    }
    if value.is_table() {
        return Err(format!("'{name}' is a table: write the keys of the file without tables"));
    }
    let similar = KEYS.iter().map(|key| (strsim::jaro_winkler(key.name, name), key.name));
    let nearest = similar.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(near, _)| *near > SIMILAR);
    if let Some((_, key)) = nearest {
        return Err(format!("unknown key '{name}': do you mean '{key}'?"));
    }
    let known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    Err(format!("unknown key '{name}': the keys are {}", known.join(", ")))
}

/// Returns a value as the text that the option of its key has.
fn value_of(key: &Key, value: &Value) -> Result<String, String> {
    match (key.kind, value) {
        (Kind::Text, Value::String(text)) => Ok(text.clone()),
        (Kind::Whole | Kind::Seconds, Value::Integer(number)) => Ok(number.to_string()),
        (Kind::Seconds, Value::Float(number)) => Ok(format!("{number:?}")),
        (kind, other) => {
            let Key { name, example, .. } = key;
            let (kind, other) = (kind.name(), kind_of(other));
            Err(format!("{name} is {kind}, not {other}: write it like {example}"))
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a float",
        Value::Boolean(_) => "a boolean",
        Value::Datetime(_) => "a date or time",
        Value::Array(_) => "an array",
        Value::Table(_) => "a table",
    }
}

/// Checks a value by the parser of its option of `warpint work`, which accepts every value that
/// another command accepts.
fn check(work: &Command, setting: &Setting) -> Result<(), String> {
    let Setting { key, value, .. } = setting;
    let parsed = work.clone().no_binary_name(true).try_get_matches_from([setting.option()]);
    let Some(error) = parsed.err() else { return Ok(()) };
    let reason = misuse::reason(&error).unwrap_or_else(|| format!("'{value}' is not a value"));
    Err(format!("{}: {reason}", key.name))
}

impl Mistake {
    /// Creates a mistake at a byte of a text. Control characters of the description are escaped, so
    /// that it is one line.
    fn at(text: &str, byte: usize, what: String) -> Self {
        let before = text.get(..byte.min(text.len())).unwrap_or(text);
        let line = before.split('\n').count();
        let column = 1 + before.rsplit('\n').next().map_or(0, |line| line.chars().count());
        let mut plain = String::new();
        for c in what.chars() {
            if c.is_control() { plain.extend(c.escape_default()) } else { plain.push(c) }
        }
        Self { line, column, what: plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> String {
        let Mistake { line, column, what } = parse(text).unwrap_err();
        format!("{line}:{column}: {what}")
    }

    #[test]
    fn a_mistake_is_one_line_with_its_place() {
        for (text, expected) in [
            ("devcie = 'cpu'", "1:1: unknown key 'devcie': do you mean 'device'?"),
            (
                "# x\n\n  checkpoint_interval = 5",
                "3:3: unknown key 'checkpoint_interval': do you mean 'checkpoint-interval'?",
            ),
            (
                "[work]\nuser = 'a'",
                "1:2: 'work' is a table: write the keys of the file without tables",
            ),
            ("zzz = 1", "1:1: unknown key 'zzz': the keys are user, computer, device, "),
            ("\"a\\nb\" = 1", "1:1: unknown key 'a\\nb': the keys"),
            ("\"\\u001b[31m\" = 1", "1:1: unknown key '\\u{1b}[31m': the keys"),
            ("device = 'é'\n", "1:10: device: 'é' is none of auto, cpu, cuda, cuda:N, sim, all"),
            ("# é\nengine = 'fft'", "2:10: engine: 'fft' is none of auto, exact, word, fp64, "),
            ("engine = ''", "1:10: engine: '' is none of auto, exact, "),
            ("user = ''", "1:8: user: '' is not a name of 1 to 64 characters"),
            ("user = \"a\\u0007\"", "1:8: user: 'a\\u{7}' is not a name"),
            (
                "threads = '4'",
                "1:11: threads is a whole number, not a string: write it like threads = 8",
            ),
            ("threads = 4.0", "1:11: threads is a whole number, not a float"),
            ("threads = 0", "1:11: threads: '0' is not a number of threads from 1 to 1024"),
            ("threads = -1", "1:11: threads: '-1' is not a number of threads from 1 to 1024"),
            ("threads = 99999999999999999999", "1:11: not valid TOML: "),
            ("workers = 65", "1:11: workers: '65' is not a number of workers from 1 to 64"),
            ("together = 0", "1:12: together: '0' is not a number of tests from 1 to "),
            ("proof-power = 99", "1:15: proof-power: '99' is not a power from 1 to "),
            (
                "checkpoint-interval = 0",
                "1:23: checkpoint-interval: '0' is not a number of seconds above 0",
            ),
            (
                "checkpoint-interval = nan",
                "1:23: checkpoint-interval: 'NaN' is not a number of seconds",
            ),
            (
                "checkpoint-interval = 1e300",
                "1:23: checkpoint-interval: '1e300' is not a number of sec",
            ),
            ("checkpoint-interval = '60'", "1:23: checkpoint-interval is a number, not a string"),
            ("user = true", "1:8: user is a string, not a boolean: write it like user = \"ada\""),
            ("user = ['a']", "1:8: user is a string, not an array"),
            ("user.name = 'a'", "1:1: user is a string, not a table"),
            ("user = 2026-01-01", "1:8: user is a string, not a date or time"),
            ("device = cpu", "1:10: not valid TOML: "),
            ("user = 'a'\nuser = 'b'", "2:1: user is set a second time"),
            ("a = 1\na = 2", "2:1: not valid TOML: duplicate key"),
            ("user = 'a'\nthreads", "2:8: not valid TOML: "),
            ("user = \"a", "1:10: not valid TOML: "),
            // The first mistake of the file is reported.
            ("zzz = 1\naaa = 1", "1:1: unknown key 'zzz'"),
        ] {
            let said = mistake(text);
            assert!(said.starts_with(expected), "{text}: {said}");
            assert!(!said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn a_mistake_of_syntax_shows_how_its_key_is_written() {
        for text in ["device = cpu", "device = cuda:0\nthreads = 2", "\n device =\n"] {
            let said = mistake(text);
            let says = "not valid TOML: device is a string in quotes, like device = \"cuda:0\"";
            assert!(said.ends_with(says), "{said}");
        }
        let said = mistake("threads = two");
        assert!(said.ends_with("; write it like threads = 8"), "{said}");
    }

    #[test]
    fn bytes_that_are_no_text_are_a_mistake_with_a_place() {
        let mistake = text_of(b"user = 'a'\n# \xc3\xa9 \xff").unwrap_err();
        assert_eq!((mistake.line, mistake.column), (2, 5));
        assert_eq!(mistake.what, "not text in UTF-8");
    }

    #[test]
    fn settings_have_their_lines() {
        let text =
            "\u{feff}threads = 8 # eight\r\n\r\n\"user\" = 'ada'\r\ncheckpoint-interval = 0.5\r\n";
        let settings = parse(text).unwrap();
        let found: Vec<_> =
            settings.iter().map(|of| (of.key.name, of.value.as_str(), of.line)).collect();
        let expected = [("threads", "8", 1), ("user", "ada", 3), ("checkpoint-interval", "0.5", 4)];
        assert_eq!(found, expected);
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn the_example_of_every_key_is_valid() {
        for key in KEYS {
            let settings = parse(key.example).unwrap();
            assert_eq!(settings[0].key.name, key.name);
        }
    }
}
