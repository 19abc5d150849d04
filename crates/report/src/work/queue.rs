//! The section of the lists of work.

use warpint_runner::work::{Overview, UnclearLine};

use super::table;
use crate::html::Html;
use crate::text::grouped;

/// Writes the section: the number of lines left in each list, and the lines that are not done.
pub(super) fn write(html: &mut Html, overview: &Overview, unclear: &[UnclearLine]) {
    html.with("section", &[("aria-labelledby", "lists")], |html| {
        html.element("h2", &[("id", "lists")], "Lists of work");
        let lists = std::iter::once(&overview.lines).chain(&overview.own_lists);
        let columns =
            ["List", "#Assignments left", "#Candidates left", "#For other programs", "#Malformed"];
        let counts = lists.map(|list| {
            let counts = [list.assignments, list.candidates, list.foreign, list.malformed];
            let counts = counts.map(|n| grouped(n.into()));
            std::iter::once(list.file.clone()).chain(counts).collect()
        });
        table(html, "Lines left in each list", &columns, counts);
        if unclear.is_empty() {
            return;
        }
        html.element("h3", &[], "Lines that are not done");
        html.element(
            "p",
            &[],
            "These lines stay in their lists. Lines that only other programs can do are no errors.",
        );
        let columns = ["List", "#Line", "Text", "Reason"];
        let rows = unclear.iter().map(|line| {
            let why = if line.foreign { "for other programs: " } else { "malformed: " };
            let reason = format!("{why}{}", line.reason);
            vec![line.file.clone(), line.line.to_string(), line.text.clone(), reason]
        });
        table(html, "Lines that are not done", &columns, rows);
    });
}
