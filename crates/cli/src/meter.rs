//! How far long work is, on standard error: a bar on a terminal, lines elsewhere.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::notice;

/// Without a terminal, a line this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A bar on a terminal, lines elsewhere; lines begin with what the work is called.
pub(crate) struct Meter {
    name: String,
    /// `None` without a terminal, or when silent.
    bar: Option<ProgressBar>,
    silent: bool,
    last_line: Instant,
}

impl Meter {
    /// `name` is empty or ends in a space. Silent, it still [`say`](Self::say)s.
    pub(crate) fn new(name: String, silent: bool) -> Self {
        let bar = (!silent && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:24}] {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { name, bar, silent, last_line: Instant::now() }
    }

    /// Shows how far it is, if it is time to.
    pub(crate) fn show(&mut self, done: u64, total: u64, line: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(line());
        } else if !self.silent && self.last_line.elapsed() >= LINE_EVERY {
            notice(&format!("{}{}", self.name, line()));
            self.last_line = Instant::now();
        }
    }

    /// A line that must be read.
    pub(crate) fn say(&self, line: &str) {
        let line = format!("{}{line}", self.name);
        match &self.bar {
            Some(bar) => bar.suspend(|| notice(&line)),
            None => notice(&line),
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
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
}
