use std::fs;

use super::*;
use crate::Unwatched;
use crate::runs::unit::tests::{plain_unit, without_evidence};
use crate::runs::{Folder, Layout};

fn read(folders: &[Folder], check: bool) -> Files {
    Files::read(&Files::list(folders).unwrap(), check, &Unwatched).unwrap()
}

fn merged_of(folders: &[Folder]) -> Merged {
    read(folders, false).merged()
}

/// Creates a directory with the files of the given units. A unit is given by its layout and its
/// number in this layout. The units are verified by the plain method.
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
    merged_of(&[folder])
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
    // The range continues after the last file.
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
    // A class is not missing where intervals cover its numbers.
    let below = Layout::new(0, 5000, 12).unwrap();
    let mut units = all(&below);
    units.push((&layout, 3));
    assert_eq!(merged(&units).covers(), Some((0, 5000)));
}

#[test]
fn overlaps_are_counted_once_and_duplicates_told() {
    let (a, b) = (layout(100, 3000, 9), layout(2000, 5000, 10));
    let both = merged(&[all(&a), all(&b)].concat());
    assert_eq!(both.covers(), Some((100, 5000)));
    let (_one, first) = folder(&all(&a));
    let (_two, second) = folder(&all(&a)[2..4]);
    let twice = merged_of(&[first, second]);
    assert_eq!((twice.complete(), twice.duplicates), (Some((100, 3000)), 2));
    // All numbers below a power of two are both a class and an interval.
    let (_one, first) = folder(&all(&layout(0, 1 << 12, 20)));
    let (_two, second) = folder(&all(&layout(0, 1 << 12, 12)));
    let twice = merged_of(&[first.clone(), second]);
    assert_eq!((twice.complete(), twice.duplicates), (Some((0, 1 << 12)), 1));
    // A file with several names counts once.
    let again = Folder::existing(&first.path().join(".")).unwrap();
    let once = merged_of(&[first.clone(), first, again]);
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
    let merged = merged_of(&[first.clone(), second.clone()]);
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
        let merged = merged_of(&folders);
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
    let merged = merged_of(&[folder]);
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
    // Not a file of this program; ignored.
    fs::write(place("slurm-17.out"), "").unwrap();
    fs::write(place("below-2p10-u8-1.json.bad"), "").unwrap();
    fs::write(place("below-2p10-u8-1.json.lock"), "").unwrap();
    let merged = merged_of(&[folder]);
    let unusable: Vec<_> = merged.unusable.iter().map(|unusable| unusable.path.clone()).collect();
    assert_eq!(unusable, ["cut.json", "folder.json", "package.json"].map(place));
    assert_eq!((merged.units, merged.complete()), (6, None));
    assert_eq!((merged.gaps, merged.covered), (0, vec![(100, 3000)]));
}

/// Returns the reason why a merge with checks refuses a changed unit.
fn refused(layout: &Layout, unit: Unit) -> String {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    folder.keep(layout, &unit).unwrap();
    let merged = read(&[folder], true).merged();
    assert_eq!((merged.units, merged.complete()), (0, None), "{merged:?}");
    assert_eq!((merged.refused.len(), merged.unusable.len()), (1, 0), "{merged:?}");
    merged.refused[0].reason.clone()
}

#[test]
fn sound_units_pass_the_check() {
    for layout in
        [layout(0, 1 << 12, 9), layout(100, 5000, 9), layout(1 << 100, (1 << 100) + 700, 9)]
    {
        let (_dir, folder) = folder(&all(&layout));
        let merged = read(&[folder], true).merged();
        assert_eq!(merged.complete(), Some((layout.from(), layout.to())), "{merged:?}");
        assert!(merged.is_checked);
    }
}

#[test]
fn units_without_evidence_count_and_are_named() {
    let layout = layout(100, 3000, 9);
    let (_dir, folder) = folder(&all(&layout)[1..]);
    folder.keep(&layout, &without_evidence(plain_unit(&layout, 0))).unwrap();
    let merged = read(std::slice::from_ref(&folder), true).merged();
    assert_eq!(merged.lacking, [folder.place(&layout, 0)]);
    assert_eq!((merged.covers(), merged.complete()), (Some((100, 3000)), None));
    // Without checks nothing is refused.
    assert_eq!(read(&[folder], false).merged().complete(), Some((100, 3000)));
}

#[test]
fn what_can_be_recomputed_is_not_believed() {
    let layout = layout(100, 3000, 9);
    let changed = |change: fn(&mut Unit)| {
        let mut unit = plain_unit(&layout, 2);
        change(&mut unit);
        refused(&layout, unit)
    };
    for (said, says) in [
        (changed(|u| u.sample_odd_steps += 1), "but the file says"),
        (changed(|u| u.checksum *= 2), "its checksum is"),
        (changed(|u| u.walked -= 1), "its count of numbers walked is"),
        (changed(|u| u.method_version = 2), "no method plain of version 2"),
        (changed(|u| u.parameters = "s=3".into()), "with parameters s=3"),
        (
            changed(|u| u.method = "table".into()),
            "no method table of version 1 with parameters none",
        ),
        (changed(|u| u.unresolved = vec![1027]), "1027 is listed as unresolved, but comes below"),
        (changed(|u| u.highest.as_mut().unwrap().value += 1u32), "rises to"),
        (changed(|u| u.highest.as_mut().unwrap().value -= 2u32), "rises to"),
        (changed(|u| u.highest.as_mut().unwrap().start -= 2), "rises to"),
    ] {
        assert!(said.contains(says), "{said}: {says}");
    }
    // The same without evidence.
    let mut unit = without_evidence(plain_unit(&layout, 2));
    unit.checksum *= 2;
    assert!(refused(&layout, unit).contains("its checksum is"));
    // An unknown method, and a method that does not support the region.
    let far = Layout::new(1 << 100, (1 << 100) + (1 << 60), 60).unwrap();
    let mut unit = plain_unit(&layout, 2);
    let region = far.region(0).unwrap();
    (unit.from, unit.to, unit.unit_bits) = (far.from(), far.to(), 60);
    (unit.unit, unit.units, unit.region) = (0, 1, region.into());
    (unit.numbers, unit.sample_numbers, unit.highest) = (1 << 60, 1 << 20, None);
    unit.method = "sieve".into();
    unit.parameters = "last=10,look=auto24,step=12,rules=descent+preimages+runs+mod9".into();
    let said = refused(&far, unit);
    assert!(said.contains("the sieve does not support"), "{said}");
}

#[test]
fn units_that_are_cut_differently_are_compared() {
    // Windows in windows, classes in classes, all classes and intervals of the same numbers.
    for (coarse, fine, places) in [
        (layout(512, 5120, 10), layout(512, 5120, 9), 4),
        (layout(0, 1 << 12, 10), layout(0, 1 << 12, 8), 4),
        (layout(0, 1 << 12, 10), layout(0, 5000, 9), 1),
    ] {
        let (_a, first) = folder(&all(&coarse));
        let (_b, second) = folder(&all(&fine));
        let merged = merged_of(&[first.clone(), second.clone()]);
        assert_eq!((merged.compared, &merged.overlaps[..]), (places, &[][..]), "{merged:?}");
        assert!(merged.complete().is_some() && merged.disagreements.is_empty());
        // One of them is wrong.
        let file = second.place(&fine, 1);
        fs::remove_file(&file).unwrap();
        let mut unit = plain_unit(&fine, 1);
        unit.checksum += 1;
        second.keep(&fine, &unit).unwrap();
        let merged = merged_of(&[first, second]);
        let whats: Vec<_> = merged.disagreements.iter().map(|d| d.what).collect();
        assert_eq!(whats, ["the checksums, summed over units cut differently,"]);
    }
}

#[test]
fn overlaps_that_cannot_be_compared_are_named() {
    // Neither contains the other; one part is missing; classes below different powers of two; a
    // class and an interval.
    let (a, b) = (layout(100, 3000, 9), layout(2000, 5000, 10));
    let (classes, fine, more) =
        (layout(0, 1 << 12, 10), layout(0, 1 << 12, 9), layout(0, 1 << 13, 12));
    let within = layout(1000, 1100, 9);
    for (first, second, places) in [
        (all(&a), all(&b), 2),
        (all(&classes), all(&fine)[1..].to_vec(), 1),
        (all(&classes), all(&more), 1),
        (all(&classes), all(&within), 1),
        (all(&fine)[..1].to_vec(), all(&within), 1),
    ] {
        let units = [first, second].concat();
        let merged = merged(&units);
        let found: Vec<_> = merged.overlaps.iter().map(|overlap| overlap.places).collect();
        assert_eq!(found, [places], "{merged:?}");
        assert_eq!(merged.complete(), None);
        let Overlap { first, second, .. } = &merged.overlaps[0];
        assert_ne!(first, second);
    }
    // No common number: the class 2 mod 8 and 1001; residues 1 and 2; adjacent ranges.
    let odd = layout(1001, 1002, 9);
    for units in
        [vec![(&fine, 2), (&odd, 0)], vec![(&classes, 1), (&more, 0)], vec![(&a, 0), (&b, 1)]]
    {
        assert_eq!(merged(&units).overlaps, [], "{units:?}");
    }
}

#[test]
fn unresolved_numbers_must_agree_in_the_common_part() {
    let (coarse, fine) = (layout(512, 5120, 10), layout(512, 5120, 9));
    let (_a, first) = folder(&all(&coarse));
    let (_b, second) = folder(&[all(&fine)[0], all(&fine)[2]]);
    let mut unit = plain_unit(&fine, 1);
    unit.unresolved = vec![1100];
    second.keep(&fine, &unit).unwrap();
    let merged = merged_of(&[first.clone(), second.clone()]);
    let disagreement = Disagreement {
        first: second.place(&fine, 1),
        second: first.place(&coarse, 1),
        what: "the unresolved numbers",
    };
    assert_eq!((merged.disagreements, merged.unresolved), (vec![disagreement], vec![1100]));
}

#[test]
fn audits_are_done_by_another_method() {
    let layout = layout(1 << 40, (1 << 40) + (1 << 18), 17);
    let (_dir, folder) = folder(&all(&layout)[1..]);
    folder.keep(&layout, &without_evidence(plain_unit(&layout, 0))).unwrap();
    let mut files = read(std::slice::from_ref(&folder), true);
    assert_eq!(files.plan_audits(0, 7), []);
    let planned = files.plan_audits(5, 7);
    assert_eq!((planned.len(), planned.clone()), (2, files.plan_audits(2, 7)));
    for audit in planned {
        assert!(audit.is_whole && audit.method == crate::Method::Sieve, "{audit:?}");
        let audit = files.audit(audit, &Unwatched).unwrap();
        assert_eq!(audit.outcome, AuditOutcome::Agrees);
    }
    // A unit that was audited as a whole does not lack evidence.
    assert_eq!(files.merged().complete(), Some((layout.from(), layout.to())));
    // The choice depends on the seed.
    let first =
        |seed| read(std::slice::from_ref(&folder), false).plan_audits(1, seed)[0].path.clone();
    assert!((0..20).any(|seed| first(seed) != first(0)));
}

#[test]
fn an_audit_finds_what_differs() {
    let layout = layout(1 << 40, (1 << 40) + (1 << 17), 17);
    let outcome = |change: fn(&mut Unit)| {
        let mut unit = plain_unit(&layout, 0);
        change(&mut unit);
        let mut files = Files { units: vec![("unit.json".into(), unit)], ..Files::default() };
        let planned = files.plan_audits(1, 3).remove(0);
        files.audit(planned, &Unwatched).unwrap().outcome
    };
    assert_eq!(outcome(|_| {}), AuditOutcome::Agrees);
    let unresolved = AuditOutcome::Differs("the unresolved numbers");
    assert_eq!(outcome(|u| u.unresolved = vec![(1 << 40) + 3]), unresolved);
    let sample = AuditOutcome::Differs("the sample checksums");
    assert_eq!(outcome(|u| u.sample_odd_steps += 1), sample);
    let highest = AuditOutcome::Differs("the highest values");
    assert_eq!(outcome(|u| u.highest.as_mut().unwrap().value = 1u32.into()), highest);
}

#[test]
fn a_stopped_merge_is_none() {
    struct Stopped;
    impl crate::Watch for Stopped {
        fn is_stopped(&self) -> bool {
            true
        }
        fn done(&self, _numbers: u128) {}
    }
    let layout = layout(1 << 40, (1 << 40) + (1 << 18), 17);
    let (_dir, folder) = folder(&all(&layout));
    assert!(
        Files::read(&Files::list(std::slice::from_ref(&folder)).unwrap(), true, &Stopped).is_none()
    );
    let mut files = read(&[folder], false);
    let planned = files.plan_audits(1, 7).remove(0);
    assert!(files.audit(planned, &Stopped).is_none());
}
