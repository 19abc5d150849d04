//! Tests that locks are exclusive, and that waits end when requested.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use warpint_files::{FileError, Folder};

#[test]
fn one_has_it_until_it_goes() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    assert!(!folder.is_locked("lock") && !folder.has("lock"));
    let first = folder.try_lock("lock").unwrap().unwrap().enforced().unwrap();
    assert!(first.is_enforced() && first.is_in_place());
    assert!(folder.try_lock("lock").unwrap().is_none());
    assert!(folder.is_locked("lock"));
    drop(first);
    // The file is kept; a left-over lock file locks nobody out.
    assert!(folder.has("lock") && !folder.is_locked("lock"));
    drop(folder.try_lock("lock").unwrap().unwrap().with_its_file());
    assert_eq!(folder.has("lock"), !cfg!(unix));
}

#[test]
fn who_waits_is_asked_to_stop_and_loses_patience() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    let held = folder.try_lock("lock").unwrap().unwrap();
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    // Without `stop` this would wait for ever.
    let stopped = folder.lock("lock", Duration::MAX, &stop).unwrap_err();
    assert!(matches!(stopped, FileError::Stopped { .. }) && asked.get() == 3);
    assert!(stopped.to_string().starts_with("stopped while waiting for the lock "));
    let locked = folder.lock("lock", Duration::ZERO, &|| false).unwrap_err();
    assert!(matches!(locked, FileError::Locked { .. }));
    assert!(locked.to_string().ends_with("lock is locked by another process"));
    // The lock is obtained although a stop was requested: there was no wait.
    drop(held);
    folder.lock("lock", Duration::ZERO, &|| true).unwrap();
}

#[test]
fn a_lock_whose_file_has_gone_is_no_longer_in_place() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path().join("d"));
    let first = folder.try_lock("lock").unwrap().unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    assert!(!first.is_in_place());
    let second = folder.try_lock("lock").unwrap().unwrap();
    assert!(second.is_in_place());
    if cfg!(unix) {
        assert!(!first.is_in_place());
        // The lock no longer belongs to the file.
        drop(first.with_its_file());
        assert!(second.is_in_place());
    }
}

#[test]
fn a_file_with_content_is_somebodys_and_stays() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    fs::write(folder.file("lock"), "x").unwrap();
    drop(folder.try_lock("lock").unwrap().unwrap().with_its_file());
    assert_eq!(fs::read(folder.file("lock")).unwrap(), b"x");
}

#[test]
fn never_two_at_once() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    let (inside, had) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3000 {
                    let Some(lock) = folder.try_lock("lock").unwrap() else { continue };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    had.fetch_add(1, Ordering::SeqCst);
                    // Others get here if they can.
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock.with_its_file());
                }
            });
        }
    });
    assert!(had.load(Ordering::SeqCst) > 0);
}
