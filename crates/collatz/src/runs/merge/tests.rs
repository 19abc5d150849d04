use std::fs;

use super::*;
use crate::runs::Layout;
use crate::runs::unit::tests::plain_unit;

/// A directory with these units of these layouts.
fn folder(units: &[(&Layout, u64)]) -> (tempfile::TempDir, Folder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    for (layout, unit) in units {
        folder.keep(layout, &plain_unit(layout, *unit)).unwrap();
    }
    (dir, folder)
}

fn merged(units: &[(&Layout, u64)]) -> Merged {
    let (_dir, folder) = folder(units);
    Merged::of(&[folder]).unwrap()
}

fn all(layout: &Layout) -> Vec<(&Layout, u64)> {
    (0..layout.units()).map(|unit| (layout, unit)).collect()
}

fn layout(from: u128, to: u128, bits: u32) -> Layout {
    Layout::new(from, to, bits).unwrap()
}

#[test]
fn complete_ranges_are_told() {
    for (from, to, bits) in [(0, 1 << 12, 9), (0, 1 << 12, 20), (27, 5000, 9), (0, 5000, 9)] {
        let merged = merged(&all(&layout(from, to, bits)));
        assert_eq!(merged.complete(), Some((from, to)), "{merged:?}");
        assert_eq!((merged.gaps, merged.duplicates), (0, 0));
    }
    // Classes below 2^12, and an interval that follows.
    let (classes, next) = (layout(0, 1 << 12, 9), layout(1 << 12, 5000, 9));
    let both = [all(&classes), all(&next)].concat();
    assert_eq!(merged(&both).complete(), Some((0, 5000)));
    assert_eq!(merged(&both).highest.unwrap().start, 4591);
}

#[test]
fn nothing_is_not_complete() {
    assert_eq!(merged(&[]).complete(), None);
    assert_eq!(merged(&[]), Merged::default());
}

#[test]
fn gaps_are_told() {
    let layout = layout(100, 5000, 9);
    // 100, 512, 1024, …, 4608 to 5000.
    let mut units = all(&layout);
    units.retain(|(_, unit)| ![0, 3, 4].contains(unit));
    let gap = merged(&units);
    assert_eq!(gap.covered, [(512, 1536), (2560, 5000)]);
    assert_eq!((gap.gaps, &gap.first_gaps[..]), (2, &[(100, 512), (1536, 2560)][..]));
    assert_eq!(gap.complete(), None);
    // What was meant goes on after the last file.
    let start = merged(&all(&layout)[..2]);
    assert_eq!((start.covered.len(), &start.first_gaps[..]), (1, &[(1024, 5000)][..]));
    assert_eq!(start.complete(), None);
}

#[test]
fn missing_classes_are_told() {
    let layout = layout(0, 1 << 12, 9);
    let some = merged(&[0, 1, 2, 4, 5, 7].map(|unit| (&layout, unit)));
    let missing = Missing { bits: 12, low_bits: 3, classes: 2, some: vec![3, 6] };
    assert_eq!((&some.missing[..], some.covered.len()), (&[missing][..], 0));
    assert_eq!((some.complete(), some.gaps), (None, 0));
    // Not missed where intervals have the numbers.
    let below = Layout::new(0, 5000, 12).unwrap();
    let mut units = all(&below);
    units.push((&layout, 3));
    assert_eq!(merged(&units).complete(), Some((0, 5000)));
}

#[test]
fn overlaps_are_counted_once_and_duplicates_told() {
    let (a, b) = (layout(100, 3000, 9), layout(2000, 5000, 10));
    let both = merged(&[all(&a), all(&b)].concat());
    assert_eq!(both.complete(), Some((100, 5000)));
    let (_one, first) = folder(&all(&a));
    let (_two, second) = folder(&all(&a)[2..4]);
    let twice = Merged::of(&[first, second]).unwrap();
    assert_eq!((twice.complete(), twice.duplicates), (Some((100, 3000)), 2));
    // All below a power of two is the same as a class and as an interval.
    let (_one, first) = folder(&all(&layout(0, 1 << 12, 20)));
    let (_two, second) = folder(&all(&layout(0, 1 << 12, 12)));
    let twice = Merged::of(&[first.clone(), second]).unwrap();
    assert_eq!((twice.complete(), twice.duplicates), (Some((0, 1 << 12)), 1));
    // A file is one file by all its names.
    let again = Folder::existing(&first.path().join(".")).unwrap();
    let once = Merged::of(&[first.clone(), first, again]).unwrap();
    assert_eq!((once.units, once.duplicates), (1, 0));
}

#[test]
fn disagreements_are_told_with_their_files() {
    let layout = layout(100, 3000, 9);
    let (_one, first) = folder(&all(&layout));
    let dir = tempfile::tempdir().unwrap();
    let second = Folder::open(dir.path()).unwrap();
    let mut unit = plain_unit(&layout, 2);
    unit.sample_odd_steps += 1;
    second.keep(&layout, &unit).unwrap();
    let merged = Merged::of(&[first.clone(), second.clone()]).unwrap();
    let disagreement = Disagreement {
        first: first.place(&layout, 2),
        second: second.place(&layout, 2),
        what: "the sample checksums",
    };
    assert_eq!(merged.disagreements, [disagreement]);
    assert_eq!(merged.complete(), None);
}

#[test]
fn disagreements_are_found_in_any_order() {
    let layout = layout(100, 3000, 9);
    let unit = plain_unit(&layout, 2);
    let mut other = unit.clone();
    other.method = "sieve".into();
    (other.checksum, other.walked, other.highest) = (1, 2, None);
    let mut wrong = other.clone();
    wrong.checksum = 3;
    let mut version = wrong.clone();
    version.method_version += 1;
    let units = [&unit, &other, &wrong, &version, &unit];
    let kept: Vec<_> = units
        .iter()
        .map(|unit| {
            let dir = tempfile::tempdir().unwrap();
            let folder = Folder::open(dir.path()).unwrap();
            folder.keep(&layout, unit).unwrap();
            (dir, folder)
        })
        .collect();
    let told = |order: &[usize]| {
        let folders: Vec<_> = order.iter().map(|&i| kept[i].1.clone()).collect();
        let merged = Merged::of(&folders).unwrap();
        assert_eq!((merged.units, merged.duplicates), (order.len() as u64, order.len() as u64 - 1));
        merged.disagreements.iter().map(|disagreement| disagreement.what).collect::<Vec<_>>()
    };
    let checksums = "the checksums of the method";
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        assert_eq!(told(&order), [checksums]);
    }
    assert_eq!(told(&[0, 4, 3, 1, 2]), [checksums]);
    assert_eq!(told(&[0, 4, 3, 1]), [""; 0]);
}

#[test]
fn unresolved_numbers_are_told_of_every_file() {
    let layout = layout(100, 3000, 9);
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    for unit in 0..layout.units() {
        let mut unit = plain_unit(&layout, unit);
        if let RegionText::Interval { from, .. } = unit.region {
            unit.unresolved = vec![from];
        }
        folder.keep(&layout, &unit).unwrap();
    }
    let merged = Merged::of(&[folder]).unwrap();
    assert_eq!(merged.unresolved, [100, 512, 1024, 1536, 2048, 2560]);
    assert_eq!((merged.gaps, merged.complete()), (0, None));
}

#[test]
fn what_is_no_unit_is_named() {
    let layout = layout(100, 3000, 9);
    let (dir, folder) = folder(&all(&layout));
    let sound = fs::read(folder.place(&layout, 1)).unwrap();
    let place = |name: &str| dir.path().join(name);
    fs::write(place("cut.json"), &sound[..100]).unwrap();
    fs::write(place("package.json"), "{\"name\": \"x\"}\n").unwrap();
    fs::create_dir(place("folder.json")).unwrap();
    // None of ours, and not looked at.
    fs::write(place("slurm-17.out"), "").unwrap();
    fs::write(place("below-2p10-u8-1.json.bad"), "").unwrap();
    fs::write(place("below-2p10-u8-1.json.lock"), "").unwrap();
    let merged = Merged::of(&[folder]).unwrap();
    let unusable: Vec<_> = merged.unusable.iter().map(|unusable| unusable.path.clone()).collect();
    assert_eq!(unusable, ["cut.json", "folder.json", "package.json"].map(place));
    assert_eq!((merged.units, merged.complete()), (6, None));
    assert_eq!((merged.gaps, merged.covered), (0, vec![(100, 3000)]));
}
