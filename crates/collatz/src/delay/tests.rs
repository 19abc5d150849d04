//! Tests of delays and records, against plain loops and against the published lists.

use num_bigint::BigUint;
use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::until::Until;
use crate::{Unwatched, path};

#[derive(Deserialize)]
pub(crate) struct Published {
    pub(crate) records: Vec<Entry>,
}

#[derive(Deserialize)]
pub(crate) struct Entry {
    n: String,
    delay: Option<u32>,
    maximum: Option<String>,
}

impl Entry {
    fn n(&self) -> u128 {
        self.n.parse().unwrap()
    }
    fn maximum(&self) -> BigUint {
        self.maximum.as_ref().unwrap().parse().unwrap()
    }
}

fn published() -> [Published; 2] {
    [
        include_str!("../../../../tests/vectors/collatz_delay_records.toml"),
        include_str!("../../../../tests/vectors/collatz_path_records.toml"),
    ]
    .map(|text| toml::from_str(text).unwrap())
}

/// Returns the published records within a range.
pub(crate) fn published_records(from: u128, to: u128) -> Records {
    let [delays, paths] = published();
    let within = |entry: &&Entry| (from..to).contains(&entry.n());
    let delay = |e: &Entry| DelayRecord { n: e.n(), delay: e.delay.unwrap() };
    let path = |e: &Entry| PathRecord { n: e.n(), maximum: e.maximum() };
    Records {
        delays: delays.records.iter().filter(within).map(delay).collect(),
        paths: paths.records.iter().filter(within).map(path).collect(),
    }
}

/// Computes the records of a range number by number.
pub(crate) fn plain_records(from: u128, to: u128) -> Records {
    let mut records = Records::default();
    for n in from..to {
        let path = path::plain_path(&n.into()).unwrap();
        let delay = path.delay() as u32;
        if records.delays.last().is_none_or(|r| delay > r.delay) {
            records.delays.push(DelayRecord { n, delay });
        }
        if records.paths.last().is_none_or(|r| path.maximum > r.maximum) {
            records.paths.push(PathRecord { n, maximum: path.maximum });
        }
    }
    records
}

pub(crate) fn filled(engine: &mut dyn Delays, from: u128, numbers: usize) -> Vec<u32> {
    let mut delays = vec![u32::MAX; numbers];
    engine.fill(from, &mut delays).unwrap();
    delays
}

fn plain(n: u128) -> u32 {
    path::plain_path(&n.into()).unwrap().delay() as u32
}

#[test]
fn every_published_record_has_its_delay_and_its_maximum() {
    let [delays, paths] = published();
    assert!(delays.records.len() >= 100 && paths.records.len() >= 60);
    for entry in delays.records.iter().chain(&paths.records) {
        let path = path::path(&entry.n().into(), &Unwatched).unwrap();
        assert!(entry.delay.is_none_or(|delay| u64::from(delay) == path.delay()), "{}", entry.n);
        if entry.maximum.is_some() {
            assert_eq!(entry.maximum(), path.maximum, "{}", entry.n);
        }
        assert_eq!(filled(&mut Host::default(), entry.n(), 1), [path.delay() as u32]);
    }
    for records in [&delays.records, &paths.records] {
        assert!(records.windows(2).all(|pair| pair[0].n() < pair[1].n()));
    }
    assert!(delays.records.windows(2).all(|pair| pair[0].delay < pair[1].delay));
    assert!(paths.records.windows(2).all(|pair| pair[0].maximum() < pair[1].maximum()));
}

#[test]
fn a_million_delays_are_plain_ones() {
    let expected: Vec<u32> = (1..1 << 20).map(|n| plain_delay(n).unwrap()).collect();
    for (steps, small) in [(1, 1), (9, 10), (12, 16), (15, 15)] {
        let found = filled(&mut Host::new(steps, small), 1, expected.len());
        assert!(found == expected, "{steps} {small}");
    }
}

#[test]
fn delays_below_2_to_24_are_those_of_memory() {
    let expected = DelayTable::new(24);
    let found = filled(&mut Host::new(12, 14), 1, (1 << 24) - 1);
    let differs = (1..1 << 24).find(|&n| u32::from(expected.delays()[n]) != found[n - 1]);
    assert_eq!(differs, None);
}

/// An engine that refuses to survey more than a given count of numbers at once. The count is the
/// second field.
struct Few(Host, u64);

impl Delays for Few {
    fn place(&self) -> String {
        self.0.place()
    }

    fn chunk(&self) -> u64 {
        self.0.chunk()
    }

    fn survey(
        &mut self,
        from: u128,
        numbers: u64,
        record: Option<&BigUint>,
    ) -> Result<Option<Survey>, CollatzError> {
        if numbers > self.1 { Ok(None) } else { self.0.survey(from, numbers, record) }
    }

    fn fill(&mut self, from: u128, delays: &mut [u32]) -> Result<(), CollatzError> {
        self.0.fill(from, delays)
    }
}

#[test]
fn too_many_at_once_are_done_in_parts() {
    let to = 3000;
    let records = |engine: &mut dyn Delays| {
        search(engine, 1, to, Some(Standing::default()), &Unwatched).unwrap()
    };
    let expected = records(&mut Host::default());
    assert_eq!(expected.records, published_records(1, to));
    for most in [0, 1, 2, 7, 100, 1023] {
        let mut few = Few(Host::default(), most);
        assert_eq!(records(&mut few), expected, "{most}");
        for numbers in [1, 2, 100, 1000] {
            let found = records::whole(&mut few, 27, numbers).unwrap();
            assert_eq!(Some(found), Host::default().survey(27, numbers, None).unwrap());
        }
    }
}

#[test]
fn records_are_the_published_ones() {
    let to = 1 << 24;
    let found = search(&mut Host::default(), 1, to, Some(Standing::default()), &Unwatched).unwrap();
    assert_eq!(found.records, published_records(1, to));
    assert_eq!((found.from, found.to), (1, to));
    let longest = found.records.delays.last().copied();
    assert_eq!(found.longest, longest);
    let table = DelayTable::new(24);
    let sum: u128 = table.delays().iter().map(|&delay| u128::from(delay)).sum();
    assert_eq!(found.sum, sum);
}

#[test]
fn records_from_elsewhere_go_on_from_what_is_known() {
    // These ranges contain the delay record 63,728,127 and the path record 80,049,391.
    for (from, to) in [(63_000_001, 64_000_003), (80_000_000, 80_100_000)] {
        let all = published_records(1, from);
        let standing = Standing {
            delay: all.delays.last().map(|r| r.delay),
            maximum: all.paths.last().map(|r| r.maximum.clone()),
        };
        let found = search(&mut Host::default(), from, to, Some(standing), &Unwatched).unwrap();
        assert_eq!(found.records, published_records(from, to));
        assert!(found.records != Records::default());
    }
}

#[test]
fn records_of_a_range_alone_are_plain_ones() {
    for from in [1, 2, 1000, 1 << 21, (1 << 40) - 3, (1 << 64) - 17, (1 << 80) + 1] {
        let to = from + 5000;
        let expected = plain_records(from, to);
        for mut engine in [Host::default(), Host::new(5, 7), Host::new(9, 9).with_words(20, 50)] {
            let standing = Some(Standing::default());
            let found = search(&mut engine, from, to, standing, &Unwatched).unwrap();
            assert_eq!(found.records, expected, "{from}");
        }
    }
}

#[test]
fn numbers_that_outgrow_their_words_are_exact() {
    for from in [1, 12_345, (1 << 39) - 5, END - 3000] {
        let expected: Vec<u32> = (from..from + 3000).map(plain).collect();
        for (narrow, wide) in [(64, 128), (30, 128), (10, 40), (0, 0)] {
            let mut engine = Host::new(9, 11).with_words(narrow, wide);
            assert!(filled(&mut engine, from, 3000) == expected, "{from} {narrow} {wide}");
        }
    }
}

#[test]
fn groups_have_the_delays_of_all_their_numbers() {
    let engines = [Host::default(), Host::new(9, 12).with_words(24, 60), Host::new(12, 23)];
    for mut engine in engines {
        for from in [(1 << 22) - 5, (1 << 40) + 3] {
            let numbers = (1 << 20) + 70_000;
            let delays = filled(&mut engine, from, numbers);
            let record = BigUint::from(from) * 10_000u32;
            let survey = engine.survey(from, numbers as u64, Some(&record)).unwrap().unwrap();
            assert_eq!(survey.sum, delays.iter().map(|&d| u128::from(d)).sum::<u128>());
            let longest = *delays.iter().max().unwrap();
            let at = delays.iter().position(|&d| d == longest).unwrap();
            assert_eq!(survey.longest, DelayRecord { n: from + at as u128, delay: longest });
            assert!(survey.candidates.is_sorted_by(|a, b| a < b));
            // Short pieces are not processed in groups; they also find all numbers that exceed the
            // record.
            let mut above = vec![];
            for first in (0..numbers).step_by(150_000) {
                let len = 150_000.min(numbers - first) as u64;
                let part = engine.survey(from + first as u128, len, Some(&record)).unwrap();
                let exceeds = |n: &u128| exact(*n).unwrap().maximum > record;
                above.extend(part.unwrap().candidates.into_iter().filter(exceeds));
            }
            assert!(above.iter().all(|n| survey.candidates.binary_search(n).is_ok()));
            assert!(!above.is_empty(), "{from}");
        }
    }
}

#[test]
fn ranges_that_are_none_are_refused() {
    let mut engine = Host::new(4, 4);
    let mut failed = |from, to| {
        let found = search(&mut engine, from, to, None, &Unwatched);
        found.unwrap_err().to_string()
    };
    assert!(failed(0, 5).contains("0 has no delay"));
    assert!(failed(5, 5).contains("is empty"));
    assert!(failed(6, 5).contains("is empty"));
    assert!(failed(5, END + 1).contains("below 2^96"));
    assert!(engine.fill(0, &mut [0]).is_err() && engine.fill(1, &mut []).is_err());
    assert!(engine.survey(u128::MAX, 5, None).is_err());
    assert!(engine.survey(END - 1, 2, None).is_err() && engine.survey(END - 1, 1, None).is_ok());
}

#[test]
fn a_stopped_search_says_how_far_it_came() {
    let standing = Some(Standing::default());
    let watch = Until::new(3000);
    let found = search(&mut Host::default(), 1, 1 << 90, standing, &watch).unwrap();
    // 1024 numbers, then 2048.
    assert_eq!(found.to, 3073);
    assert_eq!(found.records, published_records(1, 3073));
    assert_eq!(found.sum, (1..3073).map(|n| u128::from(plain_delay(n).unwrap())).sum());
}

#[test]
fn a_rate_is_measured() {
    let rate = rate(&mut Host::new(12, 16), 1 << 40, std::time::Duration::from_millis(1)).unwrap();
    assert!(rate.numbers > 0 && rate.sum > rate.numbers * 41 && rate.per_second() > 1.0);
    assert!(super::rate(&mut Host::new(4, 4), END, std::time::Duration::ZERO).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn drawn_ranges_are_plain(
        bits in 0u32..95, below: u128, numbers in 1usize..600, d in 1u32..16, more in 0u32..5,
        narrow in 0u32..64,
    ) {
        let from = (1u128 << bits) + (below & ((1 << bits) - 1));
        let mut engine = Host::new(d, d + more).with_words(narrow, 128);
        let expected: Vec<u32> = (from..from + numbers as u128).map(plain).collect();
        prop_assert_eq!(&filled(&mut engine, from, numbers), &expected);
        let survey = engine.survey(from, numbers as u64, None).unwrap().unwrap();
        prop_assert_eq!(survey.sum, expected.iter().map(|&d| u128::from(d)).sum::<u128>());
        let longest = expected.iter().max().unwrap();
        let at = expected.iter().position(|d| d == longest).unwrap();
        prop_assert_eq!(survey.longest, DelayRecord { n: from + at as u128, delay: *longest });
    }
}
