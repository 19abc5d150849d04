//! Plans of two engine families whose transforms are cut alike: they have the same numbers of rows
//! and columns, and the same radices.

use std::collections::{HashMap, HashSet};

use super::Plan;
use crate::Exponent;
use crate::engine::{Cut, EngineFamily};

/// Two plans of different engine families whose transforms have the same numbers of rows and of
/// columns, and the same radices along the rows and along the columns.
#[derive(Debug, Clone)]
pub struct Alike {
    /// The cut of both transforms.
    pub cut: Cut,
    /// One plan of each family, for the largest prime exponent that its length supports.
    pub plans: [Plan; 2],
}

/// Returns at most `most` pairs of plans whose transforms are cut alike. `families` are two
/// families, each with a transform length in words.
///
/// A pair consists of one plan of each family. Each plan is for the largest prime exponent that its
/// length supports with enough margin. No two pairs have the same cut. If several variants of a
/// family have the same cut, the first of these variants is used.
///
/// Each family lists its cuts in the order of its variants, the most promising variants first. A
/// cut has a position in each of the two lists. The pairs are ordered by the sum of these two
/// positions, the smallest sum first.
///
/// A transform of n complex points is a transform of 2n words, so `fp64` at 2n words and
/// `goldilocks` at n words can be cut alike.
#[must_use]
pub fn plans_cut_alike(
    families: [(&'static dyn EngineFamily, usize); 2],
    threads: usize,
    most: usize,
) -> Vec<Alike> {
    let longest = |(family, length): (&'static dyn EngineFamily, usize)| {
        let p = largest_exponent(family, length)?;
        Plan::of_family(p, family, Some(length), Some(threads)).ok()
    };
    let [Some(first), Some(second)] = families.map(longest) else { return vec![] };
    let cuts = |(family, length): (&'static dyn EngineFamily, usize)| {
        family.profiled().map_or(vec![], |family| family.cuts(length))
    };
    let [of_first, of_second] = families.map(cuts).map(distinct);
    let places: HashMap<&Cut, (usize, usize)> =
        of_second.iter().enumerate().map(|(j, (cut, variant))| (cut, (j, *variant))).collect();
    let mut common: Vec<_> = of_first
        .iter()
        .enumerate()
        .filter_map(|(i, (cut, a))| places.get(cut).map(|(j, b)| (i + j, cut, *a, *b)))
        .collect();
    common.sort_by_key(|(places, ..)| *places);
    let alike = |(_, cut, a, b): (usize, &Cut, usize, usize)| {
        Some(Alike { cut: cut.clone(), plans: [first.in_variant(a)?, second.in_variant(b)?] })
    };
    common.into_iter().take(most).filter_map(alike).collect()
}

/// Returns each cut once, with the number of the first variant that has this cut. `cuts` contains
/// the cuts of all variants in order.
fn distinct(cuts: Vec<Cut>) -> Vec<(Cut, usize)> {
    let mut seen = HashSet::new();
    let new = |(variant, cut): (usize, Cut)| seen.insert(cut.clone()).then_some((cut, variant));
    cuts.into_iter().enumerate().filter_map(new).collect()
}

/// Returns the largest prime exponent that a transform length supports with enough margin. Returns
/// `None` if the length supports no prime exponent.
pub(super) fn largest_exponent(family: &dyn EngineFamily, length: usize) -> Option<Exponent> {
    let holds = |p: u64| {
        u32::try_from(p)
            .is_ok_and(|p| family.margin(p, length).is_ok_and(|margin| margin.bits >= 0.0))
    };
    // The exponents that a length supports are contiguous, and words have at most 64 bits.
    let half = (length as u64).div_ceil(2);
    let below = (1..128).rev().filter_map(|bits| half.checked_mul(bits)).find(|&p| holds(p))?;
    let (mut held, mut too_long) = (below, below + half);
    while too_long - held > 1 {
        let middle = held.midpoint(too_long);
        if holds(middle) { held = middle } else { too_long = middle }
    }
    (2..=held).rev().take_while(|&p| holds(p)).find_map(|p| Exponent::new(p).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::goldilocks::Goldilocks;

    #[test]
    fn the_largest_exponent_is_the_last_prime_with_margin() {
        for length in [64, 320, 1 << 16, 5 << 18] {
            let p = largest_exponent(&Goldilocks, length).unwrap().get();
            assert!(Goldilocks.margin(p, length).unwrap().bits >= 0.0);
            let next = (p + 1..).find(|&q| Exponent::new(q.into()).is_ok()).unwrap();
            assert!(Goldilocks.margin(next, length).is_ok_and(|m| m.bits < 0.0), "{p} {next}");
        }
        for length in [0, 7, 1 << 60, usize::MAX] {
            assert_eq!(largest_exponent(&Goldilocks, length), None);
        }
    }

    #[test]
    fn families_that_are_not_cut_have_nothing_alike() {
        let family: &'static dyn EngineFamily = &Goldilocks;
        assert!(plans_cut_alike([(family, 64), (family, 64)], 1, 4).is_empty());
    }

    #[cfg(feature = "sim")]
    #[test]
    fn complex_numbers_and_integers_are_cut_alike() {
        use crate::engine::places::families_on;
        use warpint_device::DeviceId;

        let families = families_on(DeviceId::Sim).unwrap();
        let of = |name| families.iter().copied().find(|f| f.name() == name).unwrap();
        let (complex, integers) = (of("fp64"), of("goldilocks"));
        // Every power of two from 2^16 to 2^24 has a common cut.
        for log in [9, 12].into_iter().chain(16..=24) {
            let points = 1 << log;
            let pairs = plans_cut_alike([(complex, 2 * points), (integers, points)], 1, 4);
            assert!((1..=4).contains(&pairs.len()), "2^{log}");
            for Alike { cut, plans: [a, b] } in &pairs {
                assert_eq!((a.engine(), b.engine()), ("fp64", "goldilocks"));
                assert_eq!((a.length(), b.length(), cut.points()), (2 * points, points, points));
                // The names of the variants agree, apart from radices of 1.
                for plan in [a, b].into_iter().filter(|_| log < 16) {
                    assert_eq!(plan.cut().as_ref(), Some(cut));
                    let name = plan.variant();
                    let [size, radices] = [0, 1].map(|i| name.split(' ').nth(i).unwrap());
                    let steps = |line: &str| {
                        line.split('.').filter(|&r| r != "1").collect::<Vec<_>>().join(".")
                    };
                    let lines: Vec<String> = radices.split('/').map(steps).collect();
                    assert_eq!(cut.to_string(), format!("{size} {}", lines.join("/")));
                }
            }
            let distinct: HashSet<_> = pairs.iter().map(|pair| pair.cut.clone()).collect();
            assert_eq!(distinct.len(), pairs.len());
        }
    }
}
