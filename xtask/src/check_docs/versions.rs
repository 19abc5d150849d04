//! Checks that all files that state the version of the workspace state the same one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;

/// Files outside of Cargo's workspace, and how the line that states the version begins.
const STATEMENTS: [(&str, &str); 3] = [
    ("CITATION.cff", "version: "),
    ("python/Cargo.toml", "version = "),
    ("python/python/warpint/__init__.py", "__version__ = "),
];

/// Returns a finding for each file that states another version than `version` or none, and one if
/// the changelog has no section for `version` with the date of CITATION.cff.
pub(super) fn findings(root: &Path, version: &str) -> Result<Vec<Finding>> {
    let mut findings = vec![];
    for (path, start) in STATEMENTS {
        let (line, stated) = first(root, path, start)?;
        if stated.as_deref() != Some(version) {
            let stated = stated.as_deref().unwrap_or("none");
            let what = format!("the version is {stated}, and {version} in Cargo.toml");
            findings.push(Finding { path: path.into(), line, what });
        }
    }
    let (_, date) = first(root, "CITATION.cff", "date-released: ")?;
    let heading = format!("## [{version}] - {}", date.as_deref().unwrap_or_default());
    let path = "CHANGELOG.md";
    if !read(root, path)?.lines().any(|line| line == heading) {
        let what = format!("there is no heading {heading}, with the date of CITATION.cff");
        findings.push(Finding { path: path.into(), line: 1, what });
    }
    Ok(findings)
}

/// Returns the number of the first line that begins with `start`, and the rest of this line without
/// quotes. Returns 1 and `None` if there is no such line.
fn first(root: &Path, path: &str, start: &str) -> Result<(usize, Option<String>)> {
    let text = read(root, path)?;
    let found = text.lines().zip(1..).find_map(|(line, at)| Some((at, line.strip_prefix(start)?)));
    Ok(found.map_or((1, None), |(at, rest)| (at, Some(rest.trim_matches('"').to_owned()))))
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings for version 1.2.3 in a workspace whose files state these versions and
    /// this date.
    fn found(versions: [&str; 3], date: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("python/python/warpint")).unwrap();
        for ((path, start), version) in STATEMENTS.into_iter().zip(versions) {
            let text = format!("first line\n{start}{version}\ndate-released: {date}\n");
            fs::write(root.join(path), text).unwrap();
        }
        let changelog = "# Changelog\n\n## Unreleased\n\n## [1.2.3] - 2026-05-04\n";
        fs::write(root.join("CHANGELOG.md"), changelog).unwrap();
        findings(root, "1.2.3").unwrap().iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn equal_versions_are_no_findings() {
        assert_eq!(found(["1.2.3", "\"1.2.3\"", "\"1.2.3\""], "2026-05-04"), [""; 0]);
    }

    #[test]
    fn other_versions_and_dates_are_found() {
        assert_eq!(
            found(["1.2.2", "\"1.2.3\"", "\"1.2.30\""], "2026-05-05"),
            [
                "CITATION.cff:2: the version is 1.2.2, and 1.2.3 in Cargo.toml",
                "python/python/warpint/__init__.py:2: the version is 1.2.30, and 1.2.3 in Cargo.toml",
                "CHANGELOG.md:1: there is no heading ## [1.2.3] - 2026-05-05, with the date of \
                 CITATION.cff",
            ]
        );
    }

    #[test]
    fn a_file_without_a_version_is_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("CITATION.cff"), "title: x\n").unwrap();
        assert_eq!(first(folder.path(), "CITATION.cff", "version: ").unwrap(), (1, None));
        assert!(findings(folder.path(), "1.2.3").is_err());
    }
}
