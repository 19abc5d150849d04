//! `warpint.log`: the actions of a worker with their times, one per line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpint_files::{FileError, Folder};
use warpint_gimps as gimps;

use crate::observer::{Observer, RunEvent};
use crate::warning::Warning;

/// The size in bytes at which a new file is started: 1 MB.
const LONGEST: u64 = 1_000_000;
/// The number of older files that are kept, from `warpint.log.1`, the newest, to `warpint.log.3`.
pub(super) const OLDER: u32 = 3;

/// The log of a worker. Its lines are `YYYY-MM-DD HH:MM:SS <where>: <action>`, with times in UTC.
/// `<where>` is the device and number of the test, such as `cuda:0 M216091`, or the worker, such as
/// `worker 0`, if no test is in progress.
///
/// If the log cannot be written, a warning is sent to the observer. The warning is sent again only
/// if writing has succeeded in the meantime.
pub(crate) struct Log {
    path: PathBuf,
    failing: bool,
    observer: Arc<dyn Observer>,
}

impl Log {
    pub(crate) fn new(dir: &Path, worker: Option<u32>, observer: Arc<dyn Observer>) -> Self {
        let path = super::numbered(dir, "warpint", worker, "log");
        Self { path, failing: false, observer }
    }

    pub(crate) fn line(&mut self, place: &str, what: &str) {
        let what = what.replace(['\n', '\r'], " ");
        let line = format!("{} {place}: {what}\n", gimps::utc_now());
        match self.append(&line) {
            Ok(()) => self.failing = false,
            Err(e) if !self.failing => {
                self.failing = true;
                let (path, reason) = (self.path.clone(), e.in_message_of(&self.path).to_string());
                self.observer.event(&RunEvent::Warning(&Warning::NoLog { path, reason }));
            }
            Err(_) => {}
        }
    }

    fn append(&self, line: &str) -> Result<(), FileError> {
        let (folder, name) = Folder::of(&self.path)?;
        let older = |n: u32| format!("{}.{n}", name.to_string_lossy());
        if folder.size(name)?.unwrap_or(0) + line.len() as u64 > LONGEST {
            for n in (1..OLDER).rev() {
                match folder.rename(older(n), older(n + 1)) {
                    Err(e) if !e.is_missing() => return Err(e),
                    _ => {}
                }
            }
            folder.rename(name, older(1))?;
        }
        // The lines need not be synced: a power cut may lose the last ones.
        folder.append_unsynced(name, line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::observer::Unobserved;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn lines_have_a_time_and_a_place_and_are_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::new(dir.path(), Some(2), Arc::new(Unobserved));
        log.line("cpu M7", "a\nb");
        log.line("cpu M7", "c");
        let text = fs::read_to_string(dir.path().join("warpint-2.log")).unwrap();
        let lines: Vec<_> = text.lines().map(|l| l.split_at(19).1).collect();
        assert_eq!(lines, [" cpu M7: a b", " cpu M7: c"]);
    }

    #[test]
    fn a_long_log_makes_way_and_three_older_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::new(dir.path(), None, Arc::new(Unobserved));
        let long = "x".repeat(600_000);
        for n in 0..6 {
            log.line("cpu M7", &format!("{n}{long}"));
        }
        assert_eq!(
            names(dir.path()),
            ["warpint.log", "warpint.log.1", "warpint.log.2", "warpint.log.3"]
        );
        let begins = |name: &str| {
            let text = fs::read_to_string(dir.path().join(name)).unwrap();
            text.split(": ").nth(1).unwrap()[..1].to_owned()
        };
        let found = ["warpint.log", "warpint.log.1", "warpint.log.2", "warpint.log.3"].map(begins);
        assert_eq!(found, ["5", "4", "3", "2"]);
    }

    #[test]
    fn a_log_that_cannot_be_written_stops_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("warpint.log")).unwrap();
        let mut log = Log::new(dir.path(), None, Arc::new(Unobserved));
        log.line("cpu M7", "a");
        assert!(log.failing);
        fs::remove_dir(dir.path().join("warpint.log")).unwrap();
        log.line("cpu M7", "b");
        assert!(!log.failing);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_fifo_in_place_of_a_log_is_neither_written_to_nor_waited_for() {
        for what in ["link", "fifo"] {
            let dir = tempfile::tempdir().unwrap();
            let (log, outside) = (dir.path().join("warpint.log"), dir.path().join("outside"));
            fs::write(&outside, "untouched").unwrap();
            if what == "link" {
                std::os::unix::fs::symlink("outside", &log).unwrap();
            } else {
                let made = std::process::Command::new("mkfifo").arg(&log).status();
                assert!(made.unwrap().success());
            }
            let mut log = log_of(dir.path());
            log.line("cpu M7", "a");
            assert!(log.failing);
            assert_eq!(fs::read(&outside).unwrap(), b"untouched");
        }
    }

    fn log_of(dir: &Path) -> Log {
        Log::new(dir, None, Arc::new(Unobserved))
    }
}
