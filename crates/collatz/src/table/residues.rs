//! The sieve S of the table method: the residues modulo 2^k whose numbers do not provably fall
//! below their starts within k steps of T (Honda 2017, §4.3.1).

use crate::descent::min_odd;

/// The least number of bits of the sieve, which selects residues modulo 2^bits.
pub const LEAST_SIEVE_BITS: u32 = 8;

/// The largest number of bits of the sieve, which selects residues modulo 2^bits.
pub const MOST_SIEVE_BITS: u32 = 37;

/// A *mandatory* residue `low` modulo 2^k. Let T(n) be n/2 for even n and (3n + 1)/2 for odd n, and
/// let f count the odd steps among the first j steps of T from `low`. The residue is mandatory if
/// the coefficient 3^f/2^j is above 1 for each j from 1 to k. For each h, T^k(low + h·2^k) =
/// value + h·3^odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residue {
    /// The residue r, below 2^k, where k is its number of bits.
    pub low: u64,
    /// The value T^k(r), below 3^odd, where k is the number of bits of the residue r.
    pub value: u64,
    /// The number of odd steps among the k steps of T from the residue r to `value`.
    pub odd: u32,
}

impl Residue {
    /// The residue modulo 1 (k = 0), to which all numbers belong.
    pub const ROOT: Self = Self { low: 0, value: 0, odd: 0 };

    /// Returns the residue `low` modulo 2^bits. Returns `None` if this residue is not mandatory.
    /// `powers` are 3^0, …, 3^40.
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

    /// Calls `each` with the mandatory children of this residue modulo 2^k. The children are low
    /// and low + 2^k modulo 2^(k + 1). The next step is odd for one child, which is always
    /// mandatory, and even for the other. `powers` are 3^0, …, 3^40.
    #[inline]
    pub(crate) fn children(self, k: u32, powers: &[u64; 41], mut each: impl FnMut(Self)) {
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

    /// Calls `each` with every mandatory residue modulo 2^to that is congruent to this one modulo
    /// 2^from. Costs about two recursive calls per residue. `powers` are 3^0, …, 3^40.
    #[inline]
    pub fn grow(self, from: u32, to: u32, powers: &[u64; 41], each: &mut impl FnMut(Self)) {
        if from == to {
            each(self);
        } else {
            self.children(from, powers, |child| child.grow(from + 1, to, powers, each));
        }
    }

    /// Returns the residues that [`Self::grow`] visits, as a list.
    #[must_use]
    pub fn grown(self, from: u32, to: u32, powers: &[u64; 41]) -> Vec<Self> {
        let mut list = vec![];
        self.grow(from, to, powers, &mut |residue| list.push(residue));
        list
    }
}

/// Returns counts of mandatory residues (see [`Residue`]), indexed by a number f of odd steps. Let
/// r be a mandatory residue modulo 2^from with f odd steps. Entry f is the number of mandatory
/// residues modulo 2^to that are congruent to r modulo 2^from. It is the same for all such r. Costs
/// (to − from)·to additions.
#[must_use]
pub fn descendants(from: u32, to: u32) -> Vec<u64> {
    // After one more step the odd steps are f or f + 1, the former only if they suffice.
    let mut counts = vec![1; to as usize + 2];
    for k in (from..to).rev() {
        let least = min_odd(k + 1) as usize;
        for f in 0..=to as usize {
            counts[f] = if f >= least { counts[f] + counts[f + 1] } else { counts[f + 1] };
        }
        counts.truncate(k as usize + 1);
        counts.resize(to as usize + 2, 0);
    }
    counts
}

/// Returns the number of mandatory residues modulo 2^bits (see [`Residue`]), for bits at most
/// [`MOST_SIEVE_BITS`], without listing them: `s_d` in Honda 2017, Table 4.3; OEIS A076227.
#[must_use]
pub fn sieve_size(bits: u32) -> u64 {
    descendants(0, bits)[0]
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::table::tables::powers;
    use crate::walk::step;

    /// Returns the published pairs (bits, size of the sieve) from the file of test vectors, for 3
    /// bits and more.
    fn sizes() -> impl Iterator<Item = (u32, u64)> {
        let text = include_str!("../../../../tests/vectors/collatz_sieve_sizes.toml");
        let file: toml::Table = text.parse().unwrap();
        let sizes = file["sizes"].as_array().unwrap().clone();
        (3..).zip(sizes).map(|(bits, size)| (bits, size.as_integer().unwrap() as u64))
    }

    fn listed(bits: u32) -> u64 {
        let powers = powers();
        let middle = bits.min(16);
        let count = |node: Residue| {
            let mut count = 0;
            node.grow(middle, bits, &powers, &mut |_| count += 1);
            count
        };
        Residue::ROOT.grown(0, middle, &powers).into_par_iter().map(count).sum()
    }

    #[test]
    fn sizes_are_those_published() {
        assert_eq!(sizes().last().unwrap(), (37, 967_378_591));
        for (bits, size) in sizes() {
            assert_eq!(sieve_size(bits), size, "{bits}");
            if bits <= 30 {
                assert_eq!(listed(bits), size, "{bits}");
            }
        }
    }

    #[test]
    #[ignore = "lists the residues of 31 to 37 bits, a minute"]
    fn long_lists_have_the_sizes_published() {
        for (bits, size) in sizes().filter(|&(bits, _)| bits > 30) {
            assert_eq!(listed(bits), size, "{bits}");
        }
    }

    #[test]
    fn descendants_are_counted() {
        let powers = powers();
        for (from, to) in [(0, 9), (6, 6), (7, 8), (6, 19), (10, 17)] {
            let counts = descendants(from, to);
            for residue in Residue::ROOT.grown(0, from, &powers) {
                let listed = residue.grown(from, to, &powers).len() as u64;
                assert_eq!(listed, counts[residue.odd as usize], "{residue:?}");
            }
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
