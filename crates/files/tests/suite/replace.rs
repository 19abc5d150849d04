//! Tests that files are replaced as a whole, in an order of steps that is safe against power
//! failures.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use warpint_files::testing::{FullDisk, Recorder};
use warpint_files::{Disk, FileError, Folder, Step};

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| name(e).into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_content_is_on_disk_before_its_name_and_the_name_before_the_end() {
    let root = tempfile::tempdir().unwrap();
    let steps = Arc::new(Recorder::default());
    let folder = Folder::at(root.path().join("d")).with_disk(steps.clone());
    folder.make().unwrap();
    let _ = steps.take();

    folder.replace("a", &[b"one", b"two"]).unwrap();
    assert_eq!(steps.take(), ["write a", "write a", "sync a", "rename a", "sync folder d"]);
    assert_eq!(folder.read("a", 6).unwrap(), b"onetwo");

    let mut new = folder.begin("b").unwrap();
    new.write(b"three").unwrap();
    new.finish_new().unwrap();
    assert_eq!(steps.take(), ["write b", "sync b", "link b", "sync folder d"]);

    folder.append("b", b" four").unwrap();
    assert_eq!(steps.take(), ["write b", "sync b", "sync folder d"]);
    assert_eq!(folder.read("b", 100).unwrap(), b"three four");

    let mut unsynced = folder.begin("a").unwrap();
    unsynced.write(b"five").unwrap();
    unsynced.finish_unsynced().unwrap();
    assert_eq!(steps.take(), ["write a", "rename a"]);
    assert_eq!(names(folder.path()), ["a", "b"]);
}

#[test]
fn new_directories_are_on_disk_before_what_is_in_them() {
    let root = tempfile::tempdir().unwrap();
    let steps = Arc::new(Recorder::default());
    let base = Folder::at(root.path().join("work")).with_disk(steps.clone());
    let folder = base.inside("M127").inside("proof");
    folder.replace("x", &[b"1"]).unwrap();
    let above = root.path().file_name().unwrap().to_str().unwrap();
    let sync = |name: &str| format!("sync folder {name}");
    let made = [sync(above), sync("work"), sync("M127")];
    let written = ["write x", "sync x", "rename x", "sync folder proof"].map(String::from);
    assert_eq!(steps.take(), [&made[..], &written[..]].concat());
    assert!(!folder.make().unwrap());
    assert_eq!(steps.take(), [""; 0]);
}

#[test]
fn a_directory_that_has_vanished_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let work = root.path().join("work");
    let folder = Folder::at(&work).inside("M127");
    folder.replace("x", &[b"1"]).unwrap();
    for again in [0, 1, 2, 3] {
        fs::remove_dir_all(&work).unwrap();
        assert!(folder.read("x", 9).unwrap_err().is_missing());
        assert!(folder.list().unwrap().is_empty() && folder.size("x").unwrap().is_none());
        match again {
            0 => folder.replace("x", &[b"2"]).unwrap(),
            1 => folder.append("x", b"2").unwrap(),
            2 => folder.append_unsynced("x", b"2").unwrap(),
            _ => drop(folder.try_lock("x").unwrap().unwrap()),
        }
        assert_eq!(folder.size("x").unwrap(), Some(u64::from(again < 3)));
    }
}

/// A disk on which all steps of one kind fail: `write`, `sync`, `rename`, `link` or `sync folder`.
#[derive(Debug)]
struct FailsAt(&'static str);

impl Disk for FailsAt {
    fn step(
        &self,
        step: Step<'_>,
        go: &mut dyn FnMut() -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let is_it = match step {
            Step::Write { .. } => self.0 == "write",
            Step::SyncFile { .. } => self.0 == "sync",
            Step::Rename { .. } => self.0 == "rename",
            Step::Link { .. } => self.0 == "link",
            Step::SyncFolder { .. } => self.0 == "sync folder",
        };
        if is_it { Err(ErrorKind::StorageFull.into()) } else { go() }
    }
}

#[test]
fn a_step_that_fails_leaves_the_old_file_and_nothing_else() {
    for step in ["write", "sync", "rename"] {
        let root = tempfile::tempdir().unwrap();
        let sound = Folder::at(root.path());
        sound.replace("a", &[b"old"]).unwrap();
        let error = sound.with_disk(Arc::new(FailsAt(step))).replace("a", &[b"new"]).unwrap_err();
        assert_eq!(error.io_kind(), ErrorKind::StorageFull);
        let path = root.path().join("a");
        assert!(error.to_string().starts_with(&format!("cannot write {}: ", path.display())));
        assert_eq!(fs::read(path).unwrap(), b"old", "{step}");
        assert_eq!(names(root.path()), ["a"], "{step}");
    }
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path()).with_disk(Arc::new(FailsAt("sync folder")));
    assert_eq!(folder.replace("a", &[b"new"]).unwrap_err().io_kind(), ErrorKind::StorageFull);
}

#[test]
fn a_full_disk_keeps_the_old_file_and_has_room_later() {
    let root = tempfile::tempdir().unwrap();
    let disk = Arc::new(FullDisk::new("a", 2));
    let folder = Folder::at(root.path()).with_disk(disk.clone());
    folder.replace("b", &[b"other"]).unwrap();
    for _ in 0..2 {
        assert_eq!(folder.replace("a", &[b"new"]).unwrap_err().io_kind(), ErrorKind::StorageFull);
        assert_eq!(names(root.path()), ["b"]);
    }
    folder.replace("a", &[b"new"]).unwrap();
    assert_eq!((disk.left(), folder.read("a", 3).unwrap()), (0, b"new".to_vec()));
}

#[test]
fn a_name_that_must_be_free_is_never_taken_from_another() {
    let root = tempfile::tempdir().unwrap();
    let begun = |folder: &Folder| {
        let mut file = folder.begin("a").unwrap();
        file.write(b"new").unwrap();
        file
    };
    let folder = Folder::at(root.path());
    begun(&folder).finish_new().unwrap();
    assert_eq!(begun(&folder).finish_new().unwrap_err().io_kind(), ErrorKind::AlreadyExists);
    // A file system without hard links.
    let linkless = folder.clone().with_disk(Arc::new(FailsAt("link")));
    assert_eq!(begun(&linkless).finish_new().unwrap_err().io_kind(), ErrorKind::AlreadyExists);
    folder.remove("a").unwrap();
    begun(&linkless).finish_new().unwrap();
    assert_eq!(names(root.path()), ["a"]);
    let won: usize = std::thread::scope(|scope| {
        let race = || begun_named(&folder, "race").finish_new().is_ok();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(race)).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(won, 1);
}

fn begun_named(folder: &Folder, name: &str) -> warpint_files::Unfinished {
    let mut file = folder.begin(name).unwrap();
    file.write(b"new").unwrap();
    file
}

#[test]
fn what_a_killed_process_left_is_removed_and_what_is_being_written_is_not() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    // Our file, left by a dead writer; one whose final name is not ours; files of others.
    for name in ["a.0123aZ.tmp", "z.0123aZ.tmp", "notes.tmp", "a.tmp", "a.12345.tmp"] {
        fs::write(root.path().join(name), "half").unwrap();
    }
    fs::create_dir(root.path().join("a.abcdef.tmp")).unwrap();
    let writing = begun_named(&folder, "a");
    assert_eq!(names(root.path()).len(), 7);
    folder.clear_away(|name| name == "a");
    assert_eq!(names(root.path()).len(), 6);
    writing.finish().unwrap();
    assert_eq!(
        names(root.path()),
        ["a", "a.12345.tmp", "a.abcdef.tmp", "a.tmp", "notes.tmp", "z.0123aZ.tmp"]
    );
}

#[test]
fn writers_and_those_who_clear_away_do_not_disturb_each_other() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    std::thread::scope(|scope| {
        for writer in 0..3_u8 {
            let folder = &folder;
            scope.spawn(move || {
                for _ in 0..100 {
                    let mut file = folder.begin("a").unwrap();
                    file.write(&[writer; 1000]).unwrap();
                    file.finish_unsynced().unwrap();
                }
            });
        }
        for _ in 0..300 {
            folder.clear_away(|_| true);
            if let Ok(bytes) = folder.read("a", 1000) {
                assert!(bytes.len() == 1000 && bytes.iter().all(|b| *b == bytes[0]));
            }
        }
    });
    assert_eq!(names(root.path()), ["a"]);
}

#[test]
fn more_than_the_limit_is_refused_before_it_is_read() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    let path = root.path().join("a");
    // A hole of 3 TB: reading it would take for ever, or all memory.
    fs::File::create(&path).unwrap().set_len(3 << 40).unwrap();
    let says = format!("{} has {} bytes; at most 5 are read", path.display(), 3_u64 << 40);
    let refused = |error: FileError| assert_eq!(error.to_string(), says);
    refused(folder.read("a", 5).unwrap_err());
    refused(warpint_files::given::read(&path, 5).unwrap_err());
    fs::write(&path, "12345").unwrap();
    assert_eq!(folder.read("a", 5).unwrap(), b"12345");
    assert!(matches!(folder.read("a", 4), Err(FileError::TooLarge { bytes: 5, most: 4, .. })));
}

#[test]
fn a_path_is_not_a_name() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path().join("d"));
    folder.make().unwrap();
    fs::write(root.path().join("beside"), "1").unwrap();
    let absolute = root.path().join("beside");
    for name in ["../beside", "", ".", "..", "a/b", absolute.to_str().unwrap()] {
        let invalid = ErrorKind::InvalidInput;
        assert_eq!(folder.read(name, 9).unwrap_err().io_kind(), invalid, "{name}");
        assert_eq!(folder.replace(name, &[]).unwrap_err().io_kind(), invalid, "{name}");
        assert_eq!(folder.append(name, b"").unwrap_err().io_kind(), invalid, "{name}");
        assert_eq!(folder.try_lock(name).unwrap_err().io_kind(), invalid, "{name}");
        assert_eq!(folder.rename("a", name).unwrap_err().io_kind(), invalid, "{name}");
        assert_eq!(folder.remove(name).unwrap_err().io_kind(), invalid, "{name}");
        assert_eq!(folder.inside(name).list().unwrap_err().io_kind(), invalid, "{name}");
    }
    assert!(absolute.exists());
}
