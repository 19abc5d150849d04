//! The sieve S: residues that their low bits do not show to come down (Honda 2017, §4.3.1).

use rayon::prelude::*;

use crate::descent::min_odd;

/// Fewest bits of the sieve.
pub const LEAST_SIEVE_BITS: u32 = 8;

/// Most bits of the sieve.
pub const MOST_SIEVE_BITS: u32 = 37;

/// A mandatory residue modulo 2^k: after each j ≤ k steps its coefficient 3^f/2^j is above 1. All its
/// numbers have T^k(low + h·2^k) = value + h·3^odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residue {
    /// The residue, below 2^k.
    pub low: u64,
    /// `T^k(low)`, below 3^odd.
    pub value: u64,
    /// Odd steps among the first k.
    pub odd: u32,
}

impl Residue {
    /// Of all numbers, k = 0.
    pub const ROOT: Self = Self { low: 0, value: 0, odd: 0 };

    /// Those of `low` modulo 2^bits, if it is mandatory.
    #[must_use]
    pub fn of(low: u64, bits: u32, powers: &[u64; 41]) -> Option<Self> {
        (0..bits).try_fold(Self::ROOT, |residue, k| {
            let mut found = None;
            let wanted = low & ((2 << k) - 1);
            residue.children(k, powers, |child| {
                if child.low == wanted {
                    found = Some(child);
                }
            });
            found
        })
    }

    /// Of low and low + 2^k one is odd at step k and stays mandatory, the other is even.
    #[inline]
    fn children(self, k: u32, powers: &[u64; 41], mut each: impl FnMut(Self)) {
        let Self { low, value, odd } = self;
        // At k = 0 the value is that of the residue 0.
        let (other_low, other) = (low + (1 << k), value + powers[odd as usize]);
        let ((even_low, even), (odd_low, up)) = if value & 1 == 0 {
            ((low, value), (other_low, other))
        } else {
            ((other_low, other), (low, value))
        };
        if odd >= min_odd(k + 1) {
            each(Self { low: even_low, value: even / 2, odd });
        }
        each(Self { low: odd_low, value: up + up / 2 + 1, odd: odd + 1 });
    }

    /// Calls a function with each mandatory residue modulo 2^to that is this one modulo 2^from. The cost is about
    /// two calls of itself for each of them.
    #[inline]
    pub fn grow(self, from: u32, to: u32, powers: &[u64; 41], each: &mut impl FnMut(Self)) {
        if from == to {
            each(self);
        } else {
            self.children(from, powers, |child| child.grow(from + 1, to, powers, each));
        }
    }

    /// The same as a list.
    #[must_use]
    pub fn grown(self, from: u32, to: u32, powers: &[u64; 41]) -> Vec<Self> {
        let mut list = vec![];
        self.grow(from, to, powers, &mut |residue| list.push(residue));
        list
    }
}

/// `s_d`, the number of mandatory residues modulo 2^bits (Table 4.3), for bits ≤ [`MOST_SIEVE_BITS`].
/// They are counted one by one.
#[must_use]
pub fn sieve_size(bits: u32) -> u64 {
    let powers = super::tables::powers();
    let middle = bits.min(16);
    let nodes = Residue::ROOT.grown(0, middle, &powers);
    let count = |node: Residue| {
        let mut count = 0;
        node.grow(middle, bits, &powers, &mut |_| count += 1);
        count
    };
    nodes.into_par_iter().map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tables::powers;
    use crate::walk::step;

    /// Honda 2017, Table 4.3, from 3 bits on.
    const SIZES: [u64; 35] = [
        2,
        3,
        4,
        8,
        13,
        19,
        38,
        64,
        128,
        226,
        367,
        734,
        1295,
        2114,
        4228,
        7495,
        14_990,
        27_328,
        46_611,
        93_222,
        168_807,
        286_581,
        573_162,
        1_037_374,
        1_762_293,
        3_524_586,
        6_385_637,
        12_771_274,
        23_642_078,
        41_347_483,
        82_694_966,
        151_917_639,
        263_841_377,
        527_682_754,
        967_378_591,
    ];

    #[test]
    fn sizes_are_those_of_the_paper() {
        for (size, bits) in SIZES.into_iter().zip(3..=30) {
            assert_eq!(sieve_size(bits), size, "{bits}");
        }
    }

    #[test]
    #[ignore = "all sieves up to 37 bits, a minute"]
    fn sizes_are_those_of_the_paper_up_to_the_last() {
        for (size, bits) in SIZES.into_iter().zip(3..) {
            assert_eq!(sieve_size(bits), size, "{bits}");
        }
    }

    #[test]
    fn residues_are_those_that_do_not_come_down() {
        let powers = powers();
        for bits in 0..=14 {
            let mandatory = |low: &u64| {
                let (mut x, mut f) = (u128::from(*low), 0);
                (1..=bits).all(|j| {
                    f += (x & 1) as u32;
                    x = step(x).unwrap();
                    3u128.pow(f) > 1 << j
                })
            };
            let mut found = Residue::ROOT.grown(0, bits, &powers);
            found.sort_unstable_by_key(|residue| residue.low);
            let lows: Vec<_> = found.iter().map(|residue| residue.low).collect();
            assert_eq!(lows, (0..1 << bits).filter(mandatory).collect::<Vec<_>>(), "{bits}");
            for residue in found {
                for h in [0, 1, 12_345] {
                    let n = u128::from(residue.low) + (h << bits);
                    let value = (0..bits).fold(n, |x, _| step(x).unwrap());
                    assert_eq!(value, u128::from(residue.value) + h * 3u128.pow(residue.odd));
                }
                assert_eq!(Residue::of(residue.low, bits, &powers), Some(residue));
            }
        }
        assert_eq!(Residue::of(5, 4, &powers), None);
    }

    #[test]
    fn four_bits_are_those_of_the_paper() {
        let mut lows: Vec<_> =
            Residue::ROOT.grown(0, 4, &powers()).iter().map(|residue| residue.low).collect();
        lows.sort_unstable();
        assert_eq!(lows, [7, 11, 15]);
    }
}
