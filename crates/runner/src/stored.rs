//! The result of a finished test, stored in a file beside its checkpoints.
//!
//! The file is written before the results file, and before the checkpoints are removed. Therefore
//! the result or a checkpoint is on disk at every instant.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use warpint_files::{ErrorKind, FileError, Folder, sha256};
use warpint_mersenne::{Number, TestKind, TestSpec};

use crate::report::TestReport;

/// The file `M<p>/<slug>-result.json` in the directory of a job. The slug names the kind of the
/// test.
///
/// The content is `{"sha256":"<64 hexadecimal digits>","result":<the report>}`. The digest is
/// computed from the text of the report as it appears in the file.
#[derive(Debug)]
pub struct StoredResult {
    path: PathBuf,
    kind: TestKind,
    number: Number,
    known_factors: Vec<String>,
}

/// The outcome of loading a stored result.
#[derive(Debug)]
pub enum Loaded {
    /// The file does not exist.
    Nothing,
    /// The file is undamaged and contains this report of the test.
    Sound(Box<TestReport>),
    /// The file is damaged or belongs to another test, and has been renamed.
    Bad {
        /// The new path of the file.
        aside: PathBuf,
        /// The reason why the file cannot be used.
        reason: String,
    },
}

/// The reason why a stored result cannot be read, written or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file is damaged or belongs to another test, and cannot be renamed.
    #[error("{} is not sound ({reason}) and cannot be set aside", path.display())]
    SetAside {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the file cannot be used.
        reason: &'static str,
        /// The reason why the file cannot be renamed.
        source: io::Error,
    },
    /// The file cannot be written. An older file is unchanged.
    #[error("cannot write {}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file cannot be removed.
    #[error("cannot remove {}", path.display())]
    Remove {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

impl StoredError {
    /// Returns the kind of the error, which decides the exit code of the program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { source, .. }
            | Self::SetAside { source, .. }
            | Self::Write { source, .. }
            | Self::Remove { source, .. } => source.into(),
        }
    }
}

impl StoredResult {
    /// Returns the file of the stored result of a test whose checkpoints are in `dir`. Does not
    /// read the file. Tests with known factors have a separate file for each set of factors,
    /// `prp-cofactor-<16 hexadecimal digits>-result.json`.
    #[must_use]
    pub fn new(dir: &Path, spec: &TestSpec) -> Self {
        let (kind, number) = (spec.kind, spec.number);
        let known_factors = spec.known_factors.texts().to_vec();
        let of_factors = if known_factors.is_empty() {
            String::new()
        } else {
            format!("-cofactor-{}", &sha256(&known_factors.join(","))[..16])
        };
        let path = dir.join(format!("{}{of_factors}-result.json", kind.slug()));
        Self { path, kind, number, known_factors }
    }

    /// Returns the path of the file of the stored result.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the stored result. If the file is damaged or belongs to another test, adds `.bad` to
    /// the name of the file.
    ///
    /// # Errors
    /// Returns [`StoredError::Read`] or [`StoredError::SetAside`].
    pub fn load(&self) -> Result<Loaded, StoredError> {
        let bytes = match read(&self.path) {
            Ok(bytes) => bytes,
            Err(e) if e.is_missing() => return Ok(Loaded::Nothing),
            Err(FileError::TooLarge { .. }) => {
                return self.set_aside("it is larger than any result");
            }
            Err(e) => {
                let (path, source) = (self.path.clone(), e.in_message_of(&self.path));
                return Err(StoredError::Read { path, source });
            }
        };
        match parse(&bytes) {
            Ok(report) if report.is_of(self.kind, self.number, &self.known_factors) => {
                Ok(Loaded::Sound(Box::new(report)))
            }
            Ok(_) => self.set_aside("it is the result of another test"),
            Err(reason) => self.set_aside(reason),
        }
    }

    fn set_aside(&self, reason: &'static str) -> Result<Loaded, StoredError> {
        let aside = self.path.with_extension("json.bad");
        let renamed = place(&self.path)
            .and_then(|(folder, name)| folder.rename(name, aside.file_name().unwrap_or_default()));
        renamed.map_err(|e| StoredError::SetAside {
            path: self.path.clone(),
            reason,
            source: e.into(),
        })?;
        Ok(Loaded::Bad { aside, reason: reason.into() })
    }

    /// Stores a report: writes a new file and syncs it to disk, then replaces the old file by the
    /// new file.
    ///
    /// # Errors
    /// Returns [`StoredError::Write`].
    pub fn keep(&self, report: &TestReport) -> Result<(), StoredError> {
        let failed = |source| StoredError::Write { path: self.path.clone(), source };
        let result = serde_json::to_string(report).map_err(|e| failed(e.into()))?;
        let text = format!("{{\"sha256\":\"{}\",\"result\":{result}}}\n", sha256(&result));
        place(&self.path)
            .and_then(|(folder, name)| folder.replace(name, &[text.as_bytes()]))
            .map_err(|e| failed(e.in_message_of(&self.path)))
    }

    /// Removes the file of the stored result if it exists.
    ///
    /// # Errors
    /// Returns [`StoredError::Remove`].
    pub fn forget(&self) -> Result<(), StoredError> {
        match place(&self.path).and_then(|(folder, name)| folder.remove(name)) {
            Err(e) if !e.is_missing() => Err(StoredError::Remove {
                path: self.path.clone(),
                source: e.in_message_of(&self.path),
            }),
            _ => Ok(()),
        }
    }
}

/// The stored result of a finished certification.
pub(crate) struct StoredCertification {
    pub(crate) path: PathBuf,
    /// The slug in the name of the file: [`TestKind::slug`]. For a certification it depends on the
    /// start residue.
    pub(crate) slug: String,
    pub(crate) squarings: u64,
}

/// Returns the stored results of all finished certifications of M_p, where `dir` is the directory
/// `M<p>`. Skips files that are damaged or cannot be read.
pub(crate) fn certifications(dir: &Path) -> Vec<StoredCertification> {
    let folder = Folder::not_linked(dir);
    let Ok(entries) = folder.list() else { return vec![] };
    let of = |path: PathBuf| {
        let slug = path.file_name()?.to_str()?.strip_suffix("-result.json")?.to_owned();
        if !slug.starts_with("cert-") {
            return None;
        }
        let squarings = parse(&read(&path).ok()?).ok()?.iterations();
        Some(StoredCertification { path, slug, squarings })
    };
    entries.into_iter().filter_map(|entry| of(folder.file(entry.name))).collect()
}

/// Returns the content of a file. Returns an error if the file is larger than 1 MiB; every report
/// is smaller.
fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    const MOST: u64 = 1 << 20;
    place(path).and_then(|(folder, name)| folder.read(name, MOST))
}

/// Splits the path of a stored result into its directory and the name of its file. If the directory
/// is a symbolic link, every later access to the file through the returned folder fails.
fn place(path: &Path) -> Result<(Folder, &OsStr), FileError> {
    let (_, name) = Folder::of(path)?;
    Ok((Folder::not_linked(path.parent().unwrap_or(path)), name))
}

/// Parses the content of a stored result.
pub(crate) fn parse(bytes: &[u8]) -> Result<TestReport, &'static str> {
    let (digest, result) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.strip_prefix("{\"sha256\":\"")?.strip_suffix("}\n"))
        .and_then(|text| text.split_once("\",\"result\":"))
        .ok_or("it is cut short or of another form")?;
    if digest != sha256(result) {
        return Err("its checksum does not match");
    }
    serde_json::from_str(result).map_err(|_| "it is of another version")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use proptest::prelude::*;
    use warpint_mersenne::{Exponent, LlStart};

    fn of(dir: &Path, p: u64) -> StoredResult {
        StoredResult::new(dir, &TestSpec::new(TestKind::Prp, Exponent::new(p).unwrap()))
    }

    #[test]
    fn a_kept_report_comes_back_and_a_damaged_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let report = TestReport::of_m2(TestKind::Prp);
        let stored = of(dir.path(), 2);
        assert!(matches!(stored.load().unwrap(), Loaded::Nothing));
        stored.keep(&report).unwrap();
        let sound = fs::read(stored.path()).unwrap();
        assert!(matches!(stored.load().unwrap(), Loaded::Sound(r) if *r == report));

        for i in 0..sound.len() {
            let mut flipped = sound.clone();
            flipped[i] ^= 1;
            assert!(parse(&flipped).is_err(), "byte {i}");
            assert!(parse(&sound[..i]).is_err(), "cut to {i} bytes");
        }
        fs::write(stored.path(), &sound[..sound.len() / 2]).unwrap();
        let Loaded::Bad { aside, .. } = stored.load().unwrap() else { panic!("taken as sound") };
        assert_eq!(fs::read(aside).unwrap(), sound[..sound.len() / 2]);
        assert!(matches!(stored.load().unwrap(), Loaded::Nothing));

        let foreign = of(dir.path(), 3);
        fs::write(foreign.path(), &sound).unwrap();
        assert!(matches!(foreign.load().unwrap(), Loaded::Bad { .. }));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_in_place_of_a_result_is_refused_and_never_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (report, outside) = (TestReport::of_m2(TestKind::Prp), dir.path().join("outside"));
        fs::create_dir(dir.path().join("M2")).unwrap();
        let stored = of(&dir.path().join("M2"), 2);
        stored.keep(&report).unwrap();
        fs::rename(stored.path(), &outside).unwrap();
        let sound = fs::read(&outside).unwrap();
        for (what, says) in
            [("../outside", "a symbolic link"), ("/dev/zero", "a symbolic link"), ("", "a FIFO")]
        {
            if what.is_empty() {
                let made = std::process::Command::new("mkfifo").arg(stored.path()).status();
                assert!(made.unwrap().success());
            } else {
                std::os::unix::fs::symlink(what, stored.path()).unwrap();
            }
            let error = stored.load().err().unwrap();
            let error = crate::error::with_causes(&error);
            assert!(error.ends_with(&format!("it is {says}, not a regular file")), "{error}");
            // A new result replaces the old one.
            stored.keep(&report).unwrap();
            assert!(matches!(stored.load().unwrap(), Loaded::Sound(_)));
            stored.forget().unwrap();
        }
        assert_eq!(fs::read(&outside).unwrap(), sound);
        fs::File::create(stored.path()).unwrap().set_len(3 << 30).unwrap();
        assert!(matches!(stored.load().unwrap(), Loaded::Bad { .. }));
    }

    #[test]
    fn forgetting_is_no_error_when_there_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let stored = of(dir.path(), 2);
        stored.forget().unwrap();
        stored.keep(&TestReport::of_m2(TestKind::Prp)).unwrap();
        stored.forget().unwrap();
        assert!(matches!(stored.load().unwrap(), Loaded::Nothing));
    }

    /// Returns a configuration with a tenth of the usual number of cases, because each case waits
    /// for a disk. The usual number is `PROPTEST_CASES`, or 10,000 if this variable is not set.
    fn cases() -> ProptestConfig {
        let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
        ProptestConfig::with_cases(given.unwrap_or(10_000u32).div_ceil(10))
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn fuzz_stored_result(text in ".{0,200}", form: bool) {
            let dir = tempfile::tempdir().unwrap();
            let kind = TestKind::Ll(LlStart::Four);
            let spec = TestSpec::new(kind, Exponent::new(127).unwrap());
            let stored = StoredResult::new(dir.path(), &spec);
            let file = if form {
                let digest = sha256(&text);
                format!("{{\"sha256\":\"{digest}\",\"result\":{text}}}\n")
            } else {
                text
            };
            fs::write(stored.path(), &file).unwrap();
            let Loaded::Bad { aside, .. } = stored.load().unwrap() else {
                return Err(TestCaseError::fail("taken for sound"));
            };
            prop_assert_eq!(fs::read_to_string(aside).unwrap(), file);
            prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
    }
}
