//! The places of keys in a file of a store.

use serde::{Deserialize, Serialize};

use crate::read::Position;

/// The place of a key: a file and a position in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Spot {
    pub(crate) file: String,
    pub(crate) position: Position,
}

/// The places of a modulus: the index of a file, and a position as a tag (0: the whole file, 1: a
/// line, 2: a key) and its number.
type Packed = Vec<(u32, u8, u64)>;

/// The section of places.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Places {
    files: Vec<String>,
    /// The places of each modulus of the file.
    moduli: Vec<Packed>,
    /// Further places of moduli of earlier files. The moduli are in hexadecimal digits.
    repeats: Vec<(String, Packed)>,
}

/// Builds the section of places.
#[derive(Default)]
pub(super) struct Builder {
    places: Places,
    index: std::collections::HashMap<String, u32>,
}

impl Builder {
    pub(super) fn modulus(&mut self, spots: &[Spot]) {
        let some = self.pack(spots);
        self.places.moduli.push(some);
    }

    pub(super) fn repeat(&mut self, modulus: String, spots: &[Spot]) {
        let some = self.pack(spots);
        self.places.repeats.push((modulus, some));
    }

    pub(super) fn finish(self) -> Places {
        self.places
    }

    fn pack(&mut self, spots: &[Spot]) -> Packed {
        let mut pack = |spot: &Spot| {
            let next = self.places.files.len() as u32;
            let file = match self.index.get(&spot.file) {
                Some(&file) => file,
                None => {
                    self.places.files.push(spot.file.clone());
                    self.index.insert(spot.file.clone(), next);
                    next
                }
            };
            match spot.position {
                Position::Whole => (file, 0, 0),
                Position::Line(line) => (file, 1, line),
                Position::Key(key) => (file, 2, key),
            }
        };
        spots.iter().map(&mut pack).collect()
    }
}

impl Places {
    /// Returns whether there are places of this number of moduli, and no reference leads nowhere.
    pub(super) fn is_sound(&self, moduli: u64) -> bool {
        let repeats = self.repeats.iter().map(|(_, some)| some);
        let mut all = self.moduli.iter().chain(repeats).flatten();
        self.moduli.len() as u64 == moduli
            && all.all(|&(file, tag, _)| (file as usize) < self.files.len() && tag <= 2)
    }

    /// Returns the places of modulus i of the file.
    pub(super) fn of(&self, i: usize) -> Vec<Spot> {
        self.unpack(&self.moduli[i])
    }

    /// Returns the moduli of earlier files, in hexadecimal digits, with their further places.
    pub(super) fn repeats(&self) -> impl Iterator<Item = (&str, Vec<Spot>)> {
        self.repeats.iter().map(|(modulus, some)| (modulus.as_str(), self.unpack(some)))
    }

    fn unpack(&self, some: &Packed) -> Vec<Spot> {
        let spot = |&(file, tag, number): &(u32, u8, u64)| Spot {
            file: self.files[file as usize].clone(),
            position: match tag {
                0 => Position::Whole,
                1 => Position::Line(number),
                _ => Position::Key(number),
            },
        };
        some.iter().map(spot).collect()
    }
}
