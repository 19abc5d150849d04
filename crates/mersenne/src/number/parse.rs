//! The text form of a number.

use std::str::FromStr;

use warpint_files::ErrorKind;

use super::{Number, Sign};

/// The reason why a text or a tuple (k, b, n, c) is not a [`Number`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// The text does not have the form.
    #[error("'{text}' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1")]
    Form {
        /// The text that was given.
        text: String,
    },
    /// The last term is not +1 or −1.
    #[error("'{text}': only numbers k*b^n+1 and k*b^n-1 can be tested, not {term}")]
    Term {
        /// The text that was given.
        text: String,
        /// The last term, with its sign.
        term: String,
    },
    /// k or n is zero, or b is below 2.
    #[error("'{text}': k and n must be at least 1, and b at least 2")]
    Zero {
        /// The number that was given.
        text: String,
    },
    /// The number is below 2.
    #[error("{text} is too small: the smallest number is 2")]
    TooSmall {
        /// The number that was given.
        text: String,
    },
    /// An upper bound of [`Number`] is not kept.
    #[error("{text} is too large: {what}")]
    TooLarge {
        /// The number that was given.
        text: String,
        /// The bound that is not kept.
        what: &'static str,
    },
}

impl NumberError {
    /// Returns the kind of the error, which is always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// Parses `k*b^n+1`, `k*b^n-1`, the same without `k*` for k = 1, and `Mp` for 2^p − 1. All numbers are
/// in decimal digits. White space at the ends and around `*`, `^`, `+` and `-` is ignored.
impl FromStr for Number {
    type Err = NumberError;

    fn from_str(given: &str) -> Result<Self, NumberError> {
        let form = || NumberError::Form { text: given.trim().into() };
        let parts = given.split_inclusive(['*', '^', '+', '-']).flat_map(|part| {
            let (before, sign) = part.split_at(part.trim_end_matches(['*', '^', '+', '-']).len());
            [before.trim(), sign]
        });
        let text: String = parts.collect();
        let too_large = |what| NumberError::TooLarge { text: text.clone(), what };
        const TOO_LONG: &str = "n is not below 2^31";
        if let Some(p) = text.strip_prefix('M') {
            let n = digits(p).ok_or_else(form)?;
            let n = n.and_then(|n| u32::try_from(n).ok()).ok_or_else(|| too_large(TOO_LONG))?;
            return Self::new(1, 2, n, Sign::Minus);
        }
        let at = text.rfind(['+', '-']).ok_or_else(form)?;
        let (power, term) = text.split_at(at);
        let (product, n) = power.split_once('^').ok_or_else(form)?;
        let (k, b) = product.split_once('*').unwrap_or(("1", product));
        let [k, b, n, c] = [k, b, n, &term[1..]].map(digits);
        let (k, b, n) = (k.ok_or_else(form)?, b.ok_or_else(form)?, n.ok_or_else(form)?);
        if c.ok_or_else(form)? != Some(1) {
            return Err(NumberError::Term { text: given.trim().into(), term: term.into() });
        }
        let k = k.ok_or_else(|| too_large("k is not below 2^63"))?;
        let b = b.and_then(|b| u32::try_from(b).ok());
        let b = b.ok_or_else(|| too_large("b is not below 2^32"))?;
        let n = n.and_then(|n| u32::try_from(n).ok()).ok_or_else(|| too_large(TOO_LONG))?;
        let sign = if term.starts_with('+') { Sign::Plus } else { Sign::Minus };
        Self::new(k, b, n, sign)
    }
}

/// Reads decimal digits. Returns `None` if the text has other characters or is empty, and
/// `Some(None)` if the number is not below 2^64.
fn digits(text: &str) -> Option<Option<u64>> {
    let all = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    all.then(|| text.parse().ok())
}
