//! Tests that the items of evidence add up to the results of the methods, and that forged evidence
//! is refused.

use std::sync::LazyLock;

use super::nodes::SlowNodes;
use super::*;
use crate::runs::sample::Sample;
use crate::runs::{Layout, Unit};
use crate::sieve::{CpuSieve, Looking, Rules, Shape, Sieve, Step};
use crate::table::{TableMethod, TableOptions};
use crate::walk::Walker;
use crate::{Plain, Region, Unwatched, Verifier};

fn regions() -> Vec<Region> {
    let class = |bits, low_bits, residue| Region::class(bits, low_bits, residue).unwrap();
    let interval = |from, to| Region::interval(from, to).unwrap();
    vec![
        interval(1 << 18, 1 << 19),
        interval((5 << 68) - 12_345, (5 << 68) + (1 << 17) + 77),
        interval(0, (1 << 20) + (1 << 17)),
        class(26, 9, 255),
        class(71, 53, (1 << 52) - 1),
        class(40, 21, 4),
    ]
}

fn shapes() -> [Shape; 3] {
    let shape = |look, step, rules| Shape {
        rules,
        look: Looking::new(look),
        step: Step::new(step).unwrap(),
    };
    let rules = Rules::default();
    [
        shape(12, 12, rules),
        shape(16, 8, Rules { preimages: false, mod_9: false, ..rules }),
        shape(10, 13, Rules { runs: false, ..rules }),
    ]
}

/// Returns the number of items of a region, and the sum of all contributions, including the
/// contribution of the numbers that belong to no item.
fn all(method: &dyn Verifier, region: &Region) -> (u128, Share) {
    let (name, version, parameters) =
        (method.method().name(), method.version(), method.parameters());
    let items = Items::of(name, version, &parameters, region).unwrap().unwrap();
    let mut sum = items.besides().unwrap();
    (0..items.count()).for_each(|i| sum.add(items.share(i).unwrap()));
    assert!(items.share(items.count()).is_none());
    (items.count(), sum)
}

#[test]
fn the_items_of_the_sieve_add_up_to_its_walks() {
    for region in regions() {
        for shape in shapes() {
            let mut sieve = Sieve { shape, ..Sieve::new(CpuSieve::default()) };
            let verified = sieve.verify(&region, &Unwatched).unwrap().unwrap();
            let (_, sum) = all(&sieve, &region);
            let expected = Share { walked: verified.walked, checksum: verified.checksum };
            assert_eq!(sum, expected, "{region} {shape:?}");
        }
    }
}

#[test]
fn the_items_of_the_table_method_are_its_walks() {
    for region in regions().into_iter().take(4) {
        for (s, d, words) in [(None, 12, None), (Some(8), 8, Some(2)), (Some(12), 5, Some(4))] {
            let options = TableOptions {
                sieve_bits: s,
                table_bits: Some(d),
                words,
                walker: Walker::default(),
            };
            let mut table = TableMethod::new(options).unwrap();
            let Ok(verified) = table.verify(&region, &Unwatched) else { continue };
            let verified = verified.unwrap();
            let (count, sum) = all(&table, &region);
            let expected = Share { walked: verified.walked, checksum: verified.checksum };
            assert_eq!((count, sum), (verified.walked.into(), expected), "{region} {s:?} {d}");
        }
    }
}

/// Returns the result for unit `number` of a layout, verified by the verifier `by`.
fn unit(by: &mut dyn Verifier, layout: &Layout, number: u64) -> Unit {
    let region = layout.region(number).unwrap();
    let verified = by.verify(&region, &Unwatched).unwrap().unwrap();
    Unit::new(layout, number, region, by, verified, Sample::default(), 1.0)
}

fn sieve(every: u64) -> Sieve<CpuSieve> {
    Sieve::new(CpuSieve::default().with_nodes_of_a_challenge(every))
}

/// Units of all methods, in which no item, some items or all items are challenged.
static UNITS: LazyLock<Vec<Unit>> = LazyLock::new(units);

fn units() -> Vec<Unit> {
    let interval = Layout::new((3 << 68) + 12_345, (3 << 68) + (1 << 24), 23).unwrap();
    let small = Layout::new(0, 1 << 22, 21).unwrap();
    let classes = Layout::new(0, 1 << 44, 24).unwrap();
    let mut units = vec![];
    for every in [1, 64, u64::MAX] {
        for (layout, number) in [(&interval, 3), (&small, 1), (&classes, 0xf_ffff), (&classes, 2)] {
            units.push(unit(&mut sieve(every), layout, number));
        }
        let table = TableMethod::new(TableOptions::default()).unwrap();
        let mut table = table.with_challenges(every, every);
        units.push(unit(&mut table, &interval, 3));
        units.push(unit(&mut table, &small, 1));
        let mut plain = Plain { every: Some(every), ..Plain::default() };
        units.push(unit(&mut plain, &interval, 0));
    }
    units
}

#[test]
fn honest_units_pass() {
    let units = &*UNITS;
    for unit in units {
        let evidence = *unit.evidence().unwrap();
        evidence.check(unit).unwrap_or_else(|error| panic!("{unit:?}: {error}"));
    }
    let challenges: Vec<u64> =
        units.iter().map(|unit| unit.evidence().unwrap().challenges).collect();
    let has = |wanted: fn(&u64) -> bool| challenges.iter().any(wanted);
    assert!(
        has(|&q| q == 0) && has(|&q| q > 0 && q < 1024) && has(|&q| q == 1024),
        "{challenges:?}"
    );
}

#[test]
fn forged_units_are_refused() {
    for unit in &*UNITS {
        let evidence = *unit.evidence().unwrap();
        let said = |evidence: Evidence, change: fn(&mut Unit)| {
            let mut changed = unit.clone();
            change(&mut changed);
            match evidence.check(&changed) {
                Err(error) => error.to_string(),
                Ok(()) => panic!("{changed:?} passed"),
            }
        };
        let none = |_: &mut Unit| {};
        let more = |what: &str| {
            let mut more = evidence;
            match what {
                "version" => more.version += 1,
                "items" => more.items += 1,
                "challenges" => more.challenges = 1 << 20,
                "walked" => more.walked += 1,
                _ => more.checksum ^= 1 << 40,
            }
            more
        };
        assert!(said(more("version"), none).contains("of version 2"));
        assert!(said(more("items"), none).contains("items of work"));
        assert!(said(more("challenges"), none).contains("challenges, but must have"));
        assert!(said(more("walked"), none).contains("count of numbers walked of its"));
        assert!(said(more("checksum"), none).contains("checksum of its"));
        assert!(said(evidence, |u| u.parameters.push('0')).contains("no method"), "{unit:?}");
        assert!(said(evidence, |u| u.method_version = 9).contains("no method"));
        assert!(said(evidence, |u| u.unit = u64::MAX).contains("the range has no unit"));
        if evidence.items > 0 {
            assert!(said(evidence, |u| u.walked /= 2).contains("its count of numbers walked is"));
            assert!(said(evidence, |u| u.walked *= 2).contains("its count of numbers walked is"));
            assert!(said(evidence, |u| u.checksum /= 2).contains("its checksum is"), "{unit:?}");
            assert!(said(evidence, |u| (u.walked, u.checksum) = (0, 0)).contains("walked is 0"));
        } else {
            assert!(said(evidence, |u| u.walked += 1).contains("its count of numbers walked is"));
        }
    }
}

#[test]
fn a_region_has_challenges_in_proportion_to_its_items() {
    let count = |items: u128, every: u64| {
        let all = (0..1000).map(|seed| Plan::new(mix(seed), items, every).challenges);
        all.sum::<u64>()
    };
    assert_eq!((count(0, 8), count(5, 1), count(1 << 100, 1)), (0, 5000, 1_024_000));
    // 1,000 times 1/4, and 10 + 1/4: within 4 standard deviations.
    assert!(count(1 << 10, 1 << 12).abs_diff(250) < 55);
    assert!(count(41 << 10, 1 << 12).abs_diff(10_250) < 55);
}

#[test]
fn the_seed_is_new_for_each_region() {
    let layout = Layout::new(1 << 30, 1 << 31, 22).unwrap();
    let mut sieve = sieve(64);
    let seeds = [0, 0, 1].map(|i| unit(&mut sieve, &layout, i).evidence().unwrap().seed);
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2], "{seeds:?}");
}

#[test]
#[ignore = "a measurement: what evidence costs"]
fn cost() {
    // Time of all cores, in ticks of 10 ms: other work on the machine does not count.
    let ticks = || {
        let text = std::fs::read_to_string("/proc/self/stat").unwrap();
        let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
        [11, 12].iter().map(|&i| fields[i].parse::<u32>().unwrap()).sum::<u32>()
    };
    let time = |what: &str, count: u32, run: &mut dyn FnMut()| {
        let begun = ticks();
        (0..count).for_each(|_| run());
        println!(
            "{what}: {:.3} ms of a core",
            f64::from(10 * (ticks() - begun)) / f64::from(count)
        );
    };
    let region = Region::interval(1 << 70, (1 << 70) + (1 << 36)).unwrap();
    for (what, every) in
        [("default", 1 << 11), ("few", 1 << 23), ("default", 1 << 11), ("few", 1 << 23)]
    {
        let mut sieve = Sieve { seed: Some(5), ..sieve(every) };
        sieve
            .verify(&Region::interval(1 << 70, (1 << 70) + (1 << 26)).unwrap(), &Unwatched)
            .unwrap();
        let mut found = None;
        time(&format!("sieve, 2^36, {what}"), 1, &mut || {
            found = sieve.verify(&region, &Unwatched).unwrap();
        });
        println!("{:?}", found.and_then(|found| found.evidence));
    }
    let region = Region::interval(1 << 70, (1 << 70) + (1 << 33)).unwrap();
    for every in [1 << 15, 1 << 30, 1 << 15, 1 << 30] {
        let mut table =
            TableMethod::new(TableOptions::default()).unwrap().with_challenges(5, every);
        time(&format!("table, 2^33, one of {every}"), 1, &mut || {
            table.verify(&region, &Unwatched).unwrap();
        });
    }
    let region = Region::interval(1 << 70, (1 << 70) + (1 << 26)).unwrap();
    for every in [1 << 12, 1 << 30, 1 << 12, 1 << 30] {
        let mut plain = Plain { every: Some(every), seed: Some(5), ..Plain::default() };
        time(&format!("plain, 2^26, one of {every}"), 1, &mut || {
            plain.verify(&region, &Unwatched).unwrap();
        });
    }
    for (bits, low_bits) in [(53, 0), (71, 32)] {
        let region = Region::class(bits, low_bits, (1 << low_bits) - 1).unwrap();
        let walker = Walker::default();
        let items = |look| {
            let shape = Shape { look: Looking::new(look), ..Shape::default() };
            crate::sieve::pieces(&region, shape, Looking::LEAST).unwrap()
        };
        let pieces = items(32);
        let all = SieveItems::of(&pieces, &walker, None);
        println!("{region}: {} nodes", all.count());
        time("counts", 1000, &mut || drop(SieveItems::of(&pieces, &walker, None)));
        let (tree, _) = all.trees().next().unwrap();
        time("levels", 10_000, &mut || drop(recurrence::levels(tree)));
        let items = Items::Sieve(all.clone());
        let draw = Draw::new(7);
        let mut j = 0;
        let mut index = || {
            j += 1;
            draw.below(j, items.count())
        };
        time("a descent", 10_000, &mut || assert!(all.place(index()).is_some()));
        let mut sum = Share::default();
        time("a node by the slow rules", 1000, &mut || sum.add(items.share(index()).unwrap()));
        println!("{sum:?} of 1,000 nodes");
        let tables = crate::sieve::Tables::new(tree);
        let slow = SlowNodes::new(tree, &walker).with_steps(&tables.steps.words);
        time("the same with a table of kills", 1000, &mut || {
            sum.add(slow.walks(&all.place(index()).unwrap().1).share());
        });
    }
}

/// Tests that the totals of many samples are within the bounds of the check, by a wide margin.
#[test]
#[ignore = "a measurement: how far sampled means are from the true ones"]
fn margins() {
    let layout = Layout::new(1 << 50, (1 << 50) + (1 << 34), 30).unwrap();
    let mut sieve = sieve(u64::MAX);
    for number in 0..2 {
        let unit = unit(&mut sieve, &layout, number);
        for seed in 0..100 {
            let evidence = Evidence {
                seed,
                challenges: 0,
                walked: 0,
                checksum: 0,
                ..*unit.evidence().unwrap()
            };
            if let Err(error) = evidence.check(&unit) {
                assert!(error.to_string().contains("challenges; there"), "{error}");
            }
        }
    }
}
