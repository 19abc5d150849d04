//! What is to be made.

use serde::{Serialize, Serializer};

use crate::TestKeysError;

/// The number of test moduli, their width, and the weaknesses among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Request {
    /// The number of lines with a modulus, weak ones and repeated ones included.
    pub count: u64,
    /// The bit length of every modulus: a multiple of 64 from 128 to 32,768.
    pub bits: u32,
    /// The seed of all primes and of the order of the moduli.
    #[serde(serialize_with = "digits")]
    pub seed: u64,
    /// The number of pairs of moduli that share a prime: p·q and p·r.
    pub weak_pairs: u64,
    /// The number of rings of three moduli, each of which shares both of its primes: p·q, q·r and
    /// r·p.
    pub rings: u64,
    /// The number of moduli that stand on two lines.
    pub duplicates: u64,
    /// The number of moduli p·q where q is the next probable prime after p.
    pub close: u64,
    /// The number of even moduli 2·p·r.
    pub even: u64,
    /// The test that the primes pass.
    pub test: Test,
}

/// A test for primality of the primes of test moduli, after trial division.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The Baillie–PSW test.
    #[default]
    BailliePsw,
    /// The strong test to two bases (Miller–Rabin), 2 and one drawn from the seed. For primes of 512 bits
    /// or more. If n is a random odd number of k bits that passes the strong test to one random base, it
    /// is composite with a probability below k²·4^(2 − √k) (Damgård, Landrock and Pomerance 1993,
    /// *Average case error estimates for the strong probable prime test*): 2^−23 for k = 512,
    /// 2^−40 for k = 1024. Here the numbers follow each other and have the same bases, so this is an
    /// indication and no proof.
    Strong,
}

/// The least number of bits of a modulus for [`Test::Strong`].
const LEAST_FOR_STRONG: u32 = 1024;

/// Represents a number that may exceed 2^53 as a string of decimal digits.
fn digits<S: Serializer>(n: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(n)
}

impl Request {
    /// Creates a request without planted weaknesses.
    #[must_use]
    pub fn new(count: u64, bits: u32, seed: u64) -> Self {
        Self {
            count,
            bits,
            seed,
            weak_pairs: 0,
            rings: 0,
            duplicates: 0,
            close: 0,
            even: 0,
            test: Test::default(),
        }
    }

    /// Returns an estimate of the memory in bytes that the moduli take: their primes, 16 bytes for the
    /// places of two primes and 32 for the order in which equal primes are found. A planted weakness takes
    /// less than 512 bytes and the digits of three primes. The candidates that are tested at a time are not
    /// counted.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let Self { weak_pairs, rings, duplicates, close, even, .. } = *self;
        let bits = u64::from(self.bits);
        let planted = [weak_pairs, rings, duplicates, close, even];
        let planted = planted.into_iter().fold(0, u64::saturating_add);
        let moduli = self.count.saturating_mul(bits / 8 + 16 + 32);
        moduli.saturating_add(planted.saturating_mul(512 + 3 * bits / 8))
    }

    /// Returns the number of lines without a planted weakness.
    ///
    /// # Errors
    /// [`TestKeysError::Request`] if the width is not supported, if no modulus or more than 2^30 are
    /// requested, or if the planted weaknesses need more lines than there are.
    pub fn sound(&self) -> Result<u64, TestKeysError> {
        let refused = |line: String| Err(TestKeysError::Request(line));
        let Self { count, bits, .. } = *self;
        if !bits.is_multiple_of(64) || !(128..=32_768).contains(&bits) {
            return refused(format!("{bits} bits: give a multiple of 64 from 128 to 32768"));
        }
        if self.test == Test::Strong && bits < LEAST_FOR_STRONG {
            return refused(format!(
                "{bits} bits: the strong test is for moduli of {LEAST_FOR_STRONG} bits or more"
            ));
        }
        if !(1..=1 << 30).contains(&count) {
            return refused(format!("{count} moduli: give a number from 1 to {}", 1 << 30));
        }
        let lines = [
            (self.weak_pairs, 2),
            (self.rings, 3),
            (self.duplicates, 2),
            (self.close, 1),
            (self.even, 1),
        ];
        let weak = lines
            .into_iter()
            .try_fold(0u64, |sum, (n, lines)| sum.checked_add(n.checked_mul(lines)?));
        match weak.and_then(|weak| count.checked_sub(weak)) {
            Some(sound) => Ok(sound),
            None => refused(format!(
                "the planted weaknesses need {} lines, but {count} are asked for: a pair or a \
                 duplicate needs 2, a ring 3, close primes and even moduli 1 each",
                weak.map_or_else(|| "more than 2^64".into(), |weak| weak.to_string())
            )),
        }
    }
}
