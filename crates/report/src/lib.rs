//! A directory as an HTML page: what its workers do, its list of work, its finished tests, its log as
//! charts over time, and the results of benchmarks.
//!
//! * [`Report`]: what a directory contains, read at one instant.
//! * [`Report::page`]: the page, one file without scripts and without references to other files.
//! * [`serve::Server`]: shows the page of a directory to web browsers, read-only.
//!
//! Files that are missing, damaged, cut short or of another kind never make a report fail: the page
//! names them. Text from files reaches the page through the module `html` only, which escapes it.
//! The crates that write the files also read them: `warpint-runner` the status, log, lists and
//! results. The results of benchmarks are read as JSON values, because every benchmark has fields of
//! its own.

mod bench;
mod chart;
mod html;
mod page;
pub mod serve;
mod text;
mod work;

use std::path::{Path, PathBuf};
use std::time::Duration;

use warpint_files::FileError;

pub use page::{GENERATOR, is_report};

/// What a directory contains, read at one instant.
#[derive(Debug)]
pub struct Report {
    dir: PathBuf,
    work: Option<work::WorkDirectory>,
    benches: Vec<bench::ResultFile>,
    unreadable: Vec<String>,
}

/// How a page is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The page is a file, which does not change.
    File,
    /// A web browser loads the page again after this time.
    Live(Duration),
}

impl Report {
    /// Reads a directory. Changes no file.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    pub fn of(dir: &Path) -> Result<Self, FileError> {
        let mut unreadable = vec![];
        let work = work::WorkDirectory::of(dir, &mut unreadable)?;
        let benches = bench::ResultFile::all(dir, &mut unreadable)?;
        Ok(Self { dir: dir.to_owned(), work, benches, unreadable })
    }

    /// Returns whether the directory has neither work, finished tests nor results of benchmarks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.work.is_none() && self.benches.is_empty()
    }

    /// Returns the name of the directory: its path as it was given, or the whole path of `.` and `..`.
    fn name(&self) -> String {
        let whole = self.dir.file_name().is_none().then(|| self.dir.canonicalize().ok()).flatten();
        whole.as_ref().unwrap_or(&self.dir).display().to_string()
    }

    /// Returns a line of text for each file that cannot be read, or that contains something else than
    /// its name says.
    #[must_use]
    pub fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    /// Returns the page: an HTML document that is also well-formed XML.
    #[must_use]
    pub fn page(&self, shown: Shown) -> String {
        page::page(self, shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_directory_is_its_path_as_given_or_the_whole_path() {
        let report =
            |dir: &str| Report { dir: dir.into(), work: None, benches: vec![], unreadable: vec![] };
        for given in ["a/b", "/a", "no/such"] {
            assert_eq!(report(given).name(), given);
        }
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(report(".").name(), here.display().to_string());
        assert_eq!(report("..").name(), here.parent().unwrap().display().to_string());
        // A directory that has gone.
        assert_eq!(report("no/such/..").name(), "no/such/..");
        assert!(report(".").is_empty());
    }
}
