//! The lines of the lists of a directory that no worker of this program does.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use warpint_gimps::WorkFile;

use super::entry::{Entry, entries};
use super::overview::numbers;

/// The number of characters of a line that are kept.
const LONGEST: usize = 200;

/// A line of a list that no worker of this program does, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnclearLine {
    /// The path of the list.
    pub file: String,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The beginning of the line. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The reason why the line is not done.
    pub reason: String,
    /// Whether only other programs can do the line. Otherwise it has no meaning.
    pub foreign: bool,
}

impl UnclearLine {
    /// Returns the first `most` such lines of `worktodo.txt` and of the lists `worktodo-N.txt`, in this
    /// order. Lists that cannot be read are left out. Changes no file.
    #[must_use]
    pub fn all(dir: &Path, most: usize) -> Vec<Self> {
        let own = numbers(dir).unwrap_or_default().into_iter();
        let own = own.map(|worker| WorkFile::of_worker(dir, worker, Duration::ZERO));
        let lists = std::iter::once(WorkFile::new(dir, Duration::ZERO)).chain(own);
        lists.flat_map(|list| Self::of(&list, most)).take(most).collect()
    }

    fn of(list: &WorkFile, most: usize) -> Vec<Self> {
        let Ok(lines) = list.read() else { return vec![] };
        let file = list.path().display().to_string();
        let unclear = lines.iter().zip(entries(&lines)).filter_map(|(line, entry)| {
            let (reason, foreign) = match entry {
                Entry::Foreign(reason) => (reason, true),
                Entry::Malformed(reason) => (reason, false),
                Entry::BelowMalformed => ("the header above it has no meaning".into(), false),
                Entry::Nothing | Entry::Assignment(_) | Entry::Candidate(_) => return None,
            };
            let text = String::from_utf8_lossy(&line.bytes).chars().take(LONGEST).collect();
            Some(Self { file: file.clone(), line: line.number, text, reason, foreign })
        });
        unclear.take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_that_are_not_done_are_named_with_their_places() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
        write("worktodo.txt", b"# a comment\nPRP=127\nnonsense\nPminus1=1,2,127,-1,1000,0\n");
        write("worktodo-3.txt", b"3*2^189+1\n\xffx\n");
        fs::create_dir(dir.path().join("worktodo-4.txt")).unwrap();
        let all = UnclearLine::all(dir.path(), 10);
        let said: Vec<_> = all.iter().map(|l| (l.line, l.text.as_str(), l.foreign)).collect();
        assert_eq!(
            said,
            [
                (3, "nonsense", false),
                (4, "Pminus1=1,2,127,-1,1000,0", true),
                (2, "\u{fffd}x", false)
            ]
        );
        assert!(all.iter().all(|line| !line.reason.is_empty()));
        assert!(all[2].file.ends_with("worktodo-3.txt"));
        assert_eq!(UnclearLine::all(dir.path(), 1), all[..1]);
    }
}
