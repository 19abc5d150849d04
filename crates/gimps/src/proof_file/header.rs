//! The header of a proof file, and the errors of the format.

use warpint_files::ErrorKind;

use super::ProofTest;

/// The largest length of a header, in bytes. Longer headers are refused. The limit leaves room for
/// many known factors, which usually have some dozen digits each.
pub(super) const MOST_HEADER: u64 = 4096;
/// The largest power of a proof. The power is the number of middles, which are the residues after
/// the final residue. The limit is the same as in Prime95.
pub(super) const MOST_POWER: usize = 15;
/// The exclusive upper bound on exponents, 2^31.
pub(super) const LIMIT: u32 = 1 << 31;
/// The largest size of a residue of a proof of k·b^n ± 1, which has at most 2^31 bits.
pub(super) const LARGEST_RESIDUE: u64 = 1 << 28;
/// The reason why residues do not belong to a number.
pub(super) const TOO_LONG: &str = "its residues have more bits than its number";
/// The first line of a proof of 2^p − 1.
const OF_MERSENNE: &str = "PRP PROOF";
/// The first line of a proof of another number.
const OF_NUMBER: &str = "WARPINT PROOF";

/// The reason why bytes are not a proof file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofFormatError {
    /// A line of the header does not have the required form.
    #[error("line {line} must be {wanted}, not '{found}'")]
    Line {
        /// The number of the line. The first line has number 1.
        line: usize,
        /// The form of the required line.
        wanted: &'static str,
        /// The line found, shortened.
        found: String,
    },
    /// A line of the header does not end within the first 4,096 bytes, the largest length of a
    /// header.
    #[error(
        "line {line}, which must be {wanted}, does not end: no newline in the first {MOST_HEADER} bytes"
    )]
    Unended {
        /// The number of the line. The first line has number 1.
        line: usize,
        /// The form of the required line.
        wanted: &'static str,
    },
    /// The proof is of a kind that this program does not support.
    #[error("line {line}, '{found}', is of {what}, which this program does not read")]
    Other {
        /// The number of the line. The first line has number 1.
        line: usize,
        /// The line found, shortened.
        found: String,
        /// A description of the unsupported kind, such as `a repeated proof`.
        what: &'static str,
    },
    /// The size of the file does not match its header.
    #[error(
        "it has {found} bytes instead of {expected}: truncated or extended, or POWER or NUMBER are wrong"
    )]
    Size {
        /// The size according to the header, in bytes.
        expected: u64,
        /// The actual size, in bytes.
        found: u64,
    },
    /// The content after the header of a proof of k·b^n ± 1 does not consist of residues of equal size.
    #[error(
        "it has {found} bytes after its header, which are not {residues} residues of equal size: truncated or extended, or POWER is wrong"
    )]
    Uneven {
        /// The size of the content after the header, in bytes.
        found: u64,
        /// The number of residues, which is one more than the power.
        residues: usize,
    },
    /// The given exponent, factors and residues do not form a proof. The message stored here is the
    /// reason.
    #[error("{0}")]
    Parts(&'static str),
}

impl ProofFormatError {
    /// Returns the kind of the error, which is always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// The content of a header, which consists of the lines before the residues.
pub(super) struct Header {
    pub(super) test: ProofTest,
    pub(super) power: usize,
    /// The length of the header in bytes, including the last newline.
    pub(super) bytes: usize,
}

impl Header {
    pub(super) fn parse(head: &[u8]) -> Result<Self, ProofFormatError> {
        let mut lines = Lines { rest: head, line: 0 };
        let of_mersenne = lines.take("PRP PROOF or WARPINT PROOF", |line| match line {
            OF_MERSENNE => Some(true),
            OF_NUMBER => Some(false),
            _ => None,
        })?;
        let (version, wanted, other) = match of_mersenne {
            true => (2, "VERSION=2", "another version than 2"),
            false => (1, "VERSION=1", "another version than 1"),
        };
        let found = lines.take(wanted, |line| number(line, "VERSION="))?;
        if found.0 != version {
            return Err(lines.other(found.1, other));
        }
        let hash_size = lines.take("HASHSIZE=64", |line| number(line, "HASHSIZE="))?;
        if hash_size.0 != 64 {
            return Err(lines.other(hash_size.1, "another hash size than 64"));
        }
        let wanted = "POWER=n, n from 1 to 15";
        let power = lines.take(wanted, |line| {
            let value = line.strip_prefix("POWER=")?;
            match value.split_once('x') {
                Some((n, m)) => (is_number(n) && is_number(m)).then(|| Err(line.to_owned())),
                None => is_number(value).then(|| value.parse::<usize>().ok()).flatten().map(Ok),
            }
        })?;
        let power = match power {
            Ok(n) if n <= MOST_POWER => n,
            Ok(n) => return Err(lines.wrong(wanted, &format!("POWER={n}"))),
            Err(repeated) => return Err(lines.other(repeated, "a repeated proof")),
        };
        if !of_mersenne {
            let test = lines.take("TEST=name", |line| {
                let name = line.strip_prefix("TEST=").filter(|name| is_test(name))?;
                Some(name.to_owned())
            })?;
            let number = lines.take("NUMBER=k*b^n+1 or NUMBER=k*b^n-1", |line| {
                let text = line.strip_prefix("NUMBER=").filter(|text| most_bits(text).is_some())?;
                Some(text.to_owned())
            })?;
            let test = ProofTest::Number { test, number };
            return Ok(Self { test, power, bytes: head.len() - lines.rest.len() });
        }
        let (exponent, factors) =
            lines.take("NUMBER=M<p>, or NUMBER=M<p>/<factor>/…", |line| {
                let mut parts = line.strip_prefix("NUMBER=M")?.split('/');
                let exponent = parts.next().filter(|p| is_number(p))?.parse::<u32>().ok()?;
                let factors: Vec<String> = parts.map(str::to_owned).collect();
                let sound = (2..LIMIT).contains(&exponent) && factors.iter().all(|f| is_number(f));
                sound.then_some((exponent, factors))
            })?;
        let test = ProofTest::Mersenne { exponent, factors };
        Ok(Self { test, power, bytes: head.len() - lines.rest.len() })
    }
}

impl Header {
    /// Returns the size of each residue in a file of `length` bytes. For k·b^n ± 1 it follows from `length`,
    /// and is at most twice the size of the number, if this is not small.
    pub(super) fn residue_size(&self, length: u64) -> Result<usize, ProofFormatError> {
        let most = match &self.test {
            ProofTest::Mersenne { exponent, .. } => return Ok(super::residue_size(*exponent)),
            ProofTest::Number { number, .. } => most_bytes(number),
        };
        let (residues, found) = (self.power + 1, length.saturating_sub(self.bytes as u64));
        let size = found / residues as u64;
        if !found.is_multiple_of(residues as u64) || !(1..=LARGEST_RESIDUE).contains(&size) {
            return Err(ProofFormatError::Uneven { found, residues });
        }
        // Otherwise memory would be allocated for residues that cannot belong to the number.
        if size > most {
            return Err(ProofFormatError::Parts(TOO_LONG));
        }
        // The size is at most 2^28.
        Ok(size as usize)
    }
}

/// Returns the header of a proof.
pub(super) fn header(test: &ProofTest, power: u32) -> String {
    let power = format!("HASHSIZE=64\nPOWER={power}\n");
    match test {
        ProofTest::Mersenne { exponent, factors } => {
            let factors: String = factors.iter().map(|f| format!("/{f}")).collect();
            format!("{OF_MERSENNE}\nVERSION=2\n{power}NUMBER=M{exponent}{factors}\n")
        }
        ProofTest::Number { test, number } => {
            format!("{OF_NUMBER}\nVERSION=1\n{power}TEST={test}\nNUMBER={number}\n")
        }
    }
}

/// Returns whether a text can name a test: it consists of lower-case letters, digits and `-`.
pub(super) fn is_test(text: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(is_letter)
}

/// Returns an upper bound on the size of a residue modulo a number in one of the forms of [`most_bits`]; 0 for
/// other texts.
pub(super) fn most_bytes(number: &str) -> u64 {
    most_bits(number).unwrap_or(0).div_ceil(8).min(LARGEST_RESIDUE)
}

/// Returns an upper bound on the bits of a number in one of the forms `3*2^189+1`, `2^189-1` and `M11`; `None`
/// for other texts. The bound is below twice the number of bits, if that is not small.
pub(super) fn most_bits(text: &str) -> Option<u64> {
    let value = |text: &str| text.parse::<u64>().ok().filter(|_| is_number(text));
    if let Some(p) = text.strip_prefix('M') {
        return value(p);
    }
    let power = text.strip_suffix("+1").or_else(|| text.strip_suffix("-1"))?;
    let (k, power) = power.split_once('*').unwrap_or(("1", power));
    let (b, n) = power.split_once('^')?;
    let bits = |x: u64| u64::from(64 - x.leading_zeros());
    let of_power = bits(value(b)?).saturating_mul(value(n)?);
    Some(of_power.saturating_add(bits(value(k)?) + 1))
}

/// Parses a line that consists of `name` and a number. Returns the number and the whole line.
/// Returns `None` for any other line.
fn number(line: &str, name: &str) -> Option<(u32, String)> {
    let value = line.strip_prefix(name).filter(|v| is_number(v))?;
    Some((value.parse().ok()?, line.to_owned()))
}

/// The lines of a header that are still to be parsed. Each line ends in a newline.
struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl Lines<'_> {
    /// Removes the next line and returns the value that `read` parses from it. Returns an error if
    /// `read` returns `None`. In the error message, `wanted` describes the correct form of the
    /// line.
    fn take<T>(
        &mut self,
        wanted: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ProofFormatError> {
        self.line += 1;
        let end = self.rest.iter().position(|&b| b == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            // If the first line begins differently, the file is not a proof, however long the line is.
            None if self.line == 1 => (self.rest, &[][..]),
            None => return Err(ProofFormatError::Unended { line: self.line, wanted }),
        };
        self.rest = rest;
        let text = String::from_utf8_lossy(line);
        match read(&text).filter(|_| end.is_some()) {
            Some(value) => Ok(value),
            None => Err(self.wrong(wanted, &text)),
        }
    }

    fn wrong(&self, wanted: &'static str, found: &str) -> ProofFormatError {
        ProofFormatError::Line { line: self.line, wanted, found: shortened(found) }
    }

    fn other(&self, found: String, what: &'static str) -> ProofFormatError {
        ProofFormatError::Other { line: self.line, found: shortened(&found), what }
    }
}

/// Returns the first 40 characters of a text, escaped by [`char::escape_default`]. Appends `…` if
/// the text is longer.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let shown: String = text.chars().take(MOST).flat_map(char::escape_default).collect();
    if text.chars().nth(MOST).is_some() { shown + "…" } else { shown }
}

/// Returns whether a text consists of digits only and has no leading zero.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
}
