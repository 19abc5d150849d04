//! The checkpoint file: header, residues, checksum.

use std::fmt::Write as _;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::primality::LARGEST_BLOCK;
use crate::{DigestedResidue, ErrorCounts, Residue, ResidueError, TestKind};

/// A test at some iteration, as it is kept on the host and on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Which test.
    pub kind: TestKind,
    /// p.
    pub exponent: u32,
    /// Squarings done.
    pub iteration: u64,
    /// The sequence at `iteration`, without shift.
    pub residue: Residue,
    /// The shift the sequence began with.
    pub shift: u32,
    /// Computing time so far, over all sittings.
    pub elapsed: Duration,
    /// Errors met and overcome so far.
    pub errors: ErrorCounts,
    /// The length that round-off has made necessary on the way, if it has.
    pub least_length: Option<LeastLength>,
    /// Lucas–Lehmer: what has confirmed the residue.
    pub confirmed: Confirmation,
    /// PRP and certifications: what the next Gerbicz–Li check needs.
    pub gerbicz: Option<GerbiczState>,
}

/// What has confirmed a residue of a Lucas–Lehmer test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Confirmation {
    /// Nothing so far.
    #[default]
    No,
    /// A Jacobi check, or a second engine that went on from a residue so confirmed.
    Jacobi,
    /// A second engine, which has computed all that the first has.
    Twice,
}

impl Confirmation {
    /// As a checkpoint says it.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::No => None,
            Self::Jacobi => Some("jacobi"),
            Self::Twice => Some("twice"),
        }
    }
}

/// Shorter transforms of this engine have failed in this test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeastLength {
    /// The family's name.
    pub engine: String,
    /// Words.
    pub length: usize,
}

/// The Gerbicz–Li product of the squarings since the last verified iteration v:
/// D = Π x_(v+iB) for i from 0 as far as `product_iteration`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GerbiczState {
    /// B, squarings in a block.
    pub block: u32,
    /// v.
    pub verified_iteration: u64,
    /// x_v.
    pub verified: DigestedResidue,
    /// The iteration of the last factor of D.
    pub product_iteration: u64,
    /// D.
    pub product: Residue,
}

/// Why bytes are not a sound checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The first line is not ours.
    #[error("it is not a warpint checkpoint")]
    NotOurs,
    /// The file ends too early or goes on too long.
    #[error("it has {found} bytes instead of {expected}: truncated or extended")]
    Size {
        /// What the header promises.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// The SHA-256 does not match.
    #[error("its checksum does not match: some byte has changed")]
    Checksum,
    /// A later version of this program has written it.
    #[error("it was written by a later version of warpint (format {found})")]
    Version {
        /// The format's version.
        found: String,
    },
    /// It is of another test.
    #[error("it belongs to another test ({found})")]
    Foreign {
        /// The first line of the file.
        found: String,
    },
    /// A header line is missing or says something impossible.
    #[error("header field '{field}' is missing or impossible")]
    Field {
        /// Its name.
        field: &'static str,
    },
    /// A residue in the body is not canonical.
    #[error(transparent)]
    Residue(#[from] ResidueError),
}

/// The header never comes near this; a longer one is not ours.
const MAX_HEADER: usize = 4096;
const CHECKSUM: usize = 32;
const VERSION: &str = "2";
/// Version 1 had x_v and D always, and no words on Jacobi checks, for there were none.
const OLD_VERSION: &str = "1";
const MAGIC: &str = "warpint checkpoint";

impl State {
    /// An upper bound on the size of a checkpoint of M_p, so that a reader
    /// need not trust a file's length.
    #[must_use]
    pub fn max_file_size(exponent: u32) -> u64 {
        (MAX_HEADER + CHECKSUM + 3 * Residue::byte_len(exponent)) as u64
    }

    /// Whether the sealed residue is still what it was, and x and D are the same number where
    /// they stand at its iteration: a file would keep but one of them.
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

    /// Whether a check has confirmed x itself, not only what came before it.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        match &self.gerbicz {
            Some(g) => g.verified_iteration == self.iteration,
            None => self.confirmed > Confirmation::No,
        }
    }

    /// The file: a header of text lines up to an empty one, then the residues
    /// of ⌈p/8⌉ little-endian bytes each (x; for PRP also x_v and D as far as
    /// they are other numbers), then the SHA-256 of everything before it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut header = String::new();
        let total = self.kind.iterations(self.exponent);
        let mut line = |text: std::fmt::Arguments<'_>| {
            // Writing to a String cannot fail.
            let _ = header.write_fmt(format_args!("{text}\n"));
        };
        line(format_args!(
            "{MAGIC}: {} M{} iteration {} of {total} res64 {}",
            self.kind,
            self.exponent,
            self.iteration,
            self.residue.res64_hex()
        ));
        line(format_args!("version: {VERSION}"));
        line(format_args!("test: {}", self.kind.slug()));
        line(format_args!("exponent: {}", self.exponent));
        line(format_args!("iteration: {}", self.iteration));
        line(format_args!("shift: {}", self.shift));
        line(format_args!("elapsed-ms: {}", self.elapsed.as_millis()));
        line(format_args!("gerbicz-errors: {}", self.errors.gerbicz));
        line(format_args!("jacobi-errors: {}", self.errors.jacobi));
        line(format_args!("double-check-errors: {}", self.errors.double_check));
        line(format_args!("round-off-errors: {}", self.errors.round_off));
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
        let mut bytes = header.into_bytes();
        bytes.extend(self.residue.to_le_bytes());
        if let Some(g) = &self.gerbicz {
            let body = Body::of(self.iteration, g.verified_iteration, g.product_iteration);
            if body.verified > 0 {
                bytes.extend(g.verified.residue().to_le_bytes());
            }
            if body.product > body.verified {
                bytes.extend(g.product.to_le_bytes());
            }
        }
        let checksum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    /// Reads a checkpoint of the test `kind` of M_`exponent`, believing
    /// nothing that has not been checked.
    pub fn from_bytes(bytes: &[u8], kind: TestKind, exponent: u32) -> Result<Self, FormatError> {
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
            && header.get("exponent") == Some(exponent.to_string().as_str());
        let version = header.get("version");
        let of_old = version == Some(OLD_VERSION);
        let total = kind.iterations(exponent);
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
        let size = Residue::byte_len(exponent);
        let begin = end + 2;
        let expected = begin + residues * size + CHECKSUM;

        // Say "foreign" only of a file that is whole in itself.
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM.min(bytes.len()));
        let sound = Sha256::digest(content).as_slice() == checksum;
        if sound
            && let Some(found) = version
            && found != VERSION
            && !of_old
        {
            return Err(FormatError::Version { found: found.to_owned() });
        }
        if !of_this_test && sound {
            return Err(FormatError::Foreign { found: first.to_owned() });
        }
        if sound {
            // A header that is wrong in itself says nothing of the size.
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
            Residue::from_le_bytes(exponent, &bytes[start..start + size])
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
        // Where two of the three are the same number, they must say so.
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
            exponent,
            iteration,
            residue: residue(0)?,
            shift: count("shift").filter(|&s| s < exponent).ok_or(field("shift"))?,
            elapsed: header
                .number("elapsed-ms")
                .map(Duration::from_millis)
                .ok_or(field("elapsed-ms"))?,
            errors: ErrorCounts {
                gerbicz: errors("gerbicz-errors")?,
                jacobi: if of_old { 0 } else { errors("jacobi-errors")? },
                double_check: if of_old { 0 } else { errors("double-check-errors")? },
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

fn field(field: &'static str) -> FormatError {
    FormatError::Field { field }
}

/// Where x_v and D are among the residues of a file; x is the first. A number
/// that is another one's, at one iteration, is there once.
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

/// What the header says of the stretch since the last check.
struct Stretch {
    block: u32,
    verified_iteration: u64,
    product_iteration: u64,
}

impl Stretch {
    /// `Err` names the field that is missing or impossible.
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

/// `name: value` lines.
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
