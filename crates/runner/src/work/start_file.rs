//! `M<p>.cert`: the start residue of a certification.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use warpint_files::{ErrorKind, FileError, Folder, given};
use warpint_gimps::{Assignment, LONGEST_LINE, Line, Work};
use warpint_mersenne::{Certification, Residue, ResidueError, TestKind};

use super::Claim;
use crate::note::Note;
use crate::stored::{StoredCertification, certifications};

/// The file `M<p>.cert` in the directory of a worker. It contains a residue modulo M_p as ⌈p/8⌉
/// bytes, little-endian.
///
/// The file belongs to one certification and is removed when the certification is finished.
/// Programs that fetch start residues do not replace an existing file. If the file were not
/// removed, a later certification of M_p would start with the old residue.
#[derive(Debug)]
pub struct StartFile {
    dir: PathBuf,
    path: PathBuf,
    p: u32,
}

/// The reason why the start residue of a certification cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartFileError {
    /// The path is not a regular file, or the file is too large.
    #[error(transparent)]
    NotAFile(FileError),
    /// The file cannot be read.
    #[error("cannot read {}, the start residue of the certification", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The content of the file is not a residue.
    #[error("{}: {source}", path.display())]
    NotAResidue {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the content is not a residue.
        source: ResidueError,
    },
    /// The file cannot be removed.
    #[error("cannot remove {}, which is no longer needed", path.display())]
    Remove {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

impl StartFileError {
    /// Returns the kind of the error, which decides the exit code of the program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAFile(e) => e.kind(),
            Self::NotAResidue { .. } => ErrorKind::BadInput,
            Self::Read { source, .. } | Self::Remove { source, .. } => source.into(),
        }
    }
}

impl StartFile {
    /// Returns the start file of M_p in a directory. Does not access the disk.
    #[must_use]
    pub fn new(dir: &Path, p: u32) -> Self {
        Self { dir: dir.to_owned(), path: dir.join(format!("M{p}.cert")), p }
    }

    /// Reads the start residue from the file.
    ///
    /// # Errors
    /// Returns any [`StartFileError`] except [`StartFileError::Remove`].
    pub fn read(&self) -> Result<Residue, StartFileError> {
        let (path, p) = (self.path.clone(), self.p);
        let size = Residue::byte_len(p) as u64;
        let name = path.file_name().unwrap_or_default();
        match Folder::at(&self.dir).read(name, size) {
            Ok(bytes) => Residue::from_le_bytes(p, &bytes)
                .map_err(|source| StartFileError::NotAResidue { path, source }),
            Err(e @ (FileError::NotAFile { .. } | FileError::TooLarge { .. })) => {
                Err(StartFileError::NotAFile(e))
            }
            Err(e) => {
                let source = e.in_message_of(&path);
                Err(StartFileError::Read { path, source })
            }
        }
    }

    /// Removes the file if it contains the start residue of the certification `kind`. Does nothing
    /// if the file is missing or contains another residue.
    ///
    /// # Errors
    /// Returns [`StartFileError::Remove`].
    pub fn remove(&self, kind: TestKind) -> Result<(), StartFileError> {
        if !self.path.is_file() || !self.begins(kind) {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(StartFileError::Remove { path: self.path.clone(), source })
            }
            _ => Ok(()),
        }
    }

    fn begins(&self, kind: TestKind) -> bool {
        let squarings = kind.iterations(self.p);
        self.read().is_ok_and(|start| kind == TestKind::Cert(Certification::new(&start, squarings)))
    }

    /// Removes the start files in a directory whose certifications are finished, recorded and no
    /// longer in a list. Such a file remains if a process was killed after it had removed the line
    /// of the certification and before it removed the file. A file stays if it cannot be removed,
    /// or as long as it is uncertain whether its certification is finished. `say` is called with a
    /// note on each removed file.
    pub fn clear_finished(dir: &Path, say: &mut dyn FnMut(Note)) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let p = name
                .to_str()
                .and_then(|name| name.strip_prefix('M')?.strip_suffix(".cert")?.parse().ok());
            let Some(p) = p else { continue };
            let file = Self::new(dir, p);
            if file.is_finished() && file.remove_finished() {
                say(Note::StartRemoved { exponent: p, path: file.path });
            }
        }
    }

    /// Returns whether a finished certification used this start residue, and no list has another
    /// certification of M_p.
    fn is_finished(&self) -> bool {
        let folder = self.dir.join(format!("M{}", self.p));
        let finished = certifications(&folder);
        !finished.is_empty() && !self.is_awaited() && finished.iter().any(|of| self.is_of(of))
    }

    /// Returns whether the file belongs to the finished certification `finished`. A file that is
    /// newer than the stored result of that certification belongs to another certification.
    fn is_of(&self, finished: &StoredCertification) -> bool {
        let modified = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
        let kept = modified(&finished.path);
        let before = kept.is_some() && modified(&self.path) <= kept;
        before
            && self.read().is_ok_and(|start| {
                let kind = TestKind::Cert(Certification::new(&start, finished.squarings));
                kind.slug() == finished.slug
            })
    }

    /// Returns whether any list in the directory, of this or another program, has a certification
    /// of M_p. Returns true if a list cannot be read.
    fn is_awaited(&self) -> bool {
        let Ok(entries) = fs::read_dir(&self.dir) else { return true };
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let is_list = name
                .to_str()
                .is_some_and(|name| name.starts_with("worktodo") || name.starts_with("certwork"));
            is_list && entry.path().is_file() && asks_for_cert(&entry.path(), self.p)
        })
    }

    /// Removes the file if no process has claimed M_p. Returns whether the file was removed.
    fn remove_finished(&self) -> bool {
        let claim = Claim::try_take(&Claim::of_number(&self.dir, self.p));
        matches!(claim, Ok(Some(_))) && fs::remove_file(&self.path).is_ok()
    }
}

/// Returns whether a list has a certification of M_p. Returns true if the list cannot be read.
fn asks_for_cert(list: &Path, p: u32) -> bool {
    /// The largest size of a list in bytes. A larger file counts as one that cannot be read.
    const MOST_BYTES: u64 = 16 << 20;
    let Ok(bytes) = given::read(list, MOST_BYTES) else { return true };
    let of_p = |line: &[u8]| {
        line.len() <= LONGEST_LINE
            && matches!(
                Line::parse(line),
                Line::Work(Assignment { work: Work::Cert { exponent, .. }, .. }) if exponent == p
            )
    };
    bytes.split(|&b| b == b'\n').any(of_p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TestReport;
    use crate::stored::StoredResult;
    use std::time::{Duration, SystemTime};
    use warpint_mersenne::{Exponent, Outcome, TestSpec, Verdict};

    const P: u32 = 127;

    fn start(dir: &Path, value: u64) -> (StartFile, Residue) {
        let residue = Residue::from_u64(P, value);
        let file = StartFile::new(dir, P);
        fs::write(&file.path, residue.to_le_bytes()).unwrap();
        (file, residue)
    }

    /// Stores the result of a certification in a file whose time of modification is one second in
    /// the future.
    fn keep(dir: &Path, start: &Residue, squarings: u64) -> TestKind {
        let exponent = Exponent::new(P.into()).unwrap();
        let spec = TestSpec::certification(exponent, start.clone(), squarings);
        let report = TestReport::new(&Outcome {
            kind: spec.kind,
            number: P.into(),
            verdict: Verdict::Certified,
            residue: start.clone(),
            iterations: squarings,
            resumed_at: 0,
            engine: "fp64",
            place: "cpu",
            length: 16,
            round_off: None,
            twice: false,
            bases: vec![],
            checked_squarings: 0,
            errors: Default::default(),
            shift: 0,
            known_factors: vec![],
            elapsed: Duration::ZERO,
        });
        fs::create_dir_all(dir.join("M127")).unwrap();
        let stored = StoredResult::new(&dir.join("M127"), &spec);
        stored.keep(&report).unwrap();
        touch(stored.path(), 1);
        spec.kind
    }

    fn touch(path: &Path, seconds_from_now: u64) {
        let at = SystemTime::now() + Duration::from_secs(seconds_from_now);
        fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }

    fn cleared(dir: &Path) -> usize {
        let mut lines = 0;
        StartFile::clear_finished(dir, &mut |_| lines += 1);
        lines
    }

    #[test]
    fn it_goes_with_its_own_certification_only() {
        let dir = tempfile::tempdir().unwrap();
        let (file, three) = start(dir.path(), 3);
        let kind = TestKind::Cert(Certification::new(&three, 9));
        let other = TestKind::Cert(Certification::new(&Residue::from_u64(P, 4), 9));
        file.remove(other).unwrap();
        assert!(file.path.exists());
        file.remove(kind).unwrap();
        assert!(!file.path.exists());
        file.remove(kind).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (file, three) = start(dir.path(), 3);
        assert_eq!(cleared(dir.path()), 0, "no certification of it is finished");
        keep(dir.path(), &Residue::from_u64(P, 4), 9);
        assert_eq!(cleared(dir.path()), 0, "one of another residue is");
        keep(dir.path(), &three, 9);

        let aid = "FEEE9DCD59A0855711265C1165C4C693";
        for list in ["worktodo.txt", "worktodo-3.txt", "worktodo.add", "certwork-0.txt"] {
            let list = dir.path().join(list);
            fs::write(&list, format!("# mine\r\nCert={aid},1,2,{P},-1,7\r\n")).unwrap();
            assert_eq!(cleared(dir.path()), 0, "{} waits for it", list.display());
            fs::write(&list, format!("Cert={aid},1,2,1277,-1,9\nPRP={P}\n")).unwrap();
        }
        touch(&file.path, 3600);
        assert_eq!(cleared(dir.path()), 0, "it is newer than the result");
        touch(&file.path, 0);
        let claim = Claim::try_take(&Claim::of_number(dir.path(), P)).unwrap();
        assert_eq!(cleared(dir.path()), 0, "somebody is at it");
        drop(claim);
        assert_eq!(cleared(dir.path()), 1);
        assert!(!file.path.exists());
    }
}
