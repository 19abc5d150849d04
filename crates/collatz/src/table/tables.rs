//! The tables B and C, by which one step performs several steps n/2 or (3n + 1)/2 (Honda 2017,
//! §4.3.1).

use crate::walk::step;

/// The least number of bits of a table, which has 2^bits entries.
pub const LEAST_TABLE_BITS: u32 = 2;

/// The largest number of bits of a table, which has 2^bits entries. An entry fits in a 32-bit word,
/// also in the format of devices, because T^d(l) < 3^15 < 2^24 for d ≤ 15 and l < 2^d.
pub const MOST_TABLE_BITS: u32 = 15;

/// The lowest bit of the number of odd steps in an entry.
const ODD_SHIFT: u32 = 26;

/// The tables of steps of d bits. Let T(n) be n/2 for even n and (3n + 1)/2 for odd n. The entry of
/// l < 2^d has f, the number of odd steps among the first d steps of T from l, and T^d(l). For
/// every h, T^d(l + h·2^d) = 3^f·h + T^d(l).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    bits: u32,
    entries: Vec<u32>,
    powers: [u64; 41],
}

impl Tables {
    /// Computes the tables of d = `bits` bits, where d is from [`LEAST_TABLE_BITS`] to
    /// [`MOST_TABLE_BITS`]. Costs d·2^d steps of T.
    pub(crate) fn new(bits: u32) -> Self {
        debug_assert!((LEAST_TABLE_BITS..=MOST_TABLE_BITS).contains(&bits));
        let entry = |low: u32| {
            let (mut x, mut f) = (u128::from(low), 0);
            for _ in 0..bits {
                f += (x & 1) as u32;
                // Below 3^15.
                x = step(x).unwrap_or_default();
            }
            f << ODD_SHIFT | x as u32
        };
        Self { bits, entries: (0..1 << bits).map(entry).collect(), powers: powers() }
    }

    /// Returns the number d of bits of a step. Each table has 2^d entries.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the number of odd steps among the first d steps of T from the low d bits of `low`,
    /// where d is [`Self::bits`].
    #[must_use]
    pub fn odd_steps(&self, low: u32) -> u32 {
        self.entry(low) >> ODD_SHIFT
    }

    /// Returns B = 3^f, where f is [`Self::odd_steps`] of `low`.
    #[must_use]
    pub fn factor(&self, low: u32) -> u64 {
        self.powers[self.odd_steps(low) as usize]
    }

    /// Returns C = T^d(l), where l is the low d bits of `low` and d is [`Self::bits`].
    #[must_use]
    pub fn constant(&self, low: u32) -> u32 {
        self.entry(low) & ((1 << ODD_SHIFT) - 1)
    }

    /// Returns the pair of [`Self::factor`] and [`Self::constant`] of `low`.
    #[inline]
    pub(super) fn both(&self, low: u32) -> (u64, u64) {
        let entry = self.entry(low);
        let power = self.powers[(entry >> ODD_SHIFT) as usize];
        (power, u64::from(entry & ((1 << ODD_SHIFT) - 1)))
    }

    #[inline]
    fn entry(&self, low: u32) -> u32 {
        self.entries[low as usize & (self.entries.len() - 1)]
    }
}

/// Returns the powers 3^0, …, 3^40.
pub(crate) fn powers() -> [u64; 41] {
    let mut powers = [1; 41];
    for i in 1..powers.len() {
        powers[i] = 3 * powers[i - 1];
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_those_of_the_paper() {
        // Honda 2017, §4.3.1 for d = 2, and Table 4.1.
        let rows = |bits| {
            let tables = Tables::new(bits);
            let row = |low| (tables.factor(low), tables.constant(low));
            (0..1 << bits).map(row).collect::<Vec<_>>()
        };
        assert_eq!(rows(2), [(1, 0), (3, 1), (3, 2), (9, 8)]);
        let four = [
            (1, 0),
            (9, 1),
            (9, 2),
            (9, 2),
            (3, 1),
            (3, 1),
            (9, 4),
            (27, 13),
            (3, 2),
            (27, 17),
            (3, 2),
            (27, 20),
            (9, 8),
            (9, 8),
            (27, 26),
            (81, 80),
        ];
        assert_eq!(rows(4), four);
    }

    #[test]
    fn a_table_step_is_its_steps() {
        for bits in LEAST_TABLE_BITS..=MOST_TABLE_BITS {
            let tables = Tables::new(bits);
            for n in (0..1000).chain((1 << 80) - 500..(1 << 80) + 500) {
                let (b, c) = tables.both(n as u32);
                let by_table = u128::from(b) * (n >> bits) + u128::from(c);
                let one_by_one = (0..bits).fold(n, |x, _| step(x).unwrap());
                assert_eq!(by_table, one_by_one, "{n} by {bits} bits");
            }
        }
    }
}
