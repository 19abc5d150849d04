//! How far the work on a proof has come.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::notice;
use crate::units;

/// Without a terminal, a line this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A bar on a terminal, lines elsewhere.
pub(crate) struct View {
    p: u32,
    what: &'static str,
    quiet: bool,
    bar: Option<ProgressBar>,
    begin: Instant,
    last_line: Instant,
}

impl View {
    pub(crate) fn new(p: u32, what: &'static str, quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:24}] {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let begin = Instant::now();
        Self { p, what, quiet, bar, begin, last_line: begin }
    }

    pub(crate) fn show(&mut self, share: f64) {
        if self.bar.is_none() && (self.quiet || self.last_line.elapsed() < LINE_EVERY) {
            return;
        }
        let left = self.begin.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-6);
        let eta = units::clock(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
        let line = format!("M{}: {} to {:.1} %, ETA {eta}", self.p, self.what, 100.0 * share);
        match &self.bar {
            Some(bar) => {
                bar.set_position((1000.0 * share) as u64);
                bar.set_message(line);
            }
            None => {
                notice(&line);
                self.last_line = Instant::now();
            }
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
