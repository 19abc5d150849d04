//! The file of results.

use std::ops::Range;
use std::path::Path;

use warpint::integer::{IntegerError, UintBatch, Width};

use super::check::Written;
use super::lines::NONE;
use super::npy::{Header, Item};
use super::standard::{Output, is_standard};
use crate::args::Format;
use crate::exit::BadRequest;
use crate::whole_file::{Unfinished, WholeFile};

/// Results as they go into a file.
#[derive(Debug)]
pub(crate) enum Results {
    Texts(Vec<String>),
    /// So many bytes each.
    Bytes(Vec<u8>, usize),
}

/// What results are written as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) format: Format,
    /// Of results.
    pub(crate) width: Width,
    /// Of an npy file.
    pub(crate) item: Item,
}

impl Form {
    pub(crate) fn of(&self, numbers: &UintBatch) -> Result<Results, IntegerError> {
        Ok(match self.format {
            Format::Decimal => Results::Texts(numbers.to_decimal()?),
            Format::Hex => Results::Texts(numbers.to_hex()?),
            Format::Npy | Format::Raw => Results::Bytes(numbers.to_bytes_le()?, self.row()),
        })
    }

    /// Bytes of a number.
    fn row(&self) -> usize {
        4 * self.width.limbs()
    }

    /// Begins with so many results, as yet beside their place.
    pub(crate) fn open(&self, out: &Out, count: u64) -> anyhow::Result<Draft> {
        let mut file = match out {
            Out::File(file) => Draft::File(file.begin()?),
            Out::Standard => Draft::Standard(Output::new()?),
        };
        if self.format == Format::Npy {
            let limbs = u64::from(self.width.bits() / self.item.bits());
            file.write(&Header { item: self.item, count, limbs }.to_bytes())?;
        }
        Ok(file)
    }
}

/// Where results go.
pub(crate) enum Out {
    File(WholeFile),
    /// Standard output.
    Standard,
}

impl Out {
    pub(crate) fn new(path: &Path) -> Result<Self, BadRequest> {
        if is_standard(path) { Ok(Self::Standard) } else { WholeFile::new(path).map(Self::File) }
    }

    pub(crate) fn is_standard(&self) -> bool {
        matches!(self, Self::Standard)
    }

    /// Whether what goes there would replace the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a.is_same(b),
            (Self::Standard, Self::Standard) => true,
            _ => false,
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(file) => file.path.display().to_string(),
            Self::Standard => "standard output".into(),
        }
    }
}

/// Results that are not yet where they go: all of them at the end, or none.
pub(crate) enum Draft {
    File(Unfinished),
    Standard(Output),
}

impl Draft {
    /// Writes the next bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Standard(output) => output.write(bytes),
        }
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::File(file) => file.finish(),
            Self::Standard(output) => output.finish(),
        }
    }
}

impl Results {
    /// Result i.
    pub(crate) fn get(&self, i: usize, format: Format) -> Written<'_> {
        let bytes = match self {
            Self::Texts(texts) => texts.get(i).map(|text| text.as_bytes()),
            Self::Bytes(bytes, row) => bytes.get(row_of(i, *row)),
        };
        Written { format, bytes: bytes.unwrap_or_default() }
    }

    /// The bytes of the file, with [`NONE`] or zeros for those that are no results, in ascending
    /// order.
    pub(crate) fn into_bytes(self, none: &[usize]) -> Vec<u8> {
        match self {
            Self::Texts(texts) => {
                let size = texts.iter().map(|text| text.len().max(NONE.len()) + 1).sum();
                let mut bytes = Vec::with_capacity(size);
                let mut none = none.iter().copied().peekable();
                for (i, text) in texts.iter().enumerate() {
                    let text = if none.next_if_eq(&i).is_some() { NONE } else { text };
                    bytes.extend_from_slice(text.as_bytes());
                    bytes.push(b'\n');
                }
                bytes
            }
            Self::Bytes(mut bytes, row) => {
                for &i in none {
                    if let Some(number) = bytes.get_mut(row_of(i, row)) {
                        number.fill(0);
                    }
                }
                bytes
            }
        }
    }
}

fn row_of(i: usize, row: usize) -> Range<usize> {
    i * row..(i + 1) * row
}
