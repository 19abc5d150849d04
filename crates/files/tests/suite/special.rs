//! Tests that objects other than regular files are refused without being followed or waited for.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use warpint_files::{FileError, Folder, given};

const KINDS: [(&str, &str); 6] = [
    ("link", "a symbolic link"),
    ("dangling", "a symbolic link"),
    ("endless", "a symbolic link"),
    ("folder", "a directory"),
    ("fifo", "a FIFO"),
    ("socket", "a socket"),
];

/// Creates a directory `d` with one object of each of the [`KINDS`]. The target of `link` is a file
/// outside this directory.
fn zoo(root: &Path) -> Folder {
    let at = |name: &str| root.join("d").join(name);
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("outside"), "untouched").unwrap();
    symlink("../outside", at("link")).unwrap();
    symlink("nothing", at("dangling")).unwrap();
    symlink("/dev/zero", at("endless")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    drop(UnixListener::bind(at("socket")).unwrap());
    Folder::at(root.join("d"))
}

fn is_refused<T>(result: Result<T, FileError>, name: &str, expected: &str) {
    match result {
        Err(FileError::NotAFile { path, what }) => {
            assert_eq!(what, expected, "{name}");
            assert!(path.ends_with(name));
        }
        Err(other) => panic!("{name}: {other}"),
        Ok(_) => panic!("{name} was opened"),
    }
}

#[test]
fn nothing_but_a_regular_file_is_opened() {
    let root = tempfile::tempdir().unwrap();
    let folder = zoo(root.path());
    for (name, what) in KINDS {
        is_refused(folder.read(name, 100), name, what);
        is_refused(folder.open(name), name, what);
        is_refused(folder.open_to_change(name), name, what);
        is_refused(folder.append(name, b"x"), name, what);
        is_refused(folder.append_unsynced(name, b"x"), name, what);
        is_refused(folder.try_lock(name), name, what);
        is_refused(folder.lock(name, std::time::Duration::MAX, &|| false), name, what);
        is_refused(folder.size(name), name, what);
        assert!(folder.has(name) && !folder.is_locked(name));
        assert_eq!(folder.create_new(name).unwrap_err().io_kind(), ErrorKind::AlreadyExists);
    }
    assert!(!folder.has("nothing"));
    assert_eq!(fs::read(root.path().join("outside")).unwrap(), b"untouched");
    let error = folder.read("fifo", 9).unwrap_err();
    let path = folder.file("fifo");
    assert_eq!(error.to_string(), format!("{} is a FIFO, not a regular file", path.display()));
    assert_eq!(std::io::Error::from(error).to_string(), "it is a FIFO, not a regular file");
}

#[test]
fn what_is_in_the_way_of_a_new_file_is_replaced_and_not_written_to() {
    let root = tempfile::tempdir().unwrap();
    let folder = zoo(root.path());
    for (name, _) in KINDS.iter().filter(|(name, _)| *name != "folder") {
        let mut new = folder.begin(name).unwrap();
        new.write(b"new").unwrap();
        assert_eq!(new.finish_new().unwrap_err().io_kind(), ErrorKind::AlreadyExists, "{name}");
        folder.replace(name, &[b"new"]).unwrap();
        assert_eq!(folder.read(name, 3).unwrap(), b"new");
    }
    assert!(folder.replace("folder", &[b"new"]).is_err());
    assert_eq!(fs::read(root.path().join("outside")).unwrap(), b"untouched");
    assert_eq!(folder.list().unwrap().len(), KINDS.len());
}

#[test]
fn removing_and_renaming_act_on_the_link() {
    let root = tempfile::tempdir().unwrap();
    let folder = zoo(root.path());
    folder.rename("link", "link.bad").unwrap();
    assert!(folder.file("link.bad").is_symlink());
    fs::write(folder.file("a"), "new").unwrap();
    folder.rename("a", "link.bad").unwrap();
    assert!(!folder.file("link.bad").is_symlink());
    folder.remove("endless").unwrap();
    assert!(folder.remove("folder").is_err());
    assert_eq!(fs::read(root.path().join("outside")).unwrap(), b"untouched");
}

#[test]
fn a_directory_inside_must_not_be_a_link_but_the_outermost_may() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("disk/M7")).unwrap();
    fs::create_dir(at("elsewhere")).unwrap();
    fs::write(at("elsewhere/x"), "untouched").unwrap();
    symlink("disk", at("work")).unwrap();
    symlink("../elsewhere", at("disk/M9")).unwrap();
    symlink("nowhere", at("disk/M8")).unwrap();
    fs::write(at("disk/M5"), "").unwrap();
    let work = Folder::at(at("work"));
    work.inside("M7").replace("x", &[b"new"]).unwrap();
    assert_eq!(fs::read(at("disk/M7/x")).unwrap(), b"new");
    for (name, what) in [("M9", "a symbolic link"), ("M8", "a symbolic link"), ("M5", "a file")] {
        let inner = work.inside(name);
        let inside = inner.inside("proof");
        let errors = [
            inner.make().unwrap_err(),
            inner.read("x", 9).unwrap_err(),
            inner.replace("x", &[b"new"]).unwrap_err(),
            inner.append("x", b"new").unwrap_err(),
            inner.list().unwrap_err(),
            inner.try_lock("x").unwrap_err(),
            inside.make().unwrap_err(),
            inside.replace("x", &[b"new"]).unwrap_err(),
        ];
        for error in errors {
            let says = format!("{} is {what}, not a directory", at("work").join(name).display());
            assert_eq!(error.to_string(), says);
        }
    }
    let is_a_file = Folder::at(at("disk/M5")).list().unwrap_err();
    assert!(matches!(is_a_file, FileError::NotAFolder { what: "a file", .. }), "{is_a_file}");
    assert_eq!(fs::read(at("elsewhere/x")).unwrap(), b"untouched");
    assert_eq!(fs::read_dir(at("elsewhere")).unwrap().count(), 1);
}

#[test]
fn a_file_that_the_user_names_may_be_a_link_to_a_regular_file() {
    let root = tempfile::tempdir().unwrap();
    let folder = zoo(root.path());
    assert_eq!(given::read(&folder.file("link"), 9).unwrap(), b"untouched");
    let whats = ["a character device", "a directory", "a FIFO", "a socket"];
    for (name, what) in ["endless", "folder", "fifo", "socket"].into_iter().zip(whats) {
        is_refused(given::read(&folder.file(name), 9), name, what);
        if name != "endless" {
            is_refused(given::open_to_append(&folder.file(name)), name, what);
        }
    }
    assert!(given::read(&folder.file("dangling"), 9).unwrap_err().is_missing());
    use std::io::Write;
    given::open_to_append(Path::new("/dev/null")).unwrap().write_all(b"x").unwrap();
    given::open_to_append(&folder.file("link")).unwrap().write_all(b" now").unwrap();
    assert_eq!(fs::read(root.path().join("outside")).unwrap(), b"untouched now");
}

#[test]
fn new_files_have_the_permissions_that_the_mask_leaves() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::at(root.path());
    fs::write(root.path().join("usual"), "").unwrap();
    folder.replace("a", &[b"1"]).unwrap();
    folder.append("b", b"1").unwrap();
    drop(folder.try_lock("c").unwrap());
    let mode = |name: &str| fs::metadata(folder.file(name)).unwrap().permissions().mode();
    for name in ["a", "b", "c"] {
        assert_eq!(mode(name), mode("usual"), "{name}");
    }
}
