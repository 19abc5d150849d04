//! Options of a job: the check of results, and the widths of operands.

use std::fmt;
use std::str::FromStr;

use warpint_integer::Width;

/// How the results of a job are checked. The text form is `identity`, `none`, a sample size such as
/// `5`, `identity,5` or `none,5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Check {
    /// Whether all results are compared with their operands by identities modulo 2^61 − 1 (see
    /// [`warpint_integer::check`]). For powers, a random sample is recomputed on the CPU instead.
    /// The default `None` means true on devices and false on the CPU.
    pub identity: Option<bool>,
    /// The number of randomly chosen results that are recomputed by slow arithmetic. The
    /// recomputation starts from the operands as read, and compares its results with the results as
    /// written.
    pub sample: u64,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.identity, self.sample) {
            (Some(true), 0) => f.write_str("identity"),
            (Some(false), 0) => f.write_str("none"),
            (Some(true), n) => write!(f, "identity,{n}"),
            (Some(false), n) => write!(f, "none,{n}"),
            (None, n) => write!(f, "{n}"),
        }
    }
}

/// The error for a text that is not a [`Check`]. The value is the invalid part of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a check: give identity, none, a number N from 1 on, identity,N or none,N")]
pub struct CheckError(String);

impl FromStr for Check {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<Self, CheckError> {
        let refused = |part: &str| CheckError(part.to_owned());
        let sample = |part: &str| part.parse().ok().filter(|&n| n > 0).ok_or_else(|| refused(part));
        let identity = |part: &str| match part {
            "identity" => Some(true),
            "none" => Some(false),
            _ => None,
        };
        match text.split_once(',') {
            Some((first, second)) => {
                let identity = identity(first).ok_or_else(|| refused(first))?;
                Ok(Self { identity: Some(identity), sample: sample(second)? })
            }
            None => match identity(text) {
                Some(identity) => Ok(Self { identity: Some(identity), sample: 0 }),
                None => Ok(Self { identity: None, sample: sample(text)? }),
            },
        }
    }
}

/// The requested widths of the operands: one width for all operands, or one width for each operand.
/// The text form is `64` or `64,32`, in bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits(pub Vec<Width>);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<_> = self.0.iter().map(|width| width.bits().to_string()).collect();
        f.write_str(&widths.join(","))
    }
}

/// The error for a text that is not a [`Bits`].
#[derive(Debug, thiserror::Error)]
pub enum BitsError {
    /// A part of the text is not a number. The value is this part.
    #[error("'{0}' is not a number of bits")]
    Number(String),
    /// A part of the text is not a valid width.
    #[error(transparent)]
    Width(#[from] warpint_integer::IntegerError),
}

impl FromStr for Bits {
    type Err = BitsError;

    fn from_str(text: &str) -> Result<Self, BitsError> {
        let width = |text: &str| {
            let bits = text.parse().map_err(|_| BitsError::Number(text.to_owned()))?;
            Ok(Width::new(bits)?)
        };
        text.split(',').map(width).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_read() {
        for (text, identity, sample) in [
            ("identity", Some(true), 0),
            ("none", Some(false), 0),
            ("17", None, 17),
            ("identity,1", Some(true), 1),
            ("none,1000", Some(false), 1000),
        ] {
            assert_eq!(text.parse::<Check>(), Ok(Check { identity, sample }), "{text}");
        }
        for (text, part) in [
            ("", ""),
            ("0", "0"),
            ("-1", "-1"),
            ("all", "all"),
            ("identity,", ""),
            ("identity,none", "none"),
            ("none,0", "0"),
            ("5,identity", "5"),
            ("none,5,5", "5,5"),
        ] {
            let says = text.parse::<Check>().unwrap_err().to_string();
            assert!(
                says.starts_with(&format!("'{part}' is not a check: give identity, ")),
                "{says}"
            );
        }
    }

    #[test]
    fn widths_are_of_all_or_of_each() {
        let bits = |text: &str| text.parse::<Bits>().map_err(|e| e.to_string());
        let of = |text| bits(text).map(|Bits(all)| all.iter().map(|w| w.bits()).collect());
        assert_eq!(bits("64,1048576").unwrap().to_string(), "64,1048576");
        assert_eq!(of("64"), Ok(vec![64]));
        assert_eq!(of("64,1048576"), Ok(vec![64, 1_048_576]));
        assert_eq!(of("64,32,96"), Ok(vec![64, 32, 96]));
        for (text, says) in [
            ("", "'' is not a number of bits"),
            ("64,", "'' is not a number of bits"),
            ("64,,32", "'' is not a number of bits"),
            ("-32", "'-32' is not a number of bits"),
            ("0", "0 bits: a width must be a multiple of 32 from 32 to 1048576"),
            ("33", "33 bits: a width must be a multiple of 32 from 32 to 1048576"),
            ("1048608", "1048608 bits: a width must be a multiple of 32 from 32 to 1048576"),
        ] {
            assert_eq!(of(text), Err(says.to_owned()), "{text}");
        }
    }
}
