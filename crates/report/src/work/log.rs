//! The section of the log: errors and recoveries, and the last lines.

use warpint_runner::work::{LogLine, Logged};

use super::table;
use crate::html::Html;
use crate::text;

/// The numbers of lines in the tables.
const MOST_ERRORS: usize = 50;
const MOST_LINES: usize = 25;

/// Returns whether a line is about an error, from which the test has recovered.
pub(super) fn is_trouble(line: &LogLine) -> bool {
    line.meaning() == Logged::Trouble
}

/// Writes the section. Writes nothing without lines.
pub(super) fn write(html: &mut Html, logs: &[Vec<LogLine>]) {
    let mut lines: Vec<&LogLine> = logs.iter().flatten().collect();
    if lines.is_empty() {
        return;
    }
    lines.sort_by_key(|line| std::cmp::Reverse(line.time));
    // Lines of one second stay in the order of the log, which is ascending.
    for second in lines.chunk_by_mut(|a, b| a.time == b.time) {
        second.reverse();
    }
    html.with("section", &[("aria-labelledby", "log")], |html| {
        html.element("h2", &[("id", "log")], "Log");
        let errors: Vec<_> = lines.iter().copied().filter(|line| is_trouble(line)).collect();
        if !errors.is_empty() {
            html.element("h3", &[], "Errors and recoveries");
            few(html, "Errors and recoveries", &errors, MOST_ERRORS);
            html.element("h3", &[], "Last lines");
        }
        few(html, "Last lines of the log", &lines, MOST_LINES);
    });
}

fn few(html: &mut Html, caption: &str, lines: &[&LogLine], most: usize) {
    if lines.len() > most {
        let all = text::grouped(lines.len() as u64);
        html.element("p", &[], &format!("The table has the newest {most} of {all} lines."));
    }
    let rows = lines.iter().take(most);
    let row = |line: &&LogLine| {
        vec![warpint_gimps::utc_text(line.time), line.place.clone(), line.text.clone()]
    };
    table(html, caption, &["Time (UTC)", "Where", "What"], rows.map(row));
}
