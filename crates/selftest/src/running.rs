//! Runs cases, one by one or several at the same time, and counts their results.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::{CaseReport, Summary};

/// A case to be run: the name of its family or suite, its own name, and its function.
pub(crate) struct Case<'a> {
    family: String,
    case: String,
    work: Box<dyn Fn() -> Result<(), String> + Send + Sync + 'a>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(
        family: String,
        case: impl Into<String>,
        work: impl Fn() -> Result<(), String> + Send + Sync + 'a,
    ) -> Self {
        Self { family, case: case.into(), work: Box::new(work) }
    }

    fn run(&self) -> CaseReport {
        let begin = Instant::now();
        // Only devices and executors are shared with the work. Their tables stay consistent if it
        // panics.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)()));
        let result = result.unwrap_or_else(|_| Err("it panicked: see above".into()));
        let (family, case) = (self.family.clone(), self.case.clone());
        CaseReport { family, case, result, elapsed: begin.elapsed() }
    }
}

/// The state of a run: the filter, the function that receives reports, and the numbers of cases
/// that have passed and failed so far.
pub(crate) struct Running<'a> {
    pub(crate) filter: Option<&'a str>,
    pub(crate) report: &'a mut dyn FnMut(&CaseReport),
    pub(crate) summary: Summary,
}

impl Running<'_> {
    /// Runs the cases that match the filter, up to `at_once` at the same time. Reports the results
    /// in the order of the cases.
    pub(crate) fn all(&mut self, mut cases: Vec<Case<'_>>, at_once: usize) {
        cases.retain(|Case { family, case, .. }| {
            self.filter.is_none_or(|filter| format!("{family}::{case}").contains(filter))
        });
        let next = AtomicUsize::new(0);
        let work = |reports: &mpsc::Sender<(usize, CaseReport)>| {
            while let Some((index, case)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, cases.get(i)?)))
            {
                // If there is no receiver, the caller has panicked.
                if reports.send((index, case.run())).is_err() {
                    break;
                }
            }
        };
        thread::scope(|scope| {
            let (reports, received) = mpsc::channel();
            for _ in 0..at_once.min(cases.len()) {
                let reports = reports.clone();
                scope.spawn(move || work(&reports));
            }
            drop(reports);
            let mut early = BTreeMap::new();
            for index in 0..cases.len() {
                while !early.contains_key(&index) {
                    // If there is no sender, a thread has panicked. The scope passes the panic on.
                    let Ok((index, report)) = received.recv() else { return };
                    early.insert(index, report);
                }
                if let Some(report) = early.remove(&index) {
                    self.take(&report);
                }
            }
        });
    }

    fn take(&mut self, report: &CaseReport) {
        match report.result {
            Ok(()) => self.summary.passed += 1,
            Err(_) => self.summary.failed += 1,
        }
        (self.report)(report);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Runs ten cases, of which numbers 0, 3, 6 and 9 fail. Returns the name and the success of
    /// each reported case, and the summary.
    fn ten(filter: Option<&str>, at_once: usize) -> (Vec<(String, bool)>, Summary) {
        let names: Vec<String> = (0..10).map(|i| format!("case-{i}")).collect();
        let cases = names.iter().enumerate().map(|(i, name)| {
            Case::new("ten".into(), name, move || {
                // Later cases end first.
                thread::sleep(Duration::from_millis(3 * (10 - i as u64)));
                if i % 3 == 0 { Err(format!("{i} is a multiple of 3")) } else { Ok(()) }
            })
        });
        let mut seen = vec![];
        let mut report = |r: &CaseReport| seen.push((r.case.clone(), r.result.is_ok()));
        let mut run = Running { filter, report: &mut report, summary: Summary::default() };
        run.all(cases.collect(), at_once);
        let summary = run.summary;
        (seen, summary)
    }

    #[test]
    fn cases_side_by_side_are_reported_in_their_order() {
        let expected: Vec<_> = (0..10).map(|i| (format!("case-{i}"), i % 3 != 0)).collect();
        for at_once in [1, 4, 100] {
            assert_eq!(ten(None, at_once), (expected.clone(), Summary { passed: 6, failed: 4 }));
        }
        let one = (vec![expected[7].clone()], Summary { passed: 1, failed: 0 });
        assert_eq!(ten(Some("ten::case-7"), 4), one);
        assert_eq!(ten(Some("eleven"), 4), (vec![], Summary::default()));
    }

    #[test]
    fn a_case_that_panics_has_failed() {
        let panics = Case::new("two".into(), "first", || panic!("on purpose"));
        let passes = Case::new("two".into(), "second", || Ok(()));
        let mut results = vec![];
        let mut report = |r: &CaseReport| results.push(r.result.clone());
        let mut run = Running { filter: None, report: &mut report, summary: Summary::default() };
        run.all(vec![panics, passes], 2);
        assert_eq!(run.summary, Summary { passed: 1, failed: 1 });
        assert_eq!(results, [Err("it panicked: see above".into()), Ok(())]);
    }
}
