//! Tests of the generations on disk, of the lock, and of invalid files.

use super::super::lock::LOCK_FILE;
use super::*;
use crate::checkpoint::Confirmation;
use crate::checkpoint::GerbiczState;
use crate::{DigestedResidue, ErrorCounts, LlStart, Residue};
use sha2::{Digest, Sha256};
use std::fs;
use std::time::Duration;
use warpint_files::testing::{FullDisk, Recorder};

const P: u32 = 127;

fn ll(iteration: u64) -> State {
    State {
        kind: TestKind::Ll(LlStart::Four),
        iteration,
        residue: Residue::from_u64(P, iteration + 1000),
        shift: 0,
        elapsed: Duration::from_secs(iteration),
        errors: ErrorCounts::default(),
        least_length: None,
        confirmed: Confirmation::No,
        gerbicz: None,
        lucas: None,
    }
}

fn prp(iteration: u64, verified_iteration: u64) -> State {
    let residue = Residue::from_u64(P, iteration + 1000);
    let product = Residue::from_u64(P, verified_iteration + 1000);
    let gerbicz = GerbiczState {
        block: 100,
        verified_iteration,
        product_iteration: verified_iteration,
        verified: DigestedResidue::new(product.clone()),
        product,
    };
    State { kind: TestKind::Prp, residue, gerbicz: Some(gerbicz), ..ll(iteration) }
}

fn open(root: &Path, kind: TestKind) -> CheckpointStore {
    CheckpointStore::open(root, P, kind).unwrap()
}

fn names(store: &CheckpointStore) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(store.dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|n| n != LOCK_FILE)
        .collect();
    names.sort();
    names
}

/// Returns the iterations of the checkpoints on disk, ascending.
fn kept(store: &CheckpointStore) -> Vec<u64> {
    let mut kept: Vec<u64> = store.entries().unwrap().iter().map(|e| e.iteration).collect();
    kept.sort_unstable();
    kept
}

#[test]
fn keeps_the_newest_generations_and_loads_the_newest() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), TestKind::Prp);
    assert_eq!(store.load_newest().unwrap(), None);
    for k in [10, 20, 30, 40] {
        assert!(!store.save(&prp(k, 0)).unwrap().verified);
    }
    assert_eq!(kept(&store), [20, 30, 40]);
    assert_eq!(store.load_newest().unwrap().unwrap().0, prp(40, 0));
    store.remove_all().unwrap();
    assert_eq!(store.load_newest().unwrap(), None);
}

#[test]
fn a_test_without_checks_also_keeps_some_from_long_ago() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), ll(0).kind);
    for k in 1..=125 {
        store.save(&ll(k)).unwrap();
    }
    assert_eq!(kept(&store), [1, 4, 16, 64, 123, 124, 125]);
}

#[test]
fn what_was_just_saved_stays_even_if_later_ones_are_there() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), TestKind::Prp);
    for k in [90, 91, 92, 30] {
        store.save(&prp(k, 0)).unwrap();
    }
    assert_eq!(kept(&store), [30, 90, 91, 92]);
}

#[test]
fn an_unreadable_or_later_checkpoint_is_an_error_and_stays() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), ll(0).kind);
    store.save(&ll(10)).unwrap();
    // A directory with the name of a checkpoint can be opened but not read.
    let unreadable = store.dir().join("ll-0000000020.ckpt");
    fs::create_dir(&unreadable).unwrap();
    assert!(matches!(store.load_newest(), Err(CheckpointError::Unreadable { .. })));
    fs::remove_dir(&unreadable).unwrap();

    let mut later = ll(30).to_bytes();
    let at = later.windows(10).position(|w| w == b"version: 2").unwrap();
    later[at + 9] = b'3';
    let content = later.len() - 32;
    let checksum = Sha256::digest(&later[..content]);
    later[content..].copy_from_slice(&checksum);
    let path = store.dir().join("ll-0000000030.ckpt");
    fs::write(&path, later).unwrap();
    assert!(matches!(store.load_newest(), Err(CheckpointError::Later { .. })));
    assert!(path.exists());
    assert!(store.take_notices().is_empty());
}

#[test]
fn unverified_generations_never_displace_a_verified_one() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), TestKind::Prp);
    assert!(store.save(&prp(20, 20)).unwrap().verified);
    for k in 21..=30 {
        store.save(&prp(k, 20)).unwrap();
    }
    assert!(names(&store).contains(&"prp-0000000020.verified".to_owned()));
    assert_eq!(store.load_newest().unwrap().unwrap().0, prp(30, 20));
    store.discard_after(20).unwrap();
    assert_eq!(store.load_newest().unwrap().unwrap().0, prp(20, 20));
}

#[test]
fn a_confirmed_state_takes_the_place_of_the_unconfirmed() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), ll(0).kind);
    store.save(&ll(10)).unwrap();
    store.save(&ll(20)).unwrap();
    assert_eq!(store.load_newest_verified().unwrap(), None);
    let confirmed = State { confirmed: Confirmation::Jacobi, ..ll(10) };
    assert!(store.save(&confirmed).unwrap().verified);
    assert_eq!(names(&store), ["ll-0000000010.verified", "ll-0000000020.ckpt"]);
    assert_eq!(store.load_newest().unwrap().unwrap().0, ll(20));
    assert_eq!(store.load_newest_verified().unwrap().unwrap().0, confirmed);
    store.discard_after(10).unwrap();
    assert_eq!(store.load_newest().unwrap().unwrap().0, confirmed);
}

#[test]
fn a_disk_that_fills_up_costs_no_checkpoint() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), ll(0).kind);
    store.save(&ll(10)).unwrap();
    store.set_disk(Arc::new(FullDisk::new("", 1)));
    assert_eq!(store.save(&ll(20)).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(names(&store), ["ll-0000000010.ckpt"]);
    assert_eq!(store.load_newest().unwrap().unwrap().0, ll(10));
    store.save(&ll(20)).unwrap();
    assert_eq!(store.load_newest().unwrap().unwrap().0, ll(20));
}

#[test]
fn a_checkpoint_is_on_disk_before_its_name() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), ll(0).kind);
    store.save(&ll(10)).unwrap();
    let steps = Arc::new(Recorder::default());
    store.set_disk(steps.clone());
    let name = store.save(&ll(40)).unwrap().path;
    let name = name.file_name().unwrap().to_str().unwrap();
    let expected = [
        format!("write {name}"),
        format!("sync {name}"),
        format!("rename {name}"),
        "sync folder M127".into(),
    ];
    assert_eq!(steps.take(), expected);
}

#[test]
fn a_directory_that_vanishes_is_made_again_with_its_lock() {
    let root = tempfile::tempdir().unwrap();
    let work = root.path().join("work");
    let mut store = open(&work, ll(0).kind);
    store.save(&ll(10)).unwrap();
    fs::remove_dir_all(&work).unwrap();
    store.save(&ll(20)).unwrap();
    assert_eq!(store.load_newest().unwrap().unwrap().0, ll(20));
    let second = CheckpointStore::open(&work, P, ll(0).kind);
    assert!(matches!(second, Err(CheckpointError::Locked { .. })), "{second:?}");
    // Another process took the lock first: only that process writes there.
    fs::remove_dir_all(&work).unwrap();
    let mut second = open(&work, ll(0).kind);
    second.save(&ll(5)).unwrap();
    let refused = store.save(&ll(30)).unwrap_err().to_string();
    let says = format!("M127 was removed, and is now in use by process {}", std::process::id());
    assert!(refused.ends_with(&says), "{refused}");
    assert_eq!(names(&second), ["ll-0000000005.ckpt"]);
}

/// Creates an object that is not a regular file: a FIFO, or a symbolic link.
#[cfg(unix)]
fn put(kind: &str, at: &Path) {
    match kind {
        "fifo" => assert!(std::process::Command::new("mkfifo").arg(at).status().unwrap().success()),
        "endless" => std::os::unix::fs::symlink("/dev/zero", at).unwrap(),
        _ => std::os::unix::fs::symlink("../../beside", at).unwrap(),
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_in_place_of_a_checkpoint_is_set_aside_and_never_followed() {
    for (kind, what) in [("fifo", "a FIFO"), ("link", "a symbolic link"), ("endless", "a symb")] {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("beside"), "untouched").unwrap();
        let mut store = open(&root.path().join("work"), ll(0).kind);
        store.save(&ll(10)).unwrap();
        let newest = store.dir().join("ll-0000000020.ckpt");
        put(kind, &newest);
        assert_eq!(store.load_newest().unwrap().unwrap().0, ll(10));
        let notices = format!("{:?}", store.take_notices());
        assert!(notices.contains("20.ckpt.bad") && notices.contains(what), "{notices}");
        // In the place of one that is being saved.
        put(kind, &newest);
        store.save(&ll(20)).unwrap();
        assert_eq!(store.load_newest().unwrap().unwrap().0, ll(20));
        assert_eq!(fs::read(root.path().join("beside")).unwrap(), b"untouched");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_in_place_of_the_lock_or_the_directory_is_refused_at_once() {
    for (kind, what) in [("fifo", "a FIFO"), ("link", "a symbolic link")] {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("beside"), "untouched").unwrap();
        fs::create_dir_all(root.path().join("work/M127")).unwrap();
        put(kind, &root.path().join("work/M127/lock"));
        let error = CheckpointStore::open(&root.path().join("work"), P, TestKind::Prp);
        let error = error.unwrap_err().to_string();
        let says = format!("M127/lock is {what}, not a regular file; choose");
        assert!(error.contains(&says), "{error}");
        assert_eq!(fs::read(root.path().join("beside")).unwrap(), b"untouched");
    }
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", root.path().join("M127")).unwrap();
    let error = CheckpointStore::open(root.path(), P, TestKind::Prp).unwrap_err().to_string();
    assert!(error.contains("M127 is a symbolic link, not a directory"), "{error}");
    assert_eq!(fs::read_dir(root.path().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn unsound_files_are_set_aside_and_the_next_older_is_used() {
    let root = tempfile::tempdir().unwrap();
    let mut store = open(root.path(), ll(0).kind);
    store.save(&ll(10)).unwrap();
    store.save(&ll(20)).unwrap();
    let newest = store.save(&ll(30)).unwrap().path;
    let mut bytes = fs::read(&newest).unwrap();
    let middle = bytes.len() - 40;
    bytes[middle] ^= 4;
    fs::write(&newest, bytes).unwrap();
    let second = store.dir().join("ll-0000000020.ckpt");
    let half = fs::read(&second).unwrap();
    fs::write(&second, &half[..half.len() / 2]).unwrap();

    assert_eq!(store.load_newest().unwrap().unwrap().0, ll(10));
    let reasons: Vec<String> = store.take_notices().iter().map(|n| format!("{n:?}")).collect();
    assert_eq!(reasons.len(), 2);
    assert!(reasons[0].contains("0000000030.ckpt.bad") && reasons[0].contains("checksum"));
    assert!(reasons[1].contains("0000000020.ckpt.bad") && reasons[1].contains("truncated"));
    assert_eq!(
        names(&store),
        ["ll-0000000010.ckpt", "ll-0000000020.ckpt.bad", "ll-0000000030.ckpt.bad"]
    );
}

#[test]
fn tests_of_one_exponent_do_not_see_each_others_files() {
    let root = tempfile::tempdir().unwrap();
    let ten = TestKind::Ll(LlStart::Ten);
    let mut state = ll(50);
    state.kind = ten;
    open(root.path(), ten).save(&state).unwrap();
    assert_eq!(open(root.path(), ll(0).kind).load_newest().unwrap(), None);
    assert_eq!(open(root.path(), ten).load_newest().unwrap().unwrap().0, state);
}

#[test]
fn the_second_process_is_told_who_holds_the_lock() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path(), TestKind::Prp);
    match CheckpointStore::open(root.path(), P, TestKind::Prp) {
        Err(CheckpointError::Locked { pid, .. }) => assert_eq!(pid, std::process::id()),
        other => panic!("{other:?}"),
    }
    drop(store);
    assert!(open(root.path(), TestKind::Prp).take_notices().is_empty());
}

#[test]
fn a_dead_process_leaves_a_stale_lock_and_its_half_written_file() {
    let root = tempfile::tempdir().unwrap();
    let dir = open(root.path(), TestKind::Prp).dir().to_owned();
    fs::write(dir.join(LOCK_FILE), "999999999\n").unwrap();
    fs::write(dir.join("prp-0000000001.ckpt.tmp"), "half").unwrap();
    let mut store = open(root.path(), TestKind::Prp);
    assert_eq!(store.take_notices(), [Event::StaleLock { pid: 999_999_999 }]);
    assert!(names(&store).is_empty());
}

#[test]
fn a_file_where_the_directory_should_be_is_an_error_that_names_it() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let error = CheckpointStore::open(&file, P, TestKind::Prp).unwrap_err().to_string();
    assert!(error.contains("M127") && error.ends_with("choose another directory"), "{error}");
}

#[test]
fn a_checkpoint_under_another_one_s_name_is_set_aside() {
    for name in ["ll-0000000099.ckpt", "ll-0000000010.verified"] {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), ll(0).kind);
        let saved = store.save(&ll(10)).unwrap();
        fs::copy(saved.path, store.dir().join(name)).unwrap();
        assert_eq!(store.load_newest().unwrap().unwrap().0, ll(10));
        assert!(store.load_newest_verified().unwrap().is_none());
        let notices = store.take_notices();
        assert!(
            matches!(notices.as_slice(), [Event::BadCheckpoint { reason, .. }]
                if reason.contains("its name")),
            "{notices:?}"
        );
        assert!(store.dir().join(format!("{name}.bad")).exists());
    }
}
