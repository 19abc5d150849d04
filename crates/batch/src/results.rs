//! Results of operations in the form in which they are written.

use std::ops::Range;

use warpint_integer::{IntegerError, UintBatch, Width};

use crate::check::Written;
use crate::format::NONE;
use crate::{Format, Item, NpyHeader};

/// Results in the form in which they are written to a file.
#[derive(Debug)]
pub struct Results(Content);

#[derive(Debug)]
enum Content {
    Texts(Vec<String>),
    /// The results as bytes, and the number of bytes per result.
    Bytes(Vec<u8>, usize),
}

/// The form in which results are written: a format, a width and an element type.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The format of the file.
    pub format: Format,
    /// The width of the results.
    pub width: Width,
    /// The type of the array elements. Only the format npy uses it. The width of the results is a
    /// multiple of the element's bits.
    pub item: Item,
}

impl Form {
    /// Converts numbers of the form's width to results in this form.
    ///
    /// # Errors
    /// Returns [`IntegerError::Memory`] if memory is insufficient. For a batch on a device, also
    /// returns errors of the device.
    pub fn of(&self, numbers: &UintBatch) -> Result<Results, IntegerError> {
        Ok(Results(match self.format {
            Format::Decimal => Content::Texts(numbers.to_decimal()?),
            Format::Hex => Content::Texts(numbers.to_hex()?),
            Format::Npy | Format::Raw => Content::Bytes(numbers.to_bytes_le()?, self.row()),
        }))
    }

    /// Returns the number of bytes per result in the formats npy and raw.
    fn row(&self) -> usize {
        4 * self.width.limbs()
    }

    /// Returns the header of a file with `count` results. It is empty unless the format is npy.
    #[must_use]
    pub fn header(&self, count: u64) -> Vec<u8> {
        match self.format {
            Format::Npy => {
                let limbs = u64::from(self.width.bits() / self.item.bits());
                NpyHeader { item: self.item, count, limbs }.to_bytes()
            }
            Format::Decimal | Format::Hex | Format::Raw => vec![],
        }
    }
}

impl Results {
    /// Returns result i in the bytes in which it is written.
    pub(crate) fn get(&self, i: usize, format: Format) -> Written<'_> {
        let bytes = match &self.0 {
            Content::Texts(texts) => texts.get(i).map(|text| text.as_bytes()),
            Content::Bytes(bytes, row) => bytes.get(row_of(i, *row)),
        };
        Written { format, bytes: bytes.unwrap_or_default() }
    }

    /// Returns the bytes of all results, which follow the header of the file.
    ///
    /// `none` contains the indices of the numbers without a result, in ascending order. In text,
    /// the line `none` is written for such a number. In binary formats, its bytes are zero.
    #[must_use]
    pub fn into_bytes(self, none: &[usize]) -> Vec<u8> {
        match self.0 {
            Content::Texts(texts) => {
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
            Content::Bytes(mut bytes, row) => {
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
