//! A directory of `warpint work`, or of `prp`, `ll` and `test`: its workers, lists, results and logs.

mod charts;
mod finished;
mod log;
mod queue;
mod series;
mod workers;

use std::path::Path;

use warpint_files::{FileError, Folder};
use warpint_runner::history::History;
use warpint_runner::one_line;
use warpint_runner::work::{LogLine, Overview, State, UnclearLine};

use crate::html::Html;
use crate::text::{grouped, measured};

/// The number of lines of lists that are shown because they are not done.
const MOST_UNCLEAR: usize = 100;

/// What a work directory contains.
#[derive(Debug)]
pub(crate) struct WorkDirectory {
    /// The workers and lists; `None` if a list cannot be read.
    overview: Option<Overview>,
    unclear: Vec<UnclearLine>,
    history: History,
    /// The lines of each worker's log, in their order.
    logs: Vec<Vec<LogLine>>,
}

impl WorkDirectory {
    /// Reads a directory. Returns `None` if it has neither workers nor lists, results or logs. Appends
    /// a line to `unreadable` for each file that cannot be read.
    pub(crate) fn of(dir: &Path, unreadable: &mut Vec<String>) -> Result<Option<Self>, FileError> {
        let folder = Folder::at(dir);
        let names: Vec<String> =
            folder.list()?.into_iter().filter_map(|e| e.name.into_string().ok()).collect();
        let overview = match Overview::of(dir) {
            Ok((overview, warnings)) => {
                unreadable.extend(warnings);
                Some(overview)
            }
            Err(e) => {
                unreadable.push(one_line(&e));
                None
            }
        };
        let mut history = History::of(dir)?;
        unreadable.append(&mut history.unreadable);
        let mut logs = vec![];
        for worker in log_numbers(&names) {
            let (lines, others, problems) = LogLine::all(dir, worker);
            unreadable.extend(problems);
            if others > 0 {
                let name = worker.map_or("warpint.log".into(), |n| format!("warpint-{n}.log"));
                let count = warpint_progress::units::count(others, "line");
                unreadable.push(format!("{}: {count} of another form", dir.join(name).display()));
            }
            logs.push(lines);
        }
        let this = Self { overview, unclear: UnclearLine::all(dir, MOST_UNCLEAR), history, logs };
        let has_list = names.iter().any(|n| n.starts_with("worktodo") && n.ends_with(".txt"));
        let is_empty = this.history.count == 0
            && this.logs.iter().all(Vec::is_empty)
            && this.overview.as_ref().is_none_or(|overview| overview.workers.is_empty());
        Ok((has_list || !is_empty).then_some(this))
    }

    /// Returns the figures for the top of the page: a value and its name.
    pub(crate) fn figures(&self) -> Vec<(String, &'static str)> {
        let mut figures = vec![];
        let counted = |n: u64, one, many| (grouped(n), if n == 1 { one } else { many });
        if let Some(overview) = &self.overview {
            let runs = |state| matches!(state, State::Preparing | State::Testing | State::Proving);
            let running = overview.workers.iter().filter(|worker| runs(worker.state)).count();
            figures.push(counted(running as u64, "worker at work", "workers at work"));
            let lists = std::iter::once(&overview.lines).chain(&overview.own_lists);
            let left = lists.map(|l| u64::from(l.assignments) + u64::from(l.candidates)).sum();
            figures.push(counted(left, "line left", "lines left"));
        }
        figures.push(counted(self.history.count, "test finished", "tests finished"));
        let primes = self.history.primes.len() as u64;
        figures.push(counted(primes, "prime or probable prime", "primes and probable primes"));
        let tests = self.history.by_hour.values().sum();
        if let Some(rate) = self.history.span.and_then(|span| tests_a_day(span, tests)) {
            figures.push((measured(rate), "tests a day, first to last result"));
        }
        let errors = self.logs.iter().flatten().filter(|line| log::is_trouble(line)).count();
        let [one, many] = ["error or recovery in the log", "errors and recoveries in the log"];
        figures.push(counted(errors as u64, one, many));
        figures
    }

    /// Writes the sections of the page.
    pub(crate) fn write(&self, html: &mut Html) {
        if let Some(overview) = &self.overview {
            workers::write(html, &overview.workers);
            queue::write(html, overview, &self.unclear);
        }
        charts::write(html, &self.logs, &self.history);
        finished::write(html, &self.history);
        log::write(html, &self.logs);
    }
}

/// Returns the mean number of finished tests in a day: 86,400·(tests − 1)/(last − first), where the first and the
/// last result came at these times, in seconds. Returns `None` for less than an hour, which says little about a day.
fn tests_a_day((first, last): (i64, i64), tests: u64) -> Option<f64> {
    const HOUR: i64 = 3_600;
    (last - first >= HOUR && tests > 1)
        .then(|| (tests - 1) as f64 * 86_400.0 / (last - first) as f64)
}

/// Returns the numbers of the workers that have logs; `None` is the only worker.
fn log_numbers(names: &[String]) -> Vec<Option<u32>> {
    let number = |name: &String| {
        let middle = name.strip_prefix("warpint")?.strip_suffix(".log")?;
        match middle.strip_prefix('-') {
            Some(number) => number.parse().ok().map(Some),
            None => middle.is_empty().then_some(None),
        }
    };
    let mut numbers: Vec<_> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// Writes a table that can be scrolled sideways, with a row for each of `rows`. A cell is text. The cells
/// of the columns whose headings begin with `#` are numbers, and the `#` is not shown.
pub(crate) fn table(
    html: &mut Html,
    caption: &str,
    columns: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) {
    let region =
        [("class", "scroll"), ("role", "region"), ("aria-label", caption), ("tabindex", "0")];
    html.with("div", &region, |html| {
        html.with("table", &[], |html| {
            let class = |column: &str| if column.starts_with('#') { "number" } else { "text" };
            html.with("thead", &[], |html| {
                html.with("tr", &[], |html| {
                    for column in columns {
                        let name = column.trim_start_matches('#');
                        html.element("th", &[("scope", "col"), ("class", class(column))], name);
                    }
                });
            });
            html.with("tbody", &[], |html| {
                for row in rows {
                    html.with("tr", &[], |html| {
                        for (column, cell) in columns.iter().zip(&row) {
                            html.element("td", &[("class", class(column))], cell);
                        }
                    });
                }
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_a_day_are_said_from_an_hour_on() {
        assert_eq!(tests_a_day((1_000, 4_600), 3), Some(48.0));
        assert_eq!(tests_a_day((0, 172_800), 21), Some(10.0));
        for (span, tests) in [((1_000, 4_599), 3), ((0, 86_400), 1), ((5, 5), 0)] {
            assert_eq!(tests_a_day(span, tests), None, "{span:?}");
        }
    }
}
