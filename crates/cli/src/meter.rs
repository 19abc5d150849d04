//! The progress of long work on standard error: a bar on a terminal, otherwise a line every 10 s.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::notice;

/// The interval between lines of progress if standard error is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The possible widths of a bar in columns, without its brackets and the blank after the bar. The
/// widest bar that fits next to the text is used.
const BARS: [usize; 2] = [24, 8];

/// The width in columns that is assumed for a terminal that does not report its width.
const USUAL_WIDTH: usize = 80;

/// A display of progress: a bar on a terminal, otherwise lines that begin with the name of the
/// work.
pub(crate) struct Meter {
    name: String,
    /// The bar; `None` if standard error is not a terminal, or if the meter is silent.
    bar: Option<ProgressBar>,
    silent: bool,
    last_line: Instant,
}

impl Meter {
    /// Creates a meter. `name` is the name of the work, which is empty or ends in a space. A silent
    /// meter shows no progress, but [`say`](Self::say) still prints.
    pub(crate) fn new(name: String, silent: bool) -> Self {
        let bar = (!silent && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The line is rendered here, because indicatif's own bars do not shorten the text next
            // to them.
            let style = ProgressStyle::with_template("{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { name, bar, silent, last_line: Instant::now() }
    }

    /// Shows the progress: `done` steps of `total`, and the text that `line` returns. `total` is
    /// `None` for work without an end. Commas separate the parts of the text. On a terminal, its
    /// last parts are dropped if it is too long. Otherwise the text is printed as a line, unless
    /// the last line was printed less than [`LINE_EVERY`] ago.
    pub(crate) fn show(
        &mut self,
        done: u64,
        total: impl Into<Option<u64>>,
        line: impl FnOnce() -> String,
    ) {
        if let Some(bar) = &self.bar {
            let size = Term::stderr().size_checked();
            let width = size.map_or(USUAL_WIDTH, |(_, columns)| columns.into());
            bar.set_message(rendered(done, total.into(), &line(), width));
        } else if !self.silent && self.last_line.elapsed() >= LINE_EVERY {
            notice(&format!("{}{}", self.name, line()));
            self.last_line = Instant::now();
        }
    }

    /// Prints a line even if the meter is silent.
    pub(crate) fn say(&self, line: &str) {
        let line = format!("{}{line}", self.name);
        self.suspend(|| notice(&line));
    }

    /// Runs `print`, and removes the bar while it runs.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns a line that consists of a bar and a text. The line has fewer than `width` columns,
/// because some terminals wrap a line that fills the last column. The bar is the widest of [`BARS`]
/// that fits beside the whole text. If none fits, or if `total` is `None`, the line has no bar.
fn rendered(done: u64, total: Option<u64>, line: &str, width: usize) -> String {
    let room = width.saturating_sub(1);
    let length = line.chars().count();
    let bar = BARS.into_iter().find(|columns| columns + 3 + length <= room);
    match (bar, total) {
        (Some(columns), Some(total)) => {
            let share = done as f64 / total.max(1) as f64;
            let filled = ((columns as f64 * share) as usize).min(columns);
            format!("[{}{}] {line}", "█".repeat(filled), "░".repeat(columns - filled))
        }
        _ => shortened(line, room),
    }
}

/// Returns the beginning of a text whose parts are separated by commas: as many whole parts as fit
/// in `room` columns. If not even the first part fits, that part is truncated.
fn shortened(line: &str, room: usize) -> String {
    let mut rest = line;
    while rest.chars().count() > room {
        match rest.rsplit_once(", ") {
            Some((before, _)) => rest = before,
            None => return rest.chars().take(room).collect(),
        }
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_made_when_they_are_due() {
        let meter = |silent, age| Meter {
            name: String::new(),
            bar: None,
            silent,
            last_line: Instant::now().checked_sub(age).unwrap(),
        };
        let ages = [Duration::ZERO, LINE_EVERY];
        for (silent, age, expected) in
            [(false, ages[0], 0), (false, ages[1], 1), (true, ages[0], 0), (true, ages[1], 0)]
        {
            let (mut meter, mut made) = (meter(silent, age), 0);
            for _ in 0..3 {
                meter.show(1, 2, || {
                    made += 1;
                    "halfway".into()
                });
            }
            assert_eq!(made, expected, "{silent} {age:?}");
        }
    }

    #[test]
    fn a_line_fits_into_every_width() {
        let line = "100000 of 216091 (46.28 %), 162.3 µs/it, ETA 0:18, round-off max 0.1250 Z 57";
        for (width, expected) in [
            (120, format!("[███████████░░░░░░░░░░░░░] {line}")),
            (90, format!("[███░░░░░] {line}")),
            (80, line.to_owned()),
            (60, "100000 of 216091 (46.28 %), 162.3 µs/it, ETA 0:18".into()),
            (40, "100000 of 216091 (46.28 %), 162.3 µs/it".into()),
            (10, "100000 of".into()),
            (1, String::new()),
            (0, String::new()),
        ] {
            assert_eq!(rendered(100_000, Some(216_091), line, width), expected, "{width}");
        }
        for width in 0..200 {
            for total in [None, Some(0), Some(7), Some(u64::MAX)] {
                let shown = rendered(9, total, line, width).chars().count();
                assert!(shown < width.max(1), "{shown} columns of {width}");
            }
        }
    }

    #[test]
    fn work_without_an_end_has_no_bar() {
        assert_eq!(rendered(5, None, "5 laps", 80), "5 laps");
    }
}
