//! All primes up to a bound, by a segmented sieve of Eratosthenes.

/// The number of odd integers that are sieved at a time. Their bits fit in the first-level cache of
/// common processors.
const SEGMENT: u64 = 1 << 18;

/// The largest bound of [`primes`].
pub const MOST: u64 = 1 << 62;

/// Returns an iterator over the primes up to `to`, in ascending order. `to` is included.
///
/// Memory: 4·π(√to) + 2^15 bytes. Cost: O(to·log log to).
///
/// # Panics
/// Panics if `to` exceeds [`MOST`].
#[must_use]
pub fn primes(to: u64) -> Primes {
    assert!(to <= MOST, "{to} is too large a bound for a sieve");
    let mut primes = Primes {
        to,
        base: odd_primes(to.isqrt() as u32),
        first: 1,
        words: vec![0; (SEGMENT / 64) as usize],
        word: 0,
        bits: 0,
        begun: false,
    };
    primes.sieve();
    // The number 1 is no prime.
    primes.bits &= !1;
    primes
}

/// The iterator that [`primes`] returns.
#[derive(Debug)]
pub struct Primes {
    to: u64,
    /// The odd primes up to √to.
    base: Vec<u32>,
    /// The first number of the segment. It is odd.
    first: u64,
    /// Bit i of word w is set if first + 2·(64·w + i) is prime.
    words: Vec<u64>,
    /// The index of the current word.
    word: usize,
    /// The bits of the current word whose primes have not been returned yet.
    bits: u64,
    /// Whether the prime 2 has been returned.
    begun: bool,
}

impl Primes {
    /// Sieves the segment that begins with `first`.
    fn sieve(&mut self) {
        let Self { base, first, words, .. } = self;
        words.fill(u64::MAX);
        let last = *first + 2 * (SEGMENT - 1);
        for &p in &*base {
            let p = u64::from(p);
            if p * p > last {
                break;
            }
            let multiple = first.next_multiple_of(p);
            let odd = if multiple.is_multiple_of(2) { multiple + p } else { multiple };
            let mut i = (odd.max(p * p) - *first) / 2;
            while i < SEGMENT {
                words[(i / 64) as usize] &= !(1 << (i % 64));
                i += p;
            }
        }
        self.word = 0;
        self.bits = words[0];
    }
}

impl Iterator for Primes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if !self.begun {
            self.begun = true;
            if self.to >= 2 {
                return Some(2);
            }
        }
        loop {
            if self.bits != 0 {
                let bit = u64::from(self.bits.trailing_zeros());
                self.bits &= self.bits - 1;
                let n = self.first + 2 * (64 * self.word as u64 + bit);
                return Some(n).filter(|&n| n <= self.to);
            }
            if self.word + 1 < self.words.len() {
                self.word += 1;
                self.bits = self.words[self.word];
            } else {
                let first = self.first + 2 * SEGMENT;
                if first > self.to {
                    return None;
                }
                self.first = first;
                self.sieve();
            }
        }
    }
}

/// Returns the odd primes up to `to`, by a sieve of all odd numbers at once.
fn odd_primes(to: u32) -> Vec<u32> {
    // Entry i stands for 2i + 1.
    let mut composite = vec![false; (to / 2 + to % 2) as usize];
    let mut primes = vec![];
    for i in 1..composite.len() {
        if composite[i] {
            continue;
        }
        let p = 2 * i + 1;
        primes.push(p as u32);
        for multiple in (p * p / 2..composite.len()).step_by(p) {
            composite[multiple] = true;
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primes::primes_between;

    #[test]
    fn every_bound_to_2000() {
        for to in 0..2000 {
            assert!(primes(to).eq(primes_between(0, to)), "{to}");
        }
    }

    /// Tests bounds on both sides of the ends of the first segments. A segment ends before a
    /// multiple of 2^19.
    #[test]
    fn bounds_at_the_ends_of_segments() {
        let all: Vec<u64> = primes_between(0, (3 << 19) + 100).collect();
        for end in [1u64 << 19, 2 << 19, 3 << 19] {
            for to in end - 5..end + 60 {
                let expected = all.iter().copied().take_while(|&p| p <= to);
                assert!(primes(to).eq(expected), "{to}");
            }
        }
    }

    /// π(10^8) = 5,761,455 (OEIS A006880).
    #[test]
    fn the_number_of_primes_to_a_hundred_million() {
        assert_eq!(primes(100_000_000).count(), 5_761_455);
    }
}
