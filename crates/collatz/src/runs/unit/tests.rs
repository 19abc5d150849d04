use proptest::prelude::*;

use super::*;
use crate::{Highest, Plain, Unwatched};

/// Verifies unit `unit` of a layout by the plain method, and returns the result.
pub(crate) fn plain_unit(layout: &Layout, unit: u64) -> Unit {
    let mut plain = Plain::default();
    let region = layout.region(unit).unwrap();
    let verified = plain.verify(&region, &Unwatched).unwrap().unwrap();
    Unit::new(layout, unit, region, &plain, verified, Sample::of(&region), 0.5)
}

/// Returns the unit without its evidence, as an older program would have written it.
pub(crate) fn without_evidence(unit: Unit) -> Unit {
    Unit { evidence: None, ..unit }
}

#[test]
fn a_unit_comes_back_and_a_damaged_one_does_not() {
    for layout in [Layout::new(0, 1 << 10, 8), Layout::new(27, 100, 8)] {
        let unit = plain_unit(&layout.unwrap(), 0);
        let text = unit.to_text().unwrap().into_bytes();
        assert_eq!(Unit::from_text(&text).unwrap(), unit);
        for i in 0..text.len() {
            let mut flipped = text.clone();
            flipped[i] ^= 1;
            assert!(Unit::from_text(&flipped).is_err(), "byte {i}");
            assert!(Unit::from_text(&text[..i]).is_err(), "cut to {i} bytes");
        }
    }
}

#[test]
fn the_form_is_this() {
    let unit = plain_unit(&Layout::new(0, 1 << 10, 8).unwrap(), 3);
    let text = unit.to_text().unwrap();
    for part in [
        "\"unit\":{\"format\":\"warpint-collatz-unit\",\"format-version\":2,\"program\":\"warpint ",
        "\"method\":\"plain\",\"method-version\":1,\"parameters\":\"none\",\"place\":\"cpu\"",
        "\"from\":\"0\",\"to\":\"1024\",\"unit-bits\":8,\"unit\":3,\"units\":4",
        "\"region\":{\"class\":{\"bits\":10,\"low-bits\":2,\"residue\":\"3\"}}",
        "\"numbers\":\"256\",\"walked\":\"256\"",
        "\"highest\":{\"value\":\"250504\",\"start\":\"703\"}",
        "\"sample-version\":1,\"sample-numbers\":\"256\"",
        "\"unresolved\":[],\"evidence\":{\"version\":1,\"seed\":\"",
        "\"seconds\":0.5,\"finished\":\"20",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_unit_that_contradicts_itself_is_refused() {
    let unit = plain_unit(&Layout::new(27, 100, 8).unwrap(), 0);
    let changed = |change: fn(&mut Unit)| {
        let mut changed = unit.clone();
        change(&mut changed);
        Unit::from_text(changed.to_text().unwrap().as_bytes()).unwrap_err().to_string()
    };
    for (said, says) in [
        (changed(|u| u.unit = 1), "no such unit"),
        (changed(|u| u.units = 7), "number of units does not match"),
        (changed(|u| u.to = 101), "are not those of its unit"),
        (changed(|u| u.to = 1), "cannot be divided into such units"),
        (changed(|u| u.unit_bits = 200), "cannot be divided into such units"),
        (changed(|u| u.numbers = 72), "its count of numbers is not"),
        (changed(|u| u.unresolved = vec![100]), "not of its unit"),
        (changed(|u| u.highest = Some(HighestText { value: 1u32.into(), start: 1 })), "not of its"),
        (changed(|u| u.unresolved = vec![31, 27]), "not in order"),
        (changed(|u| u.unresolved = vec![27, 27]), "not in order"),
        (
            changed(|u| u.highest = Some(HighestText { value: 26u32.into(), start: 27 })),
            "below the start",
        ),
        (changed(|u| u.walked = 74), "more numbers walked"),
        (changed(|u| u.sample_odd_steps = 0), "its sample is impossible"),
        (changed(|u| u.sample_numbers -= 1), "a wrong count of numbers"),
        (changed(|u| u.sample_version = 0), "unknown version"),
        (changed(|u| u.sample_version = 2), "made by warpint"),
        (changed(|u| u.method = "magic".into()), "made by warpint"),
        (changed(|u| u.seconds = -1.0), "its computing time is not a valid"),
        (changed(|u| u.seconds = f64::NAN), "not a unit of warpint collatz"),
        (changed(|u| u.format = "other".into()), "not a unit of warpint collatz"),
        (changed(|u| u.format_version = 3), "made by warpint"),
        (changed(|u| u.format_version = 0), "made by warpint"),
    ] {
        assert!(said.contains(says), "{said}: {says}");
    }
}

#[test]
fn highest_values_of_version_1_are_converted() {
    let (two, one) = (BigUint::from(2u32), BigUint::from(1u32));
    // The largest T^j(n) of all paths until they are below their starts, and its start.
    let of_t = |numbers: std::ops::Range<u128>| {
        let highest = numbers.map(|n| {
            let (mut x, mut highest) = (BigUint::from(n), BigUint::from(n));
            while n > 1 && x >= BigUint::from(n) {
                x = if x.bit(0) { (&x * 3u32 + &one) / &two } else { x / &two };
                highest = highest.max(x.clone());
            }
            Highest { value: highest, start: n }
        });
        highest.reduce(Highest::max).unwrap()
    };
    let ends = (0..40).flat_map(|from| (from + 1..40).map(move |to| (from, to)));
    for (from, to) in ends.chain([(100, 5000), (1 << 70, (1 << 70) + 300)]) {
        let mut unit = plain_unit(&Layout::new(from, to, 127).unwrap(), 0);
        if from == 0 && to.is_power_of_two() {
            continue;
        }
        let expected = unit.highest.clone();
        let Highest { value, start } = of_t(from..to);
        (unit.highest, unit.format_version) = (Some(HighestText { value, start }), 1);
        unit.evidence = None;
        let read = Unit::from_text(unit.to_text().unwrap().as_bytes()).unwrap();
        assert_eq!(read.highest, expected, "{from} to {to}");
    }
}

#[test]
fn units_of_version_1_lack_evidence() {
    let mut unit = plain_unit(&Layout::new(27, 100, 8).unwrap(), 0);
    let evidence =
        Evidence { version: 1, seed: 7, items: 73, challenges: 0, walked: 0, checksum: 0 };
    unit.evidence = None;
    unit.format_version = 1;
    let text = unit.to_text().unwrap();
    assert!(!text.contains("evidence"), "{text}");
    let old = Unit::from_text(text.as_bytes()).unwrap();
    assert_eq!((old.evidence(), old.format_version), (None, FORMAT_VERSION));
    unit.evidence = Some(evidence);
    assert_eq!(Unit::from_text(unit.to_text().unwrap().as_bytes()), Err(UnitError::Form));
    unit.format_version = 2;
    let text = unit.to_text().unwrap();
    let part = r#""evidence":{"version":1,"seed":"7","items":"73","challenges":"0","walked":"0","checksum":"0"}"#;
    assert!(text.contains(part), "{text}");
    assert_eq!(Unit::from_text(text.as_bytes()).unwrap().evidence(), Some(&evidence));
}

#[test]
fn disagreements_are_told() {
    let unit = plain_unit(&Layout::new(27, 100, 8).unwrap(), 0);
    let told = |change: fn(&mut Unit)| {
        let mut changed = unit.clone();
        change(&mut changed);
        unit.disagreement(&changed)
    };
    assert_eq!(told(|u| (u.seconds, u.finished) = (7.0, "later".into())), None);
    assert_eq!(told(|u| u.sample_odd_steps += 1), Some("the sample checksums"));
    assert_eq!(told(|u| u.unresolved = vec![27]), Some("the unresolved numbers"));
    assert_eq!(told(|u| u.checksum += 1), Some("the checksums of the method"));
    assert_eq!(told(|u| u.walked += 1), Some("the counts of numbers walked"));
    assert_eq!(told(|u| u.highest = None), Some("the highest values"));
    // Other methods and versions walk different numbers.
    for change in [
        (|u| u.method = "sieve".into()) as fn(&mut Unit),
        |u| u.method_version += 1,
        |u| u.parameters = "d=5".into(),
    ] {
        let mut changed = unit.clone();
        change(&mut changed);
        (changed.checksum, changed.walked, changed.highest) = (0, 0, None);
        assert_eq!(unit.disagreement(&changed), None);
        changed.sample_odd_steps += 1;
        assert_eq!(unit.disagreement(&changed), Some("the sample checksums"));
    }
}

#[test]
fn samples_are_possible() {
    let sum = |region: Region| Sample::of(&region).odd_steps;
    let intervals = (0..8).flat_map(|a| (a + 1..12).map(move |b| Region::interval(a, b)));
    let classes = (0..4).flat_map(|low| (0..1 << low).map(move |r| Region::class(4, low, r)));
    let ends = [Region::class(4, 4, 1), Region::class(4, 4, 3), Region::class(4, 4, 2)];
    for region in intervals.chain(classes).chain(ends).map(Result::unwrap) {
        assert_eq!(has_odd(&region), sum(region) > 0, "{region}");
    }
}

proptest! {
    #[test]
    fn a_changed_unit_with_the_right_digest_makes_sense_or_is_refused(
        class: bool, at: prop::sample::Index, by in "[0-9]{1,40}|[\"{}:,a-z-]", cut in 0usize..3
    ) {
        let layout = if class { Layout::new(0, 1 << 8, 6) } else { Layout::new(27, 100, 5) };
        let text = plain_unit(&layout.unwrap(), 1).to_text().unwrap();
        let unit = text.split_once("\"unit\":").unwrap().1.strip_suffix("}\n").unwrap();
        let at = at.index(unit.len());
        let end = (at + cut).min(unit.len());
        let changed = format!("{}{by}{}", &unit[..at], &unit[end..]);
        let file = format!("{{\"sha256\":\"{}\",\"unit\":{changed}}}\n", sha256(&changed));
        if let Ok(unit) = Unit::from_text(file.as_bytes()) {
            let region = unit.layout().unwrap().region(unit.unit).unwrap();
            prop_assert_eq!(RegionText::from(region), unit.region);
            prop_assert_eq!(region.numbers(), unit.numbers);
            prop_assert!(unit.unresolved.iter().all(|n| region.contains(*n)));
        }
    }
}
