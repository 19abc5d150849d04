//! Tests that changes of `worktodo.txt` change only the intended lines and preserve every other
//! byte.

use std::fs;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use warpint_gimps::{Line, WorkFile, WorkFileError};

const SOON: Duration = Duration::from_millis(50);
const IN_TIME: Duration = Duration::from_secs(60);

fn at(dir: &Path) -> WorkFile {
    WorkFile::new(dir, IN_TIME)
}

#[cfg(test)]
fn written(dir: &Path, bytes: impl AsRef<[u8]>) -> WorkFile {
    fs::write(dir.join("worktodo.txt"), bytes).unwrap();
    at(dir)
}

#[cfg(test)]
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn lines_have_numbers_and_a_missing_file_has_none() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(at(dir.path()).read().unwrap(), []);
    let file = written(dir.path(), "# mine\r\n\nTest=7\r\nnonsense\nTest=9689");
    let lines = file.read().unwrap();
    let found: Vec<_> = lines.iter().map(|l| (l.number, l.bytes.as_slice())).collect();
    let expected: [(usize, &[u8]); 5] =
        [(1, b"# mine"), (2, b""), (3, b"Test=7"), (4, b"nonsense"), (5, b"Test=9689")];
    assert_eq!(found, expected);
    assert!(matches!(lines[0].line, Line::Comment));
    assert!(matches!(lines[2].line, Line::Work(_)));
    assert!(matches!(lines[3].line, Line::Malformed(_)));
}

#[test]
fn a_worker_has_a_list_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("worktodo.txt"), "Test=7\n").unwrap();
    fs::write(dir.path().join("worktodo-3.add"), "Test=9689\n").unwrap();
    let mut own = WorkFile::of_worker(dir.path(), 3, IN_TIME);
    assert_eq!(own.read().unwrap(), []);
    assert_eq!(own.merge_added().unwrap(), 1);
    own.append(&[b"Test=61"]).unwrap();
    assert!(own.remove_line(b"Test=9689").unwrap());
    let text = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(
        (text("worktodo-3.txt").as_str(), text("worktodo.txt").as_str()),
        ("Test=61\n", "Test=7\n")
    );
    assert_eq!(names(dir.path()), ["worktodo-3.txt", "worktodo.txt"]);
}

#[test]
fn the_first_of_equal_lines_goes_and_the_rest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = written(dir.path(), "a\r\nTest=7\n\u{ff}\nTest=7\r\nTest=77\nTest=7");
    let now = || fs::read_to_string(dir.path().join("worktodo.txt")).unwrap();
    assert!(file.remove_line(b"Test=7").unwrap());
    assert_eq!(now(), "a\r\n\u{ff}\nTest=7\r\nTest=77\nTest=7");
    assert!(file.remove_line(b"Test=7").unwrap());
    assert_eq!(now(), "a\r\n\u{ff}\nTest=77\nTest=7");
    assert!(file.remove_line(b"Test=7").unwrap());
    assert_eq!(now(), "a\r\n\u{ff}\nTest=77\n");
    assert!(!file.remove_line(b"Test=7").unwrap());
    assert!(file.remove_line(b"a").unwrap());
    assert!(file.remove_line("\u{ff}".as_bytes()).unwrap());
    assert!(file.remove_line(b"Test=77").unwrap());
    assert_eq!(now(), "");
    assert_eq!(names(dir.path()), ["worktodo.txt"]);
}

#[test]
fn appended_lines_have_the_endings_of_the_file() {
    for (old, new) in [
        ("", "x\ny\n"),
        ("a", "a\nx\ny\n"),
        ("a\n", "a\nx\ny\n"),
        ("a\r\n", "a\r\nx\r\ny\r\n"),
        ("a\r\nb", "a\r\nb\r\nx\r\ny\r\n"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), old).append(&[b"x", b"y"]).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("worktodo.txt")).unwrap(), new);
    }
    let dir = tempfile::tempdir().unwrap();
    at(dir.path()).append(&[]).unwrap();
    assert!(names(dir.path()).is_empty());
    at(dir.path()).append(&[b"x"]).unwrap();
    assert_eq!(names(dir.path()), ["worktodo.txt"]);
}

#[test]
fn additions_move_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = written(dir.path(), "Test=7\n");
    assert_eq!(file.merge_added().unwrap(), 0);
    fs::write(dir.path().join("worktodo.add"), "Test=7\r\n\r\nTest=9689").unwrap();
    assert_eq!(file.merge_added().unwrap(), 2);
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "Test=7\nTest=7\nTest=9689\n");
    assert_eq!(names(dir.path()), ["worktodo.txt"]);
}

#[test]
fn a_merge_that_was_killed_is_ended_and_adds_nothing_twice() {
    for (old, new) in [
        // Before the additions were appended, and after.
        ("a\n", "a\nx\ny\n"),
        ("a\nx\ny\n", "a\nx\ny\n"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut file = written(dir.path(), old);
        fs::write(dir.path().join("worktodo.add.taken"), "x\ny\n").unwrap();
        fs::write(dir.path().join("worktodo.txt.new"), "half a fi").unwrap();
        file.merge_added().unwrap();
        assert_eq!(fs::read_to_string(file.path()).unwrap(), new);
        assert!(!dir.path().join("worktodo.add.taken").exists());
    }
    // Later additions follow.
    let dir = tempfile::tempdir().unwrap();
    let mut file = written(dir.path(), "a\n");
    fs::write(dir.path().join("worktodo.add.taken"), "x\n").unwrap();
    fs::write(dir.path().join("worktodo.add"), "x\n").unwrap();
    assert_eq!(file.merge_added().unwrap(), 2);
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "a\nx\nx\n");
}

#[test]
fn a_request_to_stop_ends_the_wait_for_a_lock() {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), "a\n");
    fs::write(dir.path().join("worktodo.txt.lck"), "").unwrap();
    let mut file = WorkFile::new(dir.path(), Duration::MAX).stopped_by(|| true);
    let error = file.remove_line(b"a").unwrap_err().to_string();
    assert!(error.starts_with("stopped while waiting for the lock "), "{error}");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "a\n");
}

#[test]
fn another_programs_lock_is_waited_for_and_named() {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), "a\n");
    fs::write(dir.path().join("worktodo.txt.lck"), "").unwrap();
    let mut file = WorkFile::new(dir.path(), SOON);
    let error = file.remove_line(b"a").unwrap_err();
    assert!(matches!(error, WorkFileError::Lock(_)));
    assert!(error.to_string().contains("worktodo.txt.lck"), "{error}");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "a\n");
}

#[cfg(unix)]
#[test]
fn a_killed_process_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = written(dir.path(), "a\n");
    fs::write(dir.path().join("worktodo.txt.lck"), format!("warpint {:>10}\n", 999_999_999))
        .unwrap();
    file.remove_line(b"a").unwrap();
    let [notice] = &file.take_notices()[..] else { panic!() };
    assert!(notice.contains("worktodo.txt.lck of process 999999999"), "{notice}");
    assert!(file.take_notices().is_empty());
}

#[test]
fn what_is_no_list_of_assignments_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("worktodo.txt")).unwrap();
    let error = at(dir.path()).read().unwrap_err();
    assert!(error.to_string().contains("worktodo.txt is a directory, not a file"), "{error}");
    fs::remove_dir(dir.path().join("worktodo.txt")).unwrap();
    let large = fs::File::create(dir.path().join("worktodo.txt")).unwrap();
    large.set_len(16 << 20).unwrap();
    assert_eq!(at(dir.path()).read().unwrap().len(), 1);
    large.set_len((16 << 20) + 1).unwrap();
    let error = at(dir.path()).append(&[b"x"]).unwrap_err();
    assert!(error.to_string().contains("has 16777217 bytes"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_link_is_refused_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("elsewhere.txt");
    fs::write(&target, "a\nb\n").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let list = dir.path().join("worktodo.txt");
    symlink("elsewhere.txt", &list).unwrap();
    let error = at(dir.path()).remove_line(b"a").unwrap_err().to_string();
    assert!(
        error.ends_with("worktodo.txt is a symbolic link, not a file: move it away"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&target).unwrap(), "a\nb\n");
    fs::rename(&target, &list).unwrap();
    assert!(at(dir.path()).remove_line(b"a").unwrap());
    assert_eq!(fs::read_to_string(&list).unwrap(), "b\n");
    assert_eq!(fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o640);
    // Additions by a link or by a FIFO are not changed.
    let added = dir.path().join("worktodo.add");
    symlink("worktodo.txt", &added).unwrap();
    let error = at(dir.path()).merge_added().unwrap_err().to_string();
    assert!(error.contains("worktodo.add is a symbolic link"), "{error}");
    fs::remove_file(&added).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&added).status().unwrap().success());
    let error = at(dir.path()).merge_added().unwrap_err().to_string();
    assert!(error.contains("worktodo.add is a FIFO"), "{error}");
    assert_eq!(fs::read_to_string(&list).unwrap(), "b\n");
}

#[test]
fn two_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..30).map(|i| format!("Test={}", 1000 + i)).collect();
    written(dir.path(), lines.join("\n"));
    std::thread::scope(|scope| {
        let (dir, lines) = (dir.path(), &lines);
        scope.spawn(move || {
            for line in lines {
                assert!(at(dir).remove_line(line.as_bytes()).unwrap());
            }
        });
        scope.spawn(move || {
            for i in 0..30 {
                at(dir).append(&[format!("Test={}", 2000 + i).as_bytes()]).unwrap();
            }
        });
    });
    let left = at(dir.path()).read().unwrap();
    let expected: Vec<Vec<u8>> = (0..30).map(|i| format!("Test={}", 2000 + i).into()).collect();
    assert_eq!(left.into_iter().map(|l| l.bytes).collect::<Vec<_>>(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn removing_takes_one_line_of_any_file(
        lines in proptest::collection::vec(("[ab\u{e9}]{0,3}", "\n|\r\n"), 1..8),
        unended: bool, pick: prop::sample::Index,
    ) {
        let mut pieces: Vec<String> = lines.iter().map(|(text, end)| format!("{text}{end}")).collect();
        let wanted = lines[pick.index(lines.len())].0.clone();
        if unended {
            pieces.last_mut().unwrap().truncate(lines.last().unwrap().0.len());
        }
        let dir = tempfile::tempdir().unwrap();
        let text = pieces.concat();
        let removed = written(dir.path(), &text).remove_line(wanted.as_bytes()).unwrap();
        let now = fs::read_to_string(dir.path().join("worktodo.txt")).unwrap();
        // An empty last line without an ending is no line.
        let first = lines.iter().position(|(text, _)| *text == wanted).unwrap();
        let gone = pieces[first].clone();
        prop_assert_eq!(removed, !gone.is_empty());
        pieces.remove(first);
        prop_assert_eq!(now, pieces.concat());
    }
}

#[test]
fn a_chosen_line_is_removed_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = written(dir.path(), "a\r\nb\na\r\nc");
    let mut seen = vec![];
    let removed = file.remove_chosen(|lines| {
        seen = lines.iter().map(|line| line.bytes.clone()).collect();
        lines.iter().rposition(|line| line.bytes == b"a")
    });
    assert!(removed.unwrap());
    assert_eq!(seen, [b"a", b"b", b"a", b"c"]);
    let text = || fs::read_to_string(dir.path().join("worktodo.txt")).unwrap();
    assert_eq!(text(), "a\r\nb\nc");
    assert!(!file.remove_chosen(|_| None).unwrap());
    assert!(!file.remove_chosen(|lines| Some(lines.len())).unwrap());
    assert!(file.remove_chosen(|lines| Some(lines.len() - 1)).unwrap());
    assert_eq!(text(), "a\r\nb\n");
}

#[test]
fn additions_that_would_change_their_meaning_stay() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = written(dir.path(), "Test=7\n");
    let added = dir.path().join("worktodo.add");
    fs::write(&added, "Test=61\n3 189\n").unwrap();
    let error = file.merge_added_unless(|line| line == b"3 189").unwrap_err();
    assert!(matches!(error, WorkFileError::Stays { line: 2, .. }), "{error}");
    assert!(error.to_string().contains("the meaning of line 2 of "), "{error}");
    assert_eq!(fs::read_to_string(&added).unwrap(), "Test=61\n3 189\n");
    assert_eq!(names(dir.path()), ["worktodo.add", "worktodo.txt"]);
    assert_eq!(file.merge_added_unless(|_| false).unwrap(), 2);
    assert_eq!(names(dir.path()), ["worktodo.txt"]);
}
