//! Tests of locks that are held, of locks left by killed processes, and of locks of other programs.

use super::*;

fn take(file: &Path, patience: Duration) -> Result<LockFile, LockError> {
    LockFile::take(file, patience, &|| false)
}

const SOON: Duration = Duration::from_millis(60);

#[test]
fn one_at_a_time_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("worktodo.txt");
    let first = take(&file, SOON).unwrap();
    let error = take(&file, SOON).unwrap_err().to_string();
    let id = std::process::id();
    assert!(error.contains("worktodo.txt is locked by process"), "{error}");
    assert!(error.contains(&format!("process {id} (")), "{error}");
    assert!(error.contains("worktodo.txt.lck"), "{error}");
    drop(first);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(take(&file, SOON).unwrap().taken_over(), None);
}

#[cfg(unix)]
#[test]
fn what_a_killed_process_left_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("worktodo.txt");
    let lock = dir.path().join("worktodo.txt.lck");
    fs::write(&lock, format!("{OWN}{:>10}\n", 999_999_999)).unwrap();
    let taken = take(&file, SOON).unwrap();
    assert_eq!(taken.taken_over(), Some(999_999_999));
    assert!(take(&file, SOON).is_err());
    assert_eq!(fs::metadata(&lock).unwrap().len(), 19);
    drop(taken);
    assert!(!lock.exists());
}

#[test]
fn the_lock_of_another_program_stays() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("worktodo.txt");
    let lock = dir.path().join("worktodo.txt.lck");
    fs::write(&lock, "").unwrap();
    let error = take(&file, SOON).unwrap_err().to_string();
    assert!(error.contains("locked by another program"), "{error}");
    assert!(error.contains("remove the lock"), "{error}");
    assert!(lock.exists());
    // The call waits for it.
    let other = std::thread::spawn(move || {
        std::thread::sleep(SOON);
        fs::remove_file(lock).unwrap();
    });
    take(&file, Duration::from_secs(20)).unwrap();
    other.join().unwrap();
}

#[test]
fn a_lock_that_a_person_removed_is_not_taken_from_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("worktodo.txt");
    let first = take(&file, SOON).unwrap();
    fs::remove_file(first.path()).unwrap();
    let second = take(&file, SOON).unwrap();
    drop(first);
    assert!(second.path().exists());
}

fn names(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_lock_has_its_id_at_every_instant() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("worktodo.txt");
    let lock = dir.path().join("worktodo.txt.lck");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3_000 {
                drop(take(&file, SOON).unwrap());
            }
            done.store(true, Ordering::Relaxed);
        });
        let mut seen = 0;
        while !done.load(Ordering::Relaxed) {
            if let Ok(text) = fs::read(&lock) {
                assert_eq!(text.len(), 19, "{text:?}");
                seen += 1;
            }
        }
        assert!(seen > 0);
    });
    assert!(names(dir.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn private_names_of_killed_processes_are_removed_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let file = at("worktodo.txt");
    // Killed before it had an id, before it was linked, and right after that.
    fs::write(at("worktodo.txt.lck.999999999-0"), "").unwrap();
    fs::write(at("worktodo.txt.lck.999999998-7"), format!("{OWN}{:>10}\n", 999_999_998)).unwrap();
    fs::write(at("worktodo.txt.lck"), format!("{OWN}{:>10}\n", 999_999_997)).unwrap();
    fs::hard_link(at("worktodo.txt.lck"), at("worktodo.txt.lck.999999997-3")).unwrap();
    // A live process is about to link its file.
    let alive = fs::File::create(at("worktodo.txt.lck.999999996-0")).unwrap();
    alive.try_lock().unwrap();
    let others = [
        "worktodo.add.lck.1-1",
        "worktodo.txt.lck.bak",
        "worktodo.txt.lck.1-",
        "worktodo.txt.lck.1-x",
    ];
    for name in others {
        fs::write(at(name), "").unwrap();
    }
    let taken = take(&file, SOON).unwrap();
    assert_eq!(taken.taken_over(), Some(999_999_997));
    let mut expected = others.to_vec();
    expected.extend(["worktodo.txt.lck", "worktodo.txt.lck.999999996-0"]);
    expected.sort_unstable();
    assert_eq!(names(dir.path()), expected);
    drop((taken, alive));
    // Acquiring a free lock clears away too.
    let taken = take(&file, SOON).unwrap();
    assert_eq!(taken.taken_over(), None);
    expected.retain(|name| !name.ends_with("-0"));
    assert_eq!(names(dir.path()), expected);
}

#[test]
fn without_links_the_file_itself_is_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let lock = dir.path().join("worktodo.txt.lck");
    let place = Place::of(&dir.path().join("worktodo.txt")).unwrap();
    let file = make_at_once(&place).unwrap();
    assert_eq!(make_at_once(&place).unwrap_err().io_kind(), io::ErrorKind::AlreadyExists);
    assert!(make_linked(&place).unwrap().is_err() && names(dir.path()).len() == 1);
    assert_eq!(own_id(&fs::File::open(lock).unwrap()), Some(std::process::id()));
    drop(file);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_a_lock_too_and_is_not_opened() {
    for what in ["fifo", "link", "endless"] {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("worktodo.txt.lck");
        let outside = format!("{OWN}{:>10}\n", 999_999_999);
        fs::write(dir.path().join("outside"), &outside).unwrap();
        match what {
            "fifo" => {
                assert!(
                    std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success()
                );
            }
            // If the link were followed, it would be the lock of a dead process.
            "link" => std::os::unix::fs::symlink("outside", &lock).unwrap(),
            _ => std::os::unix::fs::symlink("/dev/zero", &lock).unwrap(),
        }
        let error = take(&dir.path().join("worktodo.txt"), SOON).unwrap_err();
        assert!(error.to_string().contains("locked by another program"), "{error}");
        assert!(fs::symlink_metadata(lock).is_ok());
        assert_eq!(fs::read_to_string(dir.path().join("outside")).unwrap(), outside);
    }
}

#[test]
fn a_request_to_stop_ends_the_wait() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("worktodo.txt.lck"), "").unwrap();
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() == 2
    };
    // Without `stop` this would wait for ever.
    let error = LockFile::take(&dir.path().join("worktodo.txt"), Duration::MAX, &stop).unwrap_err();
    assert!(matches!(error, LockError::Stopped { .. }) && asked.get() == 2);
    assert!(error.to_string().ends_with("worktodo.txt.lck"), "{error}");
}

#[test]
fn two_files_have_two_locks() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for name in ["worktodo.txt", "worktodo.add"] {
            let file = dir.path().join(name);
            scope.spawn(move || {
                for _ in 0..200 {
                    take(&file, Duration::from_secs(60)).unwrap();
                }
            });
        }
    });
    assert!(names(dir.path()).is_empty());
}

#[test]
fn many_threads_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("count");
    fs::write(&file, "0").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let _lock = take(&file, Duration::from_secs(60)).unwrap();
                    let n: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
                    fs::write(&file, (n + 1).to_string()).unwrap();
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(&file).unwrap(), "100");
}
