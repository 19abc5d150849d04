//! The checkpoint file: header, residues and checksum.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::primality::LARGEST_BLOCK;
use crate::{DigestedResidue, ErrorCounts, Number, Residue, ResidueError, TestKind};

/// The state of a test at some iteration, as kept on the host and on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The kind of the test.
    pub kind: TestKind,
    /// The number of squarings done.
    pub iteration: u64,
    /// The term of the sequence at `iteration`, without shift.
    pub residue: Residue,
    /// The shift, in bits, with which the sequence started.
    pub shift: u32,
    /// The computing time over all runs of the test.
    pub elapsed: Duration,
    /// The numbers of errors that the test has detected and recovered from so far.
    pub errors: ErrorCounts,
    /// The transform length to which the test changed after round-off errors; `None` if there were
    /// no round-off errors.
    pub least_length: Option<LeastLength>,
    /// The check that has confirmed `residue`, in a Lucas–Lehmer test; always `No` in other tests.
    pub confirmed: Confirmation,
    /// The data for the next Gerbicz–Li check, in a PRP test or a certification; `None` in a
    /// Lucas–Lehmer test.
    pub gerbicz: Option<GerbiczState>,
}

/// The check that has confirmed a residue of a Lucas–Lehmer test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Confirmation {
    /// No check has confirmed the residue.
    #[default]
    No,
    /// A Jacobi check has confirmed the residue. Or a second engine has confirmed it, starting from
    /// an earlier residue that a Jacobi check had confirmed.
    Jacobi,
    /// A second engine has confirmed the residue by computing the whole sequence again.
    Twice,
}

impl Confirmation {
    /// Returns the word for this value in the header of a checkpoint; `None` if no check has
    /// confirmed the residue.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::No => None,
            Self::Jacobi => Some("jacobi"),
            Self::Twice => Some("twice"),
        }
    }
}

/// The least transform length to use, because shorter transforms of this engine have failed in this
/// test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeastLength {
    /// The name of the engine family, such as `fp64`.
    pub engine: String,
    /// The transform length in words.
    pub length: usize,
}

/// The data for the next Gerbicz–Li check. Let x_k be the term of the sequence at iteration k, v
/// the last verified iteration, and B the number of squarings of a block. The data are x_v and the
/// product D = x_v·x_(v+B)·x_(v+2B)·… up to the term at `product_iteration`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GerbiczState {
    /// The block length B, in squarings.
    pub block: u32,
    /// The iteration v of the last verified residue.
    pub verified_iteration: u64,
    /// The last verified residue, x_v.
    pub verified: DigestedResidue,
    /// The iteration of the last term in `product`.
    pub product_iteration: u64,
    /// The product D of the verified residue and the terms at the ends of the blocks after
    /// iteration v, up to the term at `product_iteration`.
    pub product: Residue,
}

/// The reason why bytes are not a valid checkpoint of the expected test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The file does not begin with the words `warpint checkpoint`.
    #[error("it is not a warpint checkpoint")]
    NotOurs,
    /// The length of the file does not agree with its header, or the header does not end within the
    /// first 4,096 bytes.
    #[error("it has {found} bytes instead of {expected}: truncated or extended")]
    Size {
        /// The length in bytes that follows from the header; 4,096 if the end of the header is not
        /// found.
        expected: u64,
        /// The length of the file in bytes.
        found: u64,
    },
    /// The SHA-256 does not match the content, or the header is not UTF-8.
    #[error("its checksum does not match: some byte has changed")]
    Checksum,
    /// A later version of this program wrote the checkpoint.
    #[error("it was written by a later version of warpint (format {found})")]
    Version {
        /// The version of the file's format.
        found: String,
    },
    /// The checkpoint belongs to another test.
    #[error("it belongs to another test ({found})")]
    Foreign {
        /// The first line of the file, which names the test.
        found: String,
    },
    /// A header field is missing or has an impossible value. Also returned, for
    /// `verified-iteration`, if residues that must be equal differ.
    #[error("header field '{field}' is missing or impossible")]
    Field {
        /// The name of the header field.
        field: &'static str,
    },
    /// A residue in the body is not canonical.
    #[error(transparent)]
    Residue(#[from] ResidueError),
}

/// An upper bound on the length of a header in bytes. A file with a longer header is not accepted
/// as a checkpoint.
const MAX_HEADER: usize = 4096;
const CHECKSUM: usize = 32;
const VERSION: &str = "2";
/// The format version of older checkpoints. An older checkpoint of a test with Gerbicz–Li checks
/// always contains three residues: the present residue, the verified residue and the product. An
/// older checkpoint has no fields for errors found by a Jacobi check or a second engine, because
/// these checks did not exist.
const OLD_VERSION: &str = "1";
const MAGIC: &str = "warpint checkpoint";

/// The number of bytes of a piece of a checkpoint.
const PIECE: usize = 32 << 10;

/// Collects the bytes of a checkpoint into pieces, and computes their SHA-256.
struct Pieces<W> {
    write: W,
    piece: Vec<u8>,
    hash: Sha256,
}

impl<W: FnMut(&[u8]) -> Result<(), E>, E> Pieces<W> {
    fn push(&mut self, bytes: &[u8]) -> Result<(), E> {
        if self.piece.len() + bytes.len() > PIECE {
            self.hash.update(&self.piece);
            (self.write)(&self.piece)?;
            self.piece.clear();
        }
        self.piece.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes the last piece, with the checksum at its end.
    fn end(mut self) -> Result<(), E> {
        self.hash.update(&self.piece);
        self.piece.extend_from_slice(&self.hash.finalize());
        (self.write)(&self.piece)
    }
}

impl State {
    /// Returns an upper bound on the size of a checkpoint of a number in bytes. A reader can reject a
    /// longer file without reading it.
    #[must_use]
    pub fn max_file_size(number: impl Into<Number>) -> u64 {
        (MAX_HEADER + CHECKSUM + 3 * Residue::byte_len(number)) as u64
    }

    /// Returns the number that is tested, which is the modulus of the residues.
    #[must_use]
    pub fn number(&self) -> Number {
        self.residue.number()
    }

    /// Returns whether the state shows no sign of a memory error since it was computed or read.
    ///
    /// The last verified residue must have its digest. If the present residue or the product of the
    /// next Gerbicz–Li check belongs to the verified iteration, it must be equal to the verified
    /// residue; a file stores only one of these equal residues. For a Lucas–Lehmer test, the result
    /// is always true.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.gerbicz.as_ref().is_none_or(|g| {
            let of_verified =
                |k: u64, x: &Residue| k != g.verified_iteration || x == g.verified.residue();
            g.verified.is_intact()
                && of_verified(self.iteration, &self.residue)
                && of_verified(g.product_iteration, &g.product)
        })
    }

    /// Returns whether a check has confirmed the present residue itself, not only earlier residues.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        match &self.gerbicz {
            Some(g) => g.verified_iteration == self.iteration,
            None => self.confirmed > Confirmation::No,
        }
    }

    /// Returns the state as the bytes of a checkpoint file. The file consists of a header of text
    /// lines that ends with an empty line, residues of [`Residue::byte_len`] little-endian bytes each,
    /// and the SHA-256 of everything before it.
    ///
    /// The first residue is the present one. For PRP tests and certifications, the last verified
    /// residue follows unless it is the present one. Then the product of the next check follows
    /// unless it is the verified residue.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![];
        let written: Result<(), Infallible> = self.write_to(|piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        written.unwrap_or_else(|never| match never {});
        bytes
    }

    /// Passes the bytes of [`State::to_bytes`] to `write` in pieces of some 32 KiB, so that a file
    /// can be written without a copy of all residues in memory.
    ///
    /// # Errors
    /// Returns the first error of `write`.
    pub fn write_to<E>(&self, write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut pieces = Pieces { write, piece: Vec::with_capacity(PIECE), hash: Sha256::new() };
        pieces.push(self.header().as_bytes())?;
        let mut residue = |x: &Residue| {
            let mut left = Residue::byte_len(self.number());
            x.limbs().iter().try_for_each(|limb| {
                let bytes = limb.to_le_bytes();
                let some = &bytes[..left.min(bytes.len())];
                left -= some.len();
                pieces.push(some)
            })
        };
        residue(&self.residue)?;
        if let Some(g) = &self.gerbicz {
            let body = Body::of(self.iteration, g.verified_iteration, g.product_iteration);
            if body.verified > 0 {
                residue(g.verified.residue())?;
            }
            if body.product > body.verified {
                residue(&g.product)?;
            }
        }
        pieces.end()
    }

    /// Returns the header, with the empty line at its end.
    fn header(&self) -> String {
        let mut header = String::new();
        let number = self.number();
        let total = self.kind.iterations(number);
        let mut line = |text: std::fmt::Arguments<'_>| {
            // Writing to a String cannot fail.
            let _ = header.write_fmt(format_args!("{text}\n"));
        };
        line(format_args!(
            "{MAGIC}: {} {number} iteration {} of {total} res64 {}",
            self.kind,
            self.iteration,
            self.residue.res64_hex()
        ));
        line(format_args!("version: {VERSION}"));
        line(format_args!("test: {}", self.kind.slug()));
        let (name, value) = number_line(number);
        line(format_args!("{name}: {value}"));
        line(format_args!("iteration: {}", self.iteration));
        line(format_args!("shift: {}", self.shift));
        line(format_args!("elapsed-ms: {}", self.elapsed.as_millis()));
        line(format_args!("gerbicz-errors: {}", self.errors.gerbicz));
        line(format_args!("jacobi-errors: {}", self.errors.jacobi));
        line(format_args!("double-check-errors: {}", self.errors.double_check));
        line(format_args!("round-off-errors: {}", self.errors.round_off));
        // Versions that do not know this line read the file nevertheless.
        if self.errors.squarings > 0 {
            line(format_args!("squaring-errors: {}", self.errors.squarings));
        }
        if let Some(least) = &self.least_length {
            line(format_args!("least-length: {} {}", least.engine, least.length));
        }
        if let Some(word) = self.confirmed.word() {
            line(format_args!("confirmed: {word}"));
        }
        if let Some(g) = &self.gerbicz {
            line(format_args!("block: {}", g.block));
            line(format_args!("verified-iteration: {}", g.verified_iteration));
            line(format_args!("product-iteration: {}", g.product_iteration));
        }
        line(format_args!(""));
        header
    }

    /// Decodes a checkpoint file of the test `kind` of a number. Every part is checked before it is
    /// used.
    pub fn from_bytes(
        bytes: &[u8],
        kind: TestKind,
        number: impl Into<Number>,
    ) -> Result<Self, FormatError> {
        let number = number.into();
        if !bytes.starts_with(MAGIC.as_bytes()) {
            return Err(FormatError::NotOurs);
        }
        let window = &bytes[..bytes.len().min(MAX_HEADER)];
        let size_error = |expected: usize| FormatError::Size {
            expected: expected as u64,
            found: bytes.len() as u64,
        };
        let Some(end) = window.windows(2).position(|w| w == b"\n\n") else {
            return Err(size_error(MAX_HEADER));
        };
        let Ok(text) = std::str::from_utf8(&window[..end]) else {
            return Err(FormatError::Checksum);
        };
        let header = Header { text };
        let first = text.lines().next().unwrap_or_default();
        let of_this_test = header.get("test") == Some(kind.slug().as_str())
            && header.get(number_line(number).0) == Some(number_line(number).1.as_str());
        let version = header.get("version");
        let of_old = version == Some(OLD_VERSION);
        let total = kind.iterations(number);
        let iteration = header.number("iteration").filter(|&k| k <= total);
        let stretch =
            kind.is_checked().then(|| Stretch::read(&header, iteration.unwrap_or(0))).transpose();
        let body = match &stretch {
            Ok(Some(s)) if !of_old => {
                Body::of(iteration.unwrap_or(0), s.verified_iteration, s.product_iteration)
            }
            _ if kind.is_checked() => Body { verified: 1, product: 2 },
            _ => Body { verified: 0, product: 0 },
        };
        let residues = body.product + 1;
        let size = Residue::byte_len(number);
        let begin = end + 2;
        let expected = begin + residues * size + CHECKSUM;

        // "Belongs to another test" is reported only for a file that is itself whole.
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM.min(bytes.len()));
        let sound = Sha256::digest(content).as_slice() == checksum;
        if sound && version != Some(VERSION) && !of_old {
            let found = version.ok_or(field("version"))?.to_owned();
            return Err(FormatError::Version { found });
        }
        if !of_this_test && sound {
            return Err(FormatError::Foreign { found: first.to_owned() });
        }
        if sound {
            // A header with impossible values does not determine the size.
            iteration.ok_or(field("iteration"))?;
            stretch.as_ref().map_err(|&e| field(e))?;
        }
        if of_this_test && bytes.len() != expected {
            return Err(size_error(expected));
        }
        if !sound {
            return Err(FormatError::Checksum);
        }

        let residue = |i: usize| {
            let start = begin + i * size;
            Residue::from_le_bytes(number, &bytes[start..start + size])
        };
        let iteration = iteration.ok_or(field("iteration"))?;
        let gerbicz = match stretch.map_err(field)? {
            Some(s) => Some(GerbiczState {
                block: s.block,
                verified_iteration: s.verified_iteration,
                verified: DigestedResidue::new(residue(body.verified)?),
                product_iteration: s.product_iteration,
                product: residue(body.product)?,
            }),
            None => None,
        };
        // At the verified iteration, the product and the present residue must equal the verified
        // residue.
        if let Some(g) = &gerbicz {
            let verified = g.verified.residue();
            let product_is_new = g.product_iteration == g.verified_iteration;
            if product_is_new && g.product != *verified
                || g.verified_iteration == iteration && residue(0)? != *verified
            {
                return Err(field("verified-iteration"));
            }
        }
        let count = |name| header.number(name).and_then(|n| u32::try_from(n).ok());
        let errors = |name| count(name).ok_or(field(name));
        Ok(Self {
            kind,
            iteration,
            residue: residue(0)?,
            shift: count("shift").filter(|&s| is_shift(s, number)).ok_or(field("shift"))?,
            elapsed: header
                .number("elapsed-ms")
                .map(Duration::from_millis)
                .ok_or(field("elapsed-ms"))?,
            errors: ErrorCounts {
                gerbicz: errors("gerbicz-errors")?,
                jacobi: if of_old { 0 } else { errors("jacobi-errors")? },
                double_check: if of_old { 0 } else { errors("double-check-errors")? },
                squarings: match header.get("squaring-errors") {
                    None => 0,
                    Some(_) => errors("squaring-errors")?,
                },
                round_off: errors("round-off-errors")?,
            },
            confirmed: match header.get("confirmed") {
                None => Confirmation::No,
                Some("jacobi") if !kind.is_checked() => Confirmation::Jacobi,
                Some("twice") if !kind.is_checked() => Confirmation::Twice,
                Some(_) => return Err(field("confirmed")),
            },
            least_length: header
                .get("least-length")
                .map(|text| {
                    let (engine, length) = text.split_once(' ')?;
                    Some(LeastLength { engine: engine.into(), length: length.parse().ok()? })
                })
                .map(|least| least.ok_or(field("least-length")))
                .transpose()?,
            gerbicz,
        })
    }
}

/// Returns the name and the value of the header line that names the number.
fn number_line(number: Number) -> (&'static str, String) {
    if number.is_mersenne() {
        ("exponent", number.exponent().to_string())
    } else {
        ("number", number.to_string())
    }
}

/// Returns whether s can be the shift of a residue modulo the number.
fn is_shift(s: u32, number: Number) -> bool {
    s == 0 || number.is_mersenne() && s < number.exponent()
}

fn field(field: &'static str) -> FormatError {
    FormatError::Field { field }
}

/// The positions of the last verified residue and of the Gerbicz–Li product among the residues of a
/// file, counted from 0. The present residue is at position 0. If the verified residue is the
/// present one, or the product is the verified residue, both have the same position.
struct Body {
    verified: usize,
    product: usize,
}

impl Body {
    fn of(iteration: u64, verified: u64, product: u64) -> Self {
        let at = usize::from(verified != iteration);
        Self { verified: at, product: at + usize::from(product != verified) }
    }
}

/// The header fields that describe the state of the Gerbicz–Li check. The iteration numbers are
/// those of the last verified residue and of the last term in the product.
struct Stretch {
    block: u32,
    verified_iteration: u64,
    product_iteration: u64,
}

impl Stretch {
    /// Reads the fields from a header of a checkpoint at `iteration`. An error is the name of the
    /// field that is missing or impossible.
    fn read(header: &Header<'_>, iteration: u64) -> Result<Self, &'static str> {
        let block = header
            .number("block")
            .and_then(|b| u32::try_from(b).ok())
            .filter(|&b| b > 0 && u64::from(b) <= LARGEST_BLOCK)
            .ok_or("block")?;
        let product_iteration = header
            .number("product-iteration")
            .filter(|&k| k <= iteration && iteration - k <= u64::from(block))
            .ok_or("product-iteration")?;
        let verified_iteration = header
            .number("verified-iteration")
            .filter(|&k| {
                k <= product_iteration && (product_iteration - k).is_multiple_of(u64::from(block))
            })
            .ok_or("verified-iteration")?;
        Ok(Self { block, verified_iteration, product_iteration })
    }
}

/// The header of a checkpoint. The first line describes the checkpoint for people. The other lines
/// have the form `name: value`.
struct Header<'a> {
    text: &'a str,
}

impl<'a> Header<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.text.lines().skip(1).find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

#[cfg(test)]
mod tests;
