//! The checkpoint file: header, residues, checksum.

use std::fmt::Write as _;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::test::LARGEST_BLOCK;
use crate::{ErrorCounts, Residue, ResidueError, Sealed, TestKind};

/// A test at some iteration, as it is kept on the host and on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// LL or PRP.
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
    /// PRP: what the next Gerbicz–Li check needs.
    pub gerbicz: Option<GerbiczState>,
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
    pub verified: Sealed,
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
const VERSION: &str = "1";
const MAGIC: &str = "warpint checkpoint";

impl State {
    /// An upper bound on the size of a checkpoint of M_p, so that a reader
    /// need not trust a file's length.
    #[must_use]
    pub fn max_file_size(exponent: u32) -> u64 {
        (MAX_HEADER + CHECKSUM + 3 * Residue::byte_len(exponent)) as u64
    }

    /// Whether the sealed residue is still what it was.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.gerbicz.as_ref().is_none_or(|g| g.verified.is_intact())
    }

    /// The file: a header of text lines up to an empty one, then the residues
    /// (x; for PRP also x_v and D) of ⌈p/8⌉ little-endian bytes each, then the
    /// SHA-256 of everything before it.
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
        line(format_args!("round-off-errors: {}", self.errors.round_off));
        if let Some(least) = &self.least_length {
            line(format_args!("least-length: {} {}", least.engine, least.length));
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
            bytes.extend(g.verified.residue().to_le_bytes());
            bytes.extend(g.product.to_le_bytes());
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
        let of_this_test = header.get("test") == Some(kind.slug())
            && header.get("exponent") == Some(exponent.to_string().as_str());
        let residues = if kind == TestKind::Prp { 3 } else { 1 };
        let size = Residue::byte_len(exponent);
        let body = end + 2;
        let expected = body + residues * size + CHECKSUM;

        // Say "foreign" only of a file that is whole in itself.
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM.min(bytes.len()));
        let sound = Sha256::digest(content).as_slice() == checksum;
        if sound
            && let Some(found) = header.get("version")
            && found != VERSION
        {
            return Err(FormatError::Version { found: found.to_owned() });
        }
        if !of_this_test && sound {
            return Err(FormatError::Foreign { found: first.to_owned() });
        }
        if of_this_test && bytes.len() != expected {
            return Err(size_error(expected));
        }
        if !sound {
            return Err(FormatError::Checksum);
        }

        let residue = |i: usize| {
            let start = body + i * size;
            Residue::from_le_bytes(exponent, &bytes[start..start + size])
        };
        let total = kind.iterations(exponent);
        let iteration =
            header.number("iteration").filter(|&k| k <= total).ok_or(field("iteration"))?;
        let gerbicz = if kind == TestKind::Prp {
            let block = header
                .number("block")
                .and_then(|b| u32::try_from(b).ok())
                .filter(|&b| b > 0 && u64::from(b) <= LARGEST_BLOCK)
                .ok_or(field("block"))?;
            let product_iteration = header
                .number("product-iteration")
                .filter(|&k| k <= iteration && iteration - k <= u64::from(block))
                .ok_or(field("product-iteration"))?;
            let verified_iteration = header
                .number("verified-iteration")
                .filter(|&k| {
                    k <= product_iteration
                        && (product_iteration - k).is_multiple_of(u64::from(block))
                })
                .ok_or(field("verified-iteration"))?;
            Some(GerbiczState {
                block,
                verified_iteration,
                verified: Sealed::new(residue(1)?),
                product_iteration,
                product: residue(2)?,
            })
        } else {
            None
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
                gerbicz: count("gerbicz-errors").ok_or(field("gerbicz-errors"))?,
                round_off: count("round-off-errors").ok_or(field("round-off-errors"))?,
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
mod tests {
    use super::*;
    use crate::LlStart;
    use proptest::prelude::*;

    fn prp_state() -> State {
        let p = 127;
        State {
            kind: TestKind::Prp,
            exponent: p,
            iteration: 57,
            residue: Residue::from_limbs(p, &[0x0123_4567_89ab_cdef, 7]),
            shift: 0,
            elapsed: Duration::from_millis(1234),
            errors: ErrorCounts { gerbicz: 1, round_off: 2 },
            least_length: Some(LeastLength { engine: "fp64".into(), length: 8 }),
            gerbicz: Some(GerbiczState {
                block: 11,
                verified_iteration: 22,
                verified: Sealed::new(Residue::from_u64(p, 5)),
                product_iteration: 55,
                product: Residue::from_limbs(p, &[u64::MAX, 9]),
            }),
        }
    }

    fn ll_state() -> State {
        State {
            kind: TestKind::Ll(LlStart::Four),
            least_length: None,
            gerbicz: None,
            ..prp_state()
        }
    }

    #[test]
    fn round_trips_and_begins_with_a_readable_line() {
        for state in [prp_state(), ll_state()] {
            let bytes = state.to_bytes();
            assert_eq!(State::from_bytes(&bytes, state.kind, 127), Ok(state.clone()));
            assert!(bytes.len() as u64 <= State::max_file_size(127));
        }
        let first =
            String::from_utf8_lossy(&prp_state().to_bytes()).lines().next().map(String::from);
        assert_eq!(
            first.as_deref(),
            Some("warpint checkpoint: PRP-3 M127 iteration 57 of 127 res64 0123456789ABCDEF")
        );
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_refused() {
        for state in [prp_state(), ll_state()] {
            let good = state.to_bytes();
            for bit in 0..good.len() * 8 {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(State::from_bytes(&bad, state.kind, 127).is_err(), "bit {bit}");
            }
            for len in 0..good.len() {
                assert!(State::from_bytes(&good[..len], state.kind, 127).is_err(), "{len} bytes");
            }
            let mut long = good.clone();
            long.push(0);
            assert!(State::from_bytes(&long, state.kind, 127).is_err());
        }
    }

    #[test]
    fn a_sound_checkpoint_of_another_test_is_foreign() {
        let bytes = prp_state().to_bytes();
        let foreign = |kind, p| {
            matches!(State::from_bytes(&bytes, kind, p), Err(FormatError::Foreign { .. }))
        };
        assert!(foreign(TestKind::Prp, 89));
        assert!(foreign(TestKind::Ll(LlStart::Four), 127));
    }

    #[test]
    fn numbers_that_must_be_equal_are_compared() {
        let refused = |change: &dyn Fn(&mut State, &mut GerbiczState)| {
            let mut state = prp_state();
            let mut g = state.gerbicz.take().unwrap();
            change(&mut state, &mut g);
            state.gerbicz = Some(g);
            State::from_bytes(&state.to_bytes(), TestKind::Prp, 127)
                == Err(field("verified-iteration"))
        };
        let right = Residue::from_u64(127, 5);
        assert!(refused(&|state, g| (state.iteration, g.product_iteration) = (30, 22)));
        assert!(refused(&|state, g| {
            (state.iteration, g.product_iteration) = (22, 22);
            g.product = right.clone();
        }));
        assert!(!refused(&|state, g| {
            (state.iteration, g.product_iteration) = (22, 22);
            (state.residue, g.product) = (right.clone(), right.clone());
        }));
    }

    #[test]
    fn impossible_fields_are_named_even_with_a_right_checksum() {
        let text = |from: &str, to: &str| {
            let bytes = prp_state().to_bytes();
            let content = &bytes[..bytes.len() - CHECKSUM];
            let at = content.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
            let mut forged = content[..at].to_vec();
            forged.extend_from_slice(to.as_bytes());
            forged.extend_from_slice(&content[at + from.len()..]);
            let checksum = Sha256::digest(&forged);
            forged.extend_from_slice(&checksum);
            State::from_bytes(&forged, TestKind::Prp, 127)
        };
        assert_eq!(text("\niteration: 57", "\niteration: 128"), Err(field("iteration")));
        assert_eq!(text("block: 11", "block: 0"), Err(field("block")));
        assert_eq!(text("block: 11", "block: 1001"), Err(field("block")));
        assert_eq!(text("least-length: fp64 8", "least-length: 8"), Err(field("least-length")));
        assert_eq!(
            text("version: 1", "version: 2"),
            Err(FormatError::Version { found: "2".into() })
        );
        assert_eq!(
            text("product-iteration: 55", "product-iteration: 58"),
            Err(field("product-iteration"))
        );
        assert_eq!(
            text("verified-iteration: 22", "verified-iteration: 23"),
            Err(field("verified-iteration"))
        );
        assert_eq!(text("shift: 0", "shift: 127"), Err(field("shift")));
        assert_eq!(text("elapsed-ms: 1234", "elapsed-ms: soon"), Err(field("elapsed-ms")));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(State::from_bytes(&bytes, TestKind::Prp, 127).is_err());
            let mut with_magic = MAGIC.as_bytes().to_vec();
            with_magic.extend(bytes);
            prop_assert!(State::from_bytes(&with_magic, TestKind::Prp, 127).is_err());
        }
    }
}
