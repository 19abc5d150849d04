//! Checks the form of the documents: the length of README.md, the width of prose, links, the table of
//! contents of the book, and the versions that files state.

mod links;
mod page;
mod prose;
mod summary;
mod versions;
mod wrap;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use page::Page;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// First rewrap paragraphs and list items that have a line of more than 110 characters
    #[arg(long)]
    wrap: bool,
}

/// An error at one line of a document, and how to correct it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: PathBuf,
    /// The line number, counted from 1.
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.what)
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no workspace")?;
    let mut pages = read(root)?;
    if options.wrap {
        for page in pages.iter_mut().filter(|page| prose::is_held_to_width(&page.path)) {
            let Some(text) = wrap::wrapped(page)? else { continue };
            let path = root.join(&page.path);
            fs::write(&path, &text).with_context(|| path.display().to_string())?;
            println!("rewrapped: {}", page.path.display());
            *page = Page::new(page.path.clone(), text);
        }
    }
    let summary = Path::new("docs/SUMMARY.md");
    ensure!(pages.iter().any(|page| page.path == summary), "there is no {}", summary.display());
    let mut findings = findings(root, &pages);
    findings.extend(versions::findings(root, env!("CARGO_PKG_VERSION"))?);
    for finding in &findings {
        eprintln!("{finding}");
    }
    ensure!(findings.is_empty(), "{} findings in {} documents", findings.len(), pages.len());
    println!("{} documents", pages.len());
    Ok(())
}

fn findings(root: &Path, pages: &[Page]) -> Vec<Finding> {
    let mut findings = prose::findings(pages);
    findings.extend(links::findings(root, pages));
    findings.extend(summary::findings(pages));
    findings.sort();
    findings
}

/// Reads all Markdown files in the workspace, except those in hidden folders and in folders named
/// `target`.
fn read(root: &Path) -> Result<Vec<Page>> {
    let mut pages = vec![];
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let of = || root.join(&folder).display().to_string();
        for entry in fs::read_dir(root.join(&folder)).with_context(of)? {
            let entry = entry.with_context(of)?;
            let name = entry.file_name();
            let path = folder.join(&name);
            let kind = entry.file_type().with_context(of)?;
            if kind.is_dir() && !name.to_string_lossy().starts_with('.') && name != "target" {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|end| end == "md") {
                let text = fs::read_to_string(root.join(&path));
                pages.push(Page::new(
                    path.clone(),
                    text.with_context(|| path.display().to_string())?,
                ));
            }
        }
    }
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_file_and_line_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let docs = folder.path().join("docs");
        fs::create_dir_all(folder.path().join("target/book")).unwrap();
        fs::create_dir_all(&docs).unwrap();
        let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
        write("target/book/made.md", "[a](gone.md)\n");
        write("README.md", "# Name\n\n[the guide](docs/guide.md#start)\n");
        write("docs/SUMMARY.md", "# Summary\n\n- [Guide](guide.md)\n");
        write("docs/guide.md", "# Guide\n\n## Start\n");
        let pages = read(folder.path()).unwrap();
        assert_eq!(pages.len(), 3);
        assert_eq!(findings(folder.path(), &pages), []);

        write("docs/other.md", "[x](gone.md)\n");
        let pages = read(folder.path()).unwrap();
        let lines: Vec<_> =
            findings(folder.path(), &pages).iter().map(|finding| finding.to_string()).collect();
        assert_eq!(
            lines,
            [
                "docs/SUMMARY.md:1: does not name other.md: add a line for it",
                "docs/other.md:1: docs/gone.md does not exist: correct or remove the link gone.md",
            ]
        );
    }
}
