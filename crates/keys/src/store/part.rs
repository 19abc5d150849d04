//! A file of a store.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use warpint_files::{Folder, sha256};
use warpint_natural::radix::hex;

use super::places::{Builder, Places, Spot};
use crate::KeysError;

/// The version of the format. Files of version 1 are read too: their pairs have both moduli in digits.
const VERSION: u32 = 2;
/// The largest number of bytes of the first line.
const LONGEST_LINE: usize = 1 << 12;
/// The number of bytes that are read, written or digested at a time.
const PIECE: usize = 1 << 20;

/// The sections of a file, in their order.
#[derive(Debug, Clone, Copy)]
enum Section {
    Moduli,
    Product,
    Places,
    Shared,
}

/// The object of the first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Header {
    version: u32,
    moduli: u64,
    sections: [Extent; 4],
}

/// The version of any header, also of one that a later version has written.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The length and the digest of a section.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Extent {
    bytes: u64,
    sha256: String,
}

/// A file of a store whose first line has been read.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    folder: Folder,
    name: String,
    header: Header,
    /// The offset of the first section.
    begin: u64,
}

/// What a new file contains.
pub(crate) struct Content<'a> {
    /// The new moduli, ascending, and the places of their keys.
    pub(crate) moduli: Vec<(&'a [u64], Vec<Spot>)>,
    /// The product of the moduli without small prime factors.
    pub(crate) product: &'a [u64],
    /// Moduli of earlier files, and further places of their keys.
    pub(crate) repeats: Vec<(&'a [u64], Vec<Spot>)>,
    /// Pairs of moduli that share a prime.
    pub(crate) shared: Pairs,
}

/// Pairs of moduli that share a prime. A modulus may be in a hundred pairs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairs {
    pub(crate) moduli: Vec<Vec<u64>>,
    /// Indices of two moduli each.
    pub(crate) pairs: Vec<[u32; 2]>,
}

/// The section of pairs. The moduli are in hexadecimal digits.
#[derive(Serialize, Deserialize)]
struct Shared {
    moduli: Vec<String>,
    pairs: Vec<[u32; 2]>,
}

/// A modulus of an earlier file, and further places of its keys.
type Repeat = (Vec<u64>, Vec<Spot>);

/// The moduli of a file.
pub(crate) struct Moduli {
    limbs: Vec<u64>,
    ends: Vec<usize>,
}

impl Moduli {
    /// Returns all moduli, ascending.
    pub(crate) fn all(&self) -> Vec<&[u64]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.limbs[begin..end]).collect()
    }
}

/// Returns the number of the file with this name.
pub(super) fn number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("part-")?.strip_suffix(".keys")?;
    digits.parse().ok().filter(|&number| self::name(number) == name)
}

impl Part {
    /// Reads the first line of a file.
    pub(super) fn open(folder: &Folder, number: u32) -> Result<Self, KeysError> {
        let name = name(number);
        let path = folder.file(&name);
        let damaged = |what| KeysError::Damaged { path: path.clone(), what };
        let mut line = vec![];
        let file = folder.open(&name)?;
        let size = file.metadata().map_err(|e| failed("examine", &path, e))?.len();
        let mut head = (&file).take(LONGEST_LINE as u64);
        head.read_to_end(&mut line).map_err(|e| failed("read", &path, e))?;
        let end = line.iter().position(|&c| c == b'\n').ok_or_else(|| damaged("no header"))?;
        let text = std::str::from_utf8(&line[..end]).map_err(|_| damaged("no header"))?;
        let (digest, object) = text
            .strip_prefix("{\"sha256\":\"")
            .and_then(|text| text.strip_suffix('}')?.split_once("\",\"part\":"))
            .ok_or_else(|| damaged("no header"))?;
        if digest != sha256(object) {
            return Err(damaged("the digest of its header is wrong"));
        }
        let of_any: Version =
            serde_json::from_str(object).map_err(|_| damaged("a wrong header"))?;
        if !(1..=VERSION).contains(&of_any.version) {
            return Err(KeysError::LaterVersion { path, version: of_any.version });
        }
        let header: Header = serde_json::from_str(object).map_err(|_| damaged("a wrong header"))?;
        let begin = end as u64 + 1;
        let sections = header.sections.iter().map(|section| section.bytes);
        let whole = sections.into_iter().try_fold(begin, u64::checked_add);
        if whole != Some(size) {
            return Err(damaged("its size is wrong"));
        }
        Ok(Self { folder: folder.clone(), name, header, begin })
    }

    /// Writes a new file.
    pub(super) fn write(
        folder: &Folder,
        number: u32,
        content: &Content<'_>,
    ) -> Result<Self, KeysError> {
        let name = name(number);
        let path = folder.file(&name);
        let mut places = Builder::default();
        let mut moduli = vec![];
        for (modulus, spots) in &content.moduli {
            places.modulus(spots);
            moduli.extend((modulus.len() as u32).to_le_bytes());
        }
        for (modulus, spots) in &content.repeats {
            places.repeat(hex::format(modulus), spots);
        }
        for (modulus, _) in &content.moduli {
            moduli.extend(modulus.iter().flat_map(|limb| limb.to_le_bytes()));
        }
        let product: Vec<u8> = content.product.iter().flat_map(|x| x.to_le_bytes()).collect();
        let Pairs { moduli: related, pairs } = &content.shared;
        let related = related.iter().map(|modulus| hex::format(modulus)).collect();
        let shared = Shared { moduli: related, pairs: pairs.clone() };
        let json = |e: serde_json::Error| failed("write", &path, e.into());
        let places = serde_json::to_vec(&places.finish()).map_err(json)?;
        let shared = serde_json::to_vec(&shared).map_err(json)?;
        let bodies = [moduli, product, places, shared];
        let sections = bodies
            .each_ref()
            .map(|body| Extent { bytes: body.len() as u64, sha256: digits(&Sha256::digest(body)) });
        let count = content.moduli.len() as u64;
        let header = Header { version: VERSION, moduli: count, sections };
        let object = serde_json::to_string(&header).map_err(json)?;
        let line = format!("{{\"sha256\":\"{}\",\"part\":{object}}}\n", sha256(&object));
        let mut unfinished = folder.begin_private(&name)?;
        unfinished.write(line.as_bytes())?;
        for piece in bodies.iter().flat_map(|body| body.chunks(PIECE)) {
            unfinished.write(piece)?;
        }
        unfinished.finish_new()?;
        Ok(Self { folder: folder.clone(), name, header, begin: line.len() as u64 })
    }

    /// Returns the number of moduli of the file.
    pub(super) fn moduli_count(&self) -> u64 {
        self.header.moduli
    }

    /// Returns the number of bytes of the product.
    pub(crate) fn product_bytes(&self) -> u64 {
        self.header.sections[Section::Product as usize].bytes
    }

    /// Reads the moduli.
    pub(crate) fn moduli(&self) -> Result<Moduli, KeysError> {
        let bytes = self.section(Section::Moduli)?;
        let wrong = || self.damaged("wrong moduli");
        let count = usize::try_from(self.header.moduli).map_err(|_| wrong())?;
        let lengths = count.checked_mul(4).filter(|&n| n <= bytes.len()).ok_or_else(wrong)?;
        let (lengths, limbs) = bytes.split_at(lengths);
        let mut ends = Vec::with_capacity(count);
        let mut end = 0usize;
        for length in lengths.chunks_exact(4) {
            let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
            end = end.checked_add(length as usize).ok_or_else(wrong)?;
            ends.push(end);
        }
        let limbs = numbers(limbs).filter(|limbs| limbs.len() == end).ok_or_else(wrong)?;
        let moduli = Moduli { limbs, ends };
        let is_number =
            |n: &&[u64]| n.last().is_some_and(|&top| top > 1 || top == 1 && n.len() > 1);
        let all = moduli.all();
        let ascend = |pair: &[&[u64]]| warpint_natural::limbs::compare(pair[0], pair[1]).is_lt();
        if !all.iter().all(is_number) || !all.windows(2).all(ascend) {
            return Err(wrong());
        }
        Ok(moduli)
    }

    /// Reads the product.
    pub(crate) fn product(&self) -> Result<Vec<u64>, KeysError> {
        let limbs = numbers(&self.section(Section::Product)?);
        let limbs = limbs.filter(|limbs| limbs.last().is_some_and(|&top| top != 0));
        limbs.ok_or_else(|| self.damaged("a wrong product"))
    }

    /// Reads the places.
    pub(super) fn places(&self) -> Result<Places, KeysError> {
        let places: Option<Places> = serde_json::from_slice(&self.section(Section::Places)?).ok();
        let places = places.filter(|places| places.is_sound(self.header.moduli));
        places.ok_or_else(|| self.damaged("wrong places"))
    }

    /// Reads the places of some moduli of the file, by their indices.
    pub(crate) fn places_of(&self, indices: &[usize]) -> Result<Vec<Vec<Spot>>, KeysError> {
        let places = self.places()?;
        Ok(indices.iter().map(|&i| places.of(i)).collect())
    }

    /// Reads the moduli of earlier files, and the further places that this file has of them.
    pub(crate) fn repeats(&self) -> Result<Vec<Repeat>, KeysError> {
        let places = self.places()?;
        let repeats = places.repeats();
        repeats.map(|(modulus, spots)| Ok((self.number(modulus)?, spots))).collect()
    }

    /// Reads the pairs of moduli that share a prime.
    pub(crate) fn shared(&self) -> Result<Pairs, KeysError> {
        let section = self.section(Section::Shared)?;
        let wrong = || self.damaged("wrong pairs");
        let Shared { moduli, pairs } = if self.header.version == 1 {
            let pairs: Vec<[String; 2]> = serde_json::from_slice(&section).map_err(|_| wrong())?;
            indexed(pairs)
        } else {
            serde_json::from_slice(&section).map_err(|_| wrong())?
        };
        if pairs.iter().flatten().any(|&i| i as usize >= moduli.len()) {
            return Err(wrong());
        }
        let moduli: Result<_, _> = moduli.iter().map(|digits| self.number(digits)).collect();
        Ok(Pairs { moduli: moduli?, pairs })
    }

    /// Returns the modulus with these hexadecimal digits.
    fn number(&self, digits: &str) -> Result<Vec<u64>, KeysError> {
        let mut limbs = hex::parse(digits.as_bytes());
        warpint_natural::limbs::trim(&mut limbs);
        let is_number = digits.bytes().all(|c| c.is_ascii_hexdigit()) && !limbs.is_empty();
        if is_number { Ok(limbs) } else { Err(self.damaged("a wrong modulus")) }
    }

    /// Reads a section and compares its digest.
    fn section(&self, section: Section) -> Result<Vec<u8>, KeysError> {
        let path = self.folder.file(&self.name);
        let before = &self.header.sections[..section as usize];
        let offset = self.begin + before.iter().map(|section| section.bytes).sum::<u64>();
        let extent = &self.header.sections[section as usize];
        let file = self.folder.open(&self.name)?;
        let bytes = read_at(file, offset, extent.bytes).map_err(|e| failed("read", &path, e))?;
        if bytes.len() as u64 != extent.bytes || digits(&Sha256::digest(&bytes)) != extent.sha256 {
            return Err(self.damaged("the digest of a section is wrong"));
        }
        Ok(bytes)
    }

    fn damaged(&self, what: &'static str) -> KeysError {
        KeysError::Damaged { path: self.folder.file(&self.name), what }
    }
}

/// Returns pairs of digits as pairs of indices.
fn indexed(pairs: Vec<[String; 2]>) -> Shared {
    let mut index: BTreeMap<String, u32> = BTreeMap::new();
    let mut index_of = |digits: String| {
        let next = index.len() as u32;
        *index.entry(digits).or_insert(next)
    };
    let pairs = pairs.into_iter().map(|pair| pair.map(&mut index_of)).collect();
    let mut moduli = vec![String::new(); index.len()];
    for (digits, i) in index {
        moduli[i as usize] = digits;
    }
    Shared { moduli, pairs }
}

fn read_at(mut file: File, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut section = vec![];
    file.take(bytes).read_to_end(&mut section)?;
    Ok(section)
}

fn name(number: u32) -> String {
    format!("part-{number:08}.keys")
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> KeysError {
    KeysError::File(warpint_files::FileError::Io { action, path: path.to_owned(), source })
}

/// Returns little-endian bytes as limbs. Returns `None` if the last limb is not whole.
fn numbers(bytes: &[u8]) -> Option<Vec<u64>> {
    let (limbs, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| limbs.iter().map(|&limb| u64::from_le_bytes(limb)).collect())
}

fn digits(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
