//! The checkpoint file: header, residues and checksum. `read` decodes it.

mod read;

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::digested::Fingerprint;
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
    /// The second term of the sequence, in Morrison's test; `None` in other tests. The state has then been
    /// checked.
    pub lucas: Option<LucasState>,
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

/// The terms V_m and V_(m+1) of a Lucas sequence, of which V_m is [`State::residue`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LucasState {
    next: DigestedResidue,
    term: Fingerprint,
}

impl LucasState {
    /// Creates the state of the terms V_m = `term` and V_(m+1) = `next`. They must have just been computed,
    /// or read from a file whose checksum was verified.
    #[must_use]
    pub fn new(term: &Residue, next: Residue) -> Self {
        Self { next: DigestedResidue::new(next), term: Fingerprint::of(term) }
    }

    /// Replaces V_(m+1) but keeps the old digests. Tests use this function to simulate a memory error.
    #[must_use]
    pub fn changed_to(self, next: Residue) -> Self {
        Self { next: self.next.changed_to(next), ..self }
    }

    /// Returns V_(m+1).
    #[must_use]
    pub fn next(&self) -> &Residue {
        self.next.residue()
    }

    /// Returns whether V_(m+1) is unchanged in memory, and `term` is the V_m of [`Self::new`].
    #[must_use]
    pub fn is_intact(&self, term: &Residue) -> bool {
        self.next.is_intact() && self.term == Fingerprint::of(term)
    }
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
    /// residue; a file stores only one of these equal residues. The two terms of a Lucas sequence must
    /// have their digests. For a Lucas–Lehmer test, the result is always true.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        if !self.lucas.as_ref().is_none_or(|lucas| lucas.is_intact(&self.residue)) {
            return false;
        }
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
            None => self.lucas.is_some() || self.confirmed > Confirmation::No,
        }
    }

    /// Returns the state as the bytes of a checkpoint file. The file consists of a header of text
    /// lines that ends with an empty line, residues of [`Residue::byte_len`] little-endian bytes each,
    /// and the SHA-256 of everything before it.
    ///
    /// The first residue is the present one. For PRP tests and certifications, the last verified
    /// residue follows unless it is the present one. Then the product of the next check follows
    /// unless it is the verified residue. For Morrison's test the second term of the sequence follows.
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
        if let Some(lucas) = &self.lucas {
            residue(lucas.next())?;
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
        if self.errors.lucas > 0 {
            line(format_args!("lucas-errors: {}", self.errors.lucas));
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
}

/// Returns the name and the value of the header line that names the number.
fn number_line(number: Number) -> (&'static str, String) {
    if number.is_mersenne() {
        ("exponent", number.exponent().to_string())
    } else {
        ("number", number.to_string())
    }
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

#[cfg(test)]
mod tests;
