//! Checks the links in documents to files of the workspace and to headings in them.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::Finding;
use super::page::Page;

pub(super) fn findings(root: &Path, pages: &[Page]) -> Vec<Finding> {
    let by_path: BTreeMap<_, _> = pages.iter().map(|page| (page.path.as_path(), page)).collect();
    let of_page = |page| broken(root, page, &by_path);
    pages.iter().flat_map(of_page).collect()
}

fn broken(root: &Path, page: &Page, pages: &BTreeMap<&Path, &Page>) -> Vec<Finding> {
    let found = page.links.iter().filter_map(|(link, at)| {
        let what = wrong(root, page, link, pages)?;
        Some(Finding { path: page.path.clone(), line: page.line_of(*at) + 1, what })
    });
    found.collect()
}

/// Returns a description of the error in a link. Returns `None` if the link is right or leads out
/// of the workspace by a URL.
fn wrong(root: &Path, page: &Page, link: &str, pages: &BTreeMap<&Path, &Page>) -> Option<String> {
    if has_scheme(link) {
        return None;
    }
    if link.starts_with('/') {
        return Some(format!("the link {link} is absolute: write a path relative to this file"));
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let Some(target) = resolved(&page.path, file).filter(|path| root.join(path).exists()) else {
        let folder = page.path.parent().unwrap_or(Path::new(""));
        let shown = resolved(&page.path, file).unwrap_or_else(|| folder.join(file));
        return Some(format!(
            "{} does not exist: correct or remove the link {link}",
            shown.display()
        ));
    };
    let headings = pages.get(target.as_path()).filter(|_| !anchor.is_empty())?;
    (!headings.anchors.iter().any(|heading| heading == anchor)).then(|| {
        format!(
            "{} has no heading #{anchor}: correct the anchor of the link {link}",
            target.display()
        )
    })
}

/// Returns whether a link begins with `https:`, `mailto:` or another URL scheme.
fn has_scheme(link: &str) -> bool {
    link.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// Returns the path, relative to the root of the workspace, of the file that the link `file` in
/// `page` names. Returns `None` if that path is outside the workspace.
fn resolved(page: &Path, file: &str) -> Option<PathBuf> {
    if file.is_empty() {
        return Some(page.to_owned());
    }
    let mut path = page.parent()?.to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings in a file `docs/a.md` with this text, in a workspace that also contains
    /// `docs/b.md`, `docs/c.svg` and `x.rs`.
    fn found(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("docs")).unwrap();
        let b = "# B\n\n## Exit codes\n";
        for (path, text) in
            [("docs/a.md", text), ("docs/b.md", b), ("docs/c.svg", ""), ("x.rs", "")]
        {
            std::fs::write(root.join(path), text).unwrap();
        }
        let page = |path: &str, text: &str| Page::new(path.into(), text.to_owned());
        let pages = [page("docs/a.md", text), page("docs/b.md", b)];
        findings(root, &pages).iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn sound_links_are_no_findings() {
        for link in [
            "b.md",
            "./b.md",
            "b.md#exit-codes",
            "#here",
            "c.svg",
            "../x.rs",
            "../x.rs#L4",
            "../docs",
            "../docs/",
            "https://example.org/gone.md",
            "mailto:a@example.org",
        ] {
            assert_eq!(found(&format!("# Here\n\n[x]({link})\n")), [""; 0], "{link}");
        }
    }

    #[test]
    fn links_to_nothing_are_found() {
        for (link, what) in [
            ("gone.md", "docs/gone.md does not exist: correct or remove the link gone.md"),
            (
                "../gone/x.md#y",
                "gone/x.md does not exist: correct or remove the link ../gone/x.md#y",
            ),
            ("../../a.md", "docs/../../a.md does not exist: correct or remove the link ../../a.md"),
            ("/docs/b.md", "the link /docs/b.md is absolute: write a path relative to this file"),
            ("#gone", "docs/a.md has no heading #gone: correct the anchor of the link #gone"),
            ("b.md#B", "docs/b.md has no heading #B: correct the anchor of the link b.md#B"),
        ] {
            assert_eq!(
                found(&format!("# Here\n\n[x]({link})\n")),
                [format!("docs/a.md:3: {what}")]
            );
            assert_eq!(
                found(&format!("![x][y]\n\n[y]: {link}\n")),
                [format!("docs/a.md:1: {what}")]
            );
        }
    }
}
