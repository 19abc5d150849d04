//! The length of README.md, and the width of lines of prose.

use std::path::Path;

use super::Finding;
use super::page::{Block, Page};

/// Lines of README.md at most.
const README_LINES: usize = 200;

/// Characters of a line of prose at most.
const WIDTH: usize = 120;

/// How a page begins that is made by a command.
const GENERATED: &str = "<!-- Generated ";

/// Documents at the root, beside all pages below docs/.
const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// Whether lines of a file may have `WIDTH` characters only.
pub(super) fn is_held_to_width(path: &Path) -> bool {
    path.starts_with("docs") || DOCUMENTS.iter().any(|name| path == Path::new(name))
}

pub(super) fn findings(pages: &[Page]) -> Vec<Finding> {
    let long = pages.iter().filter(|page| is_held_to_width(&page.path)).flat_map(too_wide);
    long.chain(pages.iter().filter_map(too_long)).collect()
}

fn too_long(page: &Page) -> Option<Finding> {
    let lines = page.text.lines().count();
    (page.path == Path::new("README.md") && lines > README_LINES).then(|| Finding {
        path: page.path.clone(),
        line: README_LINES + 1,
        what: format!("{lines} lines, at most {README_LINES}: move details to pages below docs/"),
    })
}

fn too_wide(page: &Page) -> impl Iterator<Item = Finding> {
    let generated = page.text.starts_with(GENERATED);
    let blocks = page.blocks.iter().filter(move |block| !(generated && block.is_heading));
    blocks.flat_map(move |block| {
        let wide = page.lines_of(block).filter(move |&line| is_too_wide(page, block, line));
        wide.map(move |line| Finding {
            path: page.path.clone(),
            line: line + 1,
            what: format!("{}, at most {WIDTH}: {}", length(page, line), remedy(block)),
        })
    })
}

fn length(page: &Page, line: usize) -> String {
    format!("{} characters", page.text[page.line(line)].chars().count())
}

fn remedy(block: &Block) -> &'static str {
    if block.is_heading {
        "shorten the heading"
    } else {
        "break the line, or run cargo xtask check-docs --wrap"
    }
}

/// Whether a line is too wide, and has a place to be broken.
fn is_too_wide(page: &Page, block: &Block, line: usize) -> bool {
    let range = page.line(line);
    let text = &page.text[range.clone()];
    if text.chars().count() <= WIDTH {
        return false;
    }
    let from = range.start.max(page.start_of(block));
    let words = &page.text[from..range.end];
    let lead = from + words.len() - words.trim_start().len();
    let end = from + words.trim_end().len();
    let fixed = |at: usize| block.fixed.iter().any(|fixed| fixed.contains(&at));
    page.text[lead..end].match_indices(char::is_whitespace).any(|(at, _)| !fixed(lead + at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let page = Page::new(path.into(), text.to_owned());
        findings(&[page]).iter().map(|finding| finding.to_string()).collect()
    }

    /// Words of one letter, of so many characters in all; an odd number.
    fn words(characters: usize) -> String {
        "é ".repeat(characters / 2) + "é"
    }

    #[test]
    fn a_wide_line_of_prose_is_found() {
        let (fits, wide) = (words(119), words(121));
        let remedy = "at most 120: break the line, or run cargo xtask check-docs --wrap";
        for path in ["README.md", "CONTRIBUTING.md", "docs/guides/batch.md"] {
            assert_eq!(found(path, &format!("{fits}\n")), [""; 0]);
            let line = format!("{path}:3: 121 characters, {remedy}");
            assert_eq!(found(path, &format!("# Head\n\n{wide}\nend\n")), [line]);
        }
        assert_eq!(found("benches/NOTES.md", &wide), [""; 0]);
        let item = format!("- a\n- {fits}\n");
        assert_eq!(found("docs/a.md", &item), [format!("docs/a.md:2: 121 characters, {remedy}")]);
    }

    #[test]
    fn what_cannot_be_broken_may_be_wide() {
        let wide = words(121);
        let address = "https://example.org/".to_owned() + &"x".repeat(120);
        for text in [
            format!("| a |\n|---|\n| {wide} |\n"),
            format!("```console\n$ {wide}\n```\n"),
            format!("- item\n\n      {wide}\n"),
            format!("<p>\n{wide}\n</p>\n"),
            format!("{address}\n"),
            format!("- <{address}>\n"),
            format!("see\n[it]({address})\n"),
            format!("see [it]\n\n[it]: {address} \"{wide}\"\n"),
            format!("`{wide}`\n"),
        ] {
            assert_eq!(found("docs/a.md", &text), [""; 0], "{text}");
        }
        assert_eq!(found("docs/a.md", &format!("see {address}\n")).len(), 1);
    }

    #[test]
    fn headings_of_made_pages_may_be_wide() {
        let heading = format!("# {}\n", words(121));
        let line = "docs/a.md:1: 123 characters, at most 120: shorten the heading";
        assert_eq!(found("docs/a.md", &heading), [line]);
        let made = format!("<!-- Generated by a command. -->\n\n{heading}");
        assert_eq!(found("docs/a.md", &made), [""; 0]);
    }

    #[test]
    fn readme_has_200_lines() {
        assert_eq!(found("README.md", &"\n".repeat(200)), [""; 0]);
        let line = "README.md:201: 203 lines, at most 200: move details to pages below docs/";
        assert_eq!(found("README.md", &"\n".repeat(203)), [line]);
        assert_eq!(found("docs/README.md", &"\n".repeat(203)), [""; 0]);
    }
}
