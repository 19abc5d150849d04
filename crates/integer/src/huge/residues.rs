//! Numbers modulo five primes near 2^61, to check results.
//!
//! Let p = 2^61 − c. As 2^61 ≡ c mod p, a number x = h·2^61 + l is congruent to h·c + l. A limb is
//! appended to a residue r with 2^64·r ≡ 8·c·r.

use rayon::prelude::*;

/// The numbers c for which the prime is 2^61 − c.
const BELOW: [u64; 5] = [1, 31, 45, 229, 259];

/// The five largest primes below 2^61: 2^61 − 1, 2^61 − 31, 2^61 − 45, 2^61 − 229 and 2^61 − 259.
pub const PRIMES: [u64; 5] = [
    (1 << 61) - BELOW[0],
    (1 << 61) - BELOW[1],
    (1 << 61) - BELOW[2],
    (1 << 61) - BELOW[3],
    (1 << 61) - BELOW[4],
];

const LOW: u64 = (1 << 61) - 1;

/// The number of limbs whose residues are computed as one task.
const LIMBS: usize = 1 << 14;

/// The number of decimal digits that are appended to a residue at a time.
const GROUP: usize = 19;

/// The number of groups of decimal digits whose residues are computed as one task.
const GROUPS: usize = 1 << 12;

/// The residues of a number modulo the five [`PRIMES`].
///
/// If a result is wrong, the difference from the right result is divisible by all five primes with a
/// probability of about 2^−305, unless someone has chosen it. An error c·2^k or c·10^k with 0 < |c| <
/// 2^61 − 259 is always detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residues([u64; 5]);

impl Residues {
    /// The residues of 1.
    pub const ONE: Self = Self([1; 5]);

    /// Returns the residues of a number below 2^64.
    #[must_use]
    pub fn of_small(x: u64) -> Self {
        Self::each(|i| reduce(u128::from(x), BELOW[i]))
    }

    /// Returns the residues of a number in little-endian limbs. Cost O(n); long numbers are
    /// distributed over the threads of rayon's current pool.
    #[must_use]
    pub fn of(limbs: &[u64]) -> Self {
        let part = |limbs: &[u64]| {
            let mut r = [0; 5];
            for &limb in limbs.iter().rev() {
                for (r, c) in r.iter_mut().zip(BELOW) {
                    *r = append(*r, limb, c);
                }
            }
            Self::each(|i| reduce(u128::from(r[i]), BELOW[i]))
        };
        let parts: Vec<Self> = limbs.par_chunks(LIMBS).map(part).collect();
        // 2^64·2^(64·(LIMBS − 1)).
        let weight = Self::of_small(1 << 32).pow(2 * LIMBS as u64);
        joined(parts.into_iter().rev(), weight)
    }

    /// Returns the residues of the number with the given decimal ASCII digits, the highest first.
    /// Cost O(n); many digits are distributed over the threads of rayon's current pool. The digits
    /// are not converted to limbs, so the residues also check a conversion.
    #[must_use]
    pub fn of_decimal(digits: &[u8]) -> Self {
        let ten_19 = Self::of_small(10u64.pow(GROUP as u32));
        let part = |digits: &[u8]| {
            let (first, groups) = digits.split_at(digits.len() % GROUP);
            let value = |group: &[u8]| {
                group.iter().fold(0u64, |value, digit| 10 * value + u64::from(digit & 15))
            };
            let append = |r: Self, group| r.times(ten_19).plus(Self::of_small(value(group)));
            groups.chunks_exact(GROUP).fold(Self::of_small(value(first)), append)
        };
        let parts: Vec<Self> = digits.par_rchunks(GROUP * GROUPS).map(part).collect();
        joined(parts.into_iter().rev(), ten_19.pow(GROUPS as u64))
    }

    /// Returns the residues of n!. Cost: five products modulo a prime for each number up to n,
    /// distributed over the threads of rayon's current pool.
    #[must_use]
    pub fn of_factorial(n: u64) -> Self {
        const NUMBERS: u64 = 1 << 16;
        let part = |i: u64| {
            let numbers = i * NUMBERS + 1..=(i * NUMBERS).saturating_add(NUMBERS).min(n);
            numbers.fold(Self::ONE, |product, k| product.times(Self::of_small(k)))
        };
        (0..n.div_ceil(NUMBERS)).into_par_iter().map(part).reduce(|| Self::ONE, Self::times)
    }

    /// Returns the residues of x + y for the residues of x and y.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::each(|i| reduce(u128::from(self.0[i]) + u128::from(other.0[i]), BELOW[i]))
    }

    /// Returns the residues of x·y for the residues of x and y.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self::each(|i| reduce(u128::from(self.0[i]) * u128::from(other.0[i]), BELOW[i]))
    }

    /// Returns the residues of x^e for the residues of x.
    #[must_use]
    pub fn pow(self, e: u64) -> Self {
        let mut power = Self::ONE;
        for bit in (0..64 - e.leading_zeros()).rev() {
            power = power.times(power);
            if e >> bit & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }

    /// Returns the five residues, in the order of [`PRIMES`].
    #[must_use]
    pub fn values(self) -> [u64; 5] {
        self.0
    }

    fn each(of: impl FnMut(usize) -> u64) -> Self {
        Self(std::array::from_fn(of))
    }
}

/// Returns the residues of Σ r_i·w^i for parts r_i, the highest first, and the weight w.
fn joined(parts: impl Iterator<Item = Residues>, weight: Residues) -> Residues {
    parts.fold(Residues([0; 5]), |sum, part| sum.times(weight).plus(part))
}

/// Returns a number below 2^61 + 2^24 that is congruent to 2^64·r + limb mod 2^61 − c, for r below
/// 2^62 and c below 2^9.
#[inline(always)]
fn append(r: u64, limb: u64, c: u64) -> u64 {
    // Below 2^62·2^12 + 2^64.
    let x = u128::from(r) * u128::from(8 * c) + u128::from(limb);
    (x as u64 & LOW) + (x >> 61) as u64 * c
}

/// Returns x mod 2^61 − c, for x below 2^124 and c below 2^9.
#[inline(always)]
fn reduce(x: u128, c: u64) -> u64 {
    // Below 2^61 + 2^63·2^9.
    let x = u128::from(x as u64 & LOW) + (x >> 61) * u128::from(c);
    // Below 2^61 + 2^12·2^9.
    let x = (x as u64 & LOW) + (x >> 61) as u64 * c;
    let p = LOW + 1 - c;
    if x >= p { x - p } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_arith::primes::is_prime;
    use warpint_natural::limbs::rem_small;

    #[test]
    fn the_primes_are_the_largest_below_2_61() {
        let largest: Vec<u64> =
            (0..1 << 61).rev().filter(|&n| is_prime(n)).take(PRIMES.len()).collect();
        assert_eq!(largest, PRIMES);
    }

    /// Compares residues with remainders computed limb by limb, for numbers on both sides of the
    /// length of a task and for limbs without zero bits.
    #[test]
    fn residues_are_remainders() {
        let mut x = 1u64;
        let mut random = |_| {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            x ^ x >> 29
        };
        for n in [0, 1, 2, 3, LIMBS - 1, LIMBS, LIMBS + 1, 3 * LIMBS + 7] {
            for number in [vec![u64::MAX; n], (0..n).map(&mut random).collect()] {
                let want = PRIMES.map(|p| rem_small(&number, p));
                assert_eq!(Residues::of(&number).values(), want, "{n} limbs");
            }
        }
        for x in [0, 1, PRIMES[0], PRIMES[4], u64::MAX] {
            assert_eq!(Residues::of_small(x).values(), PRIMES.map(|p| x % p));
            assert_eq!(Residues::of_small(x), Residues::of(&[x]));
        }
    }

    #[test]
    fn residues_of_digits() {
        for n in [1, 18, 19, 20, GROUP * GROUPS - 1, GROUP * GROUPS, GROUP * GROUPS + 40] {
            // 10^n − 1.
            let nines = vec![b'9'; n];
            let want = Residues::of_small(10).pow(n as u64);
            assert_eq!(Residues::of_decimal(&nines).plus(Residues::ONE), want, "{n} digits");
        }
        assert_eq!(Residues::of_decimal(b"18446744073709551616"), Residues::of(&[0, 1]));
        assert_eq!(Residues::of_decimal(b""), Residues::of(&[]));
    }

    #[test]
    fn sums_products_and_powers() {
        let (x, y) = (u64::MAX - 7, PRIMES[3] + 12);
        let (rx, ry) = (Residues::of_small(x), Residues::of_small(y));
        let of = |n: u128| Residues::of(&[n as u64, (n >> 64) as u64]);
        assert_eq!(rx.times(ry), of(u128::from(x) * u128::from(y)));
        assert_eq!(rx.plus(ry), of(u128::from(x) + u128::from(y)));
        assert_eq!(Residues::of_small(3).pow(80), of(3u128.pow(80)));
        assert_eq!(rx.pow(0), Residues::ONE);
        let factorial = |n: u64| (1..=u128::from(n)).product();
        for n in [0, 1, 2, 20, 34] {
            assert_eq!(Residues::of_factorial(n), of(factorial(n)), "{n}!");
        }
        let slow = (1..=200_000).fold(Residues::ONE, |p, k| p.times(Residues::of_small(k)));
        assert_eq!(Residues::of_factorial(200_000), slow);
    }
}
