//! Tests of the kernels on the simulator, against the same method on the CPU.

use std::time::Instant;

use super::*;
use crate::Unwatched;
use crate::until::Until;
use crate::walk::Walker;

fn options(s: u32, d: u32, words: Option<u32>) -> TableOptions {
    TableOptions { sieve_bits: Some(s), table_bits: Some(d), words, walker: Walker::default() }
}

fn device(options: TableOptions, limits: TableLimits) -> DeviceTable {
    DeviceTable::with_limits(&Device::simulator().unwrap(), options, limits).unwrap()
}

/// The seed of the challenges on the device and on the CPU.
const SEED: u64 = 20_261_123;
/// About one challenge is drawn for every `EVERY` numbers. This gives some tens of challenges in a
/// test.
const EVERY: u64 = 1 << 8;

/// Limits with which all blocks are processed on the device, in several lists and launches.
const FEW: TableLimits = TableLimits { residues: 1 << 13, left: 1 << 10, numbers: 0 };

fn check(options: TableOptions, limits: TableLimits, regions: &[Region]) -> Vec<Verified> {
    let mut device = device(options.clone(), limits).with_challenges(SEED, EVERY);
    let mut cpu = TableMethod::new(options).unwrap().with_challenges(SEED, EVERY);
    let both = regions.iter().map(|region| {
        let found = device.verify(region, &Unwatched).unwrap().unwrap();
        assert_eq!(Some(&found), cpu.verify(region, &Unwatched).unwrap().as_ref(), "{region}");
        assert_eq!(device.parameters(), cpu.parameters());
        found
    });
    both.collect()
}

fn interval(from: u128, length: u128) -> Region {
    Region::interval(from, from + length).unwrap()
}

#[test]
fn walks_are_those_of_the_cpu() {
    for (s, d, words, from) in [
        (12, 8, Some(1), 1 << 21),
        (12, 9, None, (1 << 39) - 12_345),
        (11, 10, None, (1 << 62) + 777),
        (14, 11, None, (1 << 71) - 34_567),
        (12, 8, Some(4), 1 << 64),
        (13, 11, None, (1 << 100) + 1),
    ] {
        check(options(s, d, words), FEW, &[interval(from, 1 << 17)]);
    }
}

#[test]
fn sieves_of_all_words_are_those_of_the_cpu() {
    // Bits of the sieve below, at and above the boundary of a word, for numbers that are four times
    // as large.
    for s in [29, 30, 31, 34] {
        let region = Region::class(s + 6, s - 6, (1 << (s - 6)) - 1).unwrap();
        let found = check(options(s, 9, Some(3)), FEW, &[region]);
        assert!(found[0].walked > 0, "{found:?}");
    }
    let region = Region::class(60, 37, (1 << 37) - 1).unwrap();
    let class = check(options(37, 9, None), FEW, &[region, Region::class(48, 37, 27).unwrap()]);
    assert!(class[0].walked > 1000);
}

#[test]
fn too_many_that_are_left_are_done_in_smaller_launches() {
    let limits = TableLimits { left: 16, ..FEW };
    // One residue with many values h, more than 16 of which overflow; below, several residues with
    // few values.
    check(options(9, 8, Some(1)), limits, &[Region::class(25, 9, 511).unwrap()]);
    let found = check(options(8, 8, Some(1)), limits, &[interval(1 << 25, 1 << 14)]);
    assert!(found[0].highest.is_some(), "{found:?}");
}

#[test]
fn lists_without_room_are_grown_in_parts() {
    let limits = TableLimits { residues: 1 << 13, ..FEW };
    check(options(19, 8, Some(2)), limits, &[interval(1 << 30, 3 << 19)]);
}

#[test]
fn a_trap_is_found() {
    // The largest value of T.
    let trap = Some(Walker::default().descend((1 << 22) + 255).unwrap().highest >> 1u32);
    let walker = Walker { trap, ..Walker::default() };
    let options = TableOptions { walker, ..options(8, 8, None) };
    let found = check(options, FEW, &[interval(1 << 22, 1 << 9)]);
    assert_eq!(found[0].unresolved, [(1 << 22) + 255]);
}

#[test]
fn numbers_that_never_come_down_are_left_to_the_host() {
    let region = interval(1 << 40, 1 << 12);
    let mut device = device(options(8, 8, None), FEW);
    let right = device.verify(&region, &Unwatched).unwrap().unwrap();
    // A changed rule: T^8(n) = n for n = 42 modulo 2^8, by a power that no other entry has.
    let mut wrong = device.entries.download().unwrap();
    wrong[42] = 42 << 8 | 15 << 2;
    wrong[(1 << 8) + 15] = 4 << 8;
    device.entries.upload(&wrong).unwrap();
    let found = device.verify(&region, &Unwatched).unwrap().unwrap();
    assert!(found.checksum >= 10_000 && right.checksum < 10_000, "{found:?}");
    // The host has the right rule.
    assert_eq!(found.unresolved, []);
    assert_eq!((found.numbers, found.walked), (right.numbers, right.walked));
}

#[test]
fn residues_that_come_down_need_no_launch() {
    let found = check(options(20, 8, None), FEW, &[Region::class(71, 20, 5).unwrap()]);
    assert_eq!(found[0].numbers, 1 << 51);
}

#[test]
fn sieves_have_their_sizes() {
    let mut device = device(options(8, 8, None), FEW);
    for bits in [8, 13, 14, 19] {
        assert_eq!(device.sieve_size(bits).unwrap(), crate::table::sieve_size(bits));
    }
    assert!(device.sieve_size(38).is_err());
}

#[test]
fn the_watch_sees_all_numbers_and_can_stop() {
    let region = interval((1 << 45) + 12_345, 1 << 16);
    for stop in [u128::MAX, 1 << 14] {
        let mut device = device(options(11, 8, None), TableLimits { left: 64, ..FEW });
        device.budget = 4096;
        let watch = Until::new(stop);
        let found = device.verify(&region, &watch).unwrap();
        assert_eq!(found.is_some(), stop == u128::MAX);
        let seen = watch.seen();
        assert!(if found.is_some() { seen == region.numbers() } else { seen < region.numbers() });
    }
}

#[test]
fn bits_beyond_the_bounds_are_refused() {
    for d in [7, 16] {
        let device = DeviceTable::new(&Device::simulator().unwrap(), options(8, d, None));
        assert!(matches!(device, Err(CollatzError::Parameter { .. })));
    }
}

#[test]
fn portions_add_up() {
    for (all, of) in [(10, 3), (3, 10), (u128::MAX, 7), (1 << 100, 1 << 90), (5, 1 << 127)] {
        assert_eq!((portion(all, 0, of), portion(all, of, of)), (0, all));
        let mut last = 0;
        for done in 0..=16 {
            let now = portion(all, of / 16 * done, of);
            assert!(last <= now && now <= all);
            last = now;
        }
    }
}

/// Measures the speed on the first GPU, with all table sizes, for all numbers below 2^40, an
/// interval that begins at 2^64, and two classes below 2^71. Also checks that the CPU gives the
/// same result for a further interval.
#[test]
#[ignore = "a measurement on a GPU"]
fn speed() {
    let gpu = Device::cuda(0).unwrap();
    let few = interval((1 << 71) - (1 << 41), 1 << 35);
    let regions = [
        interval(0, 1 << 40),
        interval(1 << 64, 1 << 47),
        Region::class(71, 24, 0xab_cdef).unwrap(),
        Region::class(71, 26, (1 << 26) - 1).unwrap(),
    ];
    for table_bits in 11..=15 {
        let options = TableOptions { table_bits: Some(table_bits), ..TableOptions::default() };
        let mut device = DeviceTable::new(&gpu, options.clone()).unwrap();
        let found = device.verify(&few, &Unwatched).unwrap();
        let mut cpu = TableMethod::new(options).unwrap();
        assert_eq!(found, cpu.verify(&few, &Unwatched).unwrap());
        for region in &regions {
            let begun = Instant::now();
            let found = device.verify(region, &Unwatched).unwrap().unwrap();
            let seconds = begun.elapsed().as_secs_f64();
            println!(
                "d = {table_bits}, {region}: {seconds:.2} s, {:.3e} numbers/s, {:.3e} walked/s, {:.3} steps each, {:?}",
                found.numbers as f64 / seconds,
                found.walked as f64 / seconds,
                found.checksum as f64 / found.walked as f64,
                found.highest,
            );
            assert!(found.unresolved.is_empty());
        }
    }
    let mut device = DeviceTable::new(&gpu, TableOptions::default()).unwrap();
    for bits in [30, 34, 37] {
        let begun = Instant::now();
        println!(
            "s = {bits}: {} residues, {:?}",
            device.sieve_size(bits).unwrap(),
            begun.elapsed()
        );
    }
}

/// Tests that faults in the device's tables are detected. One fault sets the constants C of all
/// entries of the table (see [`crate::table`]) to 0. Another fault sets all powers of 3 to 1.
#[test]
fn faults_of_the_devices_tables_are_refused() {
    let region = interval(1 << 40, 1 << 14);
    let refuted = |change: &dyn Fn(&mut DeviceTable)| {
        let mut device = device(options(8, 8, None), FEW).with_challenges(SEED, 1 << 4);
        change(&mut device);
        let error = device.verify(&region, &Unwatched).unwrap_err();
        assert!(matches!(error, CollatzError::Refuted { .. }), "{error}");
        error.to_string()
    };
    let said = refuted(&|device| {
        let mut wrong = device.entries.download().unwrap();
        wrong[..256].iter_mut().for_each(|entry| *entry &= 63);
        device.entries.upload(&wrong).unwrap();
    });
    assert!(said.contains("the steps of an item is"), "{said}");
    // Powers of 3 that are all 1: no growth.
    let said = refuted(&|device| {
        let powers = vec![1; device.powers.len()];
        device.powers.upload(&powers).unwrap();
    });
    assert!(said.contains("but must be"), "{said}");
}

#[test]
#[should_panic(expected = "residues of 4 elements, where a kernel needs 6")]
fn residues_that_are_not_there_are_not_grown() {
    let mut device = device(options(8, 8, None), FEW);
    let [from, to] = &mut device.lists;
    let (from, counts) = (from.view(..4), device.counts.cells(..2));
    drop(device.grow.launch((from, to.cells(..)), 3, counts, &device.powers, 8));
}

#[test]
#[should_panic(expected = "tallies of 32768 elements, where a kernel needs 32769")]
fn tallies_that_are_not_there_are_not_added() {
    let mut device = device(options(8, 8, None), FEW);
    drop(device.examiner.add(32_769, device.state.cells(3..4)));
}
