//! The keys that were read, without the text of the files.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::PublicKey;
use crate::store::Spot;

/// The place of an entry in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// The file has one entry.
    Whole,
    /// The entry begins in this line, counted from 1.
    Line(u64),
    /// The entry is this one of the file's keys, counted from 1.
    Key(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ": line {line}"),
            Self::Key(key) => write!(f, ": key {key}"),
        }
    }
}

/// The place of a key: a file and a position in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The position in the file.
    pub position: Position,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file, self.position)
    }
}

/// One key of a list. The index of its modulus is that of the key.
#[derive(Debug, Clone, Copy)]
struct Key {
    file: u32,
    exponent: u32,
    position: Position,
}

/// Many public RSA keys. A key of a modulus of w limbs takes 8·w + 32 bytes.
#[derive(Debug, Clone, Default)]
pub struct KeyList {
    files: Vec<String>,
    keys: Vec<Key>,
    /// The limbs of all moduli, one after the other.
    limbs: Vec<u64>,
    /// The end of each modulus in `limbs`.
    ends: Vec<usize>,
    /// The different exponents. Most keys have one of very few.
    exponents: Vec<Option<Vec<u64>>>,
    exponent_index: HashMap<Option<Vec<u64>>, u32>,
    others: BTreeMap<String, u64>,
    unreadable: u64,
    text: u64,
    /// The numbers of keys and files that were read, if keys of a store follow them.
    read: Option<(usize, usize)>,
    /// The indices of the files of a store.
    stored_files: HashMap<String, u32>,
}

impl KeyList {
    /// Returns the number of keys that were read. Keys of a [`Store`](crate::Store) that findings name
    /// follow them in the list, and are not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read.map_or(self.keys.len(), |(keys, _)| keys)
    }

    /// Returns whether no key was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of files that were read.
    #[must_use]
    pub fn files(&self) -> usize {
        self.read.map_or(self.files.len(), |(_, files)| files)
    }

    /// Appends a key of a store, and returns its index.
    pub(crate) fn push_stored(&mut self, modulus: &[u64], spot: &Spot) -> usize {
        self.read.get_or_insert((self.keys.len(), self.files.len()));
        let next = self.files.len() as u32;
        let file = *self.stored_files.entry(spot.file.clone()).or_insert(next);
        if file == next {
            self.files.push(spot.file.clone());
        }
        self.push_key(PublicKey { modulus: modulus.to_vec(), exponent: None }, spot.position, file);
        self.keys.len() - 1
    }

    /// Returns the modulus of key i, without leading zero limbs.
    ///
    /// # Panics
    /// Panics if there is no key i; so do the other methods with an index.
    #[must_use]
    pub fn modulus(&self, i: usize) -> &[u64] {
        let begin = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.limbs[begin..self.ends[i]]
    }

    /// Returns the exponent of key i. Returns `None` if the file contains only its modulus.
    #[must_use]
    pub fn exponent(&self, i: usize) -> Option<&[u64]> {
        self.exponents[self.keys[i].exponent as usize].as_deref()
    }

    /// Returns the place of key i.
    #[must_use]
    pub fn place(&self, i: usize) -> Place<'_> {
        let key = self.keys[i];
        Place { file: &self.files[key.file as usize], position: key.position }
    }

    /// Returns the numbers of entries that are no public RSA keys, by what they are instead.
    #[must_use]
    pub fn others(&self) -> &BTreeMap<String, u64> {
        &self.others
    }

    /// Returns the number of entries that could not be read.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Returns the number of lines beside PEM blocks that contain no key.
    #[must_use]
    pub fn lines_of_text(&self) -> u64 {
        self.text
    }

    /// Returns the number of limbs of all moduli together.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs.len()
    }

    pub(super) fn begin_file(&mut self, name: &str) {
        self.files.push(name.to_owned());
    }

    pub(super) fn push(&mut self, key: PublicKey, position: Position) {
        self.push_key(key, position, (self.files.len() - 1) as u32);
    }

    fn push_key(&mut self, key: PublicKey, position: Position, file: u32) {
        let next = self.exponents.len() as u32;
        let exponent = *self.exponent_index.entry(key.exponent.clone()).or_insert(next);
        if exponent == next {
            self.exponents.push(key.exponent);
        }
        self.limbs.extend(key.modulus);
        self.ends.push(self.limbs.len());
        self.keys.push(Key { file, exponent, position });
    }

    pub(super) fn count_other(&mut self, what: String) {
        *self.others.entry(what).or_default() += 1;
    }

    pub(super) fn count_text(&mut self) {
        self.text += 1;
    }

    pub(super) fn count_unreadable(&mut self) {
        self.unreadable += 1;
    }
}
