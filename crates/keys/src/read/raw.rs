//! Moduli as bytes: records of equal lengths, and numbers as GMP writes them.

use std::io::{self, Read};

use super::{MOST_BITS, Problem, from_big_endian};

/// The form of a file of moduli as bytes, which its content does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw {
    /// Records of this number of bytes, at least 1 and at most 2^13. Each is a modulus, with the most
    /// significant byte first.
    Records(usize),
    /// Numbers as `mpz_out_raw` of GMP writes them: the number of bytes as a signed integer of 32
    /// bits, then these bytes, both with the most significant byte first.
    Gmp,
}

/// A number of the file, or why it is none. After [`Problem::Cut`], the file ends.
type Number = Result<Vec<u64>, Problem>;

impl Raw {
    /// Reads the next number. Returns `None` at the end of the file.
    pub(super) fn next(self, input: &mut impl Read) -> io::Result<Option<Number>> {
        let bytes = match self {
            Self::Records(bytes) => bytes,
            Self::Gmp => {
                let head = up_to(input, 4)?;
                let Ok(size) = <[u8; 4]>::try_from(&head[..]) else {
                    return Ok((!head.is_empty()).then_some(Err(Problem::Cut(4))));
                };
                let size = i32::from_be_bytes(size);
                let bytes = size.unsigned_abs() as usize;
                if size < 0 || bytes as u64 > MOST_BITS / 8 {
                    let skipped = io::copy(&mut input.take(bytes as u64), &mut io::sink())?;
                    return Ok(Some(Err(match () {
                        () if skipped < bytes as u64 => Problem::Cut(bytes),
                        () if size < 0 => Problem::Negative,
                        () => Problem::TooLong(8 * bytes as u64),
                    })));
                }
                bytes
            }
        };
        let number = up_to(input, bytes)?;
        if number.len() < bytes {
            // Between two records, the file may end.
            let is_end = number.is_empty() && self != Self::Gmp;
            return Ok((!is_end).then_some(Err(Problem::Cut(bytes))));
        }
        Ok(Some(Ok(from_big_endian(&number))))
    }
}

/// Reads `most` bytes, or fewer at the end of the file.
fn up_to(input: &mut impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(most);
    input.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
