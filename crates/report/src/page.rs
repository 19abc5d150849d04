//! The document: its head, its style sheet, and the order of its sections.

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};
use warpint_gimps::{self as gimps, Program};

use crate::html::Html;
use crate::text::grouped;
use crate::{Report, Shown};

/// The beginning of the value of `<meta name="generator">` in every report.
pub const GENERATOR: &str = "warpint report";

const STYLE: &str = include_str!("style.css");
/// The number of lines about unreadable files that are shown.
const MOST_UNREADABLE: usize = 100;

/// Returns whether the text of a file is a report of any version: it begins like one, and nothing follows its
/// last tag.
#[must_use]
pub fn is_report(text: &[u8]) -> bool {
    const LONGEST_HEAD: usize = 2048;
    let head = String::from_utf8_lossy(&text[..text.len().min(LONGEST_HEAD)]);
    text.trim_ascii_end().ends_with(b"</html>")
        && head.starts_with("<!DOCTYPE html>")
        && head.contains(&format!("name=\"generator\" content=\"{GENERATOR}"))
}

/// Returns the Content-Security-Policy of a page: nothing is loaded, no script runs, and only the style
/// sheet of this program applies.
pub(crate) fn policy() -> String {
    let digest = Base64::encode_string(&Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
}

pub(crate) fn page(report: &Report, shown: Shown) -> String {
    let dir = report.name();
    let program = Program::warpint();
    let mut html = Html::default();
    html.with("html", &[("lang", "en")], |html| {
        html.with("head", &[], |html| {
            let policy = policy();
            html.void("meta", &[("charset", "utf-8")]);
            let generator = format!("{GENERATOR} {}", program.version);
            html.void("meta", &[("name", "generator"), ("content", &generator)]);
            let security =
                [("http-equiv", "Content-Security-Policy"), ("content", policy.as_str())];
            html.void("meta", &security);
            if let Shown::Live(every) = shown {
                let seconds = every.as_secs().to_string();
                html.void("meta", &[("http-equiv", "refresh"), ("content", &seconds)]);
            }
            let width = "width=device-width, initial-scale=1";
            html.void("meta", &[("name", "viewport"), ("content", width)]);
            html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
            html.element("title", &[], &format!("{dir} – warpint report"));
            html.style(STYLE);
        });
        html.with("body", &[], |html| {
            html.with("header", &[], |html| {
                html.element("h1", &[], &dir);
                html.with("p", &[("class", "note")], |html| {
                    let now = gimps::utc_now();
                    html.text(&format!("warpint {}, read {now} UTC.", program.version));
                    if let Shown::Live(every) = shown {
                        html.text(&format!(" Read again every {} s.", every.as_secs()));
                    }
                });
            });
            html.with("main", &[], |html| content(html, report));
        });
    });
    format!("<!DOCTYPE html>\n{}", html.into_text())
}

fn content(html: &mut Html, report: &Report) {
    unreadable(html, &report.unreadable);
    if let Some(work) = &report.work {
        html.with("dl", &[("class", "figures")], |html| {
            for (value, name) in work.figures() {
                html.with("div", &[], |html| {
                    html.element("dt", &[], name);
                    html.element("dd", &[], &value);
                });
            }
        });
        work.write(html);
    }
    for (number, file) in report.benches.iter().enumerate() {
        file.write(html, number + 1);
    }
    if report.work.is_none() && report.benches.is_empty() {
        let said = "The directory has neither lists of work, results, logs and states of workers, \
                    nor results of benchmarks.";
        html.element("p", &[], said);
    }
}

fn unreadable(html: &mut Html, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    html.with("section", &[("class", "unreadable"), ("aria-labelledby", "unreadable")], |html| {
        html.element("h2", &[("id", "unreadable")], "Not read");
        html.with("ul", &[], |html| {
            lines.iter().take(MOST_UNREADABLE).for_each(|line| html.element("li", &[], line));
            let more = lines.len().saturating_sub(MOST_UNREADABLE);
            if more > 0 {
                html.element("li", &[], &format!("and {} more", grouped(more as u64)));
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheet_needs_no_escaping() {
        // In HTML a style sheet is raw text, in XML it is not.
        assert!(
            !STYLE.contains(['<', '&']) && !STYLE.contains("url(") && !STYLE.contains("@import")
        );
    }

    #[test]
    fn a_report_is_known_by_its_head() {
        let dir = tempfile::tempdir().unwrap();
        let page = Report::of(dir.path()).unwrap().page(Shown::File);
        assert!(is_report(page.as_bytes()));
        for other in ["", "<!DOCTYPE html>\n<html></html>", "warpint report", "{\"status\":\"C\"}"]
        {
            assert!(!is_report(other.as_bytes()), "{other}");
        }
    }
}
