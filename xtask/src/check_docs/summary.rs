//! Checks that the table of contents of the book names every page exactly once.

use std::path::Path;

use super::Finding;
use super::page::Page;

const SUMMARY: &str = "docs/SUMMARY.md";

/// Returns a finding for each page below docs/ that the table of contents omits or repeats. If the
/// table names a page that does not exist, the check of links finds this error. Returns no findings
/// if there is no table of contents.
pub(super) fn findings(pages: &[Page]) -> Vec<Finding> {
    let Some(summary) = pages.iter().find(|page| page.path == Path::new(SUMMARY)) else {
        return vec![];
    };
    let places_of = |page: &Path| -> Vec<usize> {
        let links = summary.links.iter();
        links.filter(|(link, _)| Path::new("docs").join(link) == page).map(|&(_, at)| at).collect()
    };
    let mut findings = vec![];
    let in_book = |page: &&Page| page.path.starts_with("docs") && page.path != summary.path;
    for page in pages.iter().filter(in_book) {
        let name = page.path.strip_prefix("docs").unwrap_or(&page.path).display();
        let mut found = |at: usize, what: String| {
            let (path, line) = (summary.path.clone(), summary.line_of(at) + 1);
            findings.push(Finding { path, line, what });
        };
        let places = places_of(&page.path);
        if places.is_empty() {
            found(0, format!("does not name {name}: add a line for it"));
        }
        for &at in places.iter().skip(1) {
            found(at, format!("names {name} again: remove one of the lines"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(summary: Option<&str>) -> Vec<String> {
        let page = |path: &str, text: &str| Page::new(path.into(), text.to_owned());
        let mut pages = vec![
            page("README.md", ""),
            page("docs/glossary.md", ""),
            page("docs/guides/batch.md", ""),
        ];
        pages.extend(summary.map(|text| page(SUMMARY, text)));
        findings(&pages).iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn every_page_is_named_once() {
        let all = "# Summary\n\n- [Batch](guides/batch.md)\n- [Words](./glossary.md)\n";
        assert_eq!(found(None), [""; 0]);
        assert_eq!(found(Some(all)), [""; 0]);
        let repeated = format!("{all}- [Words](glossary.md)\n");
        let again = "docs/SUMMARY.md:5: names glossary.md again: remove one of the lines";
        assert_eq!(found(Some(&repeated)), [again]);
        let omitted = "docs/SUMMARY.md:1: does not name guides/batch.md: add a line for it";
        assert_eq!(found(Some("[Words](glossary.md)\n")), [omitted]);
    }
}
