//! `warpint.log`: what a worker did and when, a line each.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use warpint::gimps;

use crate::report::notice;

/// A file this long makes way for a new one: 1 MB.
const LONGEST: u64 = 1_000_000;
/// Older files that are kept: `warpint.log.1` (the newest) … `.3`.
const OLDER: u32 = 3;

/// `YYYY-MM-DD HH:MM:SS <where>: <what>`, in UTC. A log that cannot be written
/// is told of once, and again after it could be.
pub(crate) struct Log {
    path: PathBuf,
    failing: bool,
}

impl Log {
    pub(crate) fn new(dir: &Path, worker: Option<u32>) -> Self {
        Self { path: super::numbered(dir, "warpint", worker, "log"), failing: false }
    }

    pub(crate) fn line(&mut self, place: &str, what: &str) {
        let what = what.replace(['\n', '\r'], " ");
        let line = format!("{} {place}: {what}\n", gimps::utc_now());
        match self.append(&line) {
            Ok(()) => self.failing = false,
            Err(e) if !self.failing => {
                self.failing = true;
                notice(&format!(
                    "warning: cannot write {}: {e}; the work goes on without a log",
                    self.path.display()
                ));
            }
            Err(_) => {}
        }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let file = self.open()?;
        let file = if file.metadata()?.len() + line.len() as u64 > LONGEST {
            self.make_way()?;
            self.open()?
        } else {
            file
        };
        (&file).write_all(line.as_bytes())
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().append(true).create(true).open(&self.path)
    }

    fn make_way(&self) -> io::Result<()> {
        for n in (1..OLDER).rev() {
            match fs::rename(self.older(n), self.older(n + 1)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        fs::rename(&self.path, self.older(1))
    }

    fn older(&self, n: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{n}"));
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut log = Log::new(dir.path(), Some(2));
        log.line("cpu M7", "a\nb");
        log.line("cpu M7", "c");
        let text = fs::read_to_string(dir.path().join("warpint-2.log")).unwrap();
        let lines: Vec<_> = text.lines().map(|l| l.split_at(19).1).collect();
        assert_eq!(lines, [" cpu M7: a b", " cpu M7: c"]);
    }

    #[test]
    fn a_long_log_makes_way_and_three_older_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::new(dir.path(), None);
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
        let mut log = Log::new(dir.path(), None);
        log.line("cpu M7", "a");
        assert!(log.failing);
        fs::remove_dir(dir.path().join("warpint.log")).unwrap();
        log.line("cpu M7", "b");
        assert!(!log.failing);
    }
}
