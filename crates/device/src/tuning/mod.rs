//! Stores the fastest known settings of a device between runs.
//!
//! The store is one JSON file. A writer holds a lock, writes a new file, and renames it. Contents
//! that this version of the program does not know are preserved.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use warpint_files::{ErrorKind, FileError, Folder, Lock};

use crate::{DeviceInfo, folders};

const FILE: &str = "tuning.json";
const LOCK: &str = "tuning.lock";
const SET_ASIDE: &str = "tuning.json.bad";
const ENTRIES: &str = "entries";
/// The size in bytes of the largest file that is read: 16 MiB. An entry has less than 1 KiB.
const MOST_BYTES: u64 = 16 << 20;
/// The longest wait for the lock. Another process holds the lock only while it reads and writes a
/// small file.
const PATIENCE: Duration = Duration::from_secs(10);

/// The key of a timing: what was measured, and the conditions under which the timing is valid.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TuningKey {
    /// The name of the device's model: `NVIDIA H200`.
    pub device: String,
    /// The version of the device's driver.
    pub driver: String,
    /// The version of the program that measured the timing.
    pub program: String,
    /// What was tuned, in a text chosen by the caller: `goldilocks p=82589933`.
    pub subject: String,
}

impl TuningKey {
    /// Creates the key of a subject on a device, for this version of the program.
    #[must_use]
    pub fn new(info: &DeviceInfo, subject: impl Into<String>) -> Self {
        Self {
            device: info.name.clone(),
            driver: info.driver.clone(),
            program: env!("CARGO_PKG_VERSION").into(),
            subject: subject.into(),
        }
    }
}

/// The fastest known setting, and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// The setting, in a text chosen by the caller: `2048x1024 radix 64`.
    pub choice: String,
    /// The time of one operation with this setting, in microseconds.
    pub microseconds: f64,
}

/// A result, with a warning for the user if the file of timings could not be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Warned<T> {
    /// The result.
    pub value: T,
    /// One line that says what is wrong with the file and what was done about it. `None` if nothing
    /// is wrong.
    pub warning: Option<String>,
}

/// An error of the store. Timings affect speed only, so a caller may continue without them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuningError {
    /// There is no folder for the store: `WARPINT_CONFIG_DIR` is not set, and the user has no home
    /// directory.
    #[error(
        "no folder for timings is known: this user has no home directory; set WARPINT_CONFIG_DIR"
    )]
    NoFolder,
    /// A file cannot be read or written.
    #[error("cannot {action} the timings in {path}: {source} (WARPINT_CONFIG_DIR sets the folder)")]
    Io {
        /// What failed: `read`, `write`.
        action: &'static str,
        /// The path of the file that failed.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

impl TuningError {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoFolder => ErrorKind::BadInput,
            Self::Io { source, .. } => source.into(),
        }
    }
}

/// The store of timings. A timing is found by its device, driver, program version and subject.
#[derive(Debug, Clone)]
pub struct TuningStore {
    folder: Folder,
}

/// One entry of the file. Fields that this version of the program does not know are preserved.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    key: TuningKey,
    #[serde(flatten)]
    tuning: Tuning,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// The result of reading the file.
enum Content {
    Sound(Map<String, Value>),
    /// The file cannot be used. The text gives the reason, as the end of a sentence.
    Unusable(String),
}

impl TuningStore {
    /// Opens the store in the folder `WARPINT_CONFIG_DIR` if this variable is set, otherwise in
    /// `~/.config/warpint` or the operating system's equivalent.
    ///
    /// # Errors
    /// [`TuningError::NoFolder`]: the variable is not set, and the user has no home directory.
    pub fn open() -> Result<Self, TuningError> {
        folders::config().map(Self::at).ok_or(TuningError::NoFolder)
    }

    /// Opens the store in a folder, which is created when the first timing is stored.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Folder::at(folder) }
    }

    /// Returns the path of the file with the timings, which may not exist yet.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.file(FILE)
    }

    /// Returns the timing stored under a key. Returns `None` as the value if no timing is stored. A
    /// file that is corrupt, larger than 16 MiB, or not a regular file counts as empty. It is
    /// renamed if possible, and the result contains a warning that says whether it was renamed.
    ///
    /// # Errors
    /// The file cannot be read, or is a directory. A missing file is not an error.
    pub fn get(&self, key: &TuningKey) -> Result<Warned<Option<Tuning>>, TuningError> {
        let Warned { value, warning } = self.content()?;
        let value = entries(&value).iter().find_map(|entry| stored(entry, key));
        Ok(Warned { value, warning })
    }

    /// Returns a map from subject to timing, with all timings that are stored for a device's model,
    /// its driver version and this version of the program. The timing of each subject is the one
    /// that [`Self::get`] returns. An unusable file is treated as by [`Self::get`].
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    pub fn all(&self, info: &DeviceInfo) -> Result<Warned<HashMap<String, Tuning>>, TuningError> {
        let Warned { value, warning } = self.content()?;
        let of_device = |entry: &Value| {
            let subject = TuningKey::deserialize(entry).ok()?.subject;
            Some((subject.clone(), stored(entry, &TuningKey::new(info, subject))?))
        };
        // Of two entries with one subject, the first is used.
        let value = entries(&value).iter().rev().filter_map(of_device).collect();
        Ok(Warned { value, warning })
    }

    /// Tests whether timings can be stored. Creates the folder if it is missing, creates and
    /// removes a file in it, and reads the stored timings.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn check(&self) -> Result<(), TuningError> {
        let made = self.folder.make().and_then(|_| self.folder.begin(FILE));
        drop(made.map_err(|e| self.error("write", e))?);
        self.read().map(drop)
    }

    /// Stores a timing, which replaces an earlier timing with the same key. Entries with other keys
    /// are preserved. An unusable file is treated as by [`Self::get`], and is then replaced.
    ///
    /// # Errors
    /// The file cannot be read or written, or another process holds the lock for 10 seconds.
    pub fn put(&self, key: &TuningKey, tuning: &Tuning) -> Result<Warned<()>, TuningError> {
        let _lock = self.lock().map_err(|e| self.error("write", e))?;
        let (mut content, warning) = self.read_or_set_aside()?;
        let all = content.entry(ENTRIES).or_insert_with(|| json!([]));
        if let Some(all) = all.as_array_mut() {
            let unknown = all.iter().find_map(|e| unknown_of(e, key)).unwrap_or_default();
            all.retain(|entry| unknown_of(entry, key).is_none());
            let entry = Entry { key: key.clone(), tuning: tuning.clone(), unknown };
            all.push(json!(entry));
        }
        self.write(&content).map_err(|e| self.error("write", e))?;
        Ok(Warned { value: (), warning })
    }

    /// Returns the contents of the file. A corrupt file counts as empty, and is renamed if the lock
    /// can be acquired.
    fn content(&self) -> Result<Warned<Map<String, Value>>, TuningError> {
        let (value, warning) = match self.read()? {
            Content::Sound(content) => (content, None),
            // The file may have been replaced since, and only one process may set it aside.
            Content::Unusable(why) => match self.lock() {
                Ok(_lock) => self.read_or_set_aside()?,
                Err(_) => (Map::new(), Some(self.unusable(&why, "it is not used"))),
            },
        };
        Ok(Warned { value, warning })
    }

    fn read(&self) -> Result<Content, TuningError> {
        let bytes = match self.folder.read(FILE, MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(e) if e.is_missing() => return Ok(Content::Sound(Map::new())),
            Err(e @ (FileError::NotAFile { .. } | FileError::TooLarge { .. }))
                // A directory may contain anything, so it is not moved.
                if !self.path().is_dir() =>
            {
                return Ok(Content::Unusable(format!("cannot be used: {}", io::Error::from(e))));
            }
            Err(e) => return Err(self.error("read", e)),
        };
        Ok(match serde_json::from_slice(&bytes) {
            Ok(Value::Object(content)) if content.get(ENTRIES).is_none_or(Value::is_array) => {
                Content::Sound(content)
            }
            _ => Content::Unusable("are damaged".into()),
        })
    }

    /// Returns the contents of the file, and a warning if the file is corrupt. A corrupt file
    /// counts as empty, and is renamed if possible. The caller must hold the lock.
    fn read_or_set_aside(&self) -> Result<(Map<String, Value>, Option<String>), TuningError> {
        match self.read()? {
            Content::Sound(content) => Ok((content, None)),
            Content::Unusable(why) => {
                let what = match self.folder.rename(FILE, SET_ASIDE) {
                    Ok(()) => {
                        format!("it was renamed to {}", self.folder.file(SET_ASIDE).display())
                    }
                    Err(e) => format!("it could not be renamed: {}", io::Error::from(e)),
                };
                Ok((Map::new(), Some(self.unusable(&why, &what))))
            }
        }
    }

    fn unusable(&self, why: &str, what: &str) -> String {
        format!("the timings in {} {why}; {what}; tune again", self.path().display())
    }

    /// Acquires the lock of the store. It is released when the result is dropped or the process
    /// ends. On a file system without locks, two processes may write at the same time. Then the
    /// process that writes later overwrites the timing of the other process.
    fn lock(&self) -> Result<Lock, FileError> {
        self.folder.lock(LOCK, PATIENCE, &|| false)
    }

    fn write(&self, content: &Map<String, Value>) -> Result<(), FileError> {
        let unwritten = |source| FileError::Io { action: "write", path: self.path(), source };
        let mut text = serde_json::to_vec_pretty(content).map_err(|e| unwritten(e.into()))?;
        text.push(b'\n');
        self.folder.clear_away(|name| name == FILE);
        self.folder.replace(FILE, &[&text])
    }

    fn error(&self, action: &'static str, error: FileError) -> TuningError {
        let path = self.path();
        TuningError::Io { action, source: error.in_message_of(&path), path }
    }
}

fn entries(content: &Map<String, Value>) -> &[Value] {
    content.get(ENTRIES).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the timing of an entry. Returns `None` if the entry is invalid or its key is not `key`.
fn stored(entry: &Value, key: &TuningKey) -> Option<Tuning> {
    let entry = Entry::deserialize(entry).ok().filter(|entry| entry.key == *key)?;
    Some(entry.tuning).filter(|t| t.microseconds.is_finite() && t.microseconds > 0.0)
}

/// Returns the fields of an entry that this version of the program does not know. Returns `None` if
/// the key of the entry is not `key`.
fn unknown_of(entry: &Value, key: &TuningKey) -> Option<Map<String, Value>> {
    let of_key = TuningKey::deserialize(entry).ok()? == *key;
    let unknown = || Entry::deserialize(entry).map(|entry| entry.unknown).unwrap_or_default();
    of_key.then(unknown)
}

#[cfg(test)]
mod tests;
