//! The formats of files of numbers.

mod detect;
mod digits;
mod encoding;
mod lines;
mod npy;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use warpint_integer::Width;

pub(crate) use detect::{LOOKED_AT, detect};
pub(crate) use digits::{Digits, NONE, prefix, significant};
pub use digits::{Limit, LineProblem};
pub(crate) use encoding::text_begins;
pub(crate) use lines::{LineReader, Lines};
pub use npy::{Header as NpyHeader, Item};

/// The format of a file of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One line of decimal digits per number, in UTF-8, with the line ending LF or CR LF. The line
    /// `none` denotes a missing number.
    Decimal,
    /// One line of hexadecimal digits per number, with or without the prefix `0x`. The line `none`
    /// denotes a missing number.
    Hex,
    /// A NumPy array of shape (count, limbs) with elements of type uint32 or uint64. The lowest
    /// limb of each number comes first.
    Npy,
    /// The bytes of all numbers, without a header. The lowest byte of each number comes first. A
    /// number of `width` bits has `width`/8 bytes.
    Raw,
}

impl Format {
    /// All formats, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Decimal, Self::Hex, Self::Npy, Self::Raw];

    /// Returns the name of the format: `dec`, `hex`, `npy` or `raw`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decimal => "dec",
            Self::Hex => "hex",
            Self::Npy => "npy",
            Self::Raw => "raw",
        }
    }

    /// Returns the format that the extension of a file name denotes. `.txt` and `.dec` denote
    /// decimal, `.hex` hexadecimal, `.npy` npy, and `.bin` and `.raw` raw. Returns `None` for other
    /// names.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "txt" | "dec" => Some(Self::Decimal),
            "hex" => Some(Self::Hex),
            "npy" => Some(Self::Npy),
            "bin" | "raw" => Some(Self::Raw),
            _ => None,
        }
    }

    /// Returns whether the format has a line of text for each number.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Decimal | Self::Hex)
    }

    /// Returns the approximate memory of one number in bytes. It includes the limbs of the number,
    /// and its text or bytes in this format.
    pub(crate) fn bytes_each(self, width: Width) -> u64 {
        let limbs = u64::from(width.bits() / 8);
        // A text, its start and end, and the overhead of an allocation.
        let text = |digits| digits + 64;
        limbs
            + match self {
                Self::Decimal => text(limbs * 5 / 2),
                Self::Hex => text(limbs * 2),
                Self::Npy | Self::Raw => limbs,
            }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not the name of a [`Format`]. The value is the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a format: use dec, hex, npy or raw")]
pub struct FormatError(String);

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let all = Self::ALL.into_iter();
        all.into_iter().find(|format| format.name() == text).ok_or_else(|| FormatError(text.into()))
    }
}
