//! Decodes a checkpoint file. Every part is checked before it is used.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{
    Body, CHECKSUM, Confirmation, FormatError, GerbiczState, LeastLength, LucasState, MAGIC,
    MAX_HEADER, State, VERSION, number_line,
};
use crate::primality::LARGEST_BLOCK;
use crate::{DigestedResidue, ErrorCounts, Number, Residue, TestKind};

/// The format version of older checkpoints. An older checkpoint of a test with Gerbicz–Li checks
/// always contains three residues: the present residue, the verified residue and the product. An
/// older checkpoint has no fields for errors found by a Jacobi check or a second engine, because
/// these checks did not exist.
const OLD_VERSION: &str = "1";

impl State {
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
        let residues = body.product + 1 + usize::from(kind.has_two_terms());
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
        let lucas = if kind.has_two_terms() {
            Some(LucasState::new(&residue(0)?, residue(body.product + 1)?))
        } else {
            None
        };
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
                lucas: match header.get("lucas-errors") {
                    None => 0,
                    Some(_) => errors("lucas-errors")?,
                },
                round_off: errors("round-off-errors")?,
            },
            confirmed: match header.get("confirmed") {
                None => Confirmation::No,
                Some("jacobi") if kind.is_lucas() => Confirmation::Jacobi,
                Some("twice") if kind.is_lucas() => Confirmation::Twice,
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
            lucas,
        })
    }
}

/// Returns whether s can be the shift of a residue modulo the number.
fn is_shift(s: u32, number: Number) -> bool {
    s == 0 || number.is_mersenne() && s < number.exponent()
}

pub(super) fn field(field: &'static str) -> FormatError {
    FormatError::Field { field }
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
