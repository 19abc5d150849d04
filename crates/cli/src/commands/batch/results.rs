//! Results as they are written.

use std::ops::Range;

use warpint::integer::{IntegerError, UintBatch, Width};

use super::check::Written;
use super::digits::NONE;
use super::npy::{Header, Item};
use crate::args::Format;

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

    /// What a file of so many results begins with.
    pub(crate) fn header(&self, count: u64) -> Vec<u8> {
        match self.format {
            Format::Npy => {
                let limbs = u64::from(self.width.bits() / self.item.bits());
                Header { item: self.item, count, limbs }.to_bytes()
            }
            Format::Decimal | Format::Hex | Format::Raw => vec![],
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
