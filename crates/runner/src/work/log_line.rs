//! Lines of `warpint.log`, read back.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use warpint_files::{FileError, Folder};
use warpint_gimps as gimps;

use super::log::OLDER;

/// The length in bytes of the longest line that is read. Longer lines are left out.
const LONGEST_LINE: u64 = 16 << 10;
/// The largest number of bytes of a log file that is read. A log starts a new file at 1 MB.
const MOST_BYTES: u64 = 4 << 20;

/// One line of the log of a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    /// The time in seconds since 1970-01-01 00:00:00 UTC.
    pub time: i64,
    /// The device and the number of the test, such as `cuda:0 M216091`, or the worker, such as
    /// `worker 0`.
    pub place: String,
    /// The action.
    pub text: String,
}

/// The meaning of a line of a log for a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Logged {
    /// A test began, or went on from a checkpoint.
    Started,
    /// A checkpoint was saved.
    Saved(Progress),
    /// A check, the device or the disk failed, or a transform was too short, and the test went on; or an
    /// assignment cannot be done.
    Trouble,
    /// Anything else.
    Other,
}

/// The progress of a test at a checkpoint. A value that the line does not have is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// The number of iterations done.
    pub iteration: u64,
    /// The number of iterations of the whole test.
    pub total: Option<u64>,
    /// The recent mean time of an iteration, in µs.
    pub us_per_iteration: Option<f64>,
    /// The largest round-off since the engine was built.
    pub round_off_max: Option<f64>,
    /// The mean round-off since the engine was built.
    pub round_off_mean: Option<f64>,
    /// The temperature of the device, in °C.
    pub celsius: Option<f64>,
}

impl LogLine {
    /// Parses a line of a log. Returns `None` for a line of another form, such as one that was cut
    /// short.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (time, rest) = line.split_at_checked(TIME)?;
        let (place, text) = rest.strip_prefix(' ')?.split_once(": ")?;
        Some(Self { time: gimps::parse_utc(time)?, place: place.into(), text: text.into() })
    }

    /// Returns the device and the name of the number, if the line is about a test.
    #[must_use]
    pub fn test(&self) -> Option<(&str, &str)> {
        self.place.split_once(' ').filter(|&(device, _)| device != "worker")
    }

    /// Returns the meaning of the line for a chart.
    #[must_use]
    pub fn meaning(&self) -> Logged {
        let text = &self.text;
        if text.starts_with("begins, ") || text.starts_with("going on at iteration ") {
            return Logged::Started;
        }
        if let Some(progress) = text.strip_prefix("saved iteration ").and_then(Progress::parse) {
            return Logged::Saved(progress);
        }
        // An assignment that cannot be done.
        let is_failure = text.starts_with("error: ");
        if is_failure || TROUBLE.iter().any(|parts| has_in_order(text, parts)) {
            return Logged::Trouble;
        }
        Logged::Other
    }

    /// Reads the log of a worker, from its oldest file to its newest one. Lines of another form are
    /// left out. Also returns the number of these lines, and a line of text for each file that
    /// cannot be read.
    #[must_use]
    pub fn all(dir: &Path, worker: Option<u32>) -> (Vec<Self>, u64, Vec<String>) {
        let (mut found, mut others, mut unreadable) = (vec![], 0, vec![]);
        let newest = super::numbered(dir, "warpint", worker, "log");
        let older = |n: u32| newest.with_extension(format!("log.{n}"));
        for path in (1..=OLDER).rev().map(older).chain([newest.clone()]) {
            match read(&path, &mut found) {
                Ok(of_another_form) => others += of_another_form,
                Err(e) if e.is_missing() => {}
                Err(e) => {
                    unreadable.push(format!("{}: {}", path.display(), e.in_message_of(&path)));
                }
            }
        }
        (found, others, unreadable)
    }
}

/// The length of a time in bytes.
const TIME: usize = "2026-01-02 03:04:05".len();

/// The parts of the lines about trouble, in their order: those of
/// [`Event::is_trouble`](warpint_mersenne::Event::is_trouble), and wrong squarings.
const TROUBLE: [&[&str]; 10] = [
    &["a squaring was wrong by its check"],
    &["cannot save a checkpoint ("],
    &["a checkpoint is not sound ("],
    &["the iterations before ", " were computed by one engine only"],
    &[" failed, but passed when it was repeated"],
    &[" failed: looking for the newest right checkpoint"],
    &[" failed: going back to iteration "],
    &["cannot write the residue at iteration "],
    &["the device failed ("],
    &["round-off ", " is too much for "],
];

/// Returns whether the text has all parts, one after the other.
fn has_in_order(text: &str, parts: &[&str]) -> bool {
    let mut rest = Some(text);
    for part in parts {
        rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, rest)| rest);
    }
    rest.is_some()
}

impl Progress {
    /// Parses the rest of a line after `saved iteration `, such as `60; 64 of 127 (50.39 %), 1.5
    /// µs/it, ETA 0:19, round-off max 0.1250 Z 57, mean 0.0625, 61 °C, 1980 MHz`. The iteration is
    /// that of the checkpoint.
    fn parse(text: &str) -> Option<Self> {
        let (iteration, progress) = text.split_once("; ").unwrap_or((text, ""));
        let mut found = Self { iteration: iteration.parse().ok()?, ..Self::default() };
        let number = |text: &str| text.parse().ok().filter(|x: &f64| x.is_finite());
        for part in progress.split(", ") {
            let first = |text: &str| number(text.split(' ').next().unwrap_or_default());
            if let Some((_, rest)) = part.split_once(" of ") {
                found.total = rest.split(' ').next().and_then(|total| total.parse().ok());
            } else if let Some(us) = part.strip_suffix(" µs/it") {
                found.us_per_iteration = number(us);
            } else if let Some(max) = part.strip_prefix("round-off max ") {
                found.round_off_max = first(max);
            } else if let Some(mean) = part.strip_prefix("mean ") {
                found.round_off_mean = number(mean);
            } else if let Some(celsius) = part.strip_suffix(" °C") {
                found.celsius = number(celsius);
            }
        }
        Some(found)
    }
}

/// Appends the lines of a file. Returns the number of lines of another form.
fn read(path: &Path, found: &mut Vec<LogLine>) -> Result<u64, FileError> {
    let (folder, name) = Folder::of(path)?;
    let mut reader = BufReader::new(folder.open(name)?.take(MOST_BYTES));
    let (mut line, mut others) = (vec![], 0);
    let failed = |source| FileError::Io { action: "read", path: path.to_owned(), source };
    while reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let text = line.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let text = text.and_then(|line| std::str::from_utf8(line).ok());
        match text.and_then(LogLine::parse) {
            Some(line) => found.push(line),
            None => others += 1,
        }
        line.clear();
    }
    Ok(others)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::observer::Unobserved;
    use crate::report::Credit;
    use crate::work::Watch;
    use warpint_mersenne::{Check, Event, RoundOff, TestKind};

    fn credit() -> Credit {
        Credit {
            assignment: "PRP 127".into(),
            aid: None,
            user: None,
            computer: None,
            worker: 1,
            numbered: true,
        }
    }

    #[test]
    fn what_a_worker_logs_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::new(dir.path(), Some(1), Arc::new(Unobserved));
        watch.log("took something over");
        watch.begin(127, TestKind::Prp, &credit());
        watch.event(&Event::Started { iteration: 0, total: 127, resumed_from: None });
        watch.event(&Event::Progress {
            iteration: 64,
            total: 127,
            per_iteration: Duration::from_millis(1500),
            round_off: Some(RoundOff { max: 0.125, mean: 0.0625, deviation: 0.01, products: 100 }),
        });
        watch.event(&Event::Saved { iteration: 60, path: "f".into(), verified: false });
        watch.event(&Event::Verified { check: Check::Gerbicz, iteration: 50 });
        let resumed_from = Some("checkpoint".into());
        watch.event(&Event::Started { iteration: 60, total: 127, resumed_from });
        let (lines, others, unreadable) = LogLine::all(dir.path(), Some(1));
        assert_eq!((others, unreadable.as_slice()), (0, [].as_slice()));
        assert_eq!(lines[0].place, "worker 1");
        assert_eq!((lines[0].test(), lines[1].test()), (None, Some(("-", "M127"))));
        let progress = Progress {
            iteration: 60,
            total: Some(127),
            us_per_iteration: Some(1_500_000.0),
            round_off_max: Some(0.125),
            round_off_mean: Some(0.0625),
            celsius: None,
        };
        let meanings: Vec<_> = lines.iter().map(LogLine::meaning).collect();
        let (started, saved) = (Logged::Started, Logged::Saved(progress));
        assert_eq!(meanings, [Logged::Other, started.clone(), saved, Logged::Other, started]);
        let now = gimps::parse_utc(&gimps::utc_now()).unwrap();
        assert!(lines.iter().all(|line| (now - 60..=now).contains(&line.time)));
        // An editor may have changed the line ends.
        let path = dir.path().join("warpint-1.log");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace('\n', "\r\n")).unwrap();
        assert_eq!(LogLine::all(dir.path(), Some(1)).0, lines);
    }

    #[test]
    fn every_event_of_trouble_is_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::new(dir.path(), None, Arc::new(Unobserved));
        watch.begin(127, TestKind::Prp, &credit());
        let events = [
            Event::SaveFailed { reason: "full".into() },
            Event::BadCheckpoint { path: "f.bad".into(), reason: "short".into() },
            Event::OnceOnly { iteration: 7 },
            Event::CheckErred { check: Check::Jacobi, iteration: 7 },
            Event::Searching { check: Check::Second, iteration: 7 },
            Event::CheckFailed { check: Check::Gerbicz, iteration: 70, back_to: 40 },
            Event::ResidueLost { iteration: 7, reason: "full".into() },
            Event::DeviceFailed { reason: "lost".into(), back_to: 4 },
            Event::Lengthened { from: 512, to: 1024, round_off: 0.45, back_to: 3 },
            Event::Lengthened { from: 512, to: 512, round_off: 0.45, back_to: 3 },
            Event::WrongSquaring { from: 512, to: 512, back_to: 3 },
            Event::WrongSquaring { from: 512, to: 1024, back_to: 3 },
        ];
        for event in &events {
            watch.event(event);
        }
        let (lines, ..) = LogLine::all(dir.path(), None);
        assert_eq!(lines.len(), events.len());
        for line in lines {
            assert_eq!(line.meaning(), Logged::Trouble, "{line:?}");
        }
    }

    #[test]
    fn lines_of_earlier_versions_and_broken_ones_are_read() {
        let of = |text: &str| LogLine::parse(text).map(|line| line.meaning());
        // Before the mean round-off and the sensors were logged.
        let old = "2026-01-02 03:04:05 cpu M127: saved iteration 60; 64 of 127 (50.39 %), 1.5 µs/it, \
                   ETA 0:19, round-off max 0.1250 Z 57";
        let expected = Progress {
            iteration: 60,
            total: Some(127),
            us_per_iteration: Some(1.5),
            round_off_max: Some(0.125),
            ..Progress::default()
        };
        assert_eq!(of(old), Some(Logged::Saved(expected)));
        let warm = format!("{old}, mean 0.0625, 61 °C, 1980 MHz, 650 W, not throttled");
        let expected = Progress { round_off_mean: Some(0.0625), celsius: Some(61.0), ..expected };
        assert_eq!(of(&warm), Some(Logged::Saved(expected)));
        let bare = Progress { iteration: 7, ..Progress::default() };
        assert_eq!(
            of("2026-01-02 03:04:05 cpu M127: saved iteration 7; "),
            Some(Logged::Saved(bare))
        );
        let failed = "2026-01-02 03:04:05 worker 0: error: worktodo.txt, line 3: 4422 is not prime";
        assert_eq!(of(failed), Some(Logged::Trouble));
        for other in ["saved iteration x; 1 of 2", "saved", "µ"] {
            assert_eq!(of(&format!("2026-01-02 03:04:05 a b: {other}")), Some(Logged::Other));
        }
        for broken in ["", "2026-01-02 03:04:05", "2026-01-02 03:04:05 cpu", "µµµµµµµµµµµµ", "x: y"]
        {
            assert_eq!(of(broken), None, "{broken}");
        }
    }

    #[test]
    fn older_files_come_first_and_what_is_no_line_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
        write("warpint.log", b"2026-01-02 03:04:07 cpu M7: c\n2026-01-02 03:04:08 cpu M");
        write("warpint.log.1", b"2026-01-02 03:04:06 cpu M7: b\n\xff\n");
        write("warpint.log.3", b"2026-01-02 03:04:05 cpu M7: a\n");
        fs::create_dir(dir.path().join("warpint.log.2")).unwrap();
        let (lines, others, unreadable) = LogLine::all(dir.path(), None);
        let said: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((said.as_slice(), others), (["a", "b", "c"].as_slice(), 2));
        assert_eq!(unreadable.len(), 1);
        assert!(unreadable[0].contains("warpint.log.2"), "{unreadable:?}");
    }

    proptest::proptest! {
        #[test]
        fn fuzz_any_line_is_read_or_left_out(text in "\\PC{0,60}", bytes in "[0-9 µ;:,°-]{0,60}") {
            for text in [text.clone(), format!("2026-01-02 03:04:05 cpu M7: saved iteration 7; {text}"), bytes] {
                let meaning = LogLine::parse(&text).map(|line| line.meaning());
                if let Some(Logged::Saved(p)) = meaning {
                    let values = [p.us_per_iteration, p.round_off_max, p.round_off_mean, p.celsius];
                    proptest::prop_assert!(values.into_iter().flatten().all(f64::is_finite));
                }
            }
        }
    }
}
