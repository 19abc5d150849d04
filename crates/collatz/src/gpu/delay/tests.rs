//! Tests of the kernel on the simulator, against the CPU.

use num_bigint::BigUint;
use warpint_device::Device;

use super::*;
use crate::Unwatched;
use crate::delay::tests::{filled, published_records};
use crate::delay::{END, Standing, search};

fn shape(step_bits: u32, small_bits: u32, small_shared: bool, unroll: u32) -> DelayShape {
    DelayShape { step_bits, small_bits, small_shared, unroll, threads: 64, blocks: 2 }
}

fn engine(shape: DelayShape, chunk: u64, words: u32) -> DelaysOnDevice {
    let device = Device::simulator().unwrap();
    DelaysOnDevice::with_shape(&device, shape).unwrap().with_sizes(chunk, 0, words)
}

/// Compares the delays of a range on the device with the delays on the CPU, by `fill` and by
/// `survey`.
fn check(engine: &mut DelaysOnDevice, from: u128, numbers: usize) {
    let mut host = Host::default();
    let expected = filled(&mut host, from, numbers);
    let found = filled(engine, from, numbers);
    let differs = (0..numbers).find(|&i| found[i] != expected[i]);
    assert_eq!(differs, None, "{from} {numbers} {:?}", engine.shape);
    let survey = engine.survey(from, numbers as u64, None).unwrap();
    assert_eq!(survey, host.survey(from, numbers as u64, None).unwrap(), "{from} {numbers}");
}

#[test]
fn delays_are_those_of_the_cpu() {
    for shape in [
        shape(2, 2, true, 1),
        shape(9, 9, true, 2),
        shape(12, 13, true, 2),
        shape(13, 16, false, 3),
    ] {
        let mut engine = engine(shape, 1 << 30, 2);
        let least = 1u128 << shape.small_bits;
        for (from, numbers) in [
            (least, 1),
            (least, 700),
            (least + 1, 33),
            ((1 << 20) - 77, 3001),
            ((1 << 40) + 1, 5000),
            ((1 << 62) - 1000, 1501),
            ((1 << 71) - 1, 900),
            (END - 777, 777),
        ] {
            check(&mut engine, from, numbers);
        }
    }
}

#[test]
fn every_candidate_gives_the_same() {
    for shared_memory in [16 << 10, 48 << 10, 99 << 10, 227 << 10] {
        let candidates = DelayShape::candidates(shared_memory);
        assert_eq!(candidates[0], DelayShape::for_memory(shared_memory));
        for (i, shape) in candidates.iter().enumerate() {
            assert!(shape.shared_bytes() <= shared_memory || i == 0, "{shape:?}");
            assert!(!candidates[..i].contains(shape), "{shape:?}");
        }
    }
    let candidates = DelayShape::candidates(227 << 10);
    assert_eq!(candidates.len(), 7);
    for shape in candidates {
        check(&mut engine(shape, 1 << 30, 2), (1 << 40) - 77, 1500);
    }
}

#[test]
fn short_ranges_begin_and_end_anywhere() {
    let mut engine = engine(shape(5, 6, true, 2), 1 << 30, 2);
    for from in [64, 65, 1000, 1023, (1 << 32) - 3] {
        for numbers in [1, 2, 31, 32, 33, 255, 256, 257, 511, 513, 1025] {
            check(&mut engine, from, numbers);
        }
    }
}

#[test]
fn small_numbers_are_left_to_the_cpu() {
    let mut engine = engine(shape(9, 9, true, 2), 1 << 30, 2);
    check(&mut engine, 1, 600);
    check(&mut engine, 511, 600);
}

#[test]
fn ranges_longer_than_a_launch_are_done_in_several() {
    let mut engine = engine(shape(9, 10, true, 2), 1000, 2);
    check(&mut engine, 123_456_789, 4321);
}

#[test]
fn numbers_that_outgrow_their_words_are_exact() {
    // Two words would overflow at once for numbers near 2^60 and 2^75; three and four suffice for
    // the others.
    for words in [2, 3, 4] {
        let mut engine = engine(shape(9, 9, true, 2), 1 << 30, words);
        for from in [(1u128 << 45) + 5, (1 << 53) - 400, 1 << 77, 1 << 91] {
            check(&mut engine, from, 800);
        }
    }
    // 2^85 − 1 rises to 3^85 > 2^134, beyond 128 bits.
    let mut engine = engine(shape(9, 9, true, 2), 1 << 30, 2);
    check(&mut engine, (1 << 85) - 300, 600);
    let far = engine.survey((1 << 85) - 300, 600, Some(&(BigUint::from(1u32) << 120u32))).unwrap();
    assert!(far.unwrap().candidates.contains(&((1 << 85) - 1)));
}

#[test]
fn groups_have_the_delays_of_all_their_numbers() {
    for bits in [1, 5, 9] {
        let shape = shape(9, 9, true, 2);
        let mut engine = engine(shape, 1 << 30, 2).with_groups(Some(bits));
        let block = 1u128 << bits;
        for from in [block << 9, (block << 9) + 1, (1 << 42) - 5, (1 << 64) - 3, (1 << 91) + 1] {
            for numbers in [8 << bits, (9 << bits) + 3, 5000] {
                check(&mut engine, from, numbers);
            }
        }
    }
}

#[test]
fn groups_give_all_their_candidates() {
    // 2^83 − 1 rises to 3^83 > 2^131, beyond 128 bits, and is a candidate with all of its group.
    let shape = shape(9, 9, true, 2);
    let (from, numbers) = ((1u128 << 83) - 3000, 5000);
    let record = BigUint::from(1u32) << 110u32;
    let mut grouped = engine(shape, 1 << 30, 2).with_groups(Some(7));
    let grouped = grouped.survey(from, numbers, Some(&record)).unwrap().unwrap();
    let above = (from..from + u128::from(numbers))
        .filter(|&n| crate::path::path(&n.into(), &Unwatched).unwrap().maximum > record);
    let above: Vec<u128> = above.collect();
    assert!(above.contains(&((1 << 83) - 1)));
    assert!(above.iter().all(|n| grouped.candidates.contains(n)));
    assert!(grouped.candidates.is_sorted_by(|a, b| a < b));
    assert!(grouped.candidates.len() < 2500, "{}", grouped.candidates.len());
}

#[test]
fn records_are_the_published_ones() {
    let mut engine = engine(shape(8, 10, true, 2), 1 << 30, 2).with_groups(Some(6));
    for (from, to) in [(1, 1 << 15), (837_000, 840_000), (703_000, 705_000)] {
        let all = published_records(1, from);
        let standing = Standing {
            delay: all.delays.last().map(|r| r.delay),
            maximum: all.paths.last().map(|r| r.maximum.clone()),
        };
        let found = search(&mut engine, from, to, Some(standing.clone()), &Unwatched).unwrap();
        assert_eq!(found.records, published_records(from, to));
        let host = search(&mut Host::default(), from, to, Some(standing), &Unwatched).unwrap();
        assert_eq!((found.sum, found.longest), (host.sum, host.longest));
    }
}

#[test]
fn records_of_a_range_alone_are_those_of_the_cpu() {
    let mut engine = engine(shape(9, 9, true, 2), 1 << 30, 2);
    for from in [1 << 33, (1 << 64) - 5000, (1 << 80) + 3] {
        let to = from + 6000;
        let standing = Some(Standing::default());
        let expected = search(&mut Host::default(), from, to, standing.clone(), &Unwatched);
        let found = search(&mut engine, from, to, standing, &Unwatched);
        assert_eq!(found.unwrap(), expected.unwrap(), "{from}");
    }
}

#[test]
fn candidates_are_all_that_rise_above_the_record() {
    // Each number of the range whose maximum exceeds the record is a candidate; most others are
    // not.
    let (from, numbers) = ((1u128 << 41) - 3000, 6000u64);
    let record = BigUint::from(1u32) << 54u32;
    let mut engine = engine(shape(9, 9, true, 2), 1 << 30, 2);
    let survey = engine.survey(from, numbers, Some(&record)).unwrap().unwrap();
    let above: Vec<u128> = (from..from + u128::from(numbers))
        .filter(|&n| crate::path::path(&n.into(), &Unwatched).unwrap().maximum > record)
        .collect();
    assert!(!above.is_empty() && above.iter().all(|n| survey.candidates.contains(n)));
    assert!(survey.candidates.len() < 2000, "{}", survey.candidates.len());
}

#[test]
fn a_full_list_is_said() {
    // Most numbers near 2^60 may exceed 2^64: a table step multiplies by up to 2^6.3 between.
    let mut engine = engine(shape(9, 9, true, 2), 1 << 30, 2);
    let record = BigUint::from(1u32) << 64u32;
    let (from, numbers) = (1u128 << 60, 90_000);
    assert!(engine.survey(from, numbers, Some(&record)).unwrap().is_none());
    let few = engine.survey(from, 1000, Some(&record)).unwrap().unwrap();
    assert!(!few.candidates.is_empty());
}

#[test]
fn shapes_fit_their_memory() {
    for memory in [0, 48 << 10, 64 << 10, 99 << 10, 163 << 10, 227 << 10] {
        let shape = DelayShape::for_memory(memory);
        assert!(shape.shared_bytes() <= memory.max(48 << 10), "{memory} {shape:?}");
        assert_eq!(shape, shape.possible());
    }
    assert_eq!(DelayShape::for_memory(227 << 10), DelayShape::ALL[0]);
}

#[test]
#[should_panic(expected = "delays of 0 elements, where a kernel needs 1024")]
fn delays_without_memory_are_not_written() {
    let mut engine = engine(shape(9, 9, true, 2), 1 << 30, 2);
    let range = engine.range(1 << 20, 1 << 10, 4, Kind::Write);
    drop(engine.launch(&range, u128::MAX));
}
