//! The finished tests of a directory, from all files that record them.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use warpint_files::{FileError, Folder};

pub use crate::report::{Finding, FinishedTest};
use crate::stored;

/// The number of tests that are kept with all their values. Those finished last are kept.
pub const MOST_TESTS: usize = 2_000;
/// The length in bytes of the longest line that is read. Longer lines count as foreign.
const LONGEST_LINE: u64 = 64 << 10;
/// The number of folders of tests whose stored results are read.
const MOST_FOLDERS: usize = 20_000;
/// The largest number of bytes of a stored result.
const MOST_BYTES: u64 = 1 << 20;
/// The seconds of an hour, the unit in which tests are counted.
pub const HOUR: i64 = 3_600;

/// The finished tests of a directory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The tests that were finished last, at most [`MOST_TESTS`], in the order of their times.
    pub tests: Vec<FinishedTest>,
    /// All tests with primes and probable primes, in the order of their times, at most
    /// [`MOST_TESTS`].
    pub primes: Vec<FinishedTest>,
    /// The number of all finished tests.
    pub count: u64,
    /// The number of tests that were finished in each hour: the hour that begins at k·3,600 s after
    /// 1970-01-01 00:00:00 UTC has the key k.
    pub by_hour: BTreeMap<i64, u64>,
    /// The time of the first and of the last result, in seconds since 1970-01-01 00:00:00 UTC.
    pub span: Option<(i64, i64)>,
    /// A line of text for each file that cannot be read, or that has lines of another form.
    pub unreadable: Vec<String>,
}

impl History {
    /// Reads `results.txt`, `results-N.txt`, `candidates.jsonl` and `candidates-N.jsonl`, and the stored
    /// results of the tests in the folders `M<p>` and `k_b_n±1`. A test that several files record is
    /// counted once. Changes no file.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    pub fn of(dir: &Path) -> Result<Self, FileError> {
        let mut found = Self::default();
        let folder = Folder::at(dir);
        let mut names: Vec<String> =
            folder.list()?.into_iter().filter_map(|entry| entry.name.into_string().ok()).collect();
        names.sort();
        // Stored results have more values than the lines of results files.
        let mut stored = found.stored(&folder, names.iter().filter(|name| is_of_test(name)));
        for name in &names {
            if is_numbered(name, "results", ".txt") {
                found.lines(&folder, name, FinishedTest::of_result_line, &mut stored);
            } else if is_numbered(name, "candidates", ".jsonl") {
                found.lines(&folder, name, FinishedTest::of_candidate_line, &mut stored);
            }
        }
        for test in stored.into_values() {
            found.add(test);
        }
        found.keep_last();
        found.primes.sort_by_key(|test| test.time);
        found.primes.truncate(MOST_TESTS);
        Ok(found)
    }

    /// Reads the stored results of the tests in these folders.
    fn stored<'a>(
        &mut self,
        folder: &Folder,
        names: impl Iterator<Item = &'a String>,
    ) -> HashMap<Key, FinishedTest> {
        let mut found = HashMap::new();
        for (at, name) in names.enumerate() {
            if at == MOST_FOLDERS {
                let dir = folder.path().display();
                self.unreadable.push(format!(
                    "{dir}: stored results of more than {MOST_FOLDERS} tests; those from {name} on are left out"
                ));
                break;
            }
            let tests = folder.inside(name);
            // A file of this name is no folder of a test.
            let Ok(entries) = tests.list() else { continue };
            for entry in entries {
                let file = entry.name.to_string_lossy();
                if !file.ends_with("-result.json") {
                    continue;
                }
                let read = tests.read(&entry.name, MOST_BYTES).map_err(|e| e.to_string());
                match read.and_then(|bytes| stored::parse(&bytes).map_err(String::from)) {
                    Ok(report) => found.extend(report.finished().map(|test| (key(&test), test))),
                    Err(reason) => {
                        let path = tests.file(&entry.name);
                        self.unreadable.push(format!("{}: {reason}", path.display()));
                    }
                }
            }
        }
        found
    }

    /// Adds the tests of a file with one test per line. A stored result of the same test replaces the
    /// values of the line.
    fn lines(
        &mut self,
        folder: &Folder,
        name: &str,
        parse: fn(&[u8]) -> Option<FinishedTest>,
        stored: &mut HashMap<Key, FinishedTest>,
    ) {
        let path = folder.file(name);
        let mut reader = match folder.open(name) {
            Ok(file) => BufReader::new(file),
            Err(e) => return self.unreadable.push(e.to_string()),
        };
        let (mut line, mut foreign, mut begins) = (vec![], 0u64, true);
        loop {
            line.clear();
            match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(e) => {
                    self.unreadable.push(format!("{}: {e}", path.display()));
                    break;
                }
            }
            let ends = line.ends_with(b"\n") || (line.len() as u64) < LONGEST_LINE;
            let whole = begins && ends;
            let begun = std::mem::replace(&mut begins, ends);
            match whole.then(|| parse(&line)).flatten() {
                Some(test) => {
                    self.add(match stored.remove(&key(&test)) {
                        // The credit of the line may be newer.
                        Some(more) => FinishedTest {
                            user: test.user.or(more.user),
                            computer: test.computer.or(more.computer),
                            ..more
                        },
                        None => test,
                    });
                }
                None if line.trim_ascii().is_empty() => {}
                None => foreign += u64::from(begun),
            }
        }
        if foreign > 0 {
            let lines = warpint_progress::units::count(foreign, "line");
            self.unreadable.push(format!("{}: {lines} of another form", path.display()));
        }
    }

    fn add(&mut self, test: FinishedTest) {
        self.count += 1;
        if let Some(time) = test.time {
            *self.by_hour.entry(time.div_euclid(HOUR)).or_default() += 1;
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        if test.finding.is_prime() && self.primes.len() < MOST_TESTS {
            self.primes.push(test.clone());
        }
        self.tests.push(test);
        if self.tests.len() >= 2 * MOST_TESTS {
            self.keep_last();
        }
    }

    /// Keeps the tests that were finished last.
    fn keep_last(&mut self) {
        self.tests.sort_by_key(|test| test.time);
        self.tests.drain(..self.tests.len().saturating_sub(MOST_TESTS));
    }
}

/// Identifies a test among all files that record it.
type Key = (String, Option<String>, Option<i64>);

fn key(test: &FinishedTest) -> Key {
    (test.number.clone(), test.residue.clone(), test.time)
}

/// Returns whether a name is that of a folder of a test: `M<p>`, `k_b_n+1` or `k_b_n-1`.
fn is_of_test(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = name.split('_').collect();
    match parts.as_slice() {
        [one] => one.strip_prefix('M').is_some_and(digits),
        [k, b, n] => {
            let n = n.strip_suffix("+1").or_else(|| n.strip_suffix("-1"));
            digits(k) && digits(b) && n.is_some_and(digits)
        }
        _ => false,
    }
}

/// Returns whether a name is `stem.end`, or `stem-N.end` for a number N. `end` begins with a point.
fn is_numbered(name: &str, stem: &str, end: &str) -> bool {
    let number = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(end));
    number.is_some_and(|n| {
        n.is_empty() || n.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::report::{Credit, FactorReport, TestReport};
    use crate::stored::StoredResult;
    use warpint_gimps::{ResultLine, Status, append_object, append_result};
    use warpint_mersenne::{Exponent, Factor, TestKind, TestSpec};

    #[test]
    fn each_test_is_found_once_with_all_its_values() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        // The same test in a folder and in a results file.
        let report = TestReport::of_m2(TestKind::Prp);
        fs::create_dir(at("M2")).unwrap();
        let spec = TestSpec::new(TestKind::Prp, Exponent::new(2).unwrap());
        StoredResult::new(&at("M2"), &spec).keep(&report).unwrap();
        let line = ResultLine { user: Some("u".into()), ..report.result_line().unwrap() };
        append_result(&at("results.txt"), &line).unwrap();
        // A composite number without a stored result, and a factor.
        let of_7 = ResultLine::ll(11, Status::Composite, "00000000000006C8".into(), 1);
        append_result(&at("results-7.txt"), &of_7).unwrap();
        let number: warpint_mersenne::Number = "81*10^50+1".parse().unwrap();
        let credit = Credit {
            assignment: "PRP 81*10^50+1".into(),
            aid: None,
            user: Some("u".into()),
            computer: Some("c".into()),
            worker: 0,
            numbered: false,
        };
        let factor = FactorReport::new(number, Factor::Small(41)).credited(Some(credit));
        append_object(&at("candidates.jsonl"), &factor).unwrap();
        let history = History::of(dir.path()).unwrap();
        assert_eq!((history.count, history.unreadable.len()), (3, 0), "{history:?}");
        let said = |name: &str| history.tests.iter().find(|test| test.number == name).unwrap();
        assert_eq!(said("M2").finding, Finding::ProbablePrime);
        assert_eq!(said("M2").user.as_deref(), Some("u"));
        assert_eq!(said("M11").finding, Finding::Composite);
        assert_eq!(said("M11").residue.as_deref(), Some("00000000000006C8"));
        assert_eq!(said("81*10^50+1").finding, Finding::Factors(vec!["41".into()]));
        assert_eq!(said("81*10^50+1").user.as_deref(), Some("u"));
        assert_eq!(said("81*10^50+1").computer.as_deref(), Some("c"));
        assert_eq!(history.primes.len(), 1);
        assert_eq!(history.by_hour.values().sum::<u64>(), 3);
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let line = ResultLine::ll(11, Status::Composite, "00000000000006C8".into(), 1);
        append_result(&at("results.txt"), &line).unwrap();
        let sound = fs::read(at("results.txt")).unwrap();
        let long = vec![b'x'; 200_000];
        let all = [b"M7 is prime\n\n".as_slice(), &long, b"\n{\"status\":", b"\n", &sound].concat();
        fs::write(at("results.txt"), all).unwrap();
        fs::create_dir_all(at("results-1.txt")).unwrap();
        fs::create_dir_all(at("M7")).unwrap();
        fs::write(at("M7/prp-result.json"), "{\"sha256\":\"0\"").unwrap();
        fs::write(at("3_2_189+1"), "no folder").unwrap();
        let history = History::of(dir.path()).unwrap();
        assert_eq!(history.count, 1);
        let said = history.unreadable.join("\n");
        for part in
            ["results.txt: 3 lines of another form", "results-1.txt", "prp-result.json: it is"]
        {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(history.unreadable.len(), 3, "{said}");
    }

    #[test]
    fn the_names_of_files_and_folders_are_known() {
        for (name, expected) in [
            ("M7", true),
            ("3_2_189+1", true),
            ("3_2_189-1", true),
            ("M", false),
            ("Mx", false),
            ("3_2_189", false),
            ("3_2_+1", false),
            ("proof", false),
        ] {
            assert_eq!(is_of_test(name), expected, "{name}");
        }
        for (name, expected) in [
            ("results.txt", true),
            ("results-12.txt", true),
            ("results-x.txt", false),
            ("results-.txt", false),
        ] {
            assert_eq!(is_numbered(name, "results", ".txt"), expected, "{name}");
        }
    }
}
