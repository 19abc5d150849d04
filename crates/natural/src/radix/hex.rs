//! Conversion to and from hexadecimal digits. Eight digits are a word of 32 bits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Parses hexadecimal ASCII digits, lower-case or upper-case, the highest first. Returns an
/// iterator over the number's words of 32 bits, the lowest first. Other characters count as 0.
pub fn words(digits: &[u8]) -> impl Iterator<Item = u32> {
    let digit = |&c: &u8| char::from(c).to_digit(16).unwrap_or(0);
    digits
        .rchunks(8)
        .map(move |word| word.iter().map(digit).fold(0, |word, digit| word << 4 | digit))
}

/// Formats a number, given in words of 32 bits, the lowest first, as lower-case hexadecimal digits,
/// the highest first. There are no leading zeros; zero is `0`.
#[must_use]
pub fn of_words(words: impl DoubleEndedIterator<Item = u32>) -> String {
    let mut text = Vec::with_capacity(8 * words.size_hint().0);
    for word in words.rev().skip_while(|&word| word == 0) {
        text.extend([28, 24, 20, 16, 12, 8, 4, 0].map(|j| DIGITS[(word >> j & 15) as usize]));
    }
    // There are at most seven leading zeros, all from the highest word.
    let zeros = text.iter().take_while(|&&digit| digit == b'0').count();
    text.drain(..zeros);
    if text.is_empty() {
        text.push(b'0');
    }
    // All bytes are ASCII, so the conversion succeeds.
    String::from_utf8(text).unwrap_or_default()
}

/// Parses hexadecimal ASCII digits, lower-case or upper-case, the highest first. Returns the
/// number, which may have leading zero limbs. Other characters count as 0.
#[must_use]
pub fn parse(digits: &[u8]) -> Vec<u64> {
    let mut limbs = vec![0; digits.len().div_ceil(16)];
    for (i, word) in words(digits).enumerate() {
        limbs[i / 2] |= u64::from(word) << (32 * (i % 2));
    }
    limbs
}

/// Formats a number as lower-case hexadecimal digits, the highest first, without leading zeros. The
/// number zero becomes `0`.
#[must_use]
pub fn format(number: &[u64]) -> String {
    of_words(number.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_back() {
        assert_eq!(format(&[]), "0");
        assert_eq!(format(&[0, 0]), "0");
        assert_eq!(format(&[0xab, 0]), "ab");
        assert_eq!(format(&[1, 1 << 32 | 2]), "1000000020000000000000001");
        assert_eq!(parse(b"1000000020000000000000001"), [1, 1 << 32 | 2]);
        assert_eq!(parse(b"0000000000000000fFfFfFfFfFfFfFfF"), [u64::MAX, 0]);
        assert_eq!(words(b"123456789").collect::<Vec<_>>(), [0x2345_6789, 1]);
    }
}
