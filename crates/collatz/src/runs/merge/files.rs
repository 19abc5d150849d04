//! The unit files of several directories, read and checked.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Rejected;
use crate::Watch;
use crate::runs::{Folder, FolderError, Unit};

/// The unit files that were read. Each file occurs once.
#[derive(Debug, Default)]
pub struct Files {
    /// The sound files, with their paths.
    pub(super) units: Vec<(PathBuf, Unit)>,
    /// The indices in `units` of the units that lack evidence. Empty if the results were not
    /// checked.
    pub(super) lacking: Vec<usize>,
    pub(super) unusable: Vec<Rejected>,
    pub(super) refused: Vec<Rejected>,
    /// The numbers that refused units list as unresolved and that are unresolved in the host's own
    /// walks too.
    pub(super) unresolved: Vec<u128>,
    pub(super) is_checked: bool,
}

/// The result of reading a file.
enum Read {
    Sound(Box<Unit>, HasEvidence),
    Unusable(String),
    Refused(String, Box<Unit>),
}

/// Whether a unit has evidence.
type HasEvidence = bool;

impl Files {
    /// Returns the paths of the files in the given directories, limited to files whose names end in
    /// `.json`. A file is listed once, even if a directory is given twice or a symbolic link leads
    /// to the file.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn list(folders: &[Folder]) -> Result<Vec<PathBuf>, FolderError> {
        let (mut known, mut paths) = (HashSet::new(), vec![]);
        for folder in folders {
            for path in folder.files()? {
                let file = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                if known.insert(file) {
                    paths.push(path);
                }
            }
        }
        Ok(paths)
    }

    /// Reads files and returns their contents. If `check` is true, also checks the result of each
    /// unit by [`Unit::check_work`]. Returns `None` if the watch stopped the reading. Each file
    /// that was read is reported to the watch.
    #[must_use]
    pub fn read(paths: &[PathBuf], check: bool, watch: &dyn Watch) -> Option<Self> {
        let one = |path: &PathBuf| {
            if watch.is_stopped() {
                return None;
            }
            let read = Read::of(path, check);
            watch.done(1);
            Some(read)
        };
        let all: Vec<Read> = paths.par_iter().map(one).collect::<Option<_>>()?;
        let mut files = Self { is_checked: check, ..Self::default() };
        for (path, read) in paths.iter().cloned().zip(all) {
            match read {
                Read::Sound(unit, has_evidence) => {
                    if check && !has_evidence {
                        files.lacking.push(files.units.len());
                    }
                    files.units.push((path, *unit));
                }
                Read::Unusable(reason) => files.unusable.push(Rejected { path, reason }),
                Read::Refused(reason, unit) => {
                    let walker = crate::walk::Walker::default();
                    let down = |n: &&u128| walker.descend(**n).is_none();
                    files.unresolved.extend(unit.unresolved.iter().filter(down));
                    files.refused.push(Rejected { path, reason });
                }
            }
        }
        Some(files)
    }
}

impl Read {
    fn of(path: &Path, check: bool) -> Self {
        let unit = match Folder::read(path) {
            Ok(Ok(unit)) => unit,
            Ok(Err(error)) => return Self::Unusable(error.to_string()),
            Err(FolderError::Read { source, .. }) => return Self::Unusable(source.to_string()),
            Err(other) => return Self::Unusable(other.to_string()),
        };
        if !check {
            return Self::Sound(unit.into(), false);
        }
        match unit.check_work() {
            Ok(has_evidence) => Self::Sound(unit.into(), has_evidence),
            Err(flaw) => Self::Refused(flaw.to_string(), unit.into()),
        }
    }
}
