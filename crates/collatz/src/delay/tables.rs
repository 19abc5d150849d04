//! The tables of steps, and of the delays of small numbers.

use crate::walk::step;

/// The powers 3^i for i = 0 … 20.
pub(crate) const POWERS: [u32; 21] = {
    let mut powers = [1; 21];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = 3 * powers[i - 1];
        i += 1;
    }
    powers
};

/// The table of steps of d bits. Let T(n) be n/2 for even n and (3n + 1)/2 for odd n. The table has
/// a word J·2^24 + C for each low = 0 … 2^d − 1. Here C = T^d(low), which is below 3^d. If f of the
/// d steps of T are odd, they are J = d + f steps n/2 and 3n + 1. For every h, T^d(low + h·2^d) =
/// C + h·3^(J − d).
#[derive(Debug, Clone)]
pub struct StepTable {
    bits: u32,
    entries: Vec<u32>,
}

impl StepTable {
    /// The valid numbers of bits of a step. For at most 15 bits, the results C are below 3^15 <
    /// 2^24, so that they fit in 24 bits of a word.
    pub const BITS: std::ops::RangeInclusive<u32> = 1..=15;

    /// Computes the table for steps of `bits` bits, or of the nearest valid number of bits.
    #[must_use]
    pub fn new(bits: u32) -> Self {
        let bits = bits.clamp(*Self::BITS.start(), *Self::BITS.end());
        let entry = |low| {
            let (c, odd) = steps(low, bits);
            (bits + odd) << 24 | c
        };
        Self { bits, entries: (0..1 << bits).map(entry).collect() }
    }

    /// Returns the number of bits of a step.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the words of the table. The word with index i is for numbers whose low bits are i.
    #[must_use]
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }
}

/// Returns T^k(low), which is below 3^k, and the number of odd steps among these k steps of T, for
/// k ≤ 20.
pub(super) fn steps(low: u32, k: u32) -> (u32, u32) {
    let (mut x, mut odd) = (u64::from(low), 0);
    for _ in 0..k {
        let is_odd = x & 1;
        x = if is_odd == 1 { (3 * x + 1) >> 1 } else { x >> 1 };
        odd += is_odd as u32;
    }
    // c < b = 3^odd ≤ 3^20 < 2^32.
    (x as u32, odd)
}

/// A table of the delays of all numbers with at most a given number of bits. The entry of 0, which
/// has no delay, is 0.
#[derive(Debug, Clone)]
pub struct DelayTable {
    bits: u32,
    delays: Vec<u16>,
    highest: u64,
}

impl DelayTable {
    /// The valid numbers of bits for a [`DelayTable`]. For n < 2^24, delays are at most 704, and
    /// all values of T on the paths are below 2^46.
    pub const BITS: std::ops::RangeInclusive<u32> = 1..=24;

    /// Computes the table for numbers of at most `bits` bits. An invalid `bits` is replaced by the
    /// nearest valid number. The path of each number n is followed until a value is below n; the
    /// table already has the delay of that value.
    #[must_use]
    pub fn new(bits: u32) -> Self {
        let bits = bits.clamp(*Self::BITS.start(), *Self::BITS.end());
        let mut delays = vec![0u16; 1 << bits];
        let mut highest = 1;
        for n in 2..delays.len() {
            let (mut x, mut count) = (n as u64, 0u16);
            while x >= n as u64 {
                count += 1 + (x & 1) as u16;
                x = if x & 1 == 1 { (3 * x + 1) >> 1 } else { x >> 1 };
                highest = highest.max(x);
            }
            delays[n] = count + delays[x as usize];
        }
        Self { bits, delays, highest }
    }

    /// Returns the largest number of bits of the numbers in the table.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the delays: entry n is the delay of n.
    #[must_use]
    pub fn delays(&self) -> &[u16] {
        &self.delays
    }

    /// Returns the largest value on the paths of all numbers in the table, where a step of a path
    /// is n/2 or (3n + 1)/2.
    #[must_use]
    pub fn highest(&self) -> u64 {
        self.highest
    }
}

/// Returns the delay of n, computed by single steps of T, as an oracle for tests. Returns `None` if
/// a value reaches 2^128.
#[must_use]
pub fn plain_delay(n: u128) -> Option<u32> {
    let (mut x, mut count) = (n, 0);
    while x > 1 {
        count += 1 + (x & 1) as u32;
        x = step(x)?;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bits_are_as_published() {
        // Honda (2017), table 4.1.
        let b = [1, 9, 9, 9, 3, 3, 9, 27, 3, 27, 3, 27, 9, 9, 27, 81];
        let c = [0, 1, 2, 2, 1, 1, 4, 13, 2, 17, 2, 20, 8, 8, 26, 80];
        let table = StepTable::new(4);
        for (low, entry) in table.entries().iter().enumerate() {
            assert_eq!(entry & 0xff_ffff, c[low], "{low}");
            assert_eq!(POWERS[(entry >> 24) as usize - 4], b[low], "{low}");
        }
    }

    #[test]
    fn a_step_is_its_single_steps() {
        for bits in [1, 5, 15] {
            let table = StepTable::new(bits);
            for n in (1u128 << bits..).step_by(977).take(1000) {
                let entry = table.entries()[(n & ((1 << bits) - 1)) as usize];
                let b = u128::from(POWERS[((entry >> 24) - bits) as usize]);
                let expected = (0..bits).fold(n, |x, _| step(x).unwrap());
                assert_eq!((n >> bits) * b + u128::from(entry & 0xff_ffff), expected, "{n} {bits}");
            }
        }
    }

    #[test]
    fn small_delays_are_plain_ones() {
        let table = DelayTable::new(12);
        assert_eq!(table.delays()[0], 0);
        for (n, &delay) in table.delays().iter().enumerate() {
            assert_eq!(plain_delay(n as u128), Some(delay.into()), "{n}");
        }
        // OEIS A006885: 1819 rises to 1,276,936; no other number below 4096 rises higher.
        assert_eq!(table.highest(), 1_276_936 / 2);
    }
}
