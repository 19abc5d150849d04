use std::fs;
use std::path::Path;
use std::sync::mpsc;

use warpint_device::DeviceError;

use super::*;
use crate::runs::unit::tests::plain_unit;
use crate::sieve::{Backend, Looking, Sieve, Tally, Task};
use crate::until::Until;
use crate::walk::Walker;
use crate::{Method, Plain, Region, Unwatched, Verified};

/// A verifier that runs code before and after each unit.
struct With<F> {
    plain: Plain,
    before: F,
    after: fn(Verified) -> Verified,
}

impl<F> With<F> {
    fn new(plain: Plain, before: F) -> Self {
        Self { plain, before, after: |verified| verified }
    }
}

impl<F> Verifier for With<F>
where
    F: FnMut(&Region) -> Result<(), CollatzError> + Send,
{
    fn method(&self) -> Method {
        self.plain.method()
    }
    fn version(&self) -> u32 {
        self.plain.version()
    }
    fn parameters(&self) -> String {
        self.plain.parameters()
    }
    fn place(&self) -> String {
        "odd".into()
    }
    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        (self.before)(region)?;
        Ok(self.plain.verify(region, watch)?.map(self.after))
    }
}

fn plain() -> Vec<Box<dyn Verifier>> {
    vec![Box::new(Plain::default())]
}

fn failed() -> CollatzError {
    DeviceError::NoDevice("it fell off the bus".into()).into()
}

fn go(
    layout: &Layout,
    dir: &Path,
    verifiers: Vec<Box<dyn Verifier>>,
    watch: &dyn Watch,
) -> (Outcome, Vec<Event>) {
    let folder = Folder::open(dir).unwrap();
    let selection = Selection::all(layout.units());
    let (events, told) = mpsc::channel();
    let outcome = Run { layout, folder: &folder, selection }.go(verifiers, watch, events).unwrap();
    (outcome, told.into_iter().collect())
}

fn whole() -> Layout {
    Layout::new(0, 1 << 14, 10).unwrap()
}

#[test]
fn a_range_is_verified_once() {
    let dir = tempfile::tempdir().unwrap();
    for layout in [whole(), Layout::new(27, 5 << 20, 20).unwrap()] {
        let units = layout.units();
        let numbers = layout.to() - layout.from();
        let (outcome, events) = go(&layout, dir.path(), plain(), &Unwatched);
        assert_eq!((outcome.done, outcome.before, outcome.numbers), (units, 0, numbers));
        assert!(outcome.complete && outcome.is_good() && !outcome.stopped);
        let region = Region::interval(layout.from(), layout.to()).unwrap();
        let all = Plain::default().verify(&region, &Unwatched).unwrap().unwrap();
        assert_eq!(outcome.highest, all.highest);
        let checksum: u64 = events
            .iter()
            .map(|event| if let Event::Done(unit) = event { unit.checksum } else { 0 })
            .sum();
        assert_eq!(checksum, all.checksum);

        let (again, events) = go(&layout, dir.path(), plain(), &Unwatched);
        assert_eq!((again.done, again.before, again.numbers_before), (0, units, numbers));
        assert_eq!(again.highest, all.highest);
        assert!(again.complete && again.is_good());
        assert!(events.iter().all(|event| matches!(event, Event::Before(_))));
    }
    let left = fs::read_dir(dir.path()).unwrap().count() as u64;
    assert_eq!(left, whole().units() + Layout::new(27, 5 << 20, 20).unwrap().units());
}

#[test]
fn a_stopped_run_goes_on() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let (first, _) = go(&layout, dir.path(), plain(), &Until::new(5 << 10));
    assert!(first.stopped && !first.complete && first.done == 5, "{first:?}");
    // Stopped half-way through a unit, whose work is lost.
    let stopping: Vec<Box<dyn Verifier>> =
        vec![Box::new(With::new(Plain::default(), |_: &_| Ok(())))];
    let (nothing, _) = go(&layout, dir.path(), stopping, &Until::new(0));
    assert_eq!((nothing.done, nothing.stopped), (0, true));
    let (rest, _) = go(&layout, dir.path(), plain(), &Unwatched);
    assert_eq!((rest.done, rest.before), (11, 5));
    assert!(rest.complete);
}

#[test]
fn parts_make_a_whole() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let folder = Folder::open(dir.path()).unwrap();
    for part in 0..3 {
        let selection = Selection::shard(part, 3, layout.units()).unwrap();
        let run = Run { layout: &layout, folder: &folder, selection };
        let outcome = run.go(plain(), &Unwatched, mpsc::channel().0).unwrap();
        assert!(outcome.is_good());
        assert_eq!(outcome.complete, part == 2);
    }
}

#[test]
fn a_damaged_file_is_set_aside_and_its_unit_done_again() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    go(&layout, dir.path(), plain(), &Unwatched);
    let folder = Folder::open(dir.path()).unwrap();
    let sound = fs::read(folder.place(&layout, 3)).unwrap();
    fs::write(folder.place(&layout, 3), &sound[..sound.len() / 2]).unwrap();
    fs::write(folder.place(&layout, 4), b"somebody's notes").unwrap();
    let (outcome, events) = go(&layout, dir.path(), plain(), &Unwatched);
    assert_eq!((outcome.done, outcome.before, outcome.complete), (2, 14, true));
    let aside: Vec<_> = events
        .iter()
        .filter_map(|e| if let Event::SetAside { path, .. } = e { Some(path) } else { None })
        .collect();
    assert_eq!(fs::read(aside[0]).unwrap(), sound[..sound.len() / 2]);
    assert_eq!(fs::read(aside[1]).unwrap(), b"somebody's notes");
    // A unit of a later program is neither used nor changed.
    let path = folder.place(&layout, 5);
    let text = fs::read_to_string(&path).unwrap();
    let unit = text.split_once("\"unit\":").unwrap().1.strip_suffix("}\n").unwrap();
    let unit = unit.replace("\"format-version\":2", "\"format-version\":3");
    use sha2::{Digest, Sha256};
    let digest: String = Sha256::digest(&unit).iter().map(|b| format!("{b:02x}")).collect();
    let later = format!("{{\"sha256\":\"{digest}\",\"unit\":{unit}}}\n");
    fs::write(&path, &later).unwrap();
    let (outcome, events) = go(&layout, dir.path(), plain(), &Unwatched);
    assert_eq!((outcome.failed, outcome.complete), (vec![5], false));
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Failed { reason, .. } if reason.contains("left as it is")))
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), later);
}

#[test]
fn two_runs_in_one_directory_do_no_unit_twice() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), Layout::new(0, 1 << 14, 8).unwrap());
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| go(&layout, dir.path(), plain(), &Unwatched).0))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(outcomes.iter().all(|outcome| outcome.complete && outcome.is_good()));
    assert_eq!(outcomes.iter().map(|outcome| outcome.done).sum::<u64>(), layout.units());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count() as u64, layout.units());
}

#[test]
fn a_unit_that_another_process_gives_up_is_taken_over() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let folder = Folder::open(dir.path()).unwrap();
    let claim = folder.claim(&layout, 2).unwrap().unwrap();
    let outcome = std::thread::scope(|scope| {
        let run = scope.spawn(|| go(&layout, dir.path(), plain(), &Unwatched).0);
        while folder.files().unwrap().len() < 15 {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!run.is_finished());
        drop(claim);
        run.join().unwrap()
    });
    assert_eq!((outcome.done, outcome.complete), (16, true));
}

#[test]
fn a_unit_that_is_done_twice_is_compared() {
    let layout = whole();
    for (wrong, says) in [(0, None), (1, Some("the sample checksums differ from those in"))] {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        // Another process that ignores the lock.
        let (other, of) = (folder.clone(), layout.clone());
        let beside = With::new(Plain::default(), move |region: &Region| {
            if let Region::Class { residue: 3, .. } = region {
                let mut unit = plain_unit(&of, 3);
                unit.sample_odd_steps += wrong;
                other.keep(&of, &unit).unwrap();
            }
            Ok(())
        });
        let (outcome, events) = go(&layout, dir.path(), vec![Box::new(beside)], &Unwatched);
        let before = u64::from(says.is_none());
        assert_eq!((outcome.done, outcome.before), (15, before), "{outcome:?}");
        assert!(outcome.broken.is_none());
        let told = events.iter().find_map(|event| match event {
            Event::Failed { unit: 3, reason, .. } => Some(reason.clone()),
            _ => None,
        });
        assert_eq!(told.is_some(), says.is_some());
        assert!(says.is_none_or(|says| told.is_some_and(|told| told.contains(says))));
    }
}

#[test]
fn a_counter_example_is_told_and_never_forgotten() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let walker = Walker { trap: Some(4616u32.into()), limit: 1000 };
    let trapped = || -> Vec<Box<dyn Verifier>> {
        vec![Box::new(Plain { walker: walker.clone(), ..Plain::default() })]
    };
    let (first, events) = go(&layout, dir.path(), trapped(), &Unwatched);
    // 27 runs into 4616, as do others; 27 ≡ 11 mod 16.
    assert!(first.unresolved.contains(&27) && !first.is_good() && first.complete);
    let told = |events: &[Event]| -> Vec<u128> {
        let numbers = events.iter().filter_map(|event| match event {
            Event::Unresolved { unit, numbers } => {
                assert!(numbers.iter().all(|n| n % 16 == u128::from(*unit)));
                Some(numbers.clone())
            }
            _ => None,
        });
        let mut numbers: Vec<_> = numbers.flatten().collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(told(&events), first.unresolved);
    let (again, events) = go(&layout, dir.path(), plain(), &Unwatched);
    assert_eq!((again.done, &again.unresolved), (0, &first.unresolved));
    assert_eq!(told(&events), first.unresolved);
}

#[test]
fn a_failing_device_leaves_its_unit_undone_and_others_go_on() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let broken = With::new(Plain::default(), |_: &_| Err(failed()));
    // Slower, so that the other verifier gets units too.
    let slow = With::new(Plain::default(), |_: &_| {
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    });
    let verifiers: Vec<Box<dyn Verifier>> = vec![Box::new(slow), Box::new(broken)];
    let (outcome, events) = go(&layout, dir.path(), verifiers, &Unwatched);
    assert_eq!((outcome.done, outcome.failed.len(), outcome.complete), (15, 1, false));
    assert!(!outcome.is_good() && outcome.broken.is_none());
    let unit = outcome.failed[0];
    assert!(events.iter().any(|event| matches!(
        event,
        Event::Failed { unit: u, place, reason } if *u == unit && place == "odd" && reason.contains("fell off the bus")
    )));
    let (rest, _) = go(&layout, dir.path(), plain(), &Unwatched);
    assert_eq!((rest.done, rest.before, rest.complete), (1, 15, true));
}

/// An engine that returns empty results for every tree.
struct Dead;

impl Backend for Dead {
    fn tree(&mut self, _: Task<'_>, _: &dyn Watch) -> Result<Option<Tally>, CollatzError> {
        Ok(Some(Tally::default()))
    }

    fn most_looking(&self) -> Looking {
        Looking::new(24).unwrap()
    }

    fn nodes_of_a_challenge(&self) -> u64 {
        1 << 22
    }

    fn place(&self) -> String {
        "dead".into()
    }
}

#[test]
fn a_dead_device_verifies_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(1 << 70, (1 << 70) + (1 << 44), 40).unwrap();
    let dead: Vec<Box<dyn Verifier>> = vec![Box::new(Sieve::new(Dead))];
    let (outcome, events) = go(&layout, dir.path(), dead, &Unwatched);
    // It gets no second unit.
    assert_eq!((outcome.done, outcome.failed, outcome.complete), (0, vec![0], false));
    assert!(events.iter().any(|event| matches!(
        event,
        Event::Failed { place, reason, .. } if place == "dead" && reason.contains("the number of nodes is 0, but must be")
    )));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_region_that_a_method_refuses_is_no_end() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let refused = Region::class(14, 4, 7).unwrap();
    let picky = With::new(Plain::default(), move |region: &Region| {
        if *region == refused { Err(CollatzError::Empty { from: 7, to: 7 }) } else { Ok(()) }
    });
    let (outcome, _) = go(&layout, dir.path(), vec![Box::new(picky)], &Unwatched);
    assert_eq!((outcome.done, outcome.failed), (15, vec![7]));
}

#[test]
fn what_cannot_be_written_ends_the_run_and_is_told() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let units = dir.path().join("units");
    let gone = units.clone();
    let walker = Walker { trap: Some(4616u32.into()), limit: 1000 };
    let mut done = 0;
    let vanishing = With::new(Plain { walker, ..Plain::default() }, move |_: &_| {
        done += 1;
        if done == 12 {
            fs::remove_dir_all(&gone).unwrap();
            // The directory cannot be created again.
            fs::write(&gone, "").unwrap();
        }
        Ok(())
    });
    let (outcome, events) = go(&layout, &units, vec![Box::new(vanishing)], &Unwatched);
    assert_eq!((outcome.done, outcome.failed, outcome.complete), (11, vec![11], false));
    assert!(outcome.broken.is_some_and(|reason| reason.contains("cannot write")));
    assert!(outcome.unresolved.contains(&27));
    assert!(events.iter().any(|e| matches!(e, Event::Unresolved { unit: 11, .. })));
}

#[test]
fn a_directory_that_vanishes_in_a_run_is_made_again_and_the_same_run_does_the_lost_units() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let units = dir.path().join("units");
    let gone = units.clone();
    let mut done = 0;
    let vanishing = With::new(Plain::default(), move |_: &_| {
        done += 1;
        if done == 12 {
            fs::remove_dir_all(&gone).unwrap();
        }
        Ok(())
    });
    let (outcome, _) = go(&layout, &units, vec![Box::new(vanishing)], &Unwatched);
    assert_eq!((outcome.done, outcome.failed.len()), (16, 0));
    let (rest, _) = go(&layout, &units, plain(), &Unwatched);
    assert_eq!((rest.before, rest.done, rest.complete), (5, 11, true));
}

#[test]
fn a_thread_that_panics_ends_the_run_in_order() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let panicking = With::new(Plain::default(), |_: &_| panic!("on purpose"));
    let (outcome, _) = go(&layout, dir.path(), vec![Box::new(panicking)], &Unwatched);
    assert!(outcome.broken.is_some() && !outcome.complete && !outcome.is_good());
}

#[test]
fn a_counter_example_of_a_unit_that_is_not_asked_for_is_told() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let folder = Folder::open(dir.path()).unwrap();
    let part = |first, last| {
        let selection = Selection::range(first, last, layout.units()).unwrap();
        let (events, told) = mpsc::channel();
        let run = Run { layout: &layout, folder: &folder, selection };
        let outcome = run.go(plain(), &Unwatched, events).unwrap();
        (outcome, told.into_iter().collect::<Vec<_>>())
    };
    let mut unit = plain_unit(&layout, 11);
    unit.unresolved = vec![27];
    folder.keep(&layout, &unit).unwrap();
    let told = |events: &[Event], path| {
        let event = Event::UnresolvedFile { path, numbers: vec![27] };
        events.iter().filter(|other| **other == event).count()
    };
    // While units are missing, and when none is.
    for (first, last, complete) in [(0, 0, false), (0, 9, false), (12, 15, false), (10, 10, true)] {
        let (outcome, events) = part(first, last);
        assert_eq!((&outcome.unresolved[..], outcome.complete), (&[27][..], complete));
        assert!(!outcome.is_good());
        assert_eq!(told(&events, folder.place(&layout, 11)), 1, "{events:?}");
        assert!(complete || outcome.highest.is_some());
    }
    // Files of another range, or of another unit size.
    let other = Layout::new(0, 1 << 13, 13).unwrap();
    let (outcome, events) = go(&other, dir.path(), plain(), &Unwatched);
    assert_eq!((outcome.unresolved.as_slice(), outcome.complete), (&[27][..], true));
    assert!(!outcome.is_good());
    assert_eq!(told(&events, folder.place(&layout, 11)), 1, "{events:?}");
    // A copy is reported, too.
    fs::copy(folder.place(&layout, 11), dir.path().join("copy.json")).unwrap();
    let (outcome, events) = go(&layout, dir.path(), plain(), &Unwatched);
    assert_eq!((outcome.unresolved.as_slice(), outcome.complete), (&[27][..], true));
    assert_eq!(told(&events, dir.path().join("copy.json")), 1, "{events:?}");
}

#[test]
fn methods_are_those_of_the_files() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let folder = Folder::open(dir.path()).unwrap();
    let mut unit = plain_unit(&layout, 11);
    unit.method = "sieve".into();
    folder.keep(&layout, &unit).unwrap();
    for range in [(0, 9), (10, 10), (11, 12), (0, 15)] {
        let selection = Selection::range(range.0, range.1, layout.units()).unwrap();
        let run = Run { layout: &layout, folder: &folder, selection };
        let outcome = run.go(plain(), &Unwatched, mpsc::channel().0).unwrap();
        let files = folder.files().unwrap().len() as u64;
        let by = |method: &str| (method.to_owned(), 1, "none".to_owned());
        let methods = [(by("plain"), files - 1), (by("sieve"), 1)];
        assert_eq!(outcome.methods, methods.into());
    }
}

#[test]
fn a_result_that_makes_no_sense_is_not_written() {
    let (dir, layout) = (tempfile::tempdir().unwrap(), whole());
    let after = |verified| Verified { unresolved: vec![1 << 40], ..verified };
    let wrong = With { after, ..With::new(Plain::default(), |_: &_| Ok(())) };
    let (outcome, events) = go(&layout, dir.path(), vec![Box::new(wrong)], &Unwatched);
    assert_eq!((outcome.done, outcome.failed, outcome.complete), (0, vec![0], false));
    assert!(events.iter().any(|event| matches!(
        event,
        Event::Failed { reason, .. } if reason.contains("a number is not of its unit")
    )));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
