//! A store of audited moduli: new keys are audited against them without their own audit.
//!
//! A store is a directory. Each audit adds one file for each group of new moduli, after the group is
//! audited against itself and against all files before. So an audit that was stopped or killed goes
//! on with the first group that has no file.
//!
//! | file | subject |
//! |---|---|
//! | `part` | a file of the store, its sections and their digests |
//! | `places` | the places of keys, as JSON |
//!
//! # A file
//!
//! `part-NNNNNNNN.keys` begins with a line `{"sha256":"…","part":{…}}`, which ends in LF. The digest is
//! that of the text of the object `part`. The object has the version of the format, counts, and the
//! length and the SHA-256 of each section. The sections follow the line, in this order:
//!
//! | section | content |
//! |---|---|
//! | moduli | the distinct moduli that no earlier file has, ascending: their numbers of limbs as `u32`, then all limbs as `u64`, little-endian |
//! | product | the product of these moduli without their prime factors below 10,000, as limbs |
//! | places | the files and positions of the keys of these moduli, and further places of moduli of earlier files, as JSON |
//! | shared | pairs of moduli that share a prime, as JSON: the moduli once, then two of their indices for each pair. One modulus of each pair is among these moduli |
//!
//! A file is written under a temporary name, flushed to disk, and renamed. It never changes after
//! that. The files of a store do not depend on each other: if one is removed, its moduli are new
//! again. No file contains a factor. A store belongs to its owner (mode 0600), because gcds of the
//! pairs are private keys.

mod part;
mod places;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use warpint_files::{Folder, Lock};

use crate::KeysError;
pub(crate) use part::{Content, Pairs, Part};
pub(crate) use places::Spot;

/// The name of the lock file.
const LOCK: &str = "lock";
/// The time for which a lock is awaited.
const PATIENCE: Duration = Duration::from_millis(500);

/// An open store. It is locked until the value is dropped.
#[derive(Debug)]
pub struct Store {
    folder: Folder,
    _lock: Lock,
    parts: Vec<Part>,
    next: u32,
}

impl Store {
    /// Opens the store in a directory, which is created if it is missing. Waits up to half a second for its
    /// lock. Removes temporary files of
    /// killed processes. Reads the first line of each file, not its sections.
    ///
    /// # Errors
    /// [`KeysError::StoreInUse`] if another process has opened the store; [`KeysError::Damaged`] and
    /// [`KeysError::LaterVersion`] for a file that cannot be used; [`KeysError::File`].
    pub fn open(path: &Path) -> Result<Self, KeysError> {
        let folder = Folder::at(path);
        folder.make()?;
        // A child process that this process is starting has copies of its open files for a moment, and so a
        // lock that was released just before.
        let begun = Instant::now();
        let lock = loop {
            match folder.try_lock(LOCK)? {
                Some(lock) => break lock,
                None if begun.elapsed() < PATIENCE => thread::sleep(PATIENCE / 50),
                None => return Err(KeysError::StoreInUse { path: path.to_owned() }),
            }
        };
        let lock = lock.enforced()?;
        folder.clear_away(|name| part::number(name).is_some());
        let mut numbers: Vec<u32> = vec![];
        for entry in folder.list()? {
            numbers.extend(entry.name.to_str().and_then(part::number));
        }
        numbers.sort_unstable();
        let parts: Result<Vec<Part>, KeysError> =
            numbers.iter().map(|&number| Part::open(&folder, number)).collect();
        let next = numbers.last().map_or(1, |last| last.saturating_add(1));
        Ok(Self { folder, _lock: lock, parts: parts?, next })
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Returns the number of distinct moduli in the store.
    #[must_use]
    pub fn moduli(&self) -> u64 {
        self.parts.iter().map(Part::moduli_count).sum()
    }

    /// Returns the files of the store.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Adds a file. When the call returns, it is on disk.
    pub(crate) fn add(&mut self, content: &Content<'_>) -> Result<(), KeysError> {
        let part = Part::write(&self.folder, self.next, content)?;
        self.next = self.next.saturating_add(1);
        self.parts.push(part);
        Ok(())
    }
}
