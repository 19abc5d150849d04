//! The iterations whose residues are needed to build a proof.

use super::Subject;
use crate::Residue;

/// The largest power of a proof. A proof of this power is built from 2^15 residues. Prime95's
/// verifier has the same limit.
pub const LARGEST_POWER: u32 = 15;

/// The smallest number of iterations for which a test builds a proof by default.
const FEWEST_ITERATIONS: u32 = 4096;

/// Returns the default power of the proof of a test of M_p, or of p iterations of another test
/// ([`Subject::iterations`]). The default power is 10 + ⌊log4(p /
/// (60·10^6))⌋, limited to 8 … 11, which is PRPLL's choice for today's exponents. Each step up
/// doubles the disk space and halves the squarings of a certification.
///
/// Returns `None` below p = 4,096. For these p, the last span of a proof of power 8 would be at
/// most 16 squarings, and writing a file every 16 squarings costs more than the whole test.
/// ([`super::build`] accepts any power for which [`Points::new`] returns points.)
#[must_use]
pub fn power_for(p: u32) -> Option<u32> {
    if p < FEWEST_ITERATIONS {
        return None;
    }
    // 4^j · 60·10^6 for the powers 9, 10, 11.
    let steps = [15_000_000, 60_000_000, 240_000_000];
    Some(8 + steps.into_iter().filter(|&from| p >= from).count() as u32)
}

/// Returns the least power worth building if residues for the requested power `asked` are missing.
/// The least power is `asked` − 3, but at least 1. If the power of a proof is lower by 3, a
/// certification has eight times as many squarings. Verifying a proof of power 1 repeats half of
/// the test.
#[must_use]
pub fn least_power(asked: u32) -> u32 {
    asked.saturating_sub(3).max(1)
}

/// Returns the disk space in bytes that the residues of a proof need until it is built. For M_p there are
/// 2^power − 1 files, because the last residue is not stored, and otherwise 2^power. Each has the bytes
/// of a residue, plus at most 128 bytes for header and checksum, for other numbers than M_p at most 256.
#[must_use]
pub fn disk_bytes(subject: impl Into<Subject>, power: u32) -> u64 {
    let subject = subject.into();
    let unstored = u64::from(subject.is_of_mersenne());
    ((1u64 << power.min(LARGEST_POWER)) - unstored) * file_bytes(subject)
}

/// Returns the largest size of the file of a residue in bytes.
pub(super) fn file_bytes(subject: Subject) -> u64 {
    let head = if subject.is_of_mersenne() { 128 } else { 256 };
    head + Residue::byte_len(subject.number()) as u64
}

/// The iterations 0 < k_1 < … < k_(2^power) = p whose residues are needed to build a proof of M_p, or of p
/// iterations of another test ([`Subject::iterations`]). These iterations are called points.
///
/// The spans are s_1 = ⌈p/2⌉ and s_(i+1) = ⌈s_i/2⌉; there are as many spans as the power. The
/// points are the sums of all subsets of the spans, except that p replaces the empty sum. The
/// points of a lower power are a subset of those of a higher power. Memory: 4·2^power bytes.
///
/// Source: the proofs of version 2 of GpuOwl (`ProofSet`) and Prime95. Halving with ceilings is
/// Pietrzak's method for an odd number of squarings, *Simple verifiable delay functions* (ITCS
/// 2019, §3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    power: u32,
    /// The iterations k_1, k_2, …, ascending.
    iterations: Vec<u32>,
}

impl Points {
    /// Returns the points of a proof of M_p, or of p iterations of another test.
    ///
    /// Returns `None` if the power is 0 or above [`LARGEST_POWER`], or if p is so small that two
    /// points would coincide or a sum of spans would reach p. For p ≥ 2^(power + 4) and powers up
    /// to 15 the points always exist.
    #[must_use]
    pub fn new(p: u32, power: u32) -> Option<Self> {
        if power == 0 || power > LARGEST_POWER {
            return None;
        }
        let mut iterations = vec![0u32];
        let mut span = p;
        for _ in 0..power {
            span = span.div_ceil(2);
            let shifted: Option<Vec<u32>> =
                iterations.iter().map(|k| k.checked_add(span).filter(|&k| k < p)).collect();
            iterations.extend(shifted?);
        }
        iterations[0] = p;
        iterations.sort_unstable();
        let distinct = iterations.is_sorted_by(|a, b| a < b);
        distinct.then_some(Self { power, iterations })
    }

    /// Returns the power of the proof.
    #[must_use]
    pub fn power(&self) -> u32 {
        self.power
    }

    /// Iterates over all points, ascending; the last is p.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.iterations.iter().map(|&k| u64::from(k))
    }

    /// Returns point i, counted from 0; `None` for i ≥ 2^power.
    pub(super) fn get(&self, i: usize) -> Option<u64> {
        self.iterations.get(i).map(|&k| u64::from(k))
    }

    /// Returns whether k is a point, that is, whether the residue at iteration k is needed.
    #[must_use]
    pub fn contains(&self, k: u64) -> bool {
        u32::try_from(k).is_ok_and(|k| self.iterations.binary_search(&k).is_ok())
    }

    /// Returns the first point after k; `None` for k ≥ p.
    #[must_use]
    pub fn next_after(&self, k: u64) -> Option<u64> {
        let i = self.iterations.partition_point(|&point| u64::from(point) <= k);
        self.get(i)
    }
}

/// Returns the number of squarings that the verifier computes after it has used all middles. The
/// number is p halved `power` times, rounded up each time.
pub(super) fn last_span(p: u32, power: u32) -> u32 {
    (0..power).fold(p, |span, _| span.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_points_of_a_small_proof() {
        // The example in the comments of Prime95's verifier: 25 squarings, power 3.
        let points = Points::new(25, 3).unwrap();
        assert_eq!(points.iter().collect::<Vec<_>>(), [4, 7, 11, 13, 17, 20, 24, 25]);
        assert_eq!(last_span(25, 3), 4);
        assert_eq!(points.next_after(0), Some(4));
        assert_eq!(points.next_after(4), Some(7));
        assert_eq!(points.next_after(24), Some(25));
        assert_eq!(points.next_after(25), None);
        assert_eq!(points.next_after(u64::MAX), None);
        assert!(points.contains(13) && points.contains(25));
        assert!(!points.contains(0) && !points.contains(12) && !points.contains(1 << 40));
    }

    #[test]
    fn powers_follow_the_exponent() {
        for (p, power) in [
            (2, None),
            (4_093, None),
            (4_099, Some(8)),
            (14_999_981, Some(8)),
            (15_000_017, Some(9)),
            (59_999_999, Some(9)),
            (60_000_011, Some(10)),
            (136_279_841, Some(10)),
            (239_999_987, Some(10)),
            (240_000_017, Some(11)),
            (2_147_483_647, Some(11)),
        ] {
            assert_eq!(power_for(p), power, "{p}");
            if let Some(power) = power {
                let ideal = (10.0 + (f64::from(p) / 60e6).log(4.0).floor()).clamp(8.0, 11.0);
                assert_eq!(f64::from(power), ideal, "{p}");
                assert!(Points::new(p, power).is_some(), "{p}");
            }
        }
    }

    #[test]
    fn a_lower_power_is_at_most_three_less() {
        let least = [1, 1, 1, 1, 2, 5, 12];
        assert_eq!([0, 1, 3, 4, 5, 8, LARGEST_POWER].map(least_power), least);
    }

    #[test]
    fn what_is_too_small_for_a_power_has_no_points() {
        assert_eq!(Points::new(4_423, 0), None);
        assert_eq!(Points::new(4_423, LARGEST_POWER + 1), None);
        for p in 0..200 {
            for power in 1..=LARGEST_POWER {
                if let Some(points) = Points::new(p, power) {
                    assert_eq!(points.iter().count(), 1 << power);
                    assert!(points.iter().all(|k| 0 < k && k <= u64::from(p)));
                }
            }
        }
        assert_eq!(Points::new(13, 3), None);
    }

    #[test]
    fn the_disk_holds_what_the_formula_says() {
        assert_eq!(disk_bytes(136_279_841, 10), 1023 * (17_034_981 + 128));
        assert_eq!(disk_bytes(u32::MAX, u32::MAX), 32_767 * ((1 << 29) + 128));
        let number = Subject::parse("proth-3", "7*2^2256+1").unwrap();
        assert_eq!(disk_bytes(number, 3), 8 * (283 + 256));
    }

    proptest! {
        #[test]
        fn points_are_distinct_and_nest(p in 16u32..(1 << 31), power in 1u32..12) {
            let points = Points::new(p, power);
            prop_assert!(p < 1 << (power + 4) || points.is_some());
            if let Some(points) = points {
                prop_assert_eq!(points.get((1 << power) - 1), Some(u64::from(p)));
                prop_assert!(points.iter().is_sorted_by(|a, b| a < b));
                if power > 1 {
                    let fewer = Points::new(p, power - 1);
                    prop_assert!(fewer.is_some_and(|f| f.iter().all(|k| points.contains(k))));
                }
                let mut k = 0;
                for point in points.iter() {
                    prop_assert_eq!(points.next_after(k), Some(point));
                    prop_assert!(points.next_after(point - 1) == Some(point));
                    k = point;
                }
            }
        }
    }
}
