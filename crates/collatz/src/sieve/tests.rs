//! Tests of the sieve against its slow, obvious version.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use super::*;
use crate::Unwatched;
use crate::descent::min_odd;
use crate::until::Until;
use crate::walk::step;
use last::class_count;
use rules::{Limits, Pattern};
use steps::Steps;

fn shape(look: u32, step: u32, rules: Rules) -> Shape {
    Shape { rules, look: Looking::new(look), step: Step::new(step).unwrap() }
}

fn tree_of(region: &Region, shape: Shape) -> Tree {
    let pieces = pieces(region, shape, Looking::LEAST).unwrap();
    let tree = pieces.into_iter().find_map(|piece| match piece {
        Piece::Tree(tree) => Some(tree),
        Piece::Plain { .. } => None,
    });
    tree.unwrap()
}

/// Performs the steps of T for the given levels on the value `x`, and adds the number of odd steps
/// to `odd`. Returns true if no rule excludes the number in these steps.
fn living(x: &mut u128, odd: &mut u32, levels: std::ops::Range<u32>, rules: Rules) -> bool {
    let mut pattern = Some(Pattern::UNKNOWN);
    for k in levels {
        let limits = Limits::of(k, rules);
        let is_odd = *x & 1 == 1;
        pattern = pattern
            .and_then(|p| if is_odd { Some(p.odd(*odd, &limits)) } else { p.even(*odd, &limits) });
        *odd += u32::from(is_odd);
        *x = step(*x).unwrap();
    }
    pattern.is_some()
}

/// Returns the count of survivors of a region, the sum of their odd steps, and the long numbers,
/// computed number by number and step by step.
fn slow(region: &Region, tree: &Tree) -> (u64, u64, Vec<u128>) {
    let (mut walked, mut checksum, mut long) = (0, 0u64, vec![]);
    let steps = Steps::new(tree);
    let look = tree.look.bits();
    for n in (0..region.numbers()).map(|i| region.nth(i).unwrap()) {
        let (mut x, mut odd) = (n, 0);
        if tree.rules.mod_9 && [2, 4, 5, 8].contains(&(n % 9))
            || !living(&mut x, &mut odd, 0..tree.level, tree.rules)
        {
            continue;
        }
        let (mut ahead, mut ahead_odd) = (x, odd);
        let looked = odd - min_odd(tree.level) < class_count(tree.level, look);
        if looked && !living(&mut ahead, &mut ahead_odd, tree.level..tree.level + look, tree.rules)
        {
            continue;
        }
        walked += 1;
        let step_bits = tree.step.bits();
        let mut killed = None;
        let (value, before) = (x, odd);
        for (stage, &least) in (1..).zip(&steps.least) {
            let word = steps.words[(x % (1 << step_bits)) as usize];
            if stage * step_bits > look && odd < least + steps::kill_of(word) {
                killed = Some(odd);
                break;
            }
            for _ in 0..step_bits {
                odd += (x & 1) as u32;
                x = step(x).unwrap();
            }
        }
        let end = killed.unwrap_or_else(|| {
            long.push(n);
            let (mut x, mut odd) = (value, before);
            while x >= n {
                for _ in 0..step_bits {
                    odd += (x & 1) as u32;
                    x = step(x).unwrap();
                }
            }
            odd
        });
        checksum += u64::from(end);
    }
    (walked, checksum, long)
}

fn tally(region: &Region, shape: Shape) -> Tally {
    CpuSieve::default().tree(Task::new(&tree_of(region, shape)), &Unwatched).unwrap().unwrap()
}

#[test]
fn trees_walk_what_the_rules_leave() {
    let windows = [
        (1u128 << 20, (1 << 20) + (1 << 18)),
        (1 << 22, (1 << 22) + (1 << 18)),
        (5 << 68, (5 << 68) + (1 << 18)),
    ];
    let mut regions: Vec<_> = windows.map(|(from, to)| Region::interval(from, to).unwrap()).into();
    regions.push(Region::class(22, 3, 7).unwrap());
    regions.push(Region::class(28, 9, 255).unwrap());
    // With paths whose highest values precede the last level.
    regions.push(Region::class(80, 64, 11_795_138_530_315_862_015).unwrap());
    regions.push(Region::class(82, 66, 7_863_425_686_877_241_343).unwrap());
    for region in &regions {
        for shape in [
            shape(16, 12, Rules::default()),
            shape(12, 8, Rules { preimages: false, ..Rules::default() }),
            shape(20, 11, Rules { runs: false, ..Rules::default() }),
            shape(18, 13, Rules { mod_9: false, ..Rules::default() }),
        ] {
            // The lemmas hold from 2^20 on, but smaller numbers are walked in the same way.
            let tree = tree_of(region, shape);
            let (walked, checksum, long) = slow(region, &tree);
            let tally = tally(region, shape);
            assert_eq!((tally.walked, tally.checksum), (walked, checksum), "{region} {shape:?}");
            let paths =
                long.iter().filter_map(|&n| Some((long::highest_from(n, tree.level, 10_000)?, n)));
            let highest = paths.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
            let found = tally.highest.map(|highest| (highest.value, highest.start));
            assert_eq!(found, highest, "{region} {shape:?}");
        }
    }
}

#[test]
fn highest_values_are_those_of_paths() {
    for n in [27u128, 703, 63_728_127, (1 << 100) - 1] {
        let descent = Walker::default().descend(n).unwrap();
        assert_eq!(long::highest_from(n, 0, 100_000), Some(descent.highest), "{n}");
        for level in [1, 10, 50] {
            let mut path = vec![BigUint::from(n)];
            while path.len() <= level || path[path.len() - 1] >= path[0] {
                path.push(crate::walk::big_step(&path[path.len() - 1]));
            }
            // Under n/2 and 3n + 1, each step of T that leads to path[level] or a later value.
            let steps = path[level - 1..].windows(2);
            let before = steps.map(|step| match step[0].bit(0) {
                true => &step[0] * 3u32 + 1u32,
                false => step[0].clone(),
            });
            let highest = before.max();
            assert_eq!(long::highest_from(n, level as u32, 100_000), highest, "{n} {level}");
        }
    }
    assert_eq!(long::highest_from(27, 0, 10), None);
}

#[test]
fn every_rule_may_be_switched_off() {
    let region = Region::interval(0, (1 << 22) + 12_345).unwrap();
    let all = [true, false];
    for (preimages, runs, mod_9) in
        all.into_iter().flat_map(|a| all.map(|b| (a, b))).flat_map(|(a, b)| all.map(|c| (a, b, c)))
    {
        let rules = Rules { preimages, runs, mod_9 };
        let mut sieve = Sieve { shape: shape(16, 12, rules), ..Sieve::new(CpuSieve::default()) };
        let verified = sieve.verify(&region, &Unwatched).unwrap().unwrap();
        assert_eq!(verified.numbers, region.numbers());
        assert_eq!(verified.unresolved, [], "{rules}");
    }
}

#[test]
fn a_trap_is_found() {
    // 63,728,127 rises to 966,616,035,460 = 2·483,308,017,730 in steps of 3n + 1.
    let trap = Walker { trap: Some(483_308_017_730u64.into()), limit: 10_000 };
    let region = Region::interval(63_700_000, 63_800_000).unwrap();
    let plain = Plain { walker: trap.clone(), ..Plain::default() }
        .verify(&region, &Unwatched)
        .unwrap()
        .unwrap();
    assert!(plain.unresolved.contains(&63_728_127));
    let mut sieve = Sieve { walker: trap.clone(), ..Sieve::new(CpuSieve::with_walker(trap)) };
    let verified = sieve.verify(&region, &Unwatched).unwrap().unwrap();
    assert!(verified.unresolved.contains(&63_728_127), "{:?}", verified.unresolved);
    assert!(verified.unresolved.iter().all(|n| plain.unresolved.contains(n)));
}

#[test]
fn numbers_beyond_the_words_are_refused() {
    let huge = [
        Region::interval(1 << 120, (1 << 120) + (1 << 40)).unwrap(),
        Region::class(127, 111, (1 << 111) - 1).unwrap(),
    ];
    for region in huge {
        let mut sieve = Sieve::new(CpuSieve::default());
        let error = sieve.verify(&region, &Unwatched).unwrap_err().to_string();
        assert!(error.starts_with("the sieve does not support "), "{error}");
    }
}

#[test]
fn a_watch_stops_it() {
    let region = Region::class(40, 0, 0).unwrap();
    assert_eq!(Sieve::new(CpuSieve::default()).verify(&region, &Until::new(0)).unwrap(), None);
}
